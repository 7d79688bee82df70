"""Layers of a model of PyTorch: what is fetched as one piece, and the plan of what stays on the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap import _core
from shiplap._core import Unsupported
from shiplap._node import Node
from shiplap._show import object_of

Tensor = Any
Module = Any

# Weights begin at multiples of this many bytes (alignment_of_weights of the library).
_ALIGNMENT = 512

_LISTS = (torch.nn.ModuleList, torch.nn.ModuleDict)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class LayerPlan:
    """What stays on the GPU of a model in layers, and what a step takes.

    Attributes
    ----------
    seconds : float
        Predicted time of a call that follows others. Where the times of the layers are not known, that of the copies.
    interval : tuple of float
        Its prediction interval.
    first_seconds : float
        Predicted time of a call whose weights are not on their way yet.
    bound : float
        Seconds that no way to run the model under this limit falls below.
    memory, kept, streamed, ring : int
        Bytes: the limit, the weights that stay on the GPU, those that each call copies there, and the memory that these
        pass through.
    """

    def __init__(self, core: _core.LayerPlan) -> None:
        self._core = core
        self.seconds = core.seconds
        self.interval = core.interval
        self.first_seconds = core.first_seconds
        self.bound = core.bound
        self.memory = core.memory
        self.kept = core.kept
        self.streamed = core.streamed
        self.ring = core.ring

    def explain(self) -> str:
        """Return what a call takes, what stays on the GPU, and why."""
        return self._core.explain()

    def to_dict(self, points: bool = False) -> Any:
        """Return the plan as ``shiplap plan --layers --json`` prints it.

        With `points`, it has what a call takes under other limits of memory.
        """
        return object_of(self._core.to_json(points))

    def __repr__(self) -> str:
        return f"LayerPlan({self.explain().splitlines()[0]!r})"


@dataclass(eq=False)
class Weight:
    """A parameter of a layer, with its places."""

    parameter: Tensor
    size: int  # bytes that it takes, aligned
    offset: int = 0  # in the streamed part of its layer
    host: Tensor = None
    gpu: Tensor = None


@dataclass(eq=False)
class Piece:
    """Weights of a layer that one copy takes to the ring."""

    begin: int  # among the streamed weights of its layer
    place: int  # in the ring
    size: int
    beside: list[Layer] = field(default_factory=list)  # other layers that have weights in the same place


@dataclass(eq=False)
class Layer:
    """What runs as one piece: a module with the weights that only it has."""

    name: str
    module: Module
    weights: list[Weight] = field(default_factory=list)
    streamed: list[Weight] = field(default_factory=list)
    size: int = 0  # bytes of the streamed weights
    pieces: list[Piece] = field(default_factory=list)
    host: Tensor = None
    copied: Any = None  # event after the copies to the ring
    done: Any = None  # event after the last kernels that read them there
    fetched: int = 0  # number of pieces that the ring holds, or will once they are copied
    is_wanted: bool = False  # whether pieces were fetched ahead and not used since
    users: int = 0  # calls that are running
    versions: tuple[int, ...] = ()  # of its weights when they were copied
    own_place: Tensor = None  # memory of its own, where another running layer has its place
    began: Any = None  # events around its first run in a call that is measured
    ended: Any = None
    is_measured: bool = False

    def current_versions(self) -> tuple[int, ...]:
        """Return numbers that change with the weights."""
        return tuple(weight.parameter._version for weight in self.streamed)


def _is_plain(tensor: Tensor) -> bool:
    data = tensor.data if isinstance(tensor, torch.nn.Parameter) else tensor
    return type(data) is torch.Tensor and data.layout == torch.strided


def tensor_like(parameter: Tensor, memory: Tensor, offset: int) -> Tensor:
    """Return a tensor of the same shape and strides at an offset of a memory of bytes."""
    strides = torch.empty_like(parameter, device="meta").stride()
    return (
        memory[offset : offset + parameter.nbytes]
        .view(parameter.dtype)
        .as_strided(
            parameter.shape,
            strides,
            memory.storage_offset() // parameter.element_size() + offset // parameter.element_size(),
        )
    )


def _splits(module: Module, inside: bool) -> bool:
    """Whether the module has a list of modules in it, which are layers of their own."""
    lists = _LISTS if inside else (*_LISTS, torch.nn.Sequential)
    return any(isinstance(one, lists) and len(one) > 1 for one in module.modules())


def _modules_of_layers(model: Module, blocks: Iterable[Module] | None) -> Iterator[tuple[str, Module]]:
    """Yield the modules that are fetched as one piece: elements of lists, such as blocks, and what lies beside them.

    An element that has a list in it, such as a block with experts, is split further: what one call leaves out is not
    fetched. Modules that `blocks` names are not split.
    """
    whole_ones = set(blocks or ())

    def visit(name: str, module: Module, inside: bool) -> Iterator[tuple[str, Module]]:
        is_list = isinstance(module, (*_LISTS, torch.nn.Sequential))
        if module not in whole_ones and (_splits(module, inside) or (is_list and not inside)):
            for child_name, child in module.named_children():
                yield from visit(f"{name}.{child_name}" if name else child_name, child, inside or is_list)
        else:
            yield name or type(module).__name__, module

    seen: set[Module] = set()
    for name, module in visit("", model, False):
        if module not in seen and any(True for _ in module.parameters()):
            seen.add(module)
            yield name, module


def key_of(tensor: Tensor) -> Any:
    return id(tensor) if tensor.is_meta else tensor.untyped_storage().data_ptr()


class Parts:
    """The layers of a model, and the weights and buffers that are on the GPU all the time."""

    def __init__(self, model: Module, blocks: Iterable[Module] | None) -> None:
        self.layers = [Layer(name, module) for name, module in _modules_of_layers(model, blocks)]
        users: dict[Any, set[int]] = {}
        for number, layer in enumerate(self.layers):
            for parameter in layer.module.parameters():
                users.setdefault(key_of(parameter), set()).add(number)
        known: set[Any] = set()
        for layer in self.layers:
            for parameter in layer.module.parameters():
                if id(parameter) in known or len(users[key_of(parameter)]) > 1 or parameter.nbytes == 0:
                    continue
                known.add(id(parameter))
                layer.weights.append(Weight(parameter, _aligned(parameter.nbytes)))
        # Weights that several layers share, weights of modules that are split, and buffers, which kernels may change.
        self.fixed = [one for one in model.parameters() if id(one) not in known]
        self.buffers = list(model.buffers())
        for tensor in (*model.parameters(), *self.buffers):
            if tensor.is_inference():
                raise Unsupported(
                    "the model was made in inference mode, whose tensors keep their memory: make it under "
                    "torch.no_grad()"
                )
            if not _is_plain(tensor):
                raise Unsupported(
                    f"the model has a weight of type {type(tensor.data).__name__}: only plain tensors can be streamed"
                )
        storages = {key_of(one): _aligned(one.untyped_storage().nbytes()) for one in (*self.fixed, *self.buffers)}
        self.fixed_bytes = sum(storages.values())

    def plan(self, node: Node, name: str, memory: int, times: Sequence[float] | None = None) -> LayerPlan:
        seconds = times or [0.0] * len(self.layers)
        layers = [
            (layer.name, [weight.size for weight in layer.weights], time)
            for layer, time in zip(self.layers, seconds, strict=True)
        ]
        return LayerPlan(_core.plan_layers(node._core, name, layers, self.fixed_bytes, memory))


def has_own_storage(tensor: Tensor) -> bool:
    return tensor.untyped_storage().nbytes() == tensor.nbytes

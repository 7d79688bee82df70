"""Layers of a model of PyTorch: what is fetched as one piece, and the plan of what stays on the GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap import _core
from shiplap._core import Unsupported, UsageError
from shiplap._node import Node
from shiplap._show import object_of
from shiplap._torch_files import FilePart, Read

Tensor = Any
Module = Any

# Weights begin at multiples of this many bytes (alignment_of_weights of the library).
_ALIGNMENT = 512

# Blocks of a model with more layers are not split.
_MOST_LAYERS = 1024

# Smaller buffers are not worth a copy of their own.
_LEAST_PACKED = 1 << 20
_PACKED_KINDS = (torch.uint8, torch.int8, torch.int16, torch.int32)


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
        self.seconds: float = core.seconds
        self.interval: tuple[float, float] = core.interval
        self.first_seconds: float = core.first_seconds
        self.bound: float = core.bound
        self.memory: int = core.memory
        self.kept: int = core.kept
        self.streamed: int = core.streamed
        self.ring: int = core.ring

    def explain(self) -> str:
        """Return what a call takes, what stays on the GPU, and why."""
        return self._core.explain()

    def to_dict(self, points: bool = False) -> Any:
        """Return the plan as ``shiplap plan --layers --json`` prints it.

        With `points`, it has what a call takes under other limits of memory.
        """
        return object_of(self._core.to_json(points))

    def __repr__(self) -> str:
        sentence = self.explain().replace("\n", " ").split(". ")[0]
        return f"LayerPlan({sentence + '.'!r})"


@dataclass(eq=False)
class Weight:
    """A parameter of a layer, or a buffer of packed weights, with its places."""

    tensor: Tensor
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
    host: Tensor = None  # pinned memory of the streamed weights; None where they are read from files
    parts: list[FilePart] = field(default_factory=list)  # where the streamed weights are in files
    readings: list[Future[None]] = field(default_factory=list)  # that were asked for
    copied: Any = None  # event after the copies to the ring
    done: Any = None  # event after the last kernels that read them there
    fetched: int = 0  # number of pieces that the ring holds, or will once they are copied
    is_wanted: bool = False  # whether pieces were fetched ahead and not used since
    users: int = 0  # calls that are running
    versions: tuple[int, ...] = ()  # of its weights when they were copied
    entered: tuple[int, ...] = ()  # versions when its call began
    mapped_versions: tuple[int, ...] = ()  # versions when the files had these weights
    own_place: Tensor = None  # memory of its own, where another running layer has its place
    runs: list[tuple[Any, Any]] = field(default_factory=list)  # events around each run in a call that is measured

    def reads(self, begin: int, size: int) -> list[Read]:
        """Return what has to be read for this range of the streamed weights."""
        found = []
        for weight, part in zip(self.streamed, self.parts, strict=True):
            first = max(weight.offset, begin)
            last = min(weight.offset + weight.tensor.nbytes, begin + size)
            if first < last:
                found.append(Read(part, first - weight.offset, first - begin, last - first))
        return found

    def current_versions(self) -> tuple[int, ...]:
        """Return numbers that change with the weights."""
        return tuple(weight.tensor._version for weight in self.streamed)


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


def _is_packed(name: str, buffer: Tensor) -> bool:
    """Whether a buffer holds quantised weights, as `qweight` of GPTQ and AWQ does.

    Other large buffers, such as caches and masks, may be written by kernels that PyTorch knows nothing of.
    """
    return (
        "weight" in name.rpartition(".")[2]
        and _is_plain(buffer)
        and buffer.dtype in _PACKED_KINDS
        and buffer.nbytes >= _LEAST_PACKED
    )


def _weights_of(module: Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from (buffer for name, buffer in module.named_buffers() if _is_packed(name, buffer))


def _is_container(module: Module) -> bool:
    """Whether nobody calls the module: it only holds others."""
    return type(module).forward is torch.nn.Module.forward


def _splits(module: Module, inside: bool) -> bool:
    """Whether the module has a list of modules in it, which are layers of their own."""
    return any(
        _is_container(one) or (not inside and isinstance(one, torch.nn.Sequential) and len(one) > 1)
        for one in module.modules()
    )


def _modules_of_layers(model: Module, blocks: set[Module], are_whole: bool) -> Iterator[tuple[str, Module]]:
    """Yield the modules that are fetched as one piece: elements of lists, such as blocks, and what lies beside them.

    An element that has a list in it, such as a block with experts, is split further, so that what a call leaves out is
    not fetched, unless elements `are_whole`. Modules of `blocks` are not split.
    """

    def visit(name: str, module: Module, inside: bool) -> Iterator[tuple[str, Module]]:
        is_list = _is_container(module) or isinstance(module, torch.nn.Sequential)
        splits = _splits(module, inside) and not (inside and are_whole)
        if module not in blocks and (splits or _is_container(module)):
            for child_name, child in module.named_children():
                yield from visit(f"{name}.{child_name}" if name else child_name, child, inside or is_list)
        else:
            yield name or type(module).__name__, module

    seen: set[Module] = set()
    for name, module in visit("", model, False):
        if module not in seen and any(True for _ in _weights_of(module)):
            seen.add(module)
            yield name, module


def key_of(tensor: Tensor) -> Any:
    return id(tensor) if tensor.is_meta else tensor.untyped_storage().data_ptr()


class Parts:
    """The layers of a model, and the weights and buffers that are on the GPU all the time."""

    def __init__(self, model: Module, blocks: Iterable[Module] | None) -> None:
        for tensor in (*model.parameters(), *model.buffers()):
            _require_streamable(tensor)
        chosen = set(blocks or ())
        found = list(_modules_of_layers(model, chosen, False))
        if len(found) > _MOST_LAYERS:  # as of hundreds of experts in each of many blocks
            found = list(_modules_of_layers(model, chosen, True))
        for stranger in chosen - {module for _, module in found}:
            raise UsageError(
                f"blocks has a {type(stranger).__name__} that is no module of the model, or lies in another that is "
                "fetched as one piece"
            )
        self.layers = [Layer(name, module) for name, module in found]
        users: dict[Any, set[int]] = {}
        for number, layer in enumerate(self.layers):
            for tensor in _weights_of(layer.module):
                users.setdefault(key_of(tensor), set()).add(number)
        # Buffers that are views of one storage see each other's changes.
        owners = Counter(key_of(buffer) for buffer in model.buffers())
        known: set[Any] = set()
        for layer in self.layers:
            for tensor in _weights_of(layer.module):
                key = key_of(tensor)
                if id(tensor) in known or len(users[key]) > 1 or owners[key] > 1 or tensor.nbytes == 0:
                    continue
                known.add(id(tensor))
                layer.weights.append(Weight(tensor, _aligned(tensor.nbytes)))
        # Weights that several layers share, weights of modules that are split, and buffers that are no weights.
        self.fixed = [one for one in model.parameters() if id(one) not in known]
        self.buffers = [one for one in model.buffers() if id(one) not in known]
        storages = {key_of(one): _aligned(one.untyped_storage().nbytes()) for one in (*self.fixed, *self.buffers)}
        self.fixed_bytes = sum(storages.values())

    def plan(self, node: Node, name: str, memory: int, times: Sequence[float] | None = None) -> LayerPlan:
        seconds = times or [0.0] * len(self.layers)
        layers = [
            (layer.name, [weight.size for weight in layer.weights], time)
            for layer, time in zip(self.layers, seconds, strict=True)
        ]
        return LayerPlan(_core.plan_layers(node._core, name, layers, self.fixed_bytes, memory))


def _require_streamable(tensor: Tensor) -> None:
    if tensor.is_inference():
        raise Unsupported(
            "the model was made in inference mode, whose tensors keep their memory: make it under torch.no_grad()"
        )
    if not _is_plain(tensor):
        raise Unsupported(
            f"the model has a weight of type {type(tensor.data).__name__}: only plain tensors can be streamed"
        )


def move_storages(tensors: Iterable[Tensor], device: Any) -> None:
    """Move tensors in place, each storage once: what shares memory shares it there too."""
    moved: dict[Any, Any] = {}
    for tensor in tensors:
        data = tensor.data
        if data.device == device or data.numel() == 0:
            tensor.data = data.to(device)
            continue
        key = key_of(data)
        if key not in moved:
            whole = torch.empty(0, dtype=torch.uint8, device=data.device).set_(data.untyped_storage())
            moved[key] = whole.to(device).untyped_storage()
        there = torch.empty(0, dtype=data.dtype, device=device)
        tensor.data = there.set_(moved[key], data.storage_offset(), data.shape, data.stride())

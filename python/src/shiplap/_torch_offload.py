"""Models of PyTorch whose weights do not fit on the GPU: some stay there, the others are streamed layer by layer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap import _core
from shiplap._arguments import whole
from shiplap._arrays import array_at
from shiplap._core import Unsupported, UsageError
from shiplap._node import Node, node_of
from shiplap._torch_layers import Layer, LayerPlan, Module, Parts, Piece, Tensor, has_own_storage, key_of, tensor_like
from shiplap._torch_prefetch import map_tensors
from shiplap._torch_stream import UntilCopied


def _bytes(name: str, size: int | str) -> int:
    return _core.bytes_of(size, name) if isinstance(size, str) else whole(name, size, 1)


class _Now:
    """An event of the CPU, which does everything at once."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def record(self, stream: Any = None) -> None:
        self._seconds = time.perf_counter()

    def elapsed_time(self, end: _Now) -> float:
        return (end._seconds - self._seconds) * 1e3


class Offloaded:
    """A model whose weights are streamed: what `offload` makes of one, as the attribute ``offloaded`` of the model.

    Attributes
    ----------
    layers : list of str
        Names of what is fetched as one piece, in the order of their definition.
    device : torch.device
        The GPU.
    """

    def __init__(self, model: Module, memory: int, node: Node, blocks: Iterable[Module] | None) -> None:
        self._model = model
        self._node = node
        self._on_gpu = node.has_gpu
        self.device = torch.device("cuda", torch.cuda.current_device()) if self._on_gpu else torch.device("cpu")
        self._parts = Parts(model, blocks)
        self._layers = self._parts.layers
        self.layers = [layer.name for layer in self._layers]
        self._name = type(model).__name__
        self._plan = self._parts.plan(node, self._name, memory)
        self._copies = torch.cuda.Stream(self.device) if self._on_gpu else None
        self._order: list[Layer] = []
        self._called: list[Layer] = []
        self._position = 0  # of the layer that is used next, in calls of `_order`
        self._ahead = 0  # of the layer that is fetched next
        self._calls = 0
        self._is_measuring = False
        self._has_times = False
        self._depth = 0  # calls of the model that are running
        self._thread = 0
        self._lock = threading.RLock()
        self._caches_casts = True  # whether autocast kept converted weights before the call that is running
        with torch.inference_mode(False), torch.no_grad():
            self._place_resident()
            self._place()
        self._hooks = [
            model.register_forward_pre_hook(self._begin, prepend=True, with_kwargs=True),
            model.register_forward_hook(self._end, always_call=True),
        ]
        for layer in self._layers:
            self._hooks.append(layer.module.register_forward_pre_hook(self._entering(layer), prepend=True))
            self._hooks.append(layer.module.register_forward_hook(self._leaving(layer), always_call=True))
        model._apply = self._refuse_to_move
        self._class = type(model)
        if isinstance(getattr(self._class, "device", None), property):  # as models of transformers have it
            device = self.device
            model.__class__ = type(
                self._class.__name__,
                (self._class,),
                {"device": property(lambda _: device), "__module__": self._class.__module__},
            )
        self._fetch_ahead()

    @property
    def plan(self) -> LayerPlan:
        """The plan, with the times of the layers as they were measured (`measure_again`)."""
        times = self._times()
        return self._plan if times is None else LayerPlan(self._plan._core.timed(times))

    def measure_again(self) -> None:
        """Measure the times of the layers in the next call, as for another number of tokens.

        They are those of the second call otherwise.
        """
        with self._lock:
            for layer in self._layers:
                layer.began = layer.ended = None
                layer.is_measured = False
            self._is_measuring = True
            self._has_times = False

    def plan_again(self) -> LayerPlan:
        """Plan with the times of the layers that were measured, and move the weights accordingly.

        The first plan knows no times. It is good for short and for long ones, and the best for neither. Moving takes
        about as long as `offload` does. Raises UsageError before the second call, and while the model runs.
        """
        with self._lock, torch.inference_mode(False), torch.no_grad():
            times = self._times()
            if times is None or self._depth > 0:
                raise UsageError("the times of the layers are not known yet: call the model twice first")
            plan = self._parts.plan(self._node, self._name, self._plan.memory, times)
            self._give_up_places()  # before there are others
            self._plan = plan
            self._place()
            self._fetch_ahead()
        return plan

    def remove(self) -> Module:
        """Take everything back: the model is as before, with its weights in host memory. Returns the model."""
        with self._lock, torch.inference_mode(False), torch.no_grad():
            for hook in self._hooks:
                hook.remove()
            del self._model._apply
            self._model.__class__ = self._class
            self._give_up_places()
            for tensor in self._resident:
                tensor.data = tensor.data.cpu()
            self._layers, self._order = [], []
            del self._model.offloaded
        return self._model

    # Set-up.

    def _place(self) -> None:
        """Give every weight of a layer its place: on the GPU, or in pinned memory and in the ring."""
        memory = torch.empty(self._plan.kept + self._plan.ring, dtype=torch.uint8, device=self.device)
        if self._on_gpu:
            memory.record_stream(self._copies)
        ring = memory[: self._plan.ring]
        end = self._plan.ring
        for layer, (kept, pieces) in zip(self._layers, self._plan._core.places(), strict=True):
            layer.pieces = [Piece(*piece) for piece in pieces]
            layer.streamed, layer.size, layer.fetched, layer.is_wanted = [], 0, 0, False
            for weight, stays in zip(layer.weights, kept, strict=True):
                weight.host = None
                if stays:
                    weight.gpu = tensor_like(weight.parameter, memory, end)
                    weight.gpu.copy_(weight.parameter)
                    weight.parameter.data = weight.gpu
                    end += weight.size
                else:
                    weight.offset = layer.size
                    layer.size += weight.size
                    layer.streamed.append(weight)
            self._pin(layer, ring)
        self._order = [layer for layer in self._layers if layer.size > 0]
        for layer in self._order:
            for piece in layer.pieces:
                piece.beside = [
                    other
                    for other in self._order
                    if other is not layer
                    and any(
                        one.place < piece.place + piece.size and piece.place < one.place + one.size
                        for one in other.pieces
                    )
                ]
        self._ring = memory
        self._position = self._ahead = 0

    def _give_up_places(self) -> None:
        """Bring what stays on the GPU to the host, and release the memory there."""
        if self._on_gpu:
            torch.cuda.synchronize(self.device)
        for layer in self._layers:
            layer.streamed = []
            for weight in layer.weights:
                if weight.host is None:
                    weight.parameter.data = weight.parameter.data.cpu()
                weight.gpu = None
        self._ring = None

    def _place_resident(self) -> None:
        """Move to the GPU what is there all the time."""
        self._resident = [*self._parts.fixed, *self._parts.buffers]
        moved: dict[Any, Tensor] = {}
        for tensor in self._resident:
            there = tensor.data.to(self.device)
            tensor.data = moved.setdefault(key_of(tensor), there) if has_own_storage(tensor) else there

    def _pin(self, layer: Layer, ring: Tensor) -> None:
        """Move the streamed weights of a layer into pinned memory, from where one copy takes them to the ring."""
        if layer.size == 0:
            return
        pinned = self._node.pinned_empty(layer.size, np.uint8)
        if self._on_gpu:
            pinned = array_at(pinned.ctypes.data, pinned.shape, pinned.dtype, UntilCopied(pinned))
        layer.host = torch.from_numpy(pinned)
        for weight in layer.streamed:
            weight.host = tensor_like(weight.parameter, layer.host, weight.offset)
            weight.host.copy_(weight.parameter)
            weight.parameter.data = weight.host  # frees the memory that it had
        self._look_at_ring(layer, ring)
        layer.copied, layer.done = self._event(), self._event()

    def _event(self, timed: bool = False) -> Any:
        return torch.cuda.Event(enable_timing=timed) if self._on_gpu else _Now()

    def _refuse_to_move(self, *_: Any, **__: Any) -> Any:
        raise UsageError(
            "the model is offloaded, so it cannot be moved or converted: call model.offloaded.remove() first"
        )

    def __deepcopy__(self, _: Any) -> Any:
        raise UsageError("the model is offloaded, so it cannot be copied: call model.offloaded.remove() first")

    def __reduce__(self) -> Any:
        raise UsageError("the model is offloaded, so it cannot be saved as a whole: save its state_dict()")

    # A call of the model.

    def _begin(self, _: Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        with self._lock:
            if self._depth > 0 and self._thread != threading.get_ident():
                raise UsageError("the model is offloaded and runs in another thread: one call at a time may use it")
            self._depth += 1
            self._thread = threading.get_ident()
            if self._depth == 1:
                self._called = []
                # Autocast would keep converted copies of all weights.
                self._caches_casts = torch.is_autocast_cache_enabled()
                torch.set_autocast_cache_enabled(False)
        to_gpu = lambda tensor: tensor.to(self.device, non_blocking=True)  # noqa: E731
        return map_tensors(args, to_gpu), map_tensors(kwargs, to_gpu)

    def _end(self, _: Module, __: Any, result: Any) -> None:
        with self._lock:
            if self._thread != threading.get_ident():
                return  # it was refused when it began
            self._depth -= 1
            if self._depth > 0:
                return
            torch.set_autocast_cache_enabled(self._caches_casts)
            if result is not None:  # there is none after an exception
                self._has_times = self._has_times or self._is_measuring
                self._is_measuring = self._calls == 0  # the first call has what is made once
                self._calls += 1
                self._learn()
            if self._order:
                self._skip_to(-(-self._position // len(self._order)) * len(self._order))
            self._fetch_ahead()

    def _learn(self) -> None:
        """Take the order of the layers from the call that ends.

        Layers that a call has left out, such as experts, are fetched from now on when they are called.
        """
        known = {id(layer) for layer in self._order}
        used = [layer for layer in self._called if layer.size > 0 and id(layer) in known]
        if used and used != self._order:
            self._order = used
            self._position = self._ahead = 0
            for layer in self._layers:
                layer.is_wanted = False

    def _entering(self, layer: Layer) -> Any:
        @torch.compiler.disable
        def hook(*_: Any) -> None:
            self._enter(layer)

        return hook

    def _leaving(self, layer: Layer) -> Any:
        @torch.compiler.disable
        def hook(*_: Any) -> None:
            self._leave(layer)

        return hook

    def _enter(self, layer: Layer) -> None:
        with self._lock:
            if torch.is_grad_enabled() and any(weight.parameter.requires_grad for weight in layer.weights):
                raise UsageError(
                    "the model is offloaded, which has no gradients: call it under torch.no_grad() or "
                    "torch.inference_mode()"
                )
            if self._on_gpu and torch.cuda.is_current_stream_capturing():
                raise Unsupported("the model is offloaded, and its copies cannot be part of a CUDA graph of the caller")
            layer.users += 1
            self._called.append(layer)
            if layer.users == 1 and layer.size > 0:
                self._find(layer)
                self._forget_changed(layer)
                if layer.fetched < len(layer.pieces):
                    self._fetch(layer)
                layer.is_wanted = False
                if self._on_gpu:
                    torch.cuda.current_stream(self.device).wait_event(layer.copied)
                for weight in layer.streamed:
                    weight.parameter.data = weight.gpu
            if self._is_measuring and layer.began is None:
                layer.began, layer.ended = self._event(True), self._event(True)
                layer.began.record()

    def _leave(self, layer: Layer) -> None:
        with self._lock:
            if layer.users == 0:
                return  # it was refused when it was entered
            layer.users -= 1
            if self._is_measuring and layer.began is not None and layer.users == 0 and not layer.is_measured:
                layer.ended.record()
                layer.is_measured = True
            if layer.users > 0 or layer.size == 0:
                return
            for weight in layer.streamed:
                weight.parameter.data = weight.host
            if layer.own_place is not None:
                layer.own_place = None
                layer.fetched = 0
                self._look_at_ring(layer, self._ring)
            elif self._on_gpu:
                layer.done.record(torch.cuda.current_stream(self.device))
            self._fetch_ahead()

    # What is fetched, and when.

    def _look_at_ring(self, layer: Layer, ring: Tensor) -> None:
        """Let the weights of a layer on the GPU be those in the ring."""
        with torch.inference_mode(False):
            for weight in layer.streamed:
                piece = next(one for one in layer.pieces if 0 <= weight.offset - one.begin < one.size)
                weight.gpu = tensor_like(weight.host, ring, piece.place + weight.offset - piece.begin)

    @staticmethod
    def _forget_changed(layer: Layer) -> None:
        """Fetch weights again that the caller has changed since they were copied."""
        if layer.fetched > 0 and layer.versions != layer.current_versions():
            layer.fetched = 0

    def _find(self, layer: Layer) -> None:
        """Set the position behind this layer. Layers that the model has left out need not be there any more."""
        count = len(self._order)
        for position in range(self._position, self._position + count):
            if self._order[position % count] is layer:
                self._skip_to(position)
                self._position = position + 1
                self._ahead = max(self._ahead, self._position)
                return

    def _skip_to(self, position: int) -> None:
        for skipped in range(self._position, position):
            self._order[skipped % len(self._order)].is_wanted = False
        self._position = position
        self._ahead = max(self._ahead, position)

    def _fetch(self, layer: Layer) -> None:
        """Fetch what is missing of a layer that is needed now."""
        if any(other.users > 0 for piece in layer.pieces[layer.fetched :] for other in piece.beside):
            with torch.inference_mode(False), torch.no_grad():
                layer.own_place = layer.host.to(self.device, non_blocking=True)
                for weight in layer.streamed:
                    weight.gpu = tensor_like(weight.host, layer.own_place, weight.offset)
            layer.copied.record()
            layer.fetched = len(layer.pieces)
            layer.versions = layer.current_versions()
            return
        while layer.fetched < len(layer.pieces):
            self._fetch_piece(layer)

    def _fetch_piece(self, layer: Layer) -> None:
        """Copy the next piece of a layer to its place in the ring, after the kernels that need what is there."""
        piece = layer.pieces[layer.fetched]
        if layer.fetched == 0:
            layer.versions = layer.current_versions()
        for other in piece.beside:
            other.fetched = 0
            other.is_wanted = False
        with torch.inference_mode(False), torch.no_grad():
            target = self._ring[piece.place : piece.place + piece.size]
            source = layer.host[piece.begin : piece.begin + piece.size]
            if self._on_gpu:
                for other in (*piece.beside, layer):
                    self._copies.wait_event(other.done)
                with torch.cuda.stream(self._copies):
                    target.copy_(source, non_blocking=True)
            else:
                target.copy_(source)
        layer.fetched += 1
        if layer.fetched == len(layer.pieces):
            layer.copied.record(self._copies)

    def _fetch_ahead(self) -> None:
        """Fetch the layers that follow, piece by piece, as long as their places are free."""
        count = len(self._order)
        while count > 0 and self._ahead < self._position + count:
            layer = self._order[self._ahead % count]
            if layer.users > 0:
                return
            self._forget_changed(layer)
            while layer.fetched < len(layer.pieces):
                if any(other.users > 0 or other.is_wanted for other in layer.pieces[layer.fetched].beside):
                    return
                self._fetch_piece(layer)
                layer.is_wanted = True
            layer.is_wanted = True
            self._ahead += 1

    def _times(self) -> list[float] | None:
        """Return the seconds of each layer's kernels, or None before they are known."""
        if not self._has_times:
            return None
        if self._on_gpu:
            torch.cuda.synchronize(self.device)
        return [layer.began.elapsed_time(layer.ended) / 1e3 if layer.is_measured else 0.0 for layer in self._layers]


def _model_of(model: Any) -> Module:
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"model is a {type(model).__name__}: give a torch.nn.Module")
    if getattr(model, "offloaded", None) is not None:
        raise UsageError("the model is offloaded already: call model.offloaded.remove() first")
    return model


def fit(
    model: Module,
    memory: int | str,
    *,
    node: Node | str | None = None,
    blocks: Sequence[Module] | None = None,
) -> LayerPlan:
    """Say what a model would take under a limit of device memory, and move nothing.

    The weights may be on the device ``"meta"``: nothing is read but their sizes. The parameters are those of `offload`.
    """
    return Parts(_model_of(model), blocks).plan(node_of(node), type(model).__name__, _bytes("memory", memory))


def offload(
    model: Module,
    memory: int | str,
    *,
    node: Node | str | None = None,
    blocks: Sequence[Module] | None = None,
) -> Module:
    """Let a model run on the GPU whose weights do not fit there, and return it.

    Weights stay on the GPU as far as `memory` allows, a part of every layer. The others are in pinned host memory, and
    are copied while earlier layers run: those of the next call already while this one ends. Results are those of the
    model on the GPU.

    Parameters
    ----------
    model
        A module in evaluation. Its weights move into other memory. What is fetched as one piece are the elements of its
        lists of modules (`ModuleList`, `Sequential`), and the modules beside them.
    memory
        Most bytes of device memory for weights, buffers and the ring that the others pass through, as a number or as in
        ``"8 GiB"``. Activations, and what the program has on the GPU besides, are not part of it.
    node
        The node, or the name of a device; None for `default_node`. A virtual device computes on the CPU.
    blocks
        Modules that are fetched as one piece although they have lists of modules, because they read weights of others
        than those that they call.

    Returns
    -------
    torch.nn.Module
        The same model. ``model.offloaded`` has its plan (`Offloaded.plan`) and takes everything back
        (`Offloaded.remove`). ``state_dict`` and ``load_state_dict`` work as before; tensors that are given to the model
        are copied to the GPU.

    Raises
    ------
    UsageError
        For something else than a module. Calls that want gradients raise it too.
    Unsupported
        When the largest layer is larger than `memory`, and for weights that are no plain tensors.
    """
    module = _model_of(model)
    found = node_of(node)
    module.offloaded = Offloaded(module, _bytes("memory", memory), found, blocks)
    return module

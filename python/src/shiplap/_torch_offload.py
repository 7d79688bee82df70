"""Models of PyTorch whose weights do not fit on the GPU: some stay there, the others are streamed layer by layer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import wait
from functools import partial
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap import _core
from shiplap._arguments import whole
from shiplap._arrays import array_at
from shiplap._core import Unsupported, UsageError
from shiplap._node import Node, node_of
from shiplap._torch_files import FilePart, FileReader, MappedFiles
from shiplap._torch_layers import Layer, LayerPlan, Module, Parts, Piece, Tensor, move_storages, tensor_like
from shiplap._torch_prefetch import map_tensors, tensors_of
from shiplap._torch_stream import UntilCopied


def _bytes(name: str, size: int | str, least: int = 1) -> int:
    return _core.bytes_of(size, name) if isinstance(size, str) else whole(name, size, least)


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

    def __init__(
        self,
        model: Module,
        memory: int,
        node: Node,
        blocks: Iterable[Module] | None,
        host_memory: int | None,
    ) -> None:
        self._model = model
        self._host_memory = host_memory
        self._reader: FileReader | None = None
        self._node = node
        self._on_gpu = node.has_gpu
        # Not the current GPU, but the plan's. Further GPUs of the node lend their links.
        self.device: Any = torch.device(node.device.split(",")[0] if self._on_gpu else "cpu")
        self._copier = _core.Copier(node._core, None, None) if self._on_gpu and "," in node.device else None
        self._parts = Parts(model, blocks)
        self._layers = self._parts.layers
        self.layers: list[str] = [layer.name for layer in self._layers]
        self._name = type(model).__name__
        self._plan = self._parts.plan(node, self._name, memory)
        self._copies: Any = torch.cuda.Stream(self.device) if self._on_gpu else None
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
            try:
                self._place_resident()
                self._place()
            except BaseException:
                self._bring_back()
                raise
        wrap(model, self._begin, self._end)
        for layer in self._layers:
            wrap(layer.module, partial(self._enter, layer), partial(self._leave, layer))
        self._guarded = list(model.modules())
        self._load_hooks = []
        for module in self._guarded:
            module._apply = module.__deepcopy__ = self._refuse
            self._load_hooks.append(module.register_load_state_dict_pre_hook(self._before_loading))
        self._class = type(model)
        if isinstance(getattr(self._class, "device", None), property):  # as models of transformers have it
            device = self.device
            model.__class__ = type(
                self._class.__name__,
                (self._class,),
                {
                    "device": property(lambda _: device),
                    "__module__": self._class.__module__,
                    "__reduce_ex__": lambda own, _: own.offloaded.__reduce__(),
                },
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
                layer.runs = []
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
            if self._depth > 0:
                raise UsageError("the model runs: remove what `offload` has made of it after the call")
            for hook in self._load_hooks:
                hook.remove()
            for module in self._guarded:
                del module._apply, module.__deepcopy__
            for module in {self._model, *(layer.module for layer in self._layers)}:
                del module._call_impl
            self._model.__class__ = self._class
            self._bring_back()
            self._layers, self._order = [], []
            del self._model.offloaded
        return self._model

    def refetch(self) -> None:
        """Say that weights were changed in a way that PyTorch does not count, as through ``.data``.

        Waits for the copies that are on their way. They are fetched again when they are needed.
        """
        with self._lock:
            self._wait_for_copies()
            for layer in self._layers:
                layer.fetched = 0
                if any(
                    not part.is_unchanged(weight.host)
                    for weight, part in zip(layer.streamed, layer.parts, strict=False)
                ):
                    with torch.inference_mode(False), torch.no_grad():
                        self._take_from_files(layer)

    # Set-up.

    def _place(self) -> None:
        """Give every weight of a layer its place: on the GPU, or in pinned memory and in the ring."""
        # The ring and the weights that stay are one allocation: PyTorch keeps freed memory in pieces, and two new ones
        # of other sizes would not always fit into two old ones.
        memory = torch.empty(self._plan.ring + self._plan.kept, dtype=torch.uint8, device=self.device)
        self._ring = ring = memory[: self._plan.ring]
        if self._on_gpu:
            memory.record_stream(self._copies)
            self._copies.wait_stream(torch.cuda.current_stream(self.device))  # somebody may have had this memory
        end = self._plan.ring
        for layer, (kept, pieces) in zip(self._layers, self._plan._core.places(), strict=True):
            layer.pieces = [Piece(*piece) for piece in pieces]
            layer.streamed, layer.size, layer.fetched, layer.is_wanted = [], 0, 0, False
            layer.copied, layer.done = self._event(), self._event()
            for weight, stays in zip(layer.weights, kept, strict=True):
                weight.host = None
                if stays:
                    weight.gpu = tensor_like(weight.tensor, memory, end)
                    weight.gpu.copy_(weight.tensor)
                    weight.tensor.data = weight.gpu
                    end += weight.size
                else:
                    weight.offset = layer.size
                    layer.size += weight.size
                    layer.streamed.append(weight)
        from_files = self._from_files()
        for layer in self._layers:
            if layer in from_files:
                self._leave_in_files(layer, from_files[layer], ring)
            else:
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
        self._position = self._ahead = 0

    def _give_up_places(self) -> None:
        """Bring what stays on the GPU to the host, and release the memory there."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._on_gpu:
            torch.cuda.synchronize(self.device)
        for layer in self._layers:
            layer.streamed, layer.parts = [], []
            layer.users = 0
            layer.own_place = None
            for weight in layer.weights:
                if weight.host is not None:
                    weight.tensor.data = weight.host
                elif weight.gpu is not None:
                    # Where the "GPU" is the CPU, a weight needs a storage of its own too: those in one storage would
                    # be taken for weights that layers share.
                    weight.tensor.data = weight.gpu.to("cpu", copy=True)
                weight.gpu = None
        self._ring = None

    def _bring_back(self) -> None:
        """Bring everything to the host: what had a place, and what has come to the model since."""
        self._give_up_places()
        move_storages([*self._model.parameters(), *self._model.buffers()], torch.device("cpu"))

    def _place_resident(self) -> None:
        """Move to the GPU what is there all the time."""
        move_storages([*self._parts.fixed, *self._parts.buffers], self.device)

    def _pin(self, layer: Layer, ring: Tensor) -> None:
        """Copy the streamed weights of a layer into pinned memory, from where one copy takes them to the ring."""
        if layer.size == 0:
            return
        pinned = self._node.pinned_empty(layer.size, np.uint8)
        if self._on_gpu:
            pinned = array_at(pinned.ctypes.data, pinned.shape, pinned.dtype, UntilCopied(pinned))
        layer.host = torch.from_numpy(pinned)
        layer.parts = []
        for weight in layer.streamed:
            weight.host = tensor_like(weight.tensor, layer.host, weight.offset)
            weight.host.copy_(weight.tensor)
            weight.tensor.data = weight.host  # frees the memory that it had
        self._look_at_ring(layer, ring)

    def _from_files(self) -> dict[Layer, list[FilePart]]:
        """Return the layers that are read from files because host memory is limited, with their places there.

        They are spread over the model, so that there is time to read each.
        """
        found: dict[Layer, list[FilePart]] = {}
        streamed = sum(layer.size for layer in self._layers)
        if self._host_memory is None or streamed <= self._host_memory:
            return found
        files = MappedFiles()
        for layer in self._layers:
            parts = [files.part(weight.tensor.data) for weight in layer.streamed]
            if parts and None not in parts:
                found[layer] = [part for part in parts if part is not None]
        in_files = sum(layer.size for layer in found)
        if streamed - in_files > self._host_memory:
            raise Unsupported(
                f"{streamed - in_files} bytes of weights that do not stay on the GPU are in no file, or may have been "
                f"changed since, and host_memory is {self._host_memory}: load the model with memory-mapped files, as "
                "by torch.load(path, mmap=True) and load_state_dict(..., assign=True), and leave its weights alone"
            )
        owed = 0.0
        for layer in list(found):
            owed += layer.size * (streamed - self._host_memory) / in_files
            if owed <= 0:
                del found[layer]
            else:
                owed -= layer.size
        return found

    def _leave_in_files(self, layer: Layer, parts: list[FilePart], ring: Tensor) -> None:
        """Leave the streamed weights of a layer where they are mapped, to be read when they are needed."""
        if self._reader is None:
            self._reader = FileReader(self._node, self._copies if self._on_gpu else None)
        layer.host = None
        layer.parts = parts
        for weight in layer.streamed:
            weight.host = weight.tensor.data
        layer.mapped_versions = layer.current_versions()
        self._look_at_ring(layer, ring)

    def _take_from_files(self, layer: Layer) -> None:
        """Pin weights that are no longer those of their files."""
        if layer.parts:
            self._wait_for_copies()
            self._pin(layer, self._ring)

    def _event(self, timed: bool = False) -> Any:
        return torch.cuda.Event(enable_timing=timed) if self._on_gpu else _Now()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise UsageError(
            "the model is offloaded, so it cannot be moved, converted or copied: call model.offloaded.remove() first"
        )

    def __deepcopy__(self, _: Any) -> Any:
        return self._refuse()

    def __reduce__(self) -> Any:
        raise UsageError("the model is offloaded, so it cannot be saved as a whole: save its state_dict()")

    def _wait_for_copies(self) -> None:
        if self._reader is not None:
            self._reader.drain()
        if self._on_gpu:
            self._copies.synchronize()

    def _before_loading(self, _: Module, __: Any, ___: Any, metadata: Any, *____: Any) -> None:
        if metadata.get("assign_to_params_buffers"):
            raise UsageError("the model is offloaded: load_state_dict(assign=True) would replace its weights")
        self._wait_for_copies()

    # A call of the model.

    def _require_call(self, parameters: Iterable[Tensor], inputs: Any) -> None:
        """Refuse a call that cannot be right."""
        if self._depth > 0 and self._thread != threading.get_ident():
            raise UsageError("the model is offloaded and runs in another thread: one call at a time may use it")
        if torch.is_grad_enabled() and any(one.requires_grad for one in (*parameters, *tensors_of(inputs))):
            raise UsageError(
                "the model is offloaded, which has no gradients: call it under torch.no_grad() or "
                "torch.inference_mode()"
            )
        if self._on_gpu and torch.cuda.is_current_stream_capturing():
            raise Unsupported("the model is offloaded, and its copies cannot be part of a CUDA graph of the caller")

    def _begin(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        with self._lock:
            self._require_call(self._parts.fixed, (args, kwargs))
            self._depth += 1
            self._thread = threading.get_ident()
            if self._depth == 1:
                self._called = []
                # Autocast would keep converted copies of all weights.
                self._caches_casts = torch.is_autocast_cache_enabled()
                torch.set_autocast_cache_enabled(False)
        # A copy that does not wait would read what the caller may have changed since.
        return map_tensors(args, lambda one: one.to(self.device)), map_tensors(kwargs, lambda one: one.to(self.device))

    def _end(self, result: Any, has_failed: bool) -> Any:
        with self._lock:
            self._depth -= 1
            if self._depth > 0:
                return result
            torch.set_autocast_cache_enabled(self._caches_casts)
            if not has_failed:
                self._has_times = self._has_times or self._is_measuring
                self._is_measuring = self._calls == 0  # the first call has what is made once
                self._calls += 1
                self._learn()
            if self._order:
                self._skip_to(-(-self._position // len(self._order)) * len(self._order))
            self._fetch_ahead()
        return result

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

    def _enter(self, layer: Layer, args: Any, kwargs: Any) -> tuple[Any, Any]:
        with self._lock:
            self._require_call((weight.tensor for weight in layer.weights), (args, kwargs))
            if layer.size > 0 and layer.users == 0:
                self._bring(layer)
            layer.users += 1
            if self._depth > 0:
                self._called.append(layer)
            if layer.size > 0:
                if layer.users == 1:
                    for weight in layer.streamed:
                        weight.tensor.data = weight.gpu
                    layer.entered = layer.current_versions()
                if self._on_gpu:
                    for event in (layer.copied, layer.done):  # the last call may have been in another stream
                        self._stream().wait_event(event)
            if self._is_measuring and layer.users == 1:
                layer.runs.append((self._event(True), self._event(True)))
                layer.runs[-1][0].record(self._stream())
        return args, kwargs

    def _bring(self, layer: Layer) -> None:
        """Have the weights of a layer on the GPU, or on their way."""
        self._find(layer)
        self._forget_changed(layer)
        for is_last in (False, True):
            if layer.fetched < len(layer.pieces):
                self._fetch(layer)
            layer.is_wanted = False
            wait(layer.readings)  # an interrupt leaves them, so that the next call waits for them
            readings, layer.readings = layer.readings, []
            failures = [failure for one in readings if (failure := one.exception()) is not None]
            if not failures:
                return
            self._forget_failed(layer)
            # The first read may have failed ahead of this call, and the file may be back since.
            if is_last:
                raise failures[0]

    def _forget_failed(self, layer: Layer) -> None:
        """Fetch again what could not be read, for this layer and those that were fetched ahead."""
        layer.fetched = 0
        layer.own_place = None
        self._look_at_ring(layer, self._ring)
        for ahead in self._layers:
            wait(ahead.readings)
            if any(reading.exception() is not None for reading in ahead.readings):
                ahead.fetched = 0
                ahead.readings = []

    def _leave(self, layer: Layer, result: Any, _: bool) -> Any:
        with self._lock:
            layer.users -= 1
            if layer.users > 0:
                return result
            if self._is_measuring and layer.runs:
                layer.runs[-1][1].record(self._stream())
            if layer.size == 0:
                return result
            result = self._own(layer, result)
            if layer.entered != layer.current_versions():  # the layer has changed its own weights
                with torch.inference_mode(False), torch.no_grad():
                    if layer.parts:
                        self._take_from_files(layer)
                    else:
                        for weight in layer.streamed:
                            weight.host.copy_(weight.gpu)
                layer.versions = layer.current_versions()
            for weight in layer.streamed:
                weight.tensor.data = weight.host
            if layer.own_place is not None:
                layer.own_place = None
                layer.fetched = 0
                self._look_at_ring(layer, self._ring)
            elif self._on_gpu:
                layer.done.record(self._stream())
            self._fetch_ahead()
        return result

    def _stream(self) -> Any:
        return torch.cuda.current_stream(self.device) if self._on_gpu else None

    def _own(self, layer: Layer, result: Any) -> Any:
        """Copy results that are parts of weights, whose memory others get."""
        places = [
            range(place.data_ptr(), place.data_ptr() + place.nbytes)
            for place in (self._ring, layer.own_place)
            if place is not None
        ]
        return map_tensors(result, lambda one: one.clone() if any(one.data_ptr() in place for place in places) else one)

    # What is fetched, and when.

    def _look_at_ring(self, layer: Layer, ring: Tensor) -> None:
        """Let the weights of a layer on the GPU be those in the ring."""
        with torch.inference_mode(False):
            for weight in layer.streamed:
                piece = next(one for one in layer.pieces if 0 <= weight.offset - one.begin < one.size)
                weight.gpu = tensor_like(weight.host, ring, piece.place + weight.offset - piece.begin)

    def _forget_changed(self, layer: Layer) -> None:
        """Fetch weights again that the caller has changed since they were copied, or given another memory."""
        for weight in layer.streamed:
            if weight.tensor.shape != weight.host.shape or weight.tensor.dtype != weight.host.dtype:
                raise UsageError(
                    f"a weight of {layer.name} has another shape or type than when the model was offloaded: call "
                    "model.offloaded.remove() before such a change, and offload again after it"
                )
            if weight.tensor.data_ptr() != weight.host.data_ptr():
                with torch.inference_mode(False), torch.no_grad():
                    self._wait_for_copies()
                    if layer.parts:
                        self._take_from_files(layer)
                    else:
                        weight.host.copy_(weight.tensor.data)
                layer.fetched = 0
        if layer.parts and layer.mapped_versions != layer.current_versions():
            with torch.inference_mode(False), torch.no_grad():
                self._take_from_files(layer)
            layer.fetched = 0
        if layer.fetched > 0 and layer.versions != layer.current_versions():
            layer.fetched = 0
            if self._on_gpu:
                self._copies.wait_stream(self._stream())  # which may still change them

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
                layer.own_place = torch.empty(layer.size, dtype=torch.uint8, device=self.device)
                for weight in layer.streamed:
                    weight.gpu = tensor_like(weight.host, layer.own_place, weight.offset)
            if self._on_gpu:
                layer.own_place.record_stream(self._copies)
                self._copies.wait_stream(self._stream())  # somebody may have had this memory
            try:
                self._copy(layer, 0, layer.own_place, is_last=True)
            except BaseException:
                layer.own_place = None
                self._look_at_ring(layer, self._ring)
                raise
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
            wait(other.readings)  # which may still be about to write to this place
            other.readings = []
        if self._on_gpu:
            for other in (*piece.beside, layer):
                self._copies.wait_event(other.done)
        target = self._ring[piece.place : piece.place + piece.size]
        self._copy(layer, piece.begin, target, layer.fetched + 1 == len(layer.pieces))
        layer.fetched += 1

    def _copy(self, layer: Layer, begin: int, target: Tensor, is_last: bool) -> None:
        """Copy the streamed weights of a layer from `begin` on, as many as there is room for."""

        def note_end() -> None:
            if is_last:
                layer.copied.record(self._copies)

        if layer.parts:
            assert self._reader is not None
            layer.readings.append(self._reader.read(layer.reads(begin, target.numel()), target, note_end))
            return
        source = layer.host[begin : begin + target.numel()]
        with torch.inference_mode(False), torch.no_grad():
            if self._copier is not None:
                self._copier.copy(target.data_ptr(), source.data_ptr(), target.numel(), self._copies.cuda_stream)
            elif self._on_gpu:
                with torch.cuda.stream(self._copies):
                    target.copy_(source, non_blocking=True)
            else:
                target.copy_(source)
        note_end()

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
        return [sum(begin.elapsed_time(end) for begin, end in layer.runs) / 1e3 for layer in self._layers]


def wrap(module: Module, before: Any, after: Any) -> None:
    """Let a module call `before` and `after` around itself and the hooks of others, whatever happens there."""
    call = module._call_impl

    def calling_before(args: Any, kwargs: Any) -> Any:
        return before(args, kwargs)

    def calling_after(result: Any, has_failed: bool) -> Any:
        return after(result, has_failed)

    begin: Any = torch.compiler.disable(calling_before)
    end: Any = torch.compiler.disable(calling_after)

    def call_impl(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = begin(args, kwargs)
        try:
            result = call(*args, **kwargs)
        except BaseException:
            end(None, True)
            raise
        return end(result, False)

    module._call_impl = call_impl


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
    host_memory: int | str | None = None,
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
        The node, or the name of a device; None for `default_node`. A virtual device computes on the CPU. Of several
        GPUs, as in ``"cuda:0,1"``, the first runs the model, and weights also arrive over the links of the others.
    blocks
        Modules that are fetched as one piece although they have lists of modules, because they read weights of others
        than those that they call.

    host_memory
        Most bytes of pinned host memory for weights; None for no limit. Weights beyond it stay in the files that they
        are mapped from, as by ``torch.load(path, mmap=True)`` and ``load_state_dict(..., assign=True)``, and are read
        in every call. The plan takes this to be as fast as the link, which it is from the page cache at best.

    Returns
    -------
    torch.nn.Module
        The same model. ``model.offloaded`` has its plan (`Offloaded.plan`) and takes everything back
        (`Offloaded.remove`). ``state_dict`` and ``load_state_dict`` work. Tensors that are given to the model are
        copied to the GPU.

    Raises
    ------
    UsageError
        For something else than a module, and for `blocks` that it does not have. Calls that want gradients raise it
        too.
    Unsupported
        When the largest layer is larger than `memory`, for weights that are no plain tensors, and where those that are
        in no file are larger than `host_memory`.
    Error
        In a call, with path and offset, when a file has fewer bytes than were mapped from it, or cannot be read.
    """
    module = _model_of(model)
    found = node_of(node)
    absent = [name for name, one in (*module.named_parameters(), *module.named_buffers()) if one.is_meta]
    if absent:
        others = f" and {len(absent) - 1} more" if absent[1:] else ""
        raise UsageError(
            f'{absent[0]}{others} of the model have no values, because they are on the device "meta": load them first '
            "(what is in no file is made where the model is made), or plan the model by `fit`"
        )
    limit = None if host_memory is None else _bytes("host_memory", host_memory, 0)
    module.offloaded = Offloaded(module, _bytes("memory", memory), found, blocks, limit)
    return module

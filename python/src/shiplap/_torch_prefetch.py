"""Batches of a loader that are on the GPU in time."""

from __future__ import annotations

import copy
import math
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap._core import UsageError
from shiplap._job import Job
from shiplap._node import Node, node_of

Tensor = Any


def map_tensors(batch: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Return the batch with each tensor in its mappings, lists and tuples changed; what else it holds stays.

    What has no tensor that changes is returned as it is, and not copied.
    """
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, Mapping):
        changed = {key: map_tensors(value, change) for key, value in batch.items()}
        if all(changed[key] is value for key, value in batch.items()):
            return batch
        if not isinstance(batch, MutableMapping):
            return changed
        kept = copy.copy(batch)  # a mapping of the same type, such as an OrderedDict
        for key, value in changed.items():
            kept[key] = value
        return kept
    if isinstance(batch, (list, tuple)):
        values = [map_tensors(value, change) for value in batch]
        if all(one is other for one, other in zip(values, batch, strict=True)):
            return batch
        return type(batch)(*values) if hasattr(batch, "_fields") else type(batch)(values)
    return batch


def tensors_of(batch: Any) -> list[Tensor]:
    """Return the tensors in the mappings, lists and tuples of a batch."""
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    map_tensors(batch, note)
    return found


def _is_pageable(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.layout == torch.strided and not tensor.is_pinned()


def _padded(tensor: Tensor) -> int:
    """Return the bytes of a tensor in a slot, where the next one is aligned."""
    return -(-int(tensor.nbytes) // 256) * 256


def _place_for(tensor: Tensor, memory: Tensor, offset: int) -> Tensor:
    """Return a tensor of the same shape and memory format as this one, at an offset of a slot."""
    strides = torch.empty_like(tensor, device="meta").stride()
    bytes_of_place = memory[offset : offset + tensor.nbytes]
    return bytes_of_place.view(tensor.dtype).as_strided(tensor.shape, strides, offset // tensor.element_size())


class Way:
    """How batches get to the GPU.

    Attributes
    ----------
    staged : bool
        Whether pageable tensors are copied into pinned memory first, by the threads of PyTorch.
    depth : int
        Most batches that are on the way, and most steps of the program that the GPU is behind.
    time : float
        Predicted seconds of a batch.
    """

    # A host thread may be late by about this time, in seconds, for which batches must be ready.
    LATE = 2e-3
    MOST_DEPTH = 16

    def __init__(self, node: Node, size: int, pageable: int) -> None:
        self.staged: bool = False
        self.time: float = 0.0
        simulated = node.simulated()
        for array, strategies in (
            (simulated.pinned_empty(size - pageable, np.uint8), ["explicit"]),
            (np.empty(pageable, np.uint8), ["pageable", "staged"]),
        ):
            if array.size == 0:
                continue
            job = Job(array.size, "batch").in_("batch", array).carried("last", np.zeros(1, np.uint8)).kernel_time(1e-9)
            job = job.host_kernel(lambda *_: None)
            plan = simulated.plan(job, strategies=strategies, may_pin=False)
            self.time += plan.predicted
            self.staged = self.staged or plan.to_dict()["chosen"]["strategy"] == "staged"
        self.depth: int = min(self.MOST_DEPTH, 1 + math.ceil(max(self.LATE / max(self.time, 1e-6), 1)))

    def __repr__(self) -> str:
        return f"Way({'staged' if self.staged else 'not staged'}, depth {self.depth}, {self.time:.3g} s a batch)"


class _Slots:
    """Pinned memory for the batches on their way."""

    def __init__(self, count: int) -> None:
        self._slots: list[Any] = [None] * count
        self._events: list[Any] = [None] * count
        self._next = 0

    def take(self, size: int) -> tuple[int, Tensor]:
        """Return the next slot, of ``size`` bytes or more, once the GPU has read what the slot held."""
        index = self._next
        self._next = (index + 1) % len(self._slots)
        if self._events[index] is not None:
            self._events[index].synchronize()
        if self._slots[index] is None or self._slots[index].nbytes < size:
            self._slots[index] = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        return index, self._slots[index]

    def used_until(self, index: int, event: Any) -> None:
        self._events[index] = event


class _Feeder:
    """Copies batches to the GPU in a stream of its own."""

    def __init__(self, device: Any, way: Way) -> None:
        self._device = device
        self._way = way
        self._stream = torch.cuda.Stream(device)
        self._slots = _Slots(way.depth + 1)

    def _staged(self, batch: Any) -> tuple[Any, int | None]:
        """Return the batch in pinned memory, and the slot that holds it."""
        size = sum(_padded(tensor) for tensor in tensors_of(batch) if _is_pageable(tensor))
        if size == 0:
            return batch, None
        index, memory = self._slots.take(size)
        offset = 0

        def stage(tensor: Tensor) -> Tensor:
            nonlocal offset
            if not _is_pageable(tensor):
                return tensor
            staged = _place_for(tensor, memory, offset)
            offset += _padded(tensor)
            return staged.copy_(tensor)

        return map_tensors(batch, stage), index

    def feed(self, batch: Any) -> tuple[Any, Any, Any]:
        """Submit the copies. Return the batch on the GPU, the event of its arrival, and what must live until then."""
        source, slot = self._staged(batch) if self._way.staged else (batch, None)
        with torch.cuda.stream(self._stream):
            moved = map_tensors(source, lambda tensor: tensor.to(self._device, non_blocking=True))
            arrived = self._stream.record_event()
        if slot is not None:
            self._slots.used_until(slot, arrived)
        return moved, arrived, source


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Prefetch:
    """The batches of a loader, on a GPU: see `prefetch`.

    Attributes
    ----------
    way : Way or None
        How the batches get to the GPU; None before the first one.
    """

    def __init__(
        self, loader: Iterable[Any], device: Any, depth: int | None, node: Node | str | None, threaded: bool | None
    ) -> None:
        self._loader = loader
        self._device = torch.device(device)
        if self._device.type != "cuda":
            raise UsageError(f"batches go to a GPU, and {self._device} is none: give cuda, or cuda:N")
        if not torch.cuda.is_available():
            raise UsageError("batches go to a GPU, and PyTorch finds none here")
        if depth is not None and depth < 1:
            raise UsageError(f"depth {depth}: give 1 batch or more")
        self._depth = depth
        self._node = node
        if threaded is None:
            threaded = getattr(loader, "num_workers", 0) > 0 and not getattr(loader, "pin_memory", False)
        self._threaded = threaded
        self._idle: list[_Feeder] = []  # with their pinned memory, for the next iterations
        self.way: Way | None = None

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def _choose(self, batch: Any) -> Way:
        if self.way is None:
            found = tensors_of(batch)
            if not found:
                raise UsageError(
                    f"there is no tensor in a batch of type {type(batch).__name__}: give tensors in mappings, lists "
                    "and tuples"
                )
            pageable = sum(tensor.nbytes for tensor in found if _is_pageable(tensor))
            pinned = sum(t.nbytes for t in found if t.device.type == "cpu" and t.layout == torch.strided) - pageable
            self.way = Way(node_of(self._node), pinned + pageable, pageable)
            if self._depth is not None:
                self.way.depth = self._depth
        return self.way

    def _feeder(self, way: Way) -> _Feeder:
        return self._idle.pop() if self._idle else _Feeder(self._device, way)

    def _inline(self) -> Iterator[Any]:
        """Yield batches that this thread reads. They are copied while the GPU works on those before."""
        feeder: _Feeder | None = None
        try:
            for batch in self._loader:
                way = self._choose(batch)
                feeder = feeder or self._feeder(way)
                yield feeder.feed(batch)
        finally:
            if feeder is not None:
                self._idle.append(feeder)

    def _work(self, ready: queue.Queue[Any], free: threading.Semaphore, stopped: threading.Event) -> None:
        feeder: _Feeder | None = None
        try:
            with torch.cuda.device(self._device):
                for batch in self._loader:
                    way = self._choose(batch)
                    if feeder is None:
                        feeder = self._feeder(way)
                        free.release(way.depth)
                    free.acquire()
                    if stopped.is_set():
                        return
                    ready.put(feeder.feed(batch))
            ready.put(_End(None))
        except BaseException as error:
            ready.put(_End(error))
        finally:
            if feeder is not None:
                self._idle.append(feeder)

    def _beside(self) -> Iterator[Any]:
        """Yield batches that another thread reads."""
        ready: queue.Queue[Any] = queue.Queue()
        stopped = threading.Event()
        free = threading.Semaphore(0)
        worker = threading.Thread(target=self._work, args=(ready, free, stopped), daemon=True, name="shiplap.prefetch")
        worker.start()
        try:
            while not isinstance(one := ready.get(), _End):
                yield one
                free.release()
            if one.error is not None:
                raise one.error
        finally:
            stopped.set()
            free.release()
            worker.join()

    def __iter__(self) -> Iterator[Any]:
        sources: deque[Any] = deque()
        steps: deque[Any] = deque()  # ends of the steps that the GPU has to do
        for moved, arrived, source in self._beside() if self._threaded else self._inline():
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(arrived)
            for tensor in tensors_of(moved):
                tensor.record_stream(stream)
            sources.append((arrived, source))
            while sources and sources[0][0].query():
                sources.popleft()
            yield moved
            # Batches that the GPU has not used yet take its memory, so the host must not run ahead without an end.
            steps.append(torch.cuda.current_stream(self._device).record_event())
            if self.way is not None and len(steps) > self.way.depth:
                steps.popleft().synchronize()


def prefetch(
    loader: Iterable[Any],
    device: Any = "cuda",
    *,
    depth: int | None = None,
    node: Node | str | None = None,
    threaded: bool | None = None,
) -> Prefetch:
    """Wrap a loader so that its batches are on the GPU when they are asked for.

    Pageable tensors are copied into pinned memory where that is faster, and batches to the GPU in a stream of their
    own, concurrent with the kernels of the program. Whether pageable tensors are staged, and how many batches are
    ahead, follows from the figures of the node for the first batch.

    Parameters
    ----------
    loader
        A ``DataLoader``, or any iterable of batches: tensors in tuples, lists and mappings, nested at will. Tensors in
        pinned memory are read by the GPU later, so the loader must not write them again.
    device
        The GPU.
    depth
        Batches that may be on the way, and steps of the program that the GPU may be behind: up to twice as many batches
        are on the GPU. None to choose.
    node
        The node whose figures decide, or the name of a device; None for `default_node`.
    threaded
        Whether a thread of its own reads the loader and stages. None: when the loader has worker processes and does not
        pin. A loader that computes in this process holds Python's lock, and a thread for it makes both slower.

    Returns
    -------
    Prefetch
        An iterable of the batches, in their order. An exception in the loader is raised at its place.
    """
    return Prefetch(loader, device, depth, node, threaded)

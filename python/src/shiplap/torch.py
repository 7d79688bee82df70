"""Functions and modules of PyTorch on tensors in host memory, and batches of a loader that are on the GPU in time.

>>> import shiplap.torch
>>> y = shiplap.torch.stream(model, x)  # host to host, in chunks, as planned
>>> for batch in shiplap.torch.prefetch(loader):  # batches on the GPU
...     train(batch)
"""

from __future__ import annotations

import copy
import math
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap._core import UsageError
from shiplap._job import Job
from shiplap._node import Node, default_node
from shiplap._plan import Plan, Prepared

Tensor = Any

# Types of the same size for those that NumPy does not have.
_RAW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _node(node: Node | str | None) -> Node:
    """Return the node, or that of a device."""
    return Node.load_or_measure(node) if isinstance(node, str) else node or default_node()


def _as_tuple(found: Any) -> tuple[Tensor, ...]:
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _raw(tensor: Tensor) -> Tensor:
    """Return the tensor as one that NumPy has a type for."""
    try:
        tensor[:0].numpy()
    except TypeError:
        return tensor.view(_RAW[tensor.element_size()])
    return tensor


def _rows(name: str, tensor: Tensor, chunk_dim: int) -> Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise UsageError(f"{name} is a {type(tensor).__name__}: give a tensor, as from torch.from_numpy")
    if tensor.device.type != "cpu":
        raise UsageError(f"{name} is on {tensor.device}: give a tensor in host memory")
    rows = tensor.detach().movedim(chunk_dim, 0)
    if not rows.is_contiguous():
        moved = f".movedim({chunk_dim}, 0).contiguous().movedim(0, {chunk_dim})" if chunk_dim else ".contiguous()"
        raise UsageError(
            f"{name}: slices along dimension {chunk_dim} are not contiguous (strides {tuple(tensor.stride())}): make "
            f"them so once, as with {moved}"
        )
    return rows


def _finish_before(node: Node) -> None:
    """Wait for the caller's own work on the GPU: the streams of the library do not wait for it."""
    if node.has_gpu:
        torch.cuda.current_stream().synchronize()


class Streamed:
    """A function that is planned for host tensors of given shapes: see `streamed`.

    Attributes
    ----------
    plan : Plan
        How the work is cut and overlapped, with the predicted time.
    out : torch.Tensor or tuple of torch.Tensor
        The results, in host memory. Each run writes them.
    """

    def __init__(self, node: Node, plan: Plan, out: Any) -> None:
        self._node = node
        self.plan = plan
        self.out = out
        self._prepared: Prepared | None = None

    def run(self) -> Any:
        """Apply the function to what the tensors hold now, and return `out`.

        Waits for the work in the current stream first, such as an update of the parameters of a module.
        """
        _finish_before(self._node)
        if self._prepared is None:
            self._prepared = self.plan.prepare()
        self._prepared.run()
        return self.out

    def __repr__(self) -> str:
        return f"Streamed({self.plan!r} on {self._node!r})"


def _outputs(
    function: Callable[..., Any], inputs: Sequence[Tensor], given: Any, chunk_dim: int, node: Node
) -> tuple[Tensor, ...]:
    """Return the tensors for the results, whose shapes the results for one item show."""
    device = "cuda" if node.has_gpu else "cpu"
    with torch.no_grad():
        samples = _as_tuple(function(*(rows[:1].to(device).movedim(0, chunk_dim) for rows in inputs)))
    items = inputs[0].shape[0]
    shapes = [(items, *sample.movedim(chunk_dim, 0).shape[1:]) for sample in samples]
    for sample in samples:
        if sample.movedim(chunk_dim, 0).shape[0] != 1:
            raise UsageError(
                f"the result for one slice has the shape {tuple(sample.shape)}: it must have one slice along dimension "
                f"{chunk_dim}"
            )
    if given is None:
        pinned = node.has_gpu and all(rows.is_pinned() for rows in inputs)
        made = (
            torch.empty(shape, dtype=sample.dtype, pin_memory=pinned)
            for shape, sample in zip(shapes, samples, strict=True)
        )
        return tuple(rows.movedim(0, chunk_dim) for rows in made)
    outputs = _as_tuple(given)
    found = [(tuple(out.movedim(chunk_dim, 0).shape), out.dtype) for out in outputs]
    wanted = [(shape, sample.dtype) for shape, sample in zip(shapes, samples, strict=True)]
    if found != wanted:
        raise UsageError(f"out has (shape, type) {found}, and the function returns {wanted}")
    return outputs


def streamed(
    function: Callable[..., Any],
    tensors: Tensor | Sequence[Tensor],
    *,
    out: Any = None,
    chunk_dim: int = 0,
    node: Node | str | None = None,
    **options: Any,
) -> Streamed:
    """Plan a function for tensors in host memory, to run it many times.

    Parameters
    ----------
    function
        A module, or a function of as many tensors as are given, that returns a tensor or several. Slices along
        ``chunk_dim`` of its results depend on the same slices of its arguments only. It is called without gradients.
    tensors
        A tensor in host memory, or several with equal sizes along ``chunk_dim``.
    out
        Tensors in host memory for the results; None to make them, pinned where all tensors are.
    chunk_dim
        Dimension along which the tensors are cut. Slices along it must be contiguous.
    node
        The node, or the name of a device; None for `default_node`. A virtual device computes on the CPU, and its times
        are simulated.
    options
        Options of `Node.plan`.

    Raises
    ------
    UsageError
        For tensors that are on a GPU, not contiguous, or of different sizes, and for a function whose results do not
        have the slices of its arguments.
    """
    node = _node(node)
    inputs = [_rows(f"tensor {i}", tensor, chunk_dim) for i, tensor in enumerate(_as_tuple(tensors))]
    if len({rows.shape[0] for rows in inputs}) != 1 or inputs[0].shape[0] == 0:
        raise UsageError(
            f"the tensors have {[rows.shape[0] for rows in inputs]} slices along dimension {chunk_dim}: give equal and "
            "positive numbers"
        )
    outputs = _outputs(function, inputs, out, chunk_dim, node)
    results = [_rows(f"out {i}", tensor, chunk_dim) for i, tensor in enumerate(outputs)]
    name = getattr(function, "__name__", type(function).__name__)
    job = Job(inputs[0].shape[0], name)
    for i, rows in enumerate(inputs):
        job = job.in_(f"in {i}", _raw(rows))
    for i, rows in enumerate(results):
        job = job.out(f"out {i}", _raw(rows))
    types = [rows.dtype for rows in (*inputs, *results)]

    def kernel(_chunk: Any, *parts: Tensor) -> None:
        typed = [part.view(dtype) for part, dtype in zip(parts, types, strict=True)]
        with torch.no_grad():
            found = _as_tuple(function(*(part.movedim(0, chunk_dim) for part in typed[: len(inputs)])))
        written = typed[len(inputs) :]
        if len(found) != len(written):
            raise UsageError(f"{name} returned {len(found)} tensors for a chunk, and {len(written)} for one slice")
        for part, result in zip(written, found, strict=True):
            rows = result.movedim(chunk_dim, 0)
            if rows.shape != part.shape or rows.dtype != part.dtype:
                raise UsageError(
                    f"{name} returned {rows.dtype} of shape {tuple(rows.shape)} for a chunk whose part of the result "
                    f"is {part.dtype} of shape {tuple(part.shape)} (dimension {chunk_dim} first): slices of a result "
                    "must depend on the same slices of the arguments only"
                )
            part.copy_(rows)

    job = job.kernel(kernel, arrays="torch").host_kernel(kernel, arrays="torch")
    _finish_before(node)
    plan = node.plan(job, **options)
    return Streamed(node, plan, outputs[0] if len(outputs) == 1 else outputs)


def stream(
    function: Callable[..., Any],
    tensors: Tensor | Sequence[Tensor],
    *,
    out: Any = None,
    chunk_dim: int = 0,
    node: Node | str | None = None,
    **options: Any,
) -> Any:
    """Apply a function to tensors in host memory, in chunks whose copies and kernels overlap, and return the results.

    The parameters are those of `streamed`, which is for repeated calls: this function plans in every call.
    """
    return streamed(function, tensors, out=out, chunk_dim=chunk_dim, node=node, **options).run()


# --- batches ----------------------------------------------------------------------------------------------------------


def _map_tensors(batch: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Return the batch with each tensor in its mappings, lists and tuples changed; what else it holds stays."""
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, Mapping):
        changed = {key: _map_tensors(value, change) for key, value in batch.items()}
        if not isinstance(batch, MutableMapping):
            return changed
        kept = copy.copy(batch)  # a mapping of the same type, such as an OrderedDict
        kept.update(changed)
        return kept
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_map_tensors(value, change) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(_map_tensors(value, change) for value in batch)
    return batch


def _tensors(batch: Any) -> list[Tensor]:
    found: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        found.append(tensor)
        return tensor

    _map_tensors(batch, note)
    return found


def _is_pageable(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.layout == torch.strided and not tensor.is_pinned()


def _padded(tensor: Tensor) -> int:
    """Return the bytes of a tensor in a slot, where the next one is aligned."""
    return -(-int(tensor.nbytes) // 256) * 256


class Way:
    """How batches get to the GPU.

    Attributes
    ----------
    staged : bool
        Whether pageable tensors are copied into pinned memory first.
    threads : int
        Threads that the prediction is for. PyTorch copies with its own (``torch.get_num_threads``): to change their
        number for each copy takes longer than it saves.
    depth : int
        Most batches that are on the way, and most steps of the program that the GPU is behind.
    time : float
        Predicted seconds of a batch.
    """

    # A host thread may be late by about this time, in seconds, for which batches must be ready.
    LATE = 2e-3
    MOST_DEPTH = 16

    def __init__(self, node: Node, size: int, pageable: int) -> None:
        self.staged, self.threads, self.time = False, 1, 0.0
        simulated = node.simulated()
        for array, strategies in (
            (simulated.pinned_empty(size - pageable, np.uint8), ["explicit"]),
            (np.empty(pageable, np.uint8), ["pageable", "staged"]),
        ):
            if array.size == 0:
                continue
            job = Job(array.size, "batch").in_("batch", array).carried("last", np.zeros(1, np.uint8)).takes(1e-9)
            job = job.host_kernel(lambda *_: None)
            plan = simulated.plan(job, strategies=strategies, may_pin=False)
            self.time += plan.predicted
            chosen = plan.to_dict()["chosen"]
            if chosen["strategy"] == "staged":
                self.staged, self.threads = True, chosen["threads_each_way"]
        self.depth = min(self.MOST_DEPTH, 1 + math.ceil(max(self.LATE / max(self.time, 1e-6), 1)))

    def __repr__(self) -> str:
        staged = f"staged by {self.threads} threads" if self.staged else "not staged"
        return f"Way({staged}, depth {self.depth}, {self.time:.3g} s a batch)"


class _Slots:
    """Pinned memory for the batches on their way."""

    def __init__(self, count: int) -> None:
        self._slots: list[Any] = [None] * count
        self._events: list[Any] = [None] * count
        self._next = 0

    def take(self, size: int) -> tuple[int, Tensor]:
        """Return the next slot with at least so many bytes, when the GPU has read what it held."""
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
        size = sum(_padded(tensor) for tensor in _tensors(batch) if _is_pageable(tensor))
        if size == 0:
            return batch, None
        index, memory = self._slots.take(size)
        offset = 0

        def stage(tensor: Tensor) -> Tensor:
            nonlocal offset
            if not _is_pageable(tensor):
                return tensor
            # The strides of a copy, which keep the format: channels_last stays channels_last.
            strides = torch.empty_like(tensor, device="meta").stride()
            staged = (
                memory[offset : offset + tensor.nbytes]
                .view(tensor.dtype)
                .as_strided(tensor.shape, strides, offset // tensor.element_size())
            )
            offset += _padded(tensor)
            return staged.copy_(tensor)

        return _map_tensors(batch, stage), index

    def feed(self, batch: Any) -> tuple[Any, Any, Any]:
        """Submit the copies. Return the batch on the GPU, the event of its arrival, and what must live until then."""
        source, slot = self._staged(batch) if self._way.staged else (batch, None)
        with torch.cuda.stream(self._stream):
            moved = _map_tensors(source, lambda tensor: tensor.to(self._device, non_blocking=True))
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
            found = _tensors(batch)
            if not found:
                raise UsageError(
                    f"there is no tensor in a batch of type {type(batch).__name__}: give tensors in mappings, lists "
                    "and tuples"
                )
            pageable = sum(tensor.nbytes for tensor in found if _is_pageable(tensor))
            pinned = sum(t.nbytes for t in found if t.device.type == "cpu" and t.layout == torch.strided) - pageable
            self.way = Way(_node(self._node), pinned + pageable, pageable)
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
            for tensor in _tensors(moved):
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
    own, beside the kernels of the program. Whether pageable tensors are staged, by how many threads, and how many
    batches are ahead, follows from the figures of the node for the first batch.

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

"""Functions and modules of PyTorch on tensors in host memory."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap._arrays import array_at
from shiplap._core import Unsupported, UsageError
from shiplap._job import Job
from shiplap._node import Node, node_of
from shiplap._plan import Plan, Prepared

Tensor = Any

_GPU = "cuda"  # PyTorch's name of the GPU that it computes on

# Types of the same size for those that NumPy does not have.
_RAW = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


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


_SECONDS_OF_RACE = 0.3

# Bytes below which pinning a result takes as long as what it saves, and a few pages are soon made.
_LEAST_OF_OWN_PAGES = 1 << 20


class UntilCopied:
    """Keeps pinned memory until the GPU has done its work: copies of a tensor that is gone may still be in flight."""

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory

    def __del__(self) -> None:
        torch.cuda.synchronize()


def _new(node: Node, shape: Sequence[int], dtype: Any, pinned: bool) -> Tensor:
    """Return a tensor for a result in host memory whose pages exist.

    PyTorch's own memory is slow to write first, and slow to pin: both are done page by page in one thread.
    """
    size = prod(shape) * dtype.itemsize
    if not node.has_gpu or size < _LEAST_OF_OWN_PAGES:
        return torch.empty(shape, dtype=dtype, pin_memory=pinned and node.has_gpu)
    if pinned:
        memory = node.pinned_empty(size, np.uint8)
        memory = array_at(memory.ctypes.data, memory.shape, memory.dtype, UntilCopied(memory))
        return torch.from_numpy(memory).view(dtype).view(shape)
    made = torch.empty(shape, dtype=dtype)
    node._core.make_pages(made.data_ptr(), size)
    return made


def _outputs(
    function: Callable[..., Any], inputs: Sequence[Tensor], given: Any, chunk_dim: int, node: Node
) -> tuple[Tensor, ...]:
    """Return the tensors for the results, whose shapes the results for one item show."""
    device = _GPU if node.has_gpu else "cpu"
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
        pinned = all(rows.is_pinned() for rows in inputs)
        made = (_new(node, shape, sample.dtype, pinned) for shape, sample in zip(shapes, samples, strict=True))
        return tuple(rows.movedim(0, chunk_dim) for rows in made)
    return _require_like(
        given, [(shape, sample.dtype) for shape, sample in zip(shapes, samples, strict=True)], chunk_dim
    )


def _require_like(given: Any, wanted: Sequence[tuple[Any, Any]], chunk_dim: int) -> tuple[Tensor, ...]:
    """Return the tensors for the results; raise UsageError unless they have these shapes and types."""
    outputs = _as_tuple(given)
    found = [(tuple(out.movedim(chunk_dim, 0).shape), out.dtype) for out in outputs]
    if found != list(wanted):
        raise UsageError(f"out has (shape, type) {found}, and the function returns {wanted}")
    return outputs


def _inputs(tensors: Tensor | Sequence[Tensor], chunk_dim: int) -> list[Tensor]:
    inputs = [_rows(f"tensor {i}", tensor, chunk_dim) for i, tensor in enumerate(_as_tuple(tensors))]
    if len({rows.shape[0] for rows in inputs}) != 1 or inputs[0].shape[0] == 0:
        raise UsageError(
            f"the tensors have {[rows.shape[0] for rows in inputs]} slices along dimension {chunk_dim}: give equal and "
            "positive numbers"
        )
    return inputs


def _job(function: Callable[..., Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor], chunk_dim: int) -> Job:
    """Return the job that applies the function to chunks of the inputs."""
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

    return job.kernel(kernel, arrays="torch").host_kernel(kernel, arrays="torch")


def _one_or_all(found: Sequence[Tensor]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


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
        Options of `Node.plan`. On a GPU the best candidates race for 0.3 s unless ``race`` says otherwise, because a
        module may call other kernels for chunks than for all rows.

    Raises
    ------
    UsageError
        For tensors that are on a GPU, not contiguous, or of different sizes, and for a function whose results do not
        have the slices of its arguments.
    """
    node = node_of(node)
    inputs = _inputs(tensors, chunk_dim)
    outputs = _outputs(function, inputs, out, chunk_dim, node)
    job = _job(function, inputs, outputs, chunk_dim)
    _finish_before(node)
    if node.has_gpu and not options.get("quick"):
        options.setdefault("race", _SECONDS_OF_RACE)
    return Streamed(node, node.plan(job, **options), _one_or_all(outputs))


@dataclass
class _Calls:
    """What is known of calls of `stream` with one function and tensors of one shape.

    Attributes
    ----------
    function
        The function, without keeping it alive. Another one may get its `id` later.
    node
        The node of the plan, which keeps its `id` from another one.
    could_save
        Seconds of copies that calls without a plan, or with a quick one, could have saved.
    plan
        The plan of these calls, if there is one.
    quick
        Whether the plan is a quick one.
    results
        Shapes and types of the results for which the plan was made.
    """

    function: Callable[[], Any]
    node: Node
    could_save: float = 0.0
    plan: Plan | None = None
    quick: bool = False
    results: Any = None


_calls: dict[Any, _Calls] = {}
_MOST_CALLS = 64  # entries of `_calls`
# Seconds that plans take, as seen last in this process: a quick one with what it needs to be run, and a full one.
_costs = {True: 0.05, False: 0.5}


def _calls_of(key: Any, function: Any, node: Node) -> _Calls:
    known = _calls.get(key)
    if known is None or known.function() is not function:
        _calls.pop(key, None)
        if len(_calls) >= _MOST_CALLS:
            _calls.pop(next(iter(_calls)))
        try:
            reference: Callable[[], Any] = weakref.ref(function)
        except TypeError:
            reference = lambda: function  # noqa: E731
        known = _calls[key] = _Calls(reference, node)
    return known


def _bytes_of(tensors: Any) -> int:
    return sum(t.numel() * t.element_size() for t in _as_tuple(tensors))


def _shapes_of(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
    return tuple((tuple(t.shape), t.dtype) for t in tensors)


def _seconds_of_copies(node: Node, sizes: tuple[int, int], pinned: bool) -> tuple[float, float]:
    """Return the seconds of plain copies of these bytes in and out, and those of the best overlap of them."""
    in_pinned, out_pinned, in_pageable, out_pageable = node._core.copy_rates()
    best = max(sizes[0] / in_pinned, sizes[1] / out_pinned) if in_pinned and out_pinned else 0.0
    into, back = (in_pinned, out_pinned) if pinned else (in_pageable, out_pageable)
    return (sizes[0] / into + sizes[1] / back if into and back else best), best


def _plain(node: Node, function: Callable[..., Any], inputs: Sequence[Tensor], out: Any, chunk_dim: int) -> Any:
    """Apply the function to all of the tensors at once, as a program without shiplap does."""
    items = inputs[0].shape[0]
    with torch.no_grad():
        found = _as_tuple(
            function(*(rows.to(_GPU, non_blocking=rows.is_pinned()).movedim(0, chunk_dim) for rows in inputs))
        )
        for result in found:
            if result.dim() <= chunk_dim or result.shape[chunk_dim] != items:
                raise UsageError(
                    f"the result for {items} slices has the shape {tuple(result.shape)}: it must have as many slices "
                    f"along dimension {chunk_dim}"
                )
        if out is None:
            pinned = all(rows.is_pinned() for rows in inputs)
            outputs = tuple(_new(node, result.shape, result.dtype, pinned) for result in found)
        else:
            wanted = [(tuple(result.movedim(chunk_dim, 0).shape), result.dtype) for result in found]
            outputs = _require_like(out, wanted, chunk_dim)
        for given, result in zip(outputs, found, strict=True):
            given.copy_(result)
    return _one_or_all(outputs)


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

    The parameters are those of `streamed`. On a GPU, and without further options, a call is planned only when that
    pays: the first calls with a function and small tensors copy, compute and copy back; large tensors get a quick plan
    at once; and what many calls repeat gets a full plan, which later calls with the same function and tensors of the
    same shapes use. Results are pinned where all tensors are. Those of 1 MiB and
    more are in memory of shiplap, whose pages are made and pinned by several threads.
    """
    node = node_of(node)
    if options or not node.has_gpu:
        options.setdefault("race", 0.0)  # this plan is for one call
        return streamed(function, tensors, out=out, chunk_dim=chunk_dim, node=node, **options).run()
    inputs = _inputs(tensors, chunk_dim)
    for i, tensor in enumerate(() if out is None else _as_tuple(out)):
        _rows(f"out {i}", tensor, chunk_dim)
    pinned = all(rows.is_pinned() for rows in inputs)
    given = None if out is None else tuple((tuple(t.shape), t.dtype, t.is_pinned()) for t in _as_tuple(out))
    known = _calls_of((id(function), id(node), _shapes_of(inputs), pinned, given, chunk_dim), function, node)
    size = _bytes_of(inputs)
    if known.plan is None:
        plain, best = _seconds_of_copies(node, (size, size), pinned)
        if known.could_save + plain - best < _costs[True]:
            try:
                result = _plain(node, function, inputs, out, chunk_dim)
            except torch.cuda.OutOfMemoryError:  # chunks need less
                torch.cuda.empty_cache()
            else:
                plain, best = _seconds_of_copies(node, (size, _bytes_of(result)), pinned)
                known.could_save += plain - best
                return result
    outputs = _outputs(function, inputs, out, chunk_dim, node)
    results = _shapes_of(outputs)
    job = _job(function, inputs, outputs, chunk_dim)
    _finish_before(node)
    plan = known.plan if known.results == results else None
    if plan is None or (known.quick and known.could_save > _costs[False]):
        quick = plan is None
        begin = time.perf_counter()
        made = _planned(node, job, quick)
        prepared = made.prepare()
        _costs[quick] = time.perf_counter() - begin
        known.plan, known.quick, known.could_save, known.results = made._without_arrays(), quick, 0.0, results
    else:
        prepared = plan._of(job).prepare()
    took = prepared.run()
    if known.quick:
        plain, best = _seconds_of_copies(node, (size, _bytes_of(outputs)), pinned)
        known.could_save += min(max(0.0, took - best), plain)
    return _one_or_all(outputs)


def _planned(node: Node, job: Job, quick: bool) -> Plan:
    try:
        return node.plan(job, quick=quick, race=0 if quick else _SECONDS_OF_RACE)
    except Unsupported:  # a full plan also tries many small chunks
        if not quick:
            raise
        return node.plan(job, race=_SECONDS_OF_RACE)

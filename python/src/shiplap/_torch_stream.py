"""Functions and modules of PyTorch on tensors in host memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap._core import UsageError
from shiplap._job import Job
from shiplap._node import Node, node_of
from shiplap._plan import Plan, Prepared

Tensor = Any

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
    node = node_of(node)
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

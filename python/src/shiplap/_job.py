"""Jobs: arrays with their roles, and the kernel."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shiplap import _core
from shiplap._arguments import MOST_SMALL, flag, function, real, text, whole
from shiplap._arrays import ArraySpec, Chunk, GpuArray, Layout, Stream, View, array_of, host_array, views
from shiplap._core import UsageError
from shiplap._cuda_text import ItemFunction
from shiplap._kernels import Library, library, require_names, require_no_result


@dataclass(frozen=True)
class Reach:
    """The part of an array that the kernel of a chunk needs.

    Attributes
    ----------
    before, after
        Items of the halo before and after the chunk, as far as there are any.
    mapping
        Gives the first element and the number of elements for the items ``first`` to ``end``. Elements are rows of an
        array with several dimensions. The elements of a later chunk must neither begin nor end before those of an
        earlier one.
    """

    before: int = 0
    after: int = 0
    mapping: Callable[[int, int], tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", whole("before", self.before))
        object.__setattr__(self, "after", whole("after", self.after))
        if self.mapping is not None:
            function("a mapping", self.mapping)


def halo(before: int, after: int) -> Reach:
    """Return the reach of a chunk with ``before`` items before it and ``after`` items after it."""
    return Reach(before=before, after=after)


def mapped_by(mapping: Callable[[int, int], tuple[int, int]]) -> Reach:
    """Return the reach that a function of the first item and the item after the last one gives."""
    return Reach(mapping=mapping)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of equal size in a pool, which together are an array: see `blocks` and `strided`."""

    indices: np.ndarray | None
    count: int
    block: int
    pitch: int


def blocks(indices: Any, block: int) -> Blocks:
    """Return the blocks of ``block`` bytes of a pool that integers name.

    The indices are read in every run, so they may change between runs without a new plan. Their number may not. A list
    is copied.
    """
    found = host_array("indices", np.asarray(indices) if isinstance(indices, (list, tuple)) else indices, written=False)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise UsageError(f"indices of blocks: give integers in one dimension, not {found.dtype} in {found.ndim}")
    block = whole("block", block, 1)
    return Blocks(found, len(found), block, block)


def strided(count: int, block: int, pitch: int) -> Blocks:
    """Return ``count`` blocks of ``block`` bytes whose starts lie ``pitch`` bytes apart."""
    return Blocks(None, whole("count", count, 1), whole("block", block, 1), whole("pitch", pitch, 1))


def _require_unkept(name: str, chunk: Chunk, found: list[View]) -> None:
    """Raise UsageError when someone has kept an array of a chunk, whose memory the next chunks use."""
    chunk.views = [view._without_memory() for view in found] if sys.getrefcount(chunk) > 3 else ()
    kept = [weakref.ref(view) for view in found]
    found.clear()
    if any(view() is not None for view in kept):
        gc.collect()  # frames and functions may refer to each other
    left = [view for view in (reference() for reference in kept) if view is not None]
    for view in left:
        view._keep_memory()
    if left:
        raise UsageError(
            f"{name} kept array {left[0]._layout.name} after its call, and the next chunks use the same memory: keep a "
            "copy, as with array.copy(), and of an exception error.with_traceback(None), since tracebacks hold arrays"
        )


def require_job(job: Any) -> Job:
    """Return the job; raise UsageError for anything else."""
    if not isinstance(job, Job):
        raise UsageError(f"`job` {job!r}: give a Job")
    return job


class Job:
    """Work that can be done in chunks: arrays, and the kernel that computes on them.

    Every method returns a new job, so a description reads as one expression. The arrays are those of the caller. They
    are never copied on the host, and live at least as long as the job, its plans and its runs. Arrays on the GPU (of
    PyTorch, CuPy, Numba, JAX) stay there: kernels get parts of them, and nothing of them is copied. A plan and a run
    wait for the work on them that was submitted to the current stream of their library.

    Parameters
    ----------
    items
        Number of items, along which the job is cut: rows, frames, options. Each item owns an equal part of every array
        that is cut.
    name
        Name in tables and messages.
    """

    def __init__(self, items: int, name: str = "job") -> None:
        self._core = _core.Job(whole("items", items, 1), text("name", name))
        self._layouts: tuple[Layout, ...] = ()
        self._kernels: dict[str, tuple[Callable[..., Any], Library]] = {}  # "kernel" and "host kernel"
        self._captured: bool | None = None  # what was said of the kernel for GPUs
        self._stated_blocks = False  # whether `with_thread_blocks` was called

    @property
    def items(self) -> int:
        """Number of items."""
        return self._core.items

    @property
    def name(self) -> str:
        """Name of the job."""
        return self._core.name

    def _copy(self) -> Job:
        job = Job.__new__(Job)
        job._core = self._core.copy()
        job._layouts = self._layouts
        job._kernels = self._kernels
        job._captured = self._captured
        job._stated_blocks = self._stated_blocks
        return job

    def _with(self, name: str, role: str, array: Any, reach: Reach, flat: bool = False) -> Job:
        text("name", name)
        written = role not in ("in", "broadcast")
        found = array_of(name, array, written)
        if found.ndim == 0 or found.size == 0:
            raise UsageError(f"array {name} has no elements: give an array with at least one dimension and one element")
        if self._kernels:
            raise UsageError(f"array {name}: add the arrays before the kernels, which are called with them")
        layout = Layout(name, found.dtype, () if flat else found.shape[1:], written, role != "out", found)
        job = self._copy()
        job._core.add(
            name,
            role,
            found.ctypes.data if isinstance(found, np.ndarray) else found.address,
            found.nbytes,
            layout.row_bytes,
            reach.before,
            reach.after,
            reach.mapping,
            (array, found),
            "pinned" if isinstance(found, np.ndarray) else found.memory,
        )
        job._layouts = (*self._layouts, layout)
        return job

    def _with_blocks(self, name: str, role: str, pool: Any, chosen: Blocks) -> Job:
        # A block may be smaller than a row of the pool, so elements and not rows count.
        job = self._with(name, role, pool, Reach(), flat=True)
        itemsize = job._layouts[-1].dtype.itemsize
        if chosen.block % itemsize != 0:
            raise UsageError(f"array {name}: blocks of {chosen.block} B are no whole elements of {itemsize} B")
        indices = chosen.indices
        job._core.make_blocks(
            0 if indices is None else indices.ctypes.data,
            chosen.count,
            4 if indices is None else indices.dtype.itemsize,
            indices is not None and indices.dtype.kind == "i",
            chosen.block,
            chosen.pitch,
            indices,
        )
        return job

    def _cut(self, name: str, role: str, array: Any, reach: Reach | Blocks | None) -> Job:
        if not isinstance(reach, (Reach, Blocks, type(None))):
            raise UsageError(
                f"array {name}: a reach is what halo, mapped_by, blocks or strided return, not {reach!r}: give "
                "halo(before, after) for items before and after a chunk"
            )
        if isinstance(reach, Blocks):
            return self._with_blocks(name, role, array, reach)
        return self._with(name, role, array, reach or Reach())

    def in_(self, name: str, array: Any, reach: Reach | Blocks | None = None) -> Job:
        """Add an array that is read in chunks, with the part that a chunk needs, or blocks of a pool."""
        return self._cut(name, "in", array, reach)

    def out(self, name: str, array: Any, reach: Reach | Blocks | None = None) -> Job:
        """Add an array that is written in chunks. Every element of a chunk must be written."""
        return self._cut(name, "out", array, reach)

    def inout(self, name: str, array: Any, reach: Reach | Blocks | None = None) -> Job:
        """Add an array that is read and written in place, in chunks."""
        return self._cut(name, "inout", array, reach)

    def broadcast(self, name: str, array: Any) -> Job:
        """Add an array of which every chunk reads all elements."""
        return self._with(name, "broadcast", array, Reach())

    def carried(self, name: str, array: Any) -> Job:
        """Add an array of which every chunk reads and writes all elements, one after the other: a sum, a state."""
        return self._with(name, "carried", array, Reach())

    def kept(self, name: str, array: Any) -> Job:
        """Add an array of which every chunk reads all elements, and which stays on the GPU from run to run.

        The first run of a `Prepared` copies it, and after `Prepared.changed` the next run does.
        """
        return self._kept(self.broadcast(name, array))

    def kept_state(self, name: str, array: Any) -> Job:
        """Add an array that every chunk reads and writes, as `carried` does, and that stays on the GPU from run to run.

        The first run of a `Prepared` copies it there, and `Prepared.fetch` copies it back.
        """
        return self._kept(self.carried(name, array))

    @staticmethod
    def _kept(job: Job) -> Job:
        job._core.keep()
        return job

    def _on_gpu(self) -> list[GpuArray]:
        return [layout.array for layout in self._layouts if isinstance(layout.array, GpuArray)]

    def _require_arrays(self) -> None:
        for layout in self._layouts:
            if isinstance(layout.array, ArraySpec):
                raise UsageError(
                    f"array {layout.name} is an ArraySpec, which has no memory: plan the job on a node without a "
                    "device, as Node.from_profile, what_if and with_link return, or give it an array"
                )

    def _wait_for_arrays(self) -> None:
        """Wait until the caller's work on the arrays that are on the GPU is done."""
        for array in self._on_gpu():
            array.wait()

    def _require_parameters(self) -> None:
        """Raise UsageError unless the kernels can be called with the chunk and the arrays of the job."""
        for what, (called, seen_by) in self._kernels.items():
            require_names(f"{self.name}: the {what}", self._passed(seen_by), called)

    def _passed(self, seen_by: Library) -> list[str]:
        return ["chunk", *(layout.name for layout in self._layouts if seen_by.passes(layout))]

    def _dispatch(self, called: Callable[..., Any], on_gpu: bool, seen_by: Library) -> Any:
        function("a kernel", called)
        what = "kernel" if on_gpu else "host kernel"
        self._kernels = {**self._kernels, what: (called, seen_by)}
        layouts = self._layouts
        passed = self._passed(seen_by)
        name = f"{self.name}: the {what}"
        in_order: Callable[..., Any] | None = None

        def call(
            first: int,
            count: int,
            grid: int,
            stream: int,
            operands: Sequence[int],
            lengths: Sequence[int],
            origins: Sequence[int],
        ) -> None:
            nonlocal in_order
            if in_order is None:
                in_order = require_names(name, passed, called)
            submitted_to = Stream(stream) if on_gpu else None
            found = views(layouts, operands, lengths, origins, submitted_to)
            chunk = Chunk(first, count, grid, submitted_to, found)
            try:
                returned = seen_by.call(in_order, chunk, found)
            except BaseException:
                for view in found if not on_gpu else ():
                    view._keep_memory()  # the frames of the traceback have it
                raise
            if returned is not None:
                require_no_result(name, returned, found)
                del returned
            if not on_gpu:
                _require_unkept(name, chunk, found)

        return call

    def kernel(
        self,
        function: Callable[..., Any],
        arrays: str | Callable[[View], Any] = "view",
        *,
        captured: bool | None = None,
    ) -> Job:
        """Set the kernel for GPUs.

        ``function(chunk, *arrays)`` submits the work of a chunk and returns without waiting for it. The function may be
        called for the same chunk several times, in any order and by several threads. The streams of chunks wait for no
        other stream: what the function uses besides its arrays, such as parameters on the GPU, must be complete before
        a plan or a run begins. It must keep none of its arrays: later chunks use the same memory, and nothing notices.

        Parameters
        ----------
        function
            Called with the chunk and one array for each array of the job, in their order; or an `ItemFunction` in CUDA
            C++. Parameters that have the names of the arrays get them by name, in any order.
        arrays
            What the arrays are: ``"view"`` (`View`), ``"cupy"``, ``"torch"``, ``"numba"`` or ``"jax"``, or a function
            that makes them from views. With CuPy and PyTorch (and so Triton) the stream of the chunk is the current
            stream during the call; all others submit to ``chunk.stream``. A function of JAX gets the arrays that are
            read, and returns those that are written, in their order; it waits for the GPU, so less overlaps.
        captured
            Whether CUDA streams can capture the kernel, so that a plan may be a graph: then it must not allocate. None:
            it is captured unless a first call allocates memory, which is measured for CuPy and PyTorch. Functions of
            JAX are never captured.
        """
        job = self._copy()
        seen_by = library(arrays)
        if not job._stated_blocks:
            of_items = (function.threads, function.threads, 1, True) if isinstance(function, ItemFunction) else None
            job._core.with_blocks(*(of_items or (1, 256, 1, False)))
        job._core.set_kernel(job._dispatch(function, True, seen_by))
        captured = None if captured is None else flag("captured", captured)
        job._captured = False if seen_by.waits else captured
        job._core.capturable = job._captured is not False
        job._core.waits = seen_by.waits
        return job

    def host_kernel(self, function: Callable[..., Any], arrays: str | Callable[[View], Any] = np.asarray) -> Job:
        """Set the function that computes a chunk on the host, for virtual devices.

        ``function(chunk, *arrays)`` gets NumPy arrays of what the chunk reaches, and writes the outputs in place. With
        ``arrays="view"`` it gets each `View`, which knows its first row in the whole array. With ``"torch"`` and
        ``"jax"`` it gets what a kernel for GPUs gets, on the host. Later chunks use the same memory, so a function that
        keeps an array raises UsageError: let it keep a copy.
        """
        job = self._copy()
        job._core.set_host_kernel(job._dispatch(function, False, library(arrays)))
        return job

    def _started(self, node: _core.Node, device_memory: int) -> Job:
        """Return the job with a kernel that has been called, and is known to be capturable or not."""
        if "kernel" not in self._kernels:
            return self
        called, seen_by = self._kernels["kernel"]
        if not seen_by.starts_slowly and not isinstance(called, ItemFunction):
            return self
        job = self._copy()

        def run() -> None:
            _core.run_kernel_once(node, job._core, device_memory)

        run()
        if self._captured is None:
            job._core.capturable = not seen_by.allocates(run)
        return job

    def kernel_time(self, seconds: float) -> Job:
        """State the time of the kernel over the whole job on data in device memory, instead of measuring it."""
        job = self._copy()
        job._core.kernel_time(real("seconds", seconds))
        return job

    def with_flops(self, operations: float, double_precision: bool = False) -> Job:
        """State the floating-point operations of the whole job, from which virtual devices derive its time."""
        job = self._copy()
        job._core.flops = real("operations", operations)
        job._core.double_precision = flag("double_precision", double_precision)
        return job

    def with_device_traffic(self, size: int) -> Job:
        """State the bytes that the kernel reads and writes in device memory in the whole job."""
        job = self._copy()
        job._core.device_traffic = whole("size", size)
        return job

    def with_efficiency(self, fraction: float) -> Job:
        """State the fraction of the peak rate that the kernel reaches on data in device memory."""
        job = self._copy()
        job._core.efficiency = real("fraction", fraction, most=1)
        return job

    def reads(self, array: str, times: float) -> Job:
        """State how often the kernel reads each byte of the array ``array`` on average, at least once.

        Equation 6 of van Werkhoven et al. 2014, for kernels that access host memory, counts every read.
        """
        job = self._copy()
        job._core.reads(text("array", array), real("times", times, 1))
        return job

    def with_thread_blocks(self, items: int, threads: int, sharing: int = 1, any_grid: bool = False) -> Job:
        """State that a thread block of ``threads`` threads works on up to ``items`` items.

        ``sharing`` is the number of thread blocks that work on the same items, where several do. With ``any_grid`` the
        kernel works with any number of thread blocks, and launches ``chunk.blocks``.
        """
        job = self._copy()
        job._core.with_blocks(
            whole("items", items, 1),
            whole("threads", threads, 1, MOST_SMALL),
            whole("sharing", sharing, 1),
            flag("any_grid", any_grid),
        )
        job._stated_blocks = True
        return job

    def zero_copy_suits(self, once: bool = True) -> Job:
        """State whether the kernel reads and writes each byte about once, so that zero-copy may pay."""
        job = self._copy()
        job._core.each_byte_once = None if once is None else flag("once", once)
        return job

    def __repr__(self) -> str:
        names = ", ".join(layout.name for layout in self._layouts)
        return f"Job({self.items}, {self.name!r}): {names or 'no arrays'}"

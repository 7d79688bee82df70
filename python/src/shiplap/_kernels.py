"""How kernels of several libraries see the arrays of a chunk, and the stream that they submit to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shiplap._arrays import Chunk, Layout, View
from shiplap._core import UsageError
from shiplap._driver import driver

Function = Callable[..., Any]


class Library:
    """Kernels that get views, and submit to the stream of the chunk themselves."""

    # Whether the first calls of a kernel may do what a stream cannot capture: compile, load code, allocate.
    starts_slowly = False
    # Whether a kernel returns only when its work has ended.
    waits = False

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        """Call the kernel for a chunk."""
        function(chunk, *views)

    def passes(self, layout: Layout) -> bool:
        """Return whether a kernel is called with this array."""
        return True

    def allocates(self, run: Callable[[], None]) -> bool:
        """Return whether the library allocates device memory while ``run`` calls the kernel; False where unknown."""
        return False


class _Cupy(Library):
    starts_slowly = True

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found,unused-ignore]

        self._cupy = cupy
        # Older versions have no function for a stream of others.
        made = getattr(cupy.cuda.Stream, "from_external", None)
        self._stream = made or (lambda stream: cupy.cuda.ExternalStream(stream.ptr))

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        if chunk.stream is None:
            function(chunk, *map(np.asarray, views))
            return
        with self._stream(chunk.stream):
            function(chunk, *map(self._cupy.asarray, views))

    def allocates(self, run: Callable[[], None]) -> bool:
        class Count(self._cupy.cuda.MemoryHook):  # type: ignore[misc,name-defined,unused-ignore]
            name = "shiplap"
            count = 0

            def malloc_preprocess(self, **_: Any) -> None:
                self.count += 1

        with Count() as hook:
            run()
        return bool(hook.count > 0)


class _Torch(Library):
    starts_slowly = True

    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        self._torch = torch

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        torch = self._torch
        if chunk.stream is None:
            function(chunk, *(torch.as_tensor(np.asarray(_Writeable(view))) for view in views))
            return
        with torch.cuda.stream(torch.cuda.ExternalStream(chunk.stream.ptr)):
            function(chunk, *(torch.as_tensor(_Writeable(view), device="cuda") for view in views))

    def allocates(self, run: Callable[[], None]) -> bool:
        def allocated() -> int:
            return int(self._torch.cuda.memory_stats().get("allocation.all.allocated", 0))

        before = allocated()
        run()
        return allocated() != before


class _Writeable:
    """A view as memory that may be written, because PyTorch has no tensors that are read-only."""

    def __init__(self, view: View) -> None:
        interface = view.__cuda_array_interface__ if view.on_gpu else view.__array_interface__
        interface["data"] = (view.ptr, False)
        setattr(self, "__cuda_array_interface__" if view.on_gpu else "__array_interface__", interface)


class _Numba(Library):
    starts_slowly = True

    def __init__(self) -> None:
        from numba import cuda  # type: ignore[import-not-found,unused-ignore]

        self._cuda = cuda

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        if chunk.stream is None:
            function(chunk, *map(np.asarray, views))
            return
        function(chunk, *(self._cuda.as_cuda_array(view, sync=False) for view in views))


class _Jax(Library):
    """Functions that get arrays and return new ones, in streams of JAX.

    The streams of JAX wait for the inputs of a chunk. The host waits for the results, which are then copied in the
    stream of the chunk.
    """

    starts_slowly = True
    waits = True  # for its results, before others may use them

    def __init__(self) -> None:
        import jax  # type: ignore[import-not-found,unused-ignore]

        self._jax = jax
        self._copied: deque[tuple[int, Any]] = deque()

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        jax = self._jax
        if chunk.stream is None:
            given = [jax.numpy.asarray(np.asarray(view)) for view in views if view.readable]
        else:
            given = [jax.dlpack.from_dlpack(view) for view in views if view.readable]
        returned = function(chunk, *given)
        results = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
        written = [view for view in views if view.writeable]
        if len(results) != len(written):
            raise UsageError(f"the kernel returned {len(results)} arrays for the {len(written)} that it writes")
        for view, result in zip(written, results, strict=True):
            if result.shape != view.shape or np.dtype(result.dtype) != view.dtype:
                raise UsageError(
                    f"the kernel returned {result.dtype} of shape {result.shape} for {view.dtype} of shape {view.shape}"
                )
            if chunk.stream is None:
                np.copyto(np.asarray(view), np.asarray(result))
            else:
                self._copy(result, view, chunk.stream.ptr)

    def passes(self, layout: Layout) -> bool:
        return layout.readable

    def _copy(self, result: Any, view: View, stream: int) -> None:
        """Copy a result in the stream, and keep it until the copy has ended."""
        result.__dlpack__(stream=stream)  # the stream waits for the result
        driver().copy(view.ptr, result.unsafe_buffer_pointer(), result.nbytes, stream)
        self._copied.append((driver().record(stream), result))
        while self._copied and driver().reached(self._copied[0][0]):
            driver().destroy(self._copied.popleft()[0])


class _Converted(Library):
    def __init__(self, convert: Callable[[View], Any]) -> None:
        self._convert = convert

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> None:
        function(chunk, *map(self._convert, views))


LIBRARIES: dict[str, type[Library]] = {
    "view": Library,
    "cupy": _Cupy,
    "torch": _Torch,
    "numba": _Numba,
    "jax": _Jax,
}


def library(name: str | Callable[[View], Any]) -> Library:
    """Return the library with this name, or one whose arrays a function makes from views.

    Raises
    ------
    UsageError
        For an unknown name, and for a library that is not installed.
    """
    if callable(name):
        return _Converted(name)
    if name not in LIBRARIES:
        raise UsageError(f"arrays {name!r}: give one of {', '.join(LIBRARIES)}, or a function of a view")
    try:
        return LIBRARIES[name]()
    except ImportError as reason:
        raise UsageError(f"arrays {name!r}: the library is not installed ({reason})") from reason

"""How kernels of several libraries see the arrays of a chunk, and the stream that they submit to."""

from __future__ import annotations

import inspect
import numbers
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from shiplap._arguments import ended
from shiplap._arrays import Chunk, Layout, View
from shiplap._core import UsageError
from shiplap._cuda_text import ItemFunction
from shiplap._driver import driver

Function = Callable[..., Any]


class Library:
    """Kernels that get views, and submit to the stream of the chunk themselves."""

    # Whether the first calls of a kernel may do what a stream cannot capture: compile, load code, allocate.
    starts_slowly = False
    # Whether a kernel returns only when its work has ended.
    waits = False

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        """Call the kernel for a chunk, and return what it returns besides the results that were taken from it."""
        return function(chunk, *views)

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

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        if chunk.stream is None:
            return function(chunk, *map(np.asarray, views))
        with self._stream(chunk.stream):
            return function(chunk, *map(self._cupy.asarray, views))

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

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        torch = self._torch
        if chunk.stream is None:
            return function(chunk, *(torch.as_tensor(np.asarray(_Writeable(view))) for view in views))
        with torch.cuda.stream(torch.cuda.ExternalStream(chunk.stream.ptr)):
            return function(chunk, *(torch.as_tensor(_Writeable(view), device="cuda") for view in views))

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
        self._view = view
        setattr(self, "__cuda_array_interface__" if view.on_gpu else "__array_interface__", interface)


class _Numba(Library):
    starts_slowly = True

    def __init__(self) -> None:
        from numba import cuda  # type: ignore[import-not-found,unused-ignore]

        self._cuda = cuda

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        if chunk.stream is None:
            return function(chunk, *map(np.asarray, views))
        return function(chunk, *(self._cuda.as_cuda_array(view, sync=False) for view in views))


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

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        jax = self._jax
        if chunk.stream is None:
            given = [
                jax.numpy.array(np.asarray(view)) for view in views if view.readable
            ]  # copies, for it may keep them
        else:
            given = [jax.dlpack.from_dlpack(view) for view in views if view.readable]
        returned = ended("the kernel", function(chunk, *given))
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
        return None

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

    def call(self, function: Function, chunk: Chunk, views: Sequence[View]) -> Any:
        return function(chunk, *map(self._convert, views))


def _taken(name: str, passed: Sequence[str], function: Function) -> list[str]:
    """Return the names of the parameters that take what is passed, in their order."""
    if isinstance(function, ItemFunction) and len(function.views) == len(passed) - 1:
        return [passed[0], *function.views]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return list(passed)  # functions that are not written in Python may have no signature
    try:
        signature.bind(*passed)
    except TypeError as reason:
        raise UsageError(f"{name} is called with {', '.join(passed)}, and it takes {signature}: {reason}") from None
    by_order = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = [parameter.name for parameter in signature.parameters.values() if parameter.kind in by_order]
    taken = taken[: len(passed)]
    if taken and taken[0] not in passed:
        taken[0] = passed[0]  # whatever the chunk is called
    return taken


def require_names(name: str, passed: Sequence[str], function: Function) -> Function:
    """Return the function for arguments in the order of ``passed``: "chunk" and the names of the arrays.

    A function whose parameters have the same names in another order gets each argument by its name. Parameters with
    names of their own take the arguments in their order.

    Raises
    ------
    UsageError
        When the arguments do not fit the parameters, or a parameter has the name of another array than it would get.
    """
    taken = _taken(name, passed, function)
    if taken == list(passed):
        return function
    if sorted(taken) == sorted(passed):
        order = [passed.index(parameter) for parameter in taken]
        return lambda *given: function(*(given[i] for i in order))
    for parameter, argument in zip(taken, passed, strict=False):
        if parameter != argument and parameter in passed:
            raise UsageError(
                f"{name} is called with {', '.join(passed)}, and it takes {', '.join(taken)}: {parameter} would be "
                f"{argument}; name the parameters as the arrays, in any order, or keep the order of the arrays"
            )
    return function


def _address(array: Any) -> int | None:
    """Return the address of an array of any library; None for what is no array."""
    for interface in ("__array_interface__", "__cuda_array_interface__"):
        try:
            return int(getattr(array, interface)["data"][0])
        except (AttributeError, TypeError, RuntimeError):
            continue
    return int(array.data_ptr()) if hasattr(array, "data_ptr") else None


def require_no_result(name: str, returned: Any, views: Sequence[View]) -> None:
    """Raise UsageError when a kernel returned arrays other than those that it writes, because nobody reads them."""
    ended(name, returned)
    for array in _results(returned):
        shape = getattr(array, "shape", ())
        is_number = isinstance(array, numbers.Number) and isinstance(returned, (list, dict))
        if not shape and not is_number:
            continue
        address = _address(array) if shape else None
        if address is not None and any(
            view.writeable and view.ptr <= address < view.ptr + max(1, view.nbytes) for view in views
        ):
            continue
        what = f"an array of shape {tuple(shape)}" if shape else f"a {type(returned).__name__} of numbers"
        raise UsageError(
            f"{name} returned {what}, and nobody reads what it returns: write the result into the array that it gets, "
            'as in y[:] = result (with arrays="jax" results are returned)'
        )


def _results(returned: Any) -> Iterable[Any]:
    """Return what a kernel returned, one by one where it is a tuple, a list or a dict."""
    if isinstance(returned, dict):
        return returned.values()
    return returned if isinstance(returned, (tuple, list)) else (returned,)


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

"""Arrays of GPU libraries for kernels, and the stream that these libraries submit to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from shiplap._arrays import Chunk, View
from shiplap._core import UsageError


def address(chunk: Chunk) -> int:
    """Return the address of the stream of a chunk on a GPU."""
    if chunk.stream is None:
        raise UsageError("a host kernel has no stream: GPU libraries are for `Job.kernel`")
    return chunk.stream.ptr


class Library:
    """How a library sees the views of a chunk: as arrays of its own, in the stream of the chunk."""

    def arrays(self, view: View) -> Any:
        """Return the view as an array of the library, without a copy."""
        return view

    def stream(self, chunk: Chunk) -> AbstractContextManager[Any]:
        """Return the context in which the library submits to the stream of the chunk."""
        return nullcontext()


class _Cupy(Library):
    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found,unused-ignore]

        self._cupy = cupy

    def arrays(self, view: View) -> Any:
        return self._cupy.asarray(view)

    def stream(self, chunk: Chunk) -> AbstractContextManager[Any]:
        stream: AbstractContextManager[Any] = self._cupy.cuda.ExternalStream(address(chunk))
        return stream


class _Torch(Library):
    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        self._torch = torch

    def arrays(self, view: View) -> Any:
        return self._torch.as_tensor(view, device="cuda")

    def stream(self, chunk: Chunk) -> AbstractContextManager[Any]:
        cuda = self._torch.cuda
        stream: AbstractContextManager[Any] = cuda.stream(cuda.ExternalStream(address(chunk)))
        return stream


class _Numba(Library):
    def __init__(self) -> None:
        from numba import cuda  # type: ignore[import-not-found,unused-ignore]

        self._cuda = cuda

    def arrays(self, view: View) -> Any:
        return self._cuda.as_cuda_array(view, sync=False)


class _Converted(Library):
    def __init__(self, convert: Callable[[View], Any]) -> None:
        self._convert = convert

    def arrays(self, view: View) -> Any:
        return self._convert(view)


LIBRARIES: dict[str, type[Library]] = {"view": Library, "cupy": _Cupy, "torch": _Torch, "numba": _Numba}


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

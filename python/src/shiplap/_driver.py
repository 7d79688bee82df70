"""The few calls of the CUDA driver that arrays of libraries with streams of their own need."""

from __future__ import annotations

import ctypes
from functools import cache

from shiplap._core import Error

_NO_TIMING = 2
_NOT_READY = 600
_GPU_OF_POINTER = 9


class Driver:
    """Orders streams, and copies in them."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(code, ctypes.byref(text))
            raise Error(f"{name} failed: {(text.value or b'unknown error').decode()} ({code})")

    def current_gpu(self) -> int:
        """Return the number of the GPU that is selected in this thread."""
        gpu = ctypes.c_int()
        self._call("cuCtxGetDevice", ctypes.byref(gpu))
        return gpu.value

    def record(self, stream: int) -> int:
        """Return an event at the end of what the stream has to do now. `destroy` ends its life."""
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), _NO_TIMING)
        self._call("cuEventRecord", event, ctypes.c_void_p(stream))
        return event.value or 0

    def reached(self, event: int) -> bool:
        """Return whether the GPU has reached an event."""
        code = self._library.cuEventQuery(ctypes.c_void_p(event))
        if code not in (0, _NOT_READY):
            self._call("cuEventQuery", ctypes.c_void_p(event))
        return bool(code == 0)

    def wait(self, stream: int, address: int) -> None:
        """Wait until a stream of the GPU that has the memory at `address` has done what was submitted to it.

        1 and 2 are the default streams of CUDA, of which each GPU has its own.
        """
        gpu, device = ctypes.c_int(), ctypes.c_int()
        context, popped = ctypes.c_void_p(), ctypes.c_void_p()
        # Memory of a pool has no context of its own, but a GPU.
        self._call("cuPointerGetAttribute", ctypes.byref(gpu), _GPU_OF_POINTER, ctypes.c_uint64(address))
        self._call("cuDeviceGet", ctypes.byref(device), gpu)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        try:
            self._call("cuCtxPushCurrent_v2", context)
            try:
                self._call("cuStreamSynchronize", ctypes.c_void_p(stream))
            finally:
                self._call("cuCtxPopCurrent_v2", ctypes.byref(popped))
        finally:
            self._call("cuDevicePrimaryCtxRelease_v2", device)

    def destroy(self, event: int) -> None:
        """Give an event back. Streams that wait for it go on waiting."""
        self._call("cuEventDestroy_v2", ctypes.c_void_p(event))

    def order(self, before: int, after: int) -> None:
        """Make what is submitted to ``after`` from now on wait for what ``before`` has to do now."""
        event = self.record(before)
        self._call("cuStreamWaitEvent", ctypes.c_void_p(after), ctypes.c_void_p(event), 0)
        self.destroy(event)

    def copy(self, destination: int, source: int, size: int, stream: int) -> None:
        """Submit a copy of bytes to a stream."""
        self._call(
            "cuMemcpyAsync",
            ctypes.c_uint64(destination),
            ctypes.c_uint64(source),
            ctypes.c_size_t(size),
            ctypes.c_void_p(stream),
        )


@cache
def driver() -> Driver:
    """Return the CUDA driver of this machine."""
    try:
        return Driver(ctypes.CDLL("libcuda.so.1"))
    except OSError as reason:
        raise Error(f"there is no CUDA driver here: {reason}") from reason

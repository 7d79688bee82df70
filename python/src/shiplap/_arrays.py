"""Arrays of the caller, and the views that kernels get."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from shiplap._arguments import shape_of, whole
from shiplap._core import UsageError, exported, share
from shiplap._driver import driver

HostMemory = Literal["pinned", "pageable", "managed"]  # kinds of host memory


def require_plain(name: str, dtype: Any) -> np.dtype:
    """Return the type of elements; raise UsageError unless its values are bytes that a GPU can hold."""
    try:
        found: np.dtype = np.dtype(dtype)
    except (TypeError, ValueError) as reason:
        raise UsageError(f"{name} {dtype!r} is no type of NumPy: {reason}") from None
    if found.hasobject:
        raise UsageError(f"{name} holds Python objects, which no GPU can read: give it a numeric dtype")
    if found.itemsize == 0:
        raise UsageError(f"{name} has elements of 0 B ({found}): give it a numeric dtype")
    if not found.isnative:
        raise UsageError(f"{name} has the type {found.str}, whose bytes are in the order of other machines")
    return found


def host_array(name: str, array: Any, written: bool) -> np.ndarray:
    """Return the memory of an array as a NumPy array, without a copy.

    Parameters
    ----------
    name
        Name of the array in messages.
    array
        Anything in host memory with the buffer protocol, ``__array_interface__`` or DLPack: NumPy arrays, PyTorch
        tensors on the CPU, ``memoryview``, ``array.array``.
    written
        Whether a kernel writes the array.

    Raises
    ------
    UsageError
        When the array is on a GPU, not contiguous, read-only although it is written, or holds Python objects.
    """
    if is_on_gpu(array):
        raise UsageError(f"array {name} is on a GPU, and host memory is needed here")
    try:
        if isinstance(array, np.ndarray) or hasattr(array, "__array_interface__"):
            found = np.asarray(array)
        elif "torch" in sys.modules and isinstance(array, sys.modules["torch"].Tensor):
            found = array.numpy()  # NumPy before 2.2 takes DLPack as read-only
        elif hasattr(array, "__dlpack__"):
            found = np.from_dlpack(array)
        else:
            found = np.asarray(memoryview(array))
    except UsageError:
        raise
    except Exception as reason:
        raise UsageError(
            f"array {name}: a {type(array).__name__} gives no access to host memory ({reason}); give a NumPy array, a "
            "tensor on the CPU, or another object with the buffer protocol or DLPack"
        ) from reason
    require_plain(f"array {name}", found.dtype)
    if not found.flags.c_contiguous:
        raise UsageError(
            f"array {name} is not contiguous (strides {found.strides}): make a contiguous copy, as with "
            "numpy.ascontiguousarray"
        )
    if written and not found.flags.writeable:
        raise UsageError(f"array {name} is read-only, and the kernel writes it: give a writeable array")
    return found


class ArraySpec:
    """Shape, type and kind of memory of an array that need not exist, to plan a job with it.

    Plans with it are for nodes without a device (`Node.from_profile`, `Node.what_if`): nothing can run or be measured.

    Parameters
    ----------
    shape, dtype
        As NumPy has them.
    memory
        The kind of host memory that the array would be in.
    """

    address = 0

    def __init__(self, shape: int | Sequence[int], dtype: Any = float, memory: HostMemory = "pinned") -> None:
        self.shape: tuple[int, ...] = shape_of(shape)
        self.dtype: np.dtype = require_plain("`dtype`", dtype)
        if memory not in ("pinned", "pageable", "managed"):
            raise UsageError(f"`memory` {memory!r}: give pinned, pageable or managed")
        self.memory: str = memory
        self.ndim: int = len(self.shape)
        self.size: int = math.prod(self.shape)
        self.nbytes: int = whole("bytes of the array", self.size * self.dtype.itemsize)

    def __repr__(self) -> str:
        return f"ArraySpec({self.shape}, {self.dtype}, {self.memory})"


class GpuArray:
    """Memory on a GPU that is an array of the caller, with what a NumPy array says of itself."""

    memory = "device"

    def __init__(self, array: Any, interface: dict[str, Any]) -> None:
        self.array = array
        self.address: int = interface["data"][0]
        self.shape: tuple[int, ...] = interface["shape"]
        # The members of a structure stand apart, as in the interface of NumPy.
        typestr = interface["typestr"]
        self.dtype: np.dtype = np.dtype(interface["descr"] if typestr[1] == "V" and "descr" in interface else typestr)
        self.ndim: int = len(self.shape)
        self.size: int = math.prod(self.shape)
        self.nbytes: int = self.size * self.dtype.itemsize

    def wait(self) -> None:
        """Wait until the stream in which the caller works on the array has done what was submitted to it."""
        if hasattr(self.array, "block_until_ready"):
            self.array.block_until_ready()
            return
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(self.array, torch.Tensor):
            torch.cuda.current_stream(self.array.device).synchronize()
            return
        default_stream = 1  # for which the interface of some libraries has None
        driver().wait(self.array.__cuda_array_interface__.get("stream") or default_stream, self.address)


def is_on_gpu(array: Any) -> bool:
    """Return whether an array of the caller is memory of a GPU."""
    if isinstance(array, np.ndarray) or hasattr(array, "__array_interface__"):
        return False
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return bool(array.is_cuda)
    return hasattr(array, "__cuda_array_interface__")


def gpu_array(name: str, array: Any, written: bool) -> GpuArray:
    """Return the memory of an array on a GPU, without a copy.

    Raises
    ------
    UsageError
        When the array is not contiguous, or read-only although it is written.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        array = array.detach()  # which shares the memory, and has the interface
        if array.is_conj() or array.is_neg():
            raise UsageError(
                f"array {name} is a conjugated or negated view, whose memory has other values: give "
                "array.resolve_conj().resolve_neg()"
            )
    try:
        interface = array.__cuda_array_interface__
    except Exception as reason:
        raise UsageError(f"array {name}: a {type(array).__name__} gives no access to its memory: {reason}") from reason
    found = GpuArray(array, interface)
    require_plain(f"array {name}", found.dtype)
    strides = interface.get("strides")
    if strides is not None and found.size > 0:
        expected = found.dtype.itemsize
        for extent, stride in zip(reversed(found.shape), reversed(strides), strict=True):
            if extent > 1 and stride != expected:
                raise UsageError(f"array {name} is not contiguous (strides {strides}): make a contiguous copy")
            expected *= extent
    if interface.get("mask") is not None:
        raise UsageError(f"array {name} has a mask, which kernels do not get: give the array without it")
    if written and interface["data"][1]:
        raise UsageError(f"array {name} is read-only, and the kernel writes it: give a writeable array")
    return found


def array_of(name: str, array: Any, written: bool) -> np.ndarray | GpuArray | ArraySpec:
    """Return what a job knows of an array of the caller: its memory on the host or a GPU, or its description."""
    if isinstance(array, ArraySpec):
        return array
    return gpu_array(name, array, written) if is_on_gpu(array) else host_array(name, array, written)


class Layout:
    """Shape and type of an array, from which the views of its parts are made, and the array."""

    __slots__ = ("array", "dtype", "name", "readable", "row", "row_bytes", "writeable")

    def __init__(
        self,
        name: str,
        dtype: np.dtype,
        row: tuple[int, ...],
        writeable: bool,
        readable: bool = True,
        array: np.ndarray | GpuArray | ArraySpec | None = None,
    ) -> None:
        self.array: np.ndarray | GpuArray | ArraySpec | None = array
        self.name: str = name
        self.dtype: np.dtype = dtype
        self.row: tuple[int, ...] = row
        self.row_bytes: int = math.prod(row) * dtype.itemsize
        self.writeable: bool = writeable
        self.readable: bool = readable


class _Memory:
    """Memory of the library with the interface of an array. A NumPy array of it keeps it, and it keeps the owner."""

    def __init__(self, address: int, size: int, owner: Any) -> None:
        self._owner = owner
        self.__array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def array_at(address: int, shape: tuple[int, ...], dtype: np.dtype, owner: Any) -> np.ndarray:
    """Return the host memory at an address as a writeable NumPy array, which keeps the owner of the memory."""
    memory = np.asarray(_Memory(address, math.prod(shape) * dtype.itemsize, owner))
    return np.ndarray(shape, dtype, memory.data)


class Stream:
    """A CUDA stream of shiplap. It is valid during the call of the kernel, and for the work that is submitted to it."""

    __slots__ = ("ptr",)

    def __init__(self, ptr: int) -> None:
        self.ptr: int = ptr

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol and the address of the stream."""
        return (0, self.ptr)


def stream_address(stream: Any) -> int:
    """Return the address of a CUDA stream of any library; 0 for None."""
    if stream is None:
        return 0
    if hasattr(stream, "__index__"):
        return whole("stream", stream, most=(1 << 64) - 1)
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise UsageError(f"a {type(stream).__name__} is no CUDA stream: give an object with __cuda_stream__, or an address")


class Chunk:
    """The items that one call of a kernel works on.

    Attributes
    ----------
    first, end, count : int
        The items are ``range(first, end)`` of the whole job.
    blocks : int
        Number of thread blocks that the plan asks for, for kernels that work with any grid.
    stream : Stream or None
        The stream to submit work to; None for a host kernel.
    views : sequence of View
        A view for each array, in their order. They know which rows of the whole arrays the kernel gets, whatever the
        kernel is called with.
    """

    __slots__ = ("blocks", "count", "first", "stream", "views")

    def __init__(self, first: int, count: int, blocks: int, stream: Stream | None, views: Sequence[View] = ()) -> None:
        self.first: int = first
        self.count: int = count
        self.blocks: int = blocks
        self.stream: Stream | None = stream
        self.views: Sequence[View] = views

    @property
    def end(self) -> int:
        """Index of the item after the last one."""
        return self.first + self.count

    def __repr__(self) -> str:
        return f"Chunk(first={self.first}, count={self.count})"


class View:
    """The part of an array that a chunk reaches, on the GPU or in host memory.

    It has ``__cuda_array_interface__`` on a GPU and ``__array_interface__`` in host memory, so ``cupy.asarray``,
    ``torch.as_tensor``, ``numba.cuda.as_cuda_array`` and ``numpy.asarray`` take it without a copy. It is valid during
    the call of the kernel, and for the work that the kernel submits.

    Attributes
    ----------
    ptr : int
        Address of the first element.
    shape : tuple of int
        Rows of the part, and the shape of a row.
    dtype : numpy.dtype
        Type of the elements.
    first, end : int
        The rows are ``range(first, end)`` of the whole array.
    readable, writeable : bool
        Whether the kernel reads the array, and whether it writes the array.
    stream : Stream or None
        The stream of the chunk; None in host memory.
    """

    __slots__ = (
        "__weakref__",
        "_layout",
        "_owner",
        "dtype",
        "first",
        "ptr",
        "readable",
        "shape",
        "stream",
        "writeable",
    )

    def __init__(self, layout: Layout, ptr: int, length: int, origin: int, stream: Stream | None) -> None:
        self._layout = layout
        self._owner: Any = None
        self.ptr: int = ptr
        self.dtype: np.dtype = layout.dtype
        self.readable: bool = layout.readable
        self.writeable: bool = layout.writeable
        self.stream: Stream | None = stream
        self.first: int = origin // layout.row_bytes
        self.shape: tuple[int, ...] = (length // layout.row_bytes, *layout.row)

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes on the view, in device memory or in host memory that it accesses."""
        return self.stream is not None

    @property
    def end(self) -> int:
        """Index of the row after the last one in the whole array."""
        return self.first + self.shape[0]

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def _keep_memory(self) -> None:
        """Make host memory live as long as this view, whatever becomes of the run."""
        self._owner = (share(self.ptr), self._layout.array)

    def _without_memory(self) -> View:
        """Return the view as it may be kept after the call: it knows its rows, and has no address."""
        view = copy.copy(self)
        view.ptr = 0
        return view

    def _interface(self) -> dict[str, Any]:
        if self.ptr == 0:
            raise UsageError(f"{self!r} was valid during the call of its kernel: keep a copy of its values")
        described = {} if self.dtype.names is None else {"descr": self.dtype.descr}
        return {
            **described,
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.ptr, not self.writeable),
            "strides": None,
            "version": 3,
        }

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.on_gpu:
            raise AttributeError("the view is on a GPU: it has __cuda_array_interface__")
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self.on_gpu:
            raise AttributeError("the view is in host memory: it has __array_interface__")
        # Work on the view goes to the stream of its chunk, so nobody has to wait for another stream.
        return {**self._interface(), "stream": None}

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return type and number of the device that the view is on, as DLPack numbers them."""
        return (2, driver().current_gpu()) if self.on_gpu else (1, 0)

    def __dlpack__(self, *, stream: int | None = None, **wanted: Any) -> Any:
        """Return the view as DLPack. Work that is later submitted to ``stream`` waits for the data of the view."""
        if self.stream is None:
            array = np.asarray(self)
            try:
                return array.__dlpack__(**wanted)
            except TypeError:  # NumPy before 2.1 knows no version of DLPack, and gives what all versions read
                return array.__dlpack__()
        codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
        if self.dtype.kind not in codes or self.dtype.itemsize > (16 if self.dtype.kind == "c" else 8):
            raise UsageError(f"DLPack has no type for {self.dtype}")
        if stream not in (None, -1, self.stream.ptr):
            driver().order(self.stream.ptr, stream)
        code, bits = codes[self.dtype.kind], 8 * self.dtype.itemsize
        return exported(self.ptr, self.shape, code, bits, driver().current_gpu(), self)

    def __repr__(self) -> str:
        where = "GPU" if self.on_gpu else "host"
        return f"View(rows {self.first} to {self.end}, {self.dtype}, {where})"


def views(
    layouts: Sequence[Layout],
    operands: Sequence[int],
    lengths: Sequence[int],
    origins: Sequence[int],
    stream: Stream | None,
) -> list[View]:
    """Return the views of one launch, in the order of the arrays."""
    return [
        View(layout, operand, length, origin, stream)
        for layout, operand, length, origin in zip(layouts, operands, lengths, origins, strict=True)
    ]

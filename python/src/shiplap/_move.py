"""Scattered blocks between a pool in host memory and arrays on a GPU, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from shiplap import _core
from shiplap._arguments import optional_real, whole
from shiplap._arrays import host_array, stream_address
from shiplap._core import UsageError
from shiplap._node import Node, require_node


def array_on_gpu(name: str, array: Any, written: bool) -> tuple[int, int]:
    """Return address and size of a contiguous array on a GPU."""
    if not hasattr(array, "__cuda_array_interface__"):
        raise UsageError(f"{name}: a {type(array).__name__} has no __cuda_array_interface__: give an array on the GPU")
    interface = array.__cuda_array_interface__
    shape, dtype = interface["shape"], np.dtype(interface["typestr"])
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    strides, expected = interface.get("strides"), dtype.itemsize
    for extent, stride in reversed(list(zip(shape, strides or (), strict=False))):
        if extent != 1 and stride != expected and size > 0:
            raise UsageError(f"{name} is not contiguous (strides {strides})")
        expected *= extent
    if written and interface["data"][1]:
        raise UsageError(f"{name} is read-only: give an array that may be written")
    return int(interface["data"][0]), size


def _moved(
    node: Node, pool: Any, index: Any, packed: Any, stream: Any, block: int | None, limit: float | None, back: bool
) -> str:
    require_node(node)
    limit = optional_real("max_slowdown", limit)
    memory = host_array("pool", pool, written=back)
    if memory.ndim == 0 or memory.size == 0:
        raise UsageError("the pool has no elements")
    size = memory.nbytes // memory.shape[0] if block is None else whole("block", block, 1)
    given = np.asarray(index)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise UsageError(f"index: give integers in one dimension, not {given.dtype} in {given.ndim}")
    if given.size and (int(given.min()) < 0 or int(given.max()) >= 1 << 32):
        at = int(np.argmax((given < 0) | (given >= 1 << 32)))
        raise UsageError(f"index {given[at]} at position {at} is outside of the pool")
    indices = np.ascontiguousarray(given, dtype=np.uint32)
    address, room = array_on_gpu("source" if back else "destination", packed, written=not back)
    if room != size * indices.size:
        raise UsageError(
            f"{indices.size} blocks of {size} B are {size * indices.size} B, and the array on the GPU has {room} B"
        )
    return _core.move_blocks(
        node._core,
        memory.ctypes.data,
        memory.nbytes,
        size,
        indices.ctypes.data,
        indices.size,
        address,
        stream_address(stream),
        back,
        limit,
    )


def move(
    node: Node,
    pool: Any,
    index: Any,
    destination: Any,
    stream: Any = None,
    *,
    block: int | None = None,
    max_slowdown: float | None = None,
) -> str:
    """Move blocks of a pool in host memory to an array on the GPU, by the fastest mover of the node.

    The call submits the move to the stream and returns. Pool and destination must not change, or be freed, before the
    move has ended; the indices may.

    Parameters
    ----------
    node
        A node with a GPU.
    pool
        An array in host memory, best in pinned memory. Its rows are the blocks.
    index
        Integers: row ``index[k]`` of the pool becomes block k of the destination.
    destination
        A contiguous array on the first GPU of the node, of as many bytes as the blocks have. Work on it in other
        streams must have ended.
    stream
        A stream of PyTorch, CuPy, cuda.core or shiplap, or an address; None for the default stream, which has no
        batches.
    block
        Size of a block in bytes, where it is not a row.
    max_slowdown
        Most time that a kernel concurrent with the move may lose, as a fraction; None for no limit.

    Returns
    -------
    str
        The mover: ``"batch"``, ``"kernel of 8 blocks"``.

    Raises
    ------
    UsageError
        For an index outside of the pool, which is named with its position, and for sizes that do not fit.
    """
    return _moved(node, pool, index, destination, stream, block, max_slowdown, back=False)


def move_back(
    node: Node,
    pool: Any,
    index: Any,
    source: Any,
    stream: Any = None,
    *,
    block: int | None = None,
    max_slowdown: float | None = None,
) -> str:
    """Move blocks of an array on the GPU back to a pool: block k of the source becomes row ``index[k]`` of the pool.

    No index may occur twice. All else is as for `move`.
    """
    return _moved(node, pool, index, source, stream, block, max_slowdown, back=True)

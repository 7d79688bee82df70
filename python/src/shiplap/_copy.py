"""Copies between pinned host memory and a GPU, over all links of a node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shiplap import _core
from shiplap._arguments import optional_real, whole
from shiplap._arrays import host_array, stream_address
from shiplap._core import UsageError
from shiplap._move import array_on_gpu
from shiplap._node import Node, require_node

MOST_GPUS = 64


class Copier:
    """Copies between pinned host memory and the GPUs of a node.

    A copy is divided among the link of its GPU and those of the other GPUs where the node's profile predicts that this
    is faster. What was prepared for the sizes that were copied last is kept. One thread may use it at a time.

    Parameters
    ----------
    node
        A node with several GPUs, as in ``Node.load_or_measure("cuda:0,1")``.
    relay
        Numbers in the node of further GPUs whose links may carry copies; None for all that no other process uses.
    max_slowdown
        Most time that a kernel on such a GPU may lose, as a fraction; None for no limit.
    """

    def __init__(self, node: Node, *, relay: Iterable[int] | None = None, max_slowdown: float | None = None) -> None:
        require_node(node)
        gpus = None if relay is None else [whole("relay", gpu, most=MOST_GPUS) for gpu in relay]
        self._core = _core.Copier(node._core, gpus, optional_real("max_slowdown", max_slowdown))

    def copy(self, destination: Any, source: Any, stream: Any = None) -> dict[int, float]:
        """Copy an array to a GPU or back, after what is in the stream and before what is enqueued there later.

        The call enqueues the copy and returns. Neither array must change, or be freed, before the copy has ended. On a
        simulated node it has ended on return.

        Parameters
        ----------
        destination, source
            Contiguous arrays of equal size: one in pinned host memory, such as one of `pinned_empty`, and one on a GPU
            of the node.
        stream
            A stream of PyTorch, CuPy, cuda.core or shiplap, or an address; None for the default stream.

        Returns
        -------
        dict
            The part of the bytes that went over the link of each other GPU; empty where the own link is as fast.

        Raises
        ------
        UsageError
            For arrays that are not in pinned memory and on a GPU of the node, or of different sizes.
        """
        to_gpu = hasattr(destination, "__cuda_array_interface__")
        gpu, size = array_on_gpu("destination" if to_gpu else "source", destination if to_gpu else source, to_gpu)
        host = host_array("source" if to_gpu else "destination", source if to_gpu else destination, written=not to_gpu)
        if host.nbytes != size:
            raise UsageError(f"the array on the GPU has {size} B, and the one on the host {host.nbytes} B")
        addresses = (gpu, host.ctypes.data) if to_gpu else (host.ctypes.data, gpu)
        through, _ = self._core.copy(*addresses, size, stream_address(stream))
        return dict(through)

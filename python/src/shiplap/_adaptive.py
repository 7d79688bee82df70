"""Endless runs: batches of an input without an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shiplap import _core
from shiplap._arguments import MOST_SMALL, ended, function, whole
from shiplap._arrays import Layout, array_at
from shiplap._core import UsageError
from shiplap._job import Job, require_job
from shiplap._node import Node, require_node


class Adaptive:
    """A job over one batch, ready to run on batch after batch in pinned memory that the object owns.

    How a batch is cut into chunks adapts to what was observed of the batches before.

    Parameters
    ----------
    node
        The node, with a device.
    batch
        A job over one batch. The shapes and types of its arrays count, and not where they are.
    in_flight
        Batches that are submitted and have not ended, at most 64; 1 to wait for each before the next begins.
    sample
        ``sample(*arrays)`` fills the arrays with typical data, on which the kernel is timed once. Without it the kernel
        is timed on zeros.

    Raises
    ------
    UsageError
        For a node without a device, and for more batches than fit into the memory of host and GPU.
    """

    def __init__(self, node: Node, batch: Job, *, in_flight: int = 3, sample: Callable[..., Any] | None = None) -> None:
        require_node(node)
        require_job(batch)._require_parameters()
        layouts = batch._layouts
        if batch._core.waits:
            raise UsageError(
                f"{batch.name}: its kernel waits for the GPU, as those of JAX do, and batches would not overlap: run "
                "it with Node.plan"
            )
        if node.has_gpu:
            batch = batch._started(node._core, 0)
        in_flight = whole("in_flight", in_flight, 1, MOST_SMALL)
        fill = None if sample is None else _filling(layouts, function("sample", sample))
        self._core = _core.Adaptive.make(node._core, batch._core, in_flight, fill)
        self._layouts = layouts
        self._job = batch.name

    def __repr__(self) -> str:
        return f"Adaptive({self._job}, {self._core.slots} batches in pinned memory)"

    def _slot(self, slot: int) -> list[np.ndarray]:
        # Made anew for each batch: NumPy hides what an array refers to from the garbage collector, so arrays that this
        # object keeps would keep it forever.
        return _arrays(self._layouts, self._core.arrays(slot), self._core)

    def run(self, source: Callable[..., bool], sink: Callable[..., Any] | None = None) -> _core.AdaptiveReport:
        """Run batches until the source has no more.

        Parameters
        ----------
        source
            ``source(number, *arrays)`` fills the inputs of a batch and returns True, or returns False at the end.
        sink
            ``sink(number, *arrays)`` receives each batch when its outputs are complete, in the order of the batches.
            Later batches use the same arrays: keep copies.

        Returns
        -------
        AdaptiveReport
            ``batches``, ``items``, ``changes`` of the choice, ``elapsed`` seconds, and ``rate`` in items a second.
        """
        function("source", source)
        if sink is not None:
            function("sink", sink)

        def fill(number: int, slot: int) -> bool:
            more = ended("source", source(number, *self._slot(slot)))
            if more is None:
                raise UsageError(
                    f"source returned None for batch {number}, so it is unknown whether there is one: return True when "
                    "the batch is filled, and False at the end"
                )
            return bool(more)

        def take(number: int, slot: int) -> None:
            ended("sink", sink(number, *self._slot(slot)))  # type: ignore[misc]

        return self._core.run(fill, None if sink is None else take)


def _filling(layouts: tuple[Layout, ...], sample: Callable[..., Any]) -> Callable[[list[tuple[int, int]]], None]:
    """Return a function that fills memory with what the sample writes into arrays of its own, which it may keep."""

    def fill(places: list[tuple[int, int]]) -> None:
        memory = _arrays(layouts, places, None)
        filled = [np.zeros_like(array) for array in memory]
        ended("sample", sample(*filled))
        for array, values in zip(memory, filled, strict=True):
            array[...] = values

    return fill


def _arrays(layouts: tuple[Layout, ...], places: list[tuple[int, int]], owner: Any) -> list[np.ndarray]:
    return [
        array_at(address, (size // layout.row_bytes, *layout.row), layout.dtype, owner)
        for layout, (address, size) in zip(layouts, places, strict=True)
    ]

"""Nodes: devices with their measured figures."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Sequence
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from shiplap import _core
from shiplap._arguments import (
    MOST_SMALL,
    file_name,
    flag,
    function,
    optional_real,
    real,
    several,
    shape_of,
    text,
    whole,
)
from shiplap._arrays import array_at, host_array, require_plain
from shiplap._core import UsageError
from shiplap._job import Job, require_job
from shiplap._plan import Plan
from shiplap._show import SECONDS, Table, object_of, preformatted
from shiplap._step import Step, StepPlan, require_step


def devices() -> dict[str, str]:
    """Return the devices that can be opened, by their names, such as ``"cuda:0"`` and ``"virtual:h200"``."""
    return {name: what for name, what in _core.devices() if name}


def profiles() -> list[str]:
    """Return the names of the built-in profiles."""
    return _core.built_in_profiles()


def _log(level: int, line: str) -> None:
    """Log the line; print it on stderr where the program has no logging."""
    logger = logging.getLogger("shiplap")
    if logger.hasHandlers():
        logger.log(level, line)
    else:
        print(f"shiplap: {line}", file=sys.stderr)


def _note(line: str) -> None:
    """Say what takes time."""
    _log(logging.INFO, line)


def _warn(line: str) -> None:
    """Say what is assumed, or simulated without being asked for."""
    _log(logging.WARNING, line)


class Movers(Table):
    """What moves scattered blocks fastest, by their size: see `Node.movers`."""

    def __init__(self, core: _core.MoverTable, counts: Sequence[int]) -> None:
        self._core = core
        self._counts = tuple(counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as ``shiplap movers --json`` prints it."""
        return object_of(self._core.to_json())

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each mover of each set of blocks: sizes in bytes, times in seconds, rates in GB/s."""
        return [
            {
                "direction": row["direction"],
                "blocks": row["blocks"],
                "block": row["block"]["value"],
                "mover": mover["mover"]["kind"],
                "grid": mover["mover"]["grid"],
                "time": mover["time"]["value"] * SECONDS[mover["time"]["unit"]],
                "rate": mover["rate"]["value"],
                "slowdown": mover["slowdown"]["value"],
            }
            for row in self.to_dict()["rows"]
            for mover in row["movers"]
        ]

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"Movers of {', '.join(map(str, self._counts))} blocks: print it, or use rows()"

    def _repr_svg_(self) -> str:
        return self._core.svg(self._counts[0])


class Node:
    """A device with measured figures, on which jobs are planned and run.

    Use `load_or_measure` for a GPU or a virtual device, and `from_profile` to plan for a node that is not here.
    """

    def __init__(self, core: _core.Node) -> None:
        if not isinstance(core, _core.Node):
            raise UsageError(
                "Node() makes no node: open a device with Node.load_or_measure or Node.open, or use Node.from_profile"
            )
        self._core = core

    @classmethod
    def load_or_measure(cls, device: str = "", say: Callable[[str], None] = _note) -> Node:
        """Open a device with its own figures.

        A virtual device brings its figures. Those of a GPU are in a cache; without them the GPU is measured quickly
        (about 15 s).

        Parameters
        ----------
        device
            ``"cuda:0"``, ``"virtual:h200"``, ``"virtual:path/to/profile.json"``; empty for the first GPU, or
            ``"virtual:h200"`` where there is none.
        say
            Called with a line that says where the figures come from.
        """
        return cls(_core.Node.load_or_measure(text("device", device), function("say", say), False))

    @classmethod
    def load_or_assume(cls, device: str = "", say: Callable[[str], None] = _warn) -> Node:
        """Open a device as `load_or_measure` does, without waiting for a measurement.

        Where a GPU has no figures yet, the built-in ones of GPUs of its name stand for them, if there are any.
        """
        return cls(_core.Node.load_or_measure(text("device", device), function("say", say), True))

    @classmethod
    def open(cls, device: str, profile: str | PathLike[str]) -> Node:
        """Open a device with the figures of a profile, which has a built-in name or is a file."""
        return cls(_core.Node.with_profile(text("device", device), file_name("profile", profile)))

    @classmethod
    def from_profile(cls, name_or_path: str | PathLike[str]) -> Node:
        """Return a node that is known by its profile only: jobs can be planned and not run.

        Arrays are pageable for it, unless they are pinned memory that an open device knows.
        """
        return cls(_core.Node.from_profile(file_name("name_or_path", name_or_path)))

    def what_if(self, what: str) -> Node:
        """Return this node with another link, without a device: ``"link=pcie4"``, ``"link=x8"`` or ``"link=0.5"``.

        Arrays are pageable for it, unless they are pinned memory that an open device knows.
        """
        return type(self)(self._core.what_if(text("what", what)))

    def with_link(self, what: str) -> Node:
        """Return this node, whose profile has no link, with an assumed one, and without a device.

        ``what`` is ``"pcie1"`` to ``"pcie6"``, or the name or path of a profile that has a link.
        """
        return type(self)(self._core.with_link(text("what", what)))

    def simulated(self) -> Node:
        """Return a virtual device with the figures of this node."""
        return type(self)(self._core.simulated())

    @property
    def device(self) -> str:
        """Name of the device, such as ``"cuda:0"``; empty for a node without one."""
        return self._core.device

    @property
    def has_gpu(self) -> bool:
        """Whether a real GPU runs the jobs."""
        return self._core.has_gpu

    @property
    def profile_name(self) -> str:
        """Name of the profile."""
        return self._core.profile_name

    @property
    def profile_hash(self) -> str:
        """Hash of the parameters of the profile: profiles with the same hash give the same predictions."""
        return self._core.profile_hash

    def profile(self) -> dict[str, Any]:
        """Return the profile as its file holds it."""
        return object_of(self._core.profile_json())

    def save_profile(self, path: str | PathLike[str]) -> None:
        """Write the profile to a file."""
        self._core.save_profile(file_name("path", path))

    def pinned_empty(self, shape: int | Sequence[int], dtype: DTypeLike = float) -> np.ndarray:
        """Return an uninitialised NumPy array in pinned memory, from which copies are fastest.

        Raises
        ------
        UsageError
            For a node without a device, for a type that holds Python objects, and for an impossible shape.
        """
        kind = require_plain("dtype", dtype)
        extents = shape_of(shape)
        size = whole("shape", math.prod(extents) * kind.itemsize)
        memory = self._core.pinned(max(1, size))
        return array_at(memory.address, extents, kind, memory)

    def memory_of(self, array: Any) -> str:
        """Return the kind of memory of an array in host memory: ``"pageable"``, ``"pinned"`` or ``"managed"``."""
        found = host_array("array", array, False)
        return self._core.kind_of(found.ctypes.data, found.nbytes)

    def plan(
        self,
        job: Job,
        *,
        strategies: str | Sequence[str] = (),
        chunks: int | Sequence[int] = (),
        threads: int | Sequence[int] = (),
        gpus: int = 1,
        device_memory: int = 0,
        runs: int = 1,
        may_pin: bool = True,
        race: float = 0,
        check_reach: bool = False,
        max_slowdown: float | None = None,
        quick: bool = False,
        saved: str | PathLike[str] | None = None,
    ) -> Plan:
        """Plan a job: rank all strategies, and choose one.

        Parameters
        ----------
        strategies, chunks, threads
            What may be chosen, one or several; anything when they are empty. ``threads`` is the number of host threads
            in each direction that copy pageable arrays, and that touch managed ones.
        gpus
            Number of GPUs that share the job.
        device_memory
            Most bytes of device memory that the job may use on each GPU; 0 for as much as the node allows.
        runs
            Number of runs over the same arrays, which decides whether pinning pays.
        may_pin
            Whether pageable arrays may be pinned where that pays.
        race
            Seconds in which the best candidates race on the job's own arrays; 0 to decide by predictions.
        check_reach
            Whether a few chunks run one by one, to find a kernel that accesses what the job does not declare.
        max_slowdown
            Most time, as a fraction, that moving blocks may add to the time of the kernel.
        quick
            Whether to plan within milliseconds, from the bytes of the job alone: the kernel is not measured.
        saved
            The file of a plan of such a job (`Plan.save`, ``shiplap plan --json``): its choice is taken, and nothing is
            searched. Times are predicted for this node.

        Raises
        ------
        UsageError
            For an invalid job or option.
        Unsupported
            When no strategy can do the job.
        """
        require_job(job)
        options = _core.PlanOptions()
        options.strategies = several("strategies", strategies, text)
        options.chunks = several("chunks", chunks, lambda name, value: whole(name, value, 0, MOST_SMALL))
        options.threads = several("threads", threads, lambda name, value: whole(name, value, 0, MOST_SMALL))
        options.gpus = whole("gpus", gpus, 0, MOST_SMALL)
        options.device_memory = whole("device_memory", device_memory)
        options.runs = whole("runs", runs)
        options.may_pin = flag("may_pin", may_pin)
        options.race = real("race", race)
        options.check_reach = flag("check_reach", check_reach)
        options.max_slowdown = optional_real("max_slowdown", max_slowdown)
        options.quick = flag("quick", quick)
        if saved is not None:
            options.saved = file_name("saved", saved)
            if not options.saved:
                raise UsageError("`saved` '': give the file of a plan, or None")
            if strategies or chunks or threads or gpus != 1 or max_slowdown is not None:
                raise UsageError("`saved` has the choice: leave strategies, chunks, threads, gpus and max_slowdown out")
        job._require_parameters()
        if self.device:
            job._require_arrays()
        if self.has_gpu:
            job._wait_for_arrays()
        if self.has_gpu and not quick:
            job = job._started(self._core, options.device_memory)
        return Plan(_core.plan(self._core, job._core, options), job._on_gpu())

    def plan_step(
        self, step: Step, *, device_memory: int = 0, check_reach: bool = False, quick: bool = False
    ) -> StepPlan:
        """Plan a step as a whole: which kernels a chunk passes through on the GPU, and which arrays stay there.

        Parameters
        ----------
        device_memory
            Most bytes of device memory that the step may use; 0 for as much as the node allows.
        check_reach
            Whether a few chunks run one by one, to find a kernel that accesses what its job does not declare.
        quick
            Whether to plan within milliseconds, from the bytes of the jobs alone: no kernel is measured.

        Raises
        ------
        UsageError
            For an invalid step or option.
        Unsupported
            When a kernel cannot be run under the limits.
        """
        return require_step(step)._planned(
            self._core,
            self.has_gpu,
            whole("device_memory", device_memory),
            flag("check_reach", check_reach),
            flag("quick", quick),
        )

    def movers(
        self,
        counts: int | Sequence[int] = (1024,),
        *,
        pool: str = "pinned",
        regular: bool = False,
        max_slowdown: float | None = None,
        memory_bound: float | None = None,
        thread_block: float | None = None,
    ) -> Movers:
        """Return what moves scattered blocks fastest between a pool in host memory and the GPU.

        Parameters
        ----------
        counts
            A number of blocks, or several.
        pool
            Memory of the pool: ``"pinned"``, ``"pageable"`` or ``"managed"``.
        regular
            Whether the blocks are at equal distances.
        max_slowdown
            Most time that a kernel concurrent with the move may lose, as a fraction; None for no limit.
        memory_bound, thread_block
            A kernel concurrent with the move: how far device memory bounds it (0 to 1), and seconds of a thread block.
        """
        numbers = several("counts", counts, lambda name, value: whole(name, value, 1))
        if not numbers:
            raise UsageError("`counts` is empty: give a number of blocks, or several")
        core = self._core.movers(
            numbers,
            text("pool", pool),
            flag("regular", regular),
            optional_real("max_slowdown", max_slowdown),
            optional_real("memory_bound", memory_bound, most=1),
            optional_real("thread_block", thread_block),
        )
        return Movers(core, numbers)

    def __str__(self) -> str:
        return self._core.profile_text()

    def __repr__(self) -> str:
        return f"Node({self.device or 'no device'}, profile {self.profile_name} ({self._core.profile_origin}))"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def require_node(node: Any) -> Node:
    """Return the node; raise UsageError for anything else."""
    if not isinstance(node, Node):
        raise UsageError(f"`node` {node!r}: give a Node, as from Node.load_or_measure")
    return node


@cache
def default_node() -> Node:
    """Return the node of the first GPU, or a virtual one where there is none. It is opened once.

    A GPU that was never measured has the figures of `Node.load_or_assume`.
    """
    node = Node.load_or_assume()
    if not node.has_gpu:
        _warn(f"no GPU answers here: {node.device} simulates one, and no time is measured")
    return node


@cache
def _named_node(name: str) -> Node:
    return Node.load_or_assume(name)


def node_of(node: Node | str | None) -> Node:
    """Return the node, or that of a device by its name; `default_node` for None."""
    if node is None:
        return default_node()
    return _named_node(node) if isinstance(node, str) else require_node(node)


def pinned_empty(shape: int | Sequence[int], dtype: DTypeLike = float) -> np.ndarray:
    """Return an uninitialised NumPy array in pinned memory of `default_node`.

    On a machine with a GPU the memory is pinned for all nodes with GPUs. A virtual device knows its own pinned memory
    only (`Node.pinned_empty`).
    """
    return default_node().pinned_empty(shape, dtype)

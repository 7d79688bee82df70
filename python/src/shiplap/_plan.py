"""Plans, and runs of them."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

from shiplap import _core
from shiplap._arguments import MOST_SMALL, file_name, flag, optional_real, real, text, whole
from shiplap._arrays import stream_address
from shiplap._show import SECONDS, Table, object_of, preformatted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from shiplap._arrays import GpuArray
    from shiplap._job import Job

DEFAULT_STREAM = 1  # cudaStreamLegacy


class Report:
    """The predicted and the observed time of runs of a plan. Times are in seconds."""

    def __init__(self, core: _core.Report) -> None:
        self._core = core

    @property
    def observed(self) -> float:
        """Median of the timed runs; simulated, and not observed, on a virtual device."""
        return self._core.observed

    @property
    def predicted(self) -> float:
        """Predicted time."""
        return self._core.predicted

    @property
    def samples(self) -> list[float]:
        """Time of every timed run."""
        return self._core.samples

    @property
    def simulated(self) -> bool:
        """Whether the device is virtual, so that nothing was observed."""
        return self._core.simulated

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``shiplap run --json`` prints it."""
        return object_of(self._core.to_json())

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return self._core.line()

    def _repr_html_(self) -> str:
        return preformatted(str(self)) + (self._core.picture() if self._core.traced else "")


class Run:
    """A run in flight, with the methods ``done``, ``result`` and ``cancel`` of a future."""

    def __init__(self, core: _core.Run) -> None:
        self._core = core

    def done(self) -> bool:
        """Return whether the run has ended."""
        return self._core.done()

    def result(self, timeout: float | None = None) -> float:
        """Wait for the end and return the time of the run in seconds; 0 for a run that was captured into a graph.

        Ctrl-C cancels the run. After `timeout` seconds `TimedOut` is raised, and the run goes on.
        """
        return self._core.result(optional_real("timeout", timeout))

    def cancel(self) -> None:
        """End the run before its next chunk; `result` raises `Cancelled` then."""
        self._core.cancel()


class Prepared:
    """A plan that is ready to run many times: memory, streams and events are made once.

    One thread at a time may use it. `close`, the end of a ``with`` block, or the end of its life gives the memory back.
    The end of a block waits for a run in flight, and cancels it first when the block is left by an exception.
    """

    def __init__(self, core: _core.Prepared, plan: str, on_gpu: Sequence[GpuArray] = ()) -> None:
        self._core = core
        self._plan = plan
        self._on_gpu = on_gpu  # arrays that a run reads or writes where they are
        self._run: Callable[[], Run | None] = lambda: None  # the run that was started last, if anybody has it

    def __repr__(self) -> str:
        return f"Prepared({self._plan})"

    def run(self, limit: float = 0.0) -> float:
        """Run once, wait for the end, and return the time in seconds. Ctrl-C ends the run before its next chunk.

        When the run takes longer than `limit` seconds, `TimedOut` is raised, and the GPU keeps the memory of the run
        until its kernels end. 0: without limit.
        """
        for array in self._on_gpu:
            array.wait()
        return self._core.run(real("limit", limit))

    def start(self, stream: Any = None, limit: float = 0.0) -> Run:
        """Start a run in a thread of its own, and return at once.

        Parameters
        ----------
        stream
            A stream of PyTorch, CuPy, cuda.core or shiplap, or an address: the run begins when the work that is in it
            now has ended, and work that is enqueued there later waits for the run. A stream that is being captured gets
            the run as a part of its graph, which needs this object, not closed, as long as it is launched. None: the
            run begins at once.
        limit
            As in `run`, counted from this call.

        Raises
        ------
        UsageError
            When another run of this object has not ended.
        Unsupported
            For a stream on a simulated node, and a run that CUDA cannot capture.
        """
        if stream is None:
            for array in self._on_gpu:
                array.wait()
        # The library takes 0 for no stream, and 0 is also CUDA's default stream, which has this other address.
        address = 0 if stream is None else stream_address(stream) or DEFAULT_STREAM
        run = Run(self._core.start(address, real("limit", limit)))
        self._run = weakref.ref(run)
        return run

    def close(self) -> None:
        """Give the memory of the runs back, and unpin what was pinned for them. Nothing can run afterwards."""
        self._core.close()

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        run = self._run()
        if run is not None:
            if kind is not None:
                run.cancel()
            with contextlib.suppress(Exception):  # what a run in flight raises is for whoever asks for its result
                run.result()
        self.close()

    def changed(self, name: str) -> None:
        """Say that a kept array has changed (`Job.kept`): the next run copies it to the GPU again."""
        self._core.changed(text("name", name))

    def fetch(self, name: str) -> None:
        """Copy an array that stays on the GPU and is written there (`Job.kept_state`) back to the caller's array."""
        self._core.fetch(text("name", name))

    def check_kept(self, on: bool = True) -> None:
        """Have each run fail when a kept array has changed and `changed` was not called. It reads them in each run."""
        self._core.check_kept(flag("on", on))


class Plan(Table):
    """How a job runs on a node: all strategies by predicted time, and the choice. Times are in seconds."""

    def __init__(self, core: _core.Plan, on_gpu: Sequence[GpuArray] = ()) -> None:
        self._core = core
        self._on_gpu = on_gpu

    @property
    def predicted(self) -> float:
        """Predicted time of the choice."""
        return self._core.predicted

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that holds the time with a probability of 90 %."""
        return (self._core.predicted_low, self._core.predicted_high)

    @property
    def choice(self) -> str:
        """The choice as a text, such as ``"streams, 32 chunks, three streams, depth-first"``."""
        return self._core.choice

    @property
    def call(self) -> float:
        """Host time of a call of the kernel function for a chunk, beyond that of its launches, as it was measured."""
        return self._core.call

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each candidate: strategy, chunks, ramp of their sizes, whether it is a graph, seconds."""
        found = []
        for candidate in self.to_dict()["candidates"]:
            predicted = candidate["predicted"]
            factor = SECONDS[predicted["unit"]]
            found.append(
                {
                    "strategy": candidate["strategy"],
                    "chunks": candidate["chunks"],
                    "ramp": candidate["ramp"],
                    "graph": candidate["graph"],
                    "predicted": predicted["value"] * factor,
                    "low": predicted["low"] * factor,
                    "high": predicted["high"] * factor,
                }
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as ``shiplap plan --json`` prints it."""
        return object_of(self._core.to_json())

    def summary(self) -> str:
        """Return what to do and what it gains, in one sentence."""
        return self._core.summary()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plan to a file, for `Node.plan` with ``saved=path`` and for ``shiplap report``."""
        self._core.save(file_name("path", path))

    def _without_arrays(self) -> Plan:
        """Return the plan without the arrays and the functions of its job, for `_of`."""
        return Plan(self._core.without_arrays())

    def _of(self, job: Job) -> Plan:
        """Return the plan for a job of the same shape over other arrays."""
        return Plan(self._core.for_job(job._core), job._on_gpu())

    def prepare(self) -> Prepared:
        """Make everything ready for repeated runs over the arrays of the job."""
        return Prepared(self._core.prepare(), self.choice, self._on_gpu)

    def run(self, repeats: int = 1, warm_up: int = 0, *, ideal_overlap: bool = False, trace: bool = False) -> Report:
        """Run the job and report the times. With ``repeats=1`` and ``warm_up=0`` it runs once.

        Parameters
        ----------
        repeats, warm_up
            Number of timed runs, and of untimed ones before them. Arrays that are read and written end as after one.
        ideal_overlap
            Whether the time of the longest stage alone is measured too.
        trace
            Whether one further run is traced, so that the report has a picture of its timeline.
        """
        repeats, warm_up = whole("repeats", repeats, 1, MOST_SMALL), whole("warm_up", warm_up, 0, MOST_SMALL)
        for array in self._on_gpu:
            array.wait()
        trace_by = "best" if flag("trace", trace) else "none"
        return Report(self._core.run(repeats, warm_up, flag("ideal_overlap", ideal_overlap), trace_by))

    def explain(self, all: bool = False) -> str:
        """What to use and what it gains, why, and the best choice of each strategy, as ``str(plan)`` has it.

        Parameters
        ----------
        all
            Whether every candidate, the places where time is lost, and what is assumed follow.
        """
        return self._core.explain(flag("all", all))

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Plan({self.choice}, predicted {self.predicted:.4g} s)"

    def _repr_svg_(self) -> str:
        return self._core.picture()

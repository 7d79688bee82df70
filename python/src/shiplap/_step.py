"""Steps: several kernels and parts of the host over the same arrays, planned and run as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from shiplap import _core
from shiplap._arguments import function, real, text, whole
from shiplap._arrays import host_array
from shiplap._job import Job, require_job
from shiplap._show import object_of, preformatted

if TYPE_CHECKING:
    from shiplap._arrays import GpuArray


class PreparedStep:
    """A planned step that is ready to run any number of times. One thread at a time may use it.

    `close`, the end of a ``with`` block, or the end of its life gives the memory back.
    """

    def __init__(self, core: _core.PreparedStep, on_gpu: Sequence[GpuArray]) -> None:
        self._core = core
        self._on_gpu = on_gpu

    def run(self, limit: float = 0.0) -> float:
        """Run the step once, wait for its end, and return the time in seconds (see `Prepared.run`).

        Parts of the host are called by this thread.
        """
        for array in self._on_gpu:
            array.wait()
        return self._core.run(real("limit", limit))

    def close(self) -> None:
        """Give the memory of the steps back. Nothing can run afterwards; fetch what stays on the GPU before."""
        self._core.close()

    def __enter__(self) -> PreparedStep:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changed(self, name: str) -> None:
        """Say that an array that stays on the GPU has changed: the next step brings it again."""
        self._core.changed(text("name", name))

    def fetch(self, name: str) -> None:
        """Copy an array that stays on the GPU back to the caller's array, and wait."""
        self._core.fetch(text("name", name))


class StepPlan:
    """How a step runs on a node. Times are in seconds."""

    def __init__(self, core: _core.StepPlan, on_gpu: Sequence[GpuArray]) -> None:
        self._core = core
        self._on_gpu = on_gpu

    @property
    def predicted(self) -> float:
        """Predicted time of a step, when what stays on the GPU is there."""
        return self._core.predicted

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that holds the time with a probability of 90 %."""
        return (self._core.predicted_low, self._core.predicted_high)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a record: its passes, and what stays on the GPU."""
        return object_of(self._core.to_json())

    def prepare(self) -> PreparedStep:
        """Make everything ready for repeated runs over the arrays of the step."""
        return PreparedStep(self._core.prepare(), self._on_gpu)

    def explain(self) -> str:
        """What a step takes and gains, what crosses the link, and its passes, as ``str(plan)`` has it."""
        return self._core.explain()

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"StepPlan(predicted {self.predicted:.4g} s)"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


class Step:
    """Kernels and parts of the host that run one after the other over the same arrays, as a time step of a model.

    Jobs that use the same memory share an array. Every method returns a new step::

        step = (
            shiplap.Step("ocean")
            .kernel(state)
            .kernel(buoydiff)
            .host("exchange", exchange_edges, reads=[drho[0]], writes=[drho[0]])
            .temporary("rho")
        )
        prepared = node.plan_step(step).prepare()
        for _ in range(days):
            prepared.run()

    Parameters
    ----------
    name
        Name in tables and messages.
    """

    def __init__(self, name: str = "step") -> None:
        self._name = text("name", name)
        self._jobs: tuple[Job, ...] = ()
        # What adds each part to a step of the library. The second argument makes a job ready to be planned.
        self._parts: tuple[Callable[[_core.Step, Callable[[Job], Job]], None], ...] = ()

    @property
    def name(self) -> str:
        """Name of the step."""
        return self._name

    def _with(self, part: Callable[[_core.Step, Callable[[Job], Job]], None], jobs: tuple[Job, ...] = ()) -> Step:
        step = Step(self._name)
        step._jobs = (*self._jobs, *jobs)
        step._parts = (*self._parts, part)
        return step

    def kernel(self, job: Job) -> Step:
        """Add the kernel of a job with its arrays."""
        require_job(job)
        return self._with(lambda step, ready: step.add_kernel(ready(job)._core), (job,))

    def host(
        self,
        name: str,
        work: Callable[[], Any],
        *,
        reads: Sequence[Any] = (),
        writes: Sequence[Any] = (),
        seconds: float = 0.0,
    ) -> Step:
        """Add a part of the host: `work` is called when the GPU has done what its accesses need.

        Parameters
        ----------
        name
            Name in messages and pictures.
        work
            A function without arguments, called once in each step by the thread that runs it.
        reads, writes
            Arrays of the step, or contiguous parts of them, that it reads and that it writes (and may read before).
        seconds
            How long it takes, as far as it is known. The plan lets it run beside the GPU.
        """
        text("name", name)
        function("`work`", work)
        found = [
            (host_array(f"{kind} of {name}", array, written), written)
            for kind, arrays, written in (("reads", reads, False), ("writes", writes, True))
            for array in arrays
        ]
        accesses = [(array.ctypes.data, array.nbytes, written) for array, written in found]
        time = real("seconds", seconds)
        return self._with(lambda step, ready: step.add_host(name, work, accesses, time, found))

    def stays_on_gpu(self, array: str) -> Step:
        """Say that the host neither reads nor changes an array between steps (`PreparedStep.fetch`, `changed`)."""
        text("array", array)
        return self._with(lambda step, ready: step.stays_on_gpu(array))

    def temporary(self, array: str) -> Step:
        """Say that an array has no values before and after a step."""
        text("array", array)
        return self._with(lambda step, ready: step.temporary(array))

    def repeated(self, times: int) -> Step:
        """Run all parts so often in a step, as for several time steps between two outputs."""
        repeats = whole("times", times, 1)
        return self._with(lambda step, ready: step.repeat(repeats))

    def __repr__(self) -> str:
        return f"Step({self._name}, {len(self._jobs)} kernels)"

    def _planned(self, node: _core.Node, has_gpu: bool, device_memory: int, check_reach: bool, quick: bool) -> StepPlan:
        for job in self._jobs:
            job._require_parameters()
            if has_gpu:
                job._wait_for_arrays()
        step = _core.Step(self._name)
        for part in self._parts:
            part(step, lambda job: job._started(node, device_memory) if has_gpu and not quick else job)
        on_gpu = [array for job in self._jobs for array in job._on_gpu()]
        return StepPlan(_core.plan_step(node, step, device_memory, check_reach, quick), on_gpu)


def require_step(step: Any) -> Step:
    """Return the step; raise UsageError for anything else."""
    if not isinstance(step, Step):
        raise _core.UsageError(f"`step` {step!r}: give a Step")
    return step

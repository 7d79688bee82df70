"""Steps of several kernels and parts of the host, compared with NumPy."""

import gc
import weakref

import numpy as np
import pytest

import shiplap
from jobs import pinned

ROWS, COLUMNS = 2048, 96


def smoothed(u: np.ndarray) -> np.ndarray:
    wide = np.concatenate([u[:1], u, u[-1:]])
    return 0.25 * wide[:-2] + 0.5 * wide[1:-1] + 0.25 * wide[2:]


def smooth(chunk, u, v):
    """Write into `v` what `smoothed` gives for the rows of a chunk; `u` begins a row before, except at the first."""
    rows = np.arange(chunk.first, chunk.first + chunk.count)
    begin = max(0, chunk.first - 1)
    at = [np.clip(rows + shift, 0, ROWS - 1) - begin for shift in (-1, 0, 1)]
    v[:] = 0.25 * u[at[0]] + 0.5 * u[at[1]] + 0.25 * u[at[2]]


def smoothing(source: str, u: np.ndarray, to: str, v: np.ndarray) -> shiplap.Job:
    job = shiplap.Job(ROWS, f"{source}{to}").in_(source, u, shiplap.halo(1, 1)).out(to, v)
    # The parameters of a kernel are the names of its arrays.
    return job.host_kernel(smooth if source == "u" else lambda chunk, v, u: smooth(chunk, v, u))


def some(node: shiplap.Node) -> tuple[np.ndarray, np.ndarray]:
    u = pinned(node, np.random.default_rng(7).random((ROWS, COLUMNS)))
    return u, pinned(node, np.zeros_like(u))


def diffusion(u: np.ndarray, v: np.ndarray, called: list[int]) -> shiplap.Step:
    def halve() -> None:
        called.append(1)
        u[0] *= 0.5

    return (
        shiplap.Step("diffusion")
        .kernel(smoothing("u", u, "v", v))
        .kernel(smoothing("v", v, "u", u))
        .host("halve", halve, writes=[u[0]])
        .temporary("v")
    )


def expected(u: np.ndarray, steps: int) -> np.ndarray:
    u = u.copy()
    for _ in range(steps):
        u = smoothed(smoothed(u))
        u[0] *= 0.5
    return u


def test_a_step_computes_what_its_parts_compute_one_by_one(node):
    u, v = some(node)
    right = expected(u, 3)
    called: list[int] = []
    plan = node.plan_step(diffusion(u, v, called))
    assert called == []
    low, high = plan.interval
    assert 0 < low <= plan.predicted <= high
    prepared = plan.prepare()
    assert prepared.run() > 0
    prepared.run()
    prepared.run()
    assert called == [1, 1, 1]
    np.testing.assert_allclose(u, right, rtol=1e-12)


def test_an_array_stays_on_the_gpu_until_it_is_fetched(node):
    u, v = some(node)
    before = u.copy()
    step = shiplap.Step("stays").kernel(smoothing("u", u, "v", v)).kernel(smoothing("v", v, "u", u))
    step = step.stays_on_gpu("u").temporary("v").repeated(2)
    prepared = node.plan_step(step).prepare()
    prepared.run()
    np.testing.assert_array_equal(u, before)
    prepared.fetch("u")
    right = before
    for _ in range(4):
        right = smoothed(right)
    np.testing.assert_allclose(u, right, rtol=1e-12)
    with pytest.raises(shiplap.UsageError):
        prepared.fetch("v")


def test_a_plan_is_shorter_than_its_kernels_one_by_one_and_is_a_record(node):
    u, v = some(node)
    step = diffusion(u, v, [])
    plan = node.plan_step(step)
    assert plan.to_dict()["schema"] == "shiplap/step"
    assert str(plan) == plan.explain()
    single = [node.plan(job).predicted for job in step._jobs]
    assert plan.predicted < sum(single)


def test_what_a_part_of_the_host_raises_leaves_the_run(node):
    u, v = some(node)
    step = shiplap.Step("fails").kernel(smoothing("u", u, "v", v)).host("fails", lambda: 1 / 0, reads=[v])
    prepared = node.plan_step(step).prepare()
    with pytest.raises(ZeroDivisionError):
        prepared.run()


def test_wrong_descriptions_are_refused(node):
    u, v = some(node)
    step = shiplap.Step("wrong").kernel(smoothing("u", u, "v", v))
    with pytest.raises(shiplap.UsageError, match="Job"):
        step.kernel(u)
    with pytest.raises(shiplap.UsageError, match="Step"):
        node.plan_step(step._jobs[0])
    with pytest.raises(shiplap.UsageError, match="contiguous"):
        step.host("columns", lambda: None, reads=[v[:, 0]])
    with pytest.raises(shiplap.UsageError, match="no_such_array"):
        node.plan_step(step.temporary("no_such_array"))
    with pytest.raises(shiplap.UsageError):
        node.plan_step(step.host("elsewhere", lambda: None, reads=[np.zeros(8)]))


def test_a_function_of_the_host_that_knows_its_step_leaves_nothing_behind(node):
    class Model:
        def exchange(self) -> None:
            self.runs += 1

    u, v = some(node)
    model = Model()
    model.runs = 0
    step = shiplap.Step("model").kernel(smoothing("u", u, "v", v)).host("exchange", model.exchange, reads=[v])
    model.prepared = node.plan_step(step).prepare()
    model.prepared.run()
    assert model.runs == 1
    gone = weakref.ref(model)
    del model, step
    gc.collect()
    assert gone() is None


@pytest.mark.gpu
def test_a_step_of_kernels_in_pytorch_computes_what_numpy_computes(gpu):
    torch = pytest.importorskip("torch")

    def smooth_on_gpu(chunk, u, v):
        above = [u[:1]] if chunk.first == 0 else []
        below = [u[-1:]] if chunk.first + chunk.count == ROWS else []
        wide = torch.cat([*above, u, *below])
        v.copy_(0.25 * wide[:-2] + 0.5 * wide[1:-1] + 0.25 * wide[2:])

    def job(source: str, u: np.ndarray, to: str, v: np.ndarray) -> shiplap.Job:
        found = shiplap.Job(ROWS, source + to).in_(source, u, shiplap.halo(1, 1)).out(to, v)
        back = lambda chunk, v, u: smooth_on_gpu(chunk, v, u)  # noqa: E731
        return found.kernel(smooth_on_gpu if source == "u" else back, arrays="torch")

    u, v = some(gpu)
    right = expected(u, 2)
    step = shiplap.Step("diffusion").kernel(job("u", u, "v", v)).kernel(job("v", v, "u", u))

    def halve() -> None:
        u[0] *= 0.5

    prepared = gpu.plan_step(step.host("halve", halve, writes=[u[0]]).temporary("v")).prepare()
    prepared.run()
    prepared.run()
    np.testing.assert_allclose(u, right, rtol=1e-12)

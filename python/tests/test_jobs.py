import gc
import weakref

import numpy as np
import pytest

import shiplap
from jobs import doubling, pinned


def test_a_run_computes_every_element(node, arrays):
    x, y = arrays
    report = node.plan(doubling(x, y)).run()
    np.testing.assert_array_equal(y, 2 * x)
    assert report.simulated
    assert report.observed == pytest.approx(report.predicted, rel=0.2)
    assert len(report.samples) == 1


def test_chunks_cover_the_items_once_and_views_know_their_place(node):
    x = pinned(node, np.arange(5000, dtype=np.int64))
    y = pinned(node, np.zeros(5000, dtype=np.int64))
    seen = []

    def kernel(chunk, view, out):
        assert (view.first, view.end) == (chunk.first, chunk.end)
        assert np.asarray(view)[0] == chunk.first
        assert chunk.stream is None
        seen.append((chunk.first, chunk.count))

    job = shiplap.Job(5000, "look").in_("x", x).out("y", y).host_kernel(kernel, arrays="view").kernel_time(1e-3)
    node.plan(job, strategies=["streams"], chunks=[7]).run()
    assert sum(count for _, count in seen) == 5000
    assert sorted(first for first, _ in seen) == list(np.cumsum([0] + [count for _, count in sorted(seen)])[:-1])
    assert len(seen) == 7


def test_a_halo_hands_rows_before_and_after_the_chunk(node):
    x = pinned(node, np.random.default_rng(2).random((257, 33)))
    y = pinned(node, np.zeros_like(x))

    def blur(chunk, x, y):
        before = chunk.first - x.first
        source = np.asarray(x)
        for i in range(chunk.count):
            k = before + i
            np.asarray(y)[i] = source[max(k - 1, 0) : k + 2].mean(axis=0)

    job = (
        shiplap.Job(257, "blur")
        .in_("x", x, shiplap.halo(1, 1))
        .out("y", y)
        .host_kernel(blur, arrays="view")
        .kernel_time(1e-3)
    )
    node.plan(job, strategies=["streams"], chunks=[5]).run()
    expected = np.stack([x[max(k - 1, 0) : k + 2].mean(axis=0) for k in range(257)])
    np.testing.assert_allclose(y, expected)


def test_a_mapping_hands_the_rows_that_a_function_names(node):
    x = np.arange(400.0)
    y = np.zeros(100)

    def pick(chunk, x, y):
        y[:] = x[::4]

    job = (
        shiplap.Job(100, "pick")
        .in_("x", x, shiplap.mapped_by(lambda first, end: (4 * first, 4 * (end - first))))
        .out("y", y)
        .host_kernel(pick)
        .kernel_time(1e-3)
    )
    node.plan(job).run()
    np.testing.assert_array_equal(y, x[::4])


def test_broadcast_inout_and_carried_arrays(node):
    table = np.array([3.0, 5.0])
    state = np.zeros(1)
    x = np.ones(1000)

    def kernel(chunk, table, state, x):
        x *= table[1]
        state += x.sum()

    job = (
        shiplap.Job(1000, "roles")
        .broadcast("table", table)
        .carried("state", state)
        .inout("x", x)
        .host_kernel(kernel)
        .kernel_time(1e-3)
    )
    node.plan(job).run()
    np.testing.assert_array_equal(x, 5)
    assert state[0] == 5000


def test_kept_arrays_are_copied_when_they_have_changed_and_come_back_when_they_are_fetched(node):
    table = np.array([3.0, 5.0])
    state = np.zeros(1)
    x = np.ones(1000)
    y = np.zeros(1000)

    def kernel(chunk, x, table, state, y):
        y[:] = x * table[1]
        state += 1

    job = (
        shiplap.Job(1000, "kept")
        .in_("x", x)
        .kept("table", table)
        .kept_state("state", state)
        .out("y", y)
        .host_kernel(kernel)
        .kernel_time(1e-3)
    )
    prepared = node.plan(job, strategies=["pageable"]).prepare()
    for _ in range(3):
        prepared.run()
    np.testing.assert_array_equal(y, 5)
    table[1] = 7
    prepared.check_kept()
    prepared.changed("table")
    prepared.run()
    np.testing.assert_array_equal(y, 7)
    table[1] = 8
    with pytest.raises(shiplap.Error, match="changed"):
        prepared.run()
    assert state[0] == 0
    prepared.fetch("state")
    assert state[0] == 4
    with pytest.raises(shiplap.UsageError, match="no kernel writes"):
        prepared.fetch("table")


def test_blocks_of_a_pool_follow_indices_that_change_from_run_to_run(node):
    pool = np.arange(4096, dtype=np.float32).reshape(64, 64)
    index = np.array([5, 60, 7, 33], dtype=np.int32)
    out = np.zeros((4, 64), dtype=np.float32)

    def copy(chunk, blocks, out):
        out[:] = blocks.reshape(out.shape)

    job = (
        shiplap.Job(4, "gather")
        .in_("pool", pinned(node, pool), shiplap.blocks(index, 256))
        .out("out", out)
        .host_kernel(copy)
        .kernel_time(1e-4)
    )
    prepared = node.plan(job).prepare()
    prepared.run()
    np.testing.assert_array_equal(out, pool[index])
    index[:] = [0, 1, 2, 63]
    prepared.run()
    np.testing.assert_array_equal(out, pool[index])
    index[2] = 64
    with pytest.raises(shiplap.Error, match="64"):
        prepared.run()


def test_blocks_may_be_smaller_than_a_row_of_the_pool(node):
    pool = pinned(node, np.arange(4096, dtype=np.float32).reshape(16, 256))
    index = np.array([5, 60, 7, 33])
    out = np.zeros((4, 64), dtype=np.float32)
    job = shiplap.Job(4, "gather").in_("pool", pool, shiplap.blocks(index, 256)).out("out", out)
    job = job.host_kernel(lambda chunk, blocks, out: np.copyto(out, blocks.reshape(out.shape))).kernel_time(1e-4)
    node.plan(job).run()
    np.testing.assert_array_equal(out, pool.reshape(64, 64)[index])


def test_a_prepared_plan_runs_many_times_and_reads_the_arrays_each_time(node, arrays):
    x, y = arrays
    prepared = node.plan(doubling(x, y)).prepare()
    times = [prepared.run() for _ in range(3)]
    assert times[0] == times[1] == times[2] > 0
    x += 1
    prepared.run()
    np.testing.assert_array_equal(y, 2 * x)


def test_plans_print_and_convert(node, arrays):
    plan = node.plan(doubling(*arrays))
    assert "predicted" in str(plan) and "double" in str(plan)
    assert plan.interval[0] <= plan.predicted <= plan.interval[1]
    rows = plan.rows()
    assert rows and {"strategy", "chunks", "predicted", "low", "high"} <= rows[0].keys()
    assert any(row["predicted"] == pytest.approx(plan.predicted) for row in rows)
    assert plan._repr_svg_().startswith("<svg")
    # Notebooks show HTML where there is some, so it has the table and the picture.
    for shown in (plan, node.movers([64])):
        assert "<pre" in shown._repr_html_() and shown._repr_svg_() in shown._repr_html_()
    report = plan.run(repeats=3, trace=True)
    assert len(report.samples) == 3
    assert "<svg" in report._repr_html_()
    assert len(report.to_dict()["samples"]["values"]) == 3


def test_any_host_array_without_a_copy(node):
    import array

    x = array.array("d", range(64))
    y = bytearray(64 * 8)
    view = memoryview(y).cast("d")

    job = (
        shiplap.Job(64, "buffers")
        .in_("x", x)
        .out("y", view)
        .host_kernel(lambda chunk, x, y: np.multiply(x, 3, out=y))
        .kernel_time(1e-4)
    )
    node.plan(job).run()
    assert list(view) == [3.0 * i for i in range(64)]


def test_arrays_live_as_long_as_the_plan_and_no_longer(node):
    class Owned(np.ndarray):
        pass

    x = np.arange(1000.0).view(Owned)
    y = np.zeros(1000)
    seen = weakref.ref(x)
    plan = node.plan(doubling(x, y))
    del x
    gc.collect()
    assert seen() is not None
    plan.run()
    assert y[999] == 1998
    del plan
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((8, 8))[:, ::2], "not contiguous"),
        (np.array([object()] * 8), "Python objects"),
        (np.broadcast_to(np.zeros(1), 8), "contiguous|read-only"),
        ([1.0] * 8, "list"),
        (np.zeros(0), "no elements"),
        (np.float32(1), "no elements|memoryview|array"),
    ],
)
def test_arrays_that_cannot_be_streamed_are_refused_with_a_reason(array, message):
    with pytest.raises(shiplap.UsageError, match=message):
        shiplap.Job(8).out("y", array)


def test_a_read_only_array_may_be_read_and_not_written(node):
    x = np.arange(8.0)
    x.flags.writeable = False
    shiplap.Job(8).in_("x", x)
    with pytest.raises(shiplap.UsageError, match="read-only"):
        shiplap.Job(8).out("x", x)


def test_views_of_inputs_are_read_only(node):
    x = np.ones(16)

    def write(chunk, x, y):
        x[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        node.plan(shiplap.Job(16).in_("x", x).out("y", np.zeros(16)).host_kernel(write).kernel_time(1e-4)).run()
    assert (x == 1).all()


def test_a_job_that_its_own_kernel_refers_to_is_collected(node):
    class Owned(np.ndarray):
        pass

    def make():
        x = np.zeros(64).view(Owned)
        names = {}

        def kernel(chunk, x):
            assert names  # the function holds the names, which hold the job, plan and prepared run that hold it

        job = shiplap.Job(64).inout("x", x).host_kernel(kernel).kernel_time(1e-4)
        plan = node.plan(job)
        names.update(job=job, plan=plan, prepared=plan.prepare())
        names["prepared"].run()
        return weakref.ref(x)

    seen = make()
    gc.collect()
    assert seen() is None


def test_thread_blocks_of_an_item_function_go_with_it_and_stated_ones_stay():
    item = shiplap.ItemFunction("__device__ void f(size_t i, shiplap::View<float> x) {}", "f", threads=128)
    plain = shiplap.Job(64).inout("x", np.zeros(64, np.float32))
    with_item = plain.kernel(item)
    assert with_item._core.blocks == (128, 128, 1, True)
    assert with_item.kernel(lambda chunk, x: None)._core.blocks == plain._core.blocks == (1, 256, 1, False)
    assert plain.with_thread_blocks(8, 64).kernel(item)._core.blocks == (8, 64, 1, False)


def test_every_object_says_what_it_is(node):
    job = shiplap.Job(64, "double").in_("x", np.zeros(64)).out("y", np.zeros(64)).host_kernel(lambda chunk, x, y: None)
    job = job.kernel_time(1e-4)
    plan = node.plan(job)
    adaptive = shiplap.Adaptive(node, job)
    objects = [node, job, plan, plan.prepare(), plan.run(), adaptive, adaptive.run(lambda number, x, y: False)]
    for found in objects:
        assert not repr(found).startswith("<"), type(found)


class OnGpu:
    """An array that claims to be on a GPU."""

    def __init__(self, array: np.ndarray, strides: tuple[int, ...] | None = None, read_only: bool = False) -> None:
        self.array = array
        interface = array.__array_interface__
        data = (interface["data"][0], read_only)
        self.__cuda_array_interface__ = {**interface, "data": data, "strides": strides, "stream": None}


def test_arrays_on_a_gpu_are_refused_where_there_is_none(node):
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    job = shiplap.Job(64).in_("x", OnGpu(x)).out("y", y).host_kernel(lambda chunk, x, y: None)
    with pytest.raises(shiplap.UsageError, match="memory of a GPU that virtual:h100 does not have"):
        node.plan(job)
    planned = shiplap.Node.from_profile("h200").plan(
        shiplap.Job(64).in_("x", OnGpu(x)).out("y", OnGpu(y)).kernel_time(1e-4)
    )
    assert planned.predicted < 1.2e-4, "nothing is copied"


def test_arrays_on_a_gpu_that_kernels_cannot_use_are_refused():
    wide = np.zeros((8, 8), np.float32)
    for match, add in {
        "not contiguous": lambda: shiplap.Job(8).in_("x", OnGpu(wide, strides=(64, 4))),
        "read-only": lambda: shiplap.Job(8).out("x", OnGpu(wide, read_only=True)),
        "no elements": lambda: shiplap.Job(8).in_("x", OnGpu(np.zeros((0, 8)))),
        "Python objects": lambda: shiplap.Job(8).in_("x", OnGpu(np.zeros(8, object))),
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            add()
    assert "x" in repr(shiplap.Job(8).in_("x", OnGpu(wide, strides=(32, 4))))


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_arrays_on_the_gpu_stay_there_and_runs_wait_for_the_work_on_them(gpu, name):
    library = pytest.importorskip(name)
    n = 1 << 22
    made = {"dtype": library.float32} if name == "cupy" else {"dtype": library.float32, "device": "cuda"}
    x, y = library.zeros(n, **made), library.zeros(n, **made)
    result = np.zeros(n, np.float32)

    def plus(chunk, a, b):
        library.add(a, 1, out=b)

    step = gpu.plan(shiplap.Job(n).in_("a", x).out("b", y).kernel(plus, arrays=name))
    back = gpu.plan(shiplap.Job(n).in_("a", y).out("b", result).kernel(plus, arrays=name))
    stepping, fetching = step.prepare(), back.prepare()
    stream = library.cuda.Stream(non_blocking=True) if name == "cupy" else library.cuda.Stream()
    with stream if name == "cupy" else library.cuda.stream(stream):
        for i in range(20):
            big = library.ones((4096, 4096), **made)
            for _ in range(4):
                big = big @ big * 1e-4  # keeps the stream busy before the array is written
            x[:] = i
            stepping.run()
            fetching.run()
            assert (result == i + 2).all(), i

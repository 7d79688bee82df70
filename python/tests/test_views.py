"""What kernels may keep, return and be: arrays that outlive their memory, results that nobody reads."""

import gc
import subprocess
import sys

import numpy as np
import pytest

import shiplap
from jobs import doubling


@pytest.mark.parametrize("strategy", ["staged", "pageable"])
def test_a_host_kernel_that_keeps_an_array_is_told_so_and_the_array_stays_readable(node, strategy):
    x, y = np.arange(1 << 16, dtype=np.float32), np.zeros(1 << 16, np.float32)
    kept = []

    def keeps(chunk, x, y):
        np.multiply(x, 2, out=y)
        kept.append(x[10:])

    job = doubling(x, y).host_kernel(keeps)
    with pytest.raises(shiplap.UsageError, match=r"host kernel kept array x after its call.*copy"):
        node.plan(job, strategies=[strategy], may_pin=False).run()
    gc.collect()
    filler = [np.full(1 << 16, 7, np.float32) for _ in range(32)]
    np.testing.assert_array_equal(kept[0], np.arange(1 << 16, dtype=np.float32)[10 : 10 + len(kept[0])])
    del filler


def test_an_array_that_an_exception_holds_stays_readable(node):
    x, y = np.arange(1 << 16, dtype=np.float32), np.zeros(1 << 16, np.float32)

    def fails(chunk, x, y):
        raise LookupError("no such row")

    with pytest.raises(LookupError) as raised:
        node.plan(doubling(x, y).host_kernel(fails), may_pin=False).run()
    gc.collect()
    filler = [np.full(1 << 16, 7, np.float32) for _ in range(32)]
    held = raised.traceback[-1].locals["x"]
    np.testing.assert_array_equal(held, np.arange(len(held), dtype=np.float32))
    del filler


def test_a_view_that_is_kept_is_refused_and_a_chunk_may_be_kept_without_addresses(node):
    x, y = np.zeros(64), np.zeros(64)
    chunks, kept = [], []
    job = doubling(x, y)
    node.plan(job.host_kernel(lambda chunk, x, y: chunks.append(chunk), arrays="view")).run()
    assert [view.first for view in chunks[0].views] == [chunks[0].first] * 2
    with pytest.raises(shiplap.UsageError, match="was valid during the call"):
        np.asarray(chunks[0].views[0])
    with pytest.raises(shiplap.UsageError, match="kept array x"):
        node.plan(job.host_kernel(lambda chunk, x, y: kept.append(x), arrays="view")).run()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="DLPack of NumPy before 2.1 has no version")
def test_a_view_gives_an_array_by_dlpack_that_a_kernel_can_write_where_it_may(node):
    x, y = np.ones(64), np.zeros(64)
    writeable = set()

    def double(chunk, x, y):
        inputs, outputs = np.from_dlpack(x), np.from_dlpack(y)
        np.multiply(inputs, 2, out=outputs)
        writeable.add((inputs.flags.writeable, outputs.flags.writeable))

    node.plan(doubling(x, y).host_kernel(double, arrays="view")).run()
    assert (y == 2).all()
    assert writeable == {(False, True)}


def test_arrays_in_a_cycle_of_functions_are_not_taken_for_kept(node):
    x, y = np.ones(64), np.zeros(64)

    def recursive(chunk, x, y):
        def halves(first, end):
            if end - first > 1:
                halves(first, (first + end) // 2)
                halves((first + end) // 2, end)
            else:
                y[first] = 2 * x[first]

        halves(0, len(x))

    node.plan(doubling(x, y).host_kernel(recursive)).run()
    assert (y == 2).all()


def test_a_sample_may_keep_its_arrays(node):
    kept = []
    batch = doubling(np.zeros(1 << 16, np.float32), np.zeros(1 << 16, np.float32))

    def sample(x, y):
        x[:] = 3
        kept.append(x)

    shiplap.Adaptive(node, batch, sample=sample)
    gc.collect()
    filler = [np.full(1 << 16, 7, np.float32) for _ in range(32)]
    assert (kept[0] == 3).all()
    del filler


def test_what_needs_a_device_is_refused_on_a_node_without_one():
    known = shiplap.Node.from_profile("h100")
    batch = doubling(np.zeros(64), np.zeros(64))
    for call in (
        lambda: shiplap.Adaptive(known, batch),
        lambda: known.pinned_empty(8),
        lambda: known.plan(batch).prepare(),
        lambda: known.plan(batch).run(),
        lambda: shiplap.move(known, np.zeros((8, 8)), [1], FakeGpuArray(64)),
        lambda: shiplap._core.run_kernel_once(known._core, batch._core, 0),
        lambda: shiplap.Adaptive(known.what_if("link=x8"), batch),
    ):
        with pytest.raises(shiplap.UsageError, match="without a device"):
            call()


class FakeGpuArray:
    def __init__(self, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (4096, False), "version": 3}


POINT = np.dtype([("x", np.float32), ("y", np.int16)], align=True)


@pytest.mark.parametrize("dtype", [object, [("x", object)], np.dtype(("O", (2,))), "S0", ">f4", "no type", 3.7])
def test_elements_that_are_no_bytes_of_this_machine_are_refused(node, dtype):
    with pytest.raises(shiplap.UsageError, match="Python objects|0 B|no type|order of other machines"):
        node.pinned_empty(3, dtype)


def test_structured_types_keep_their_fields(node):
    x, y = node.pinned_empty(64, POINT), np.zeros(64, np.float32)
    assert x.dtype == POINT
    x["x"], x["y"] = 1.5, 2
    job = shiplap.Job(64, "sum").in_("x", x).out("y", y)
    node.plan(job.host_kernel(lambda chunk, x, y: np.add(x["x"], x["y"], out=y)).kernel_time(1e-4)).run()
    assert (y == 3.5).all()


def test_kernels_get_their_arrays_by_name_in_any_order(node):
    x, y = np.full(64, 8.0), np.zeros(64)
    job = shiplap.Job(64, "halve").in_("x", x).out("y", y).kernel_time(1e-4)
    node.plan(job.host_kernel(lambda chunk, y, x: np.divide(x, 2, out=y))).run()
    assert (y == 4).all()
    node.plan(job.host_kernel(lambda y, x, chunk: np.divide(x, chunk.count, out=y))).run()
    assert (y > 0).all() and (y != 4).all()
    node.plan(job.host_kernel(lambda part, source, target: np.copyto(target, source))).run()
    assert (y == 8).all()
    for ambiguous in (lambda chunk, y, source: None, lambda chunk, target, x: None):
        with pytest.raises(
            shiplap.UsageError, match=r"called with chunk, x, y, and it takes chunk, .*name the parameters"
        ):
            node.plan(job.host_kernel(ambiguous))
        with pytest.raises(shiplap.UsageError, match="name the parameters"):
            shiplap.Adaptive(node, job.host_kernel(ambiguous))


def test_views_of_an_item_function_have_the_names_of_its_text():
    text = "__device__ void f(size_t i, shiplap::View<float> y, const shiplap::View<const float>& x, float a) {}"
    assert shiplap.ItemFunction(text, "f", np.float32(1)).views == ["y", "x"]
    named = shiplap._kernels.require_names("f", ["chunk", "x", "y"], shiplap.ItemFunction(text, "f"))
    assert named is not None and not isinstance(named, shiplap.ItemFunction)
    other = shiplap.ItemFunction("__device__ void f(size_t i, Mine a, Mine b) {}", "f")
    assert shiplap._kernels.require_names("f", ["chunk", "x", "y"], other) is other


class _Foreign:
    """An array of a library whose addresses are unknown, as those of JAX on a host."""

    shape = (64,)


def test_results_that_nobody_reads_are_refused_with_the_way_that_works(node):
    x, y = np.ones(64), np.zeros(64)
    job = shiplap.Job(64, "twice").in_("x", x).out("y", y).kernel_time(1e-4)
    for returns in (lambda chunk, x, y: 2 * x, lambda chunk, x, y: (y, 2 * x), lambda chunk, x, y: x):
        with pytest.raises(shiplap.UsageError, match=r"returned an array of shape .*y\[:\] = result"):
            node.plan(job.host_kernel(returns)).run()
    for lists in (lambda chunk, x, y: (2 * x).tolist(), lambda chunk, x, y: {"y": 2 * x}, lambda *given: _Foreign()):
        with pytest.raises(shiplap.UsageError, match=r"nobody reads what it returns: .*y\[:\] = result"):
            node.plan(job.host_kernel(lists)).run()
    for fine in (
        lambda chunk, x, y: np.multiply(x, 2, out=y),
        lambda chunk, x, y: (np.multiply(x, 2, out=y)[1:], len(x), None),
        lambda chunk, x, y: bool(np.multiply(x, 2, out=y)[0]),
    ):
        y[:] = 0
        node.plan(job.host_kernel(fine)).run()
        assert (y == 2).all()


def test_functions_that_only_begin_are_refused(node):
    x = np.ones(64)
    job = shiplap.Job(64, "late").inout("x", x).kernel_time(1e-4)

    def generator(*_):
        yield 1

    async def later(*_):
        pass

    class Called:
        async def __call__(self, *_):
            pass

    for late in (generator, later, Called()):
        for refused in (
            lambda late=late: job.host_kernel(late),
            lambda late=late: job.kernel(late),
            lambda late=late: shiplap.mapped_by(late),
            lambda late=late: shiplap.Adaptive(node, job.host_kernel(lambda chunk, x: None), sample=late),
            lambda late=late: shiplap.Adaptive(node, job.host_kernel(lambda chunk, x: None)).run(late),
            lambda late=late: shiplap.Node.load_or_measure("virtual:h100", say=late),
        ):
            with pytest.raises(shiplap.UsageError, match="only begins"):
                refused()
    with pytest.raises(shiplap.UsageError, match="returned a generator"):
        node.plan(job.host_kernel(lambda chunk, x: generator())).run()
    with pytest.raises(shiplap.UsageError, match="returned a coroutine"):
        shiplap.Adaptive(node, job.host_kernel(lambda chunk, x: None)).run(lambda number, x: later())


def test_a_source_that_returns_nothing_is_told_so(node):
    batch = shiplap.Job(64, "frames").inout("x", np.zeros(64)).host_kernel(lambda chunk, x: None).kernel_time(1e-4)
    pipeline = shiplap.Adaptive(node, batch)
    with pytest.raises(shiplap.UsageError, match="source returned None for batch 0.*return True.*False at the end"):
        pipeline.run(lambda number, x: None)
    assert pipeline.run(lambda number, x: np.bool_(number < 2)).batches == 2


def run_python(text: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("where", ["sleeps in its kernel", "copies", "waits for the lock"])
def test_a_program_ends_as_it_should_with_a_run_in_a_daemon_thread(where):
    kernel = {
        "sleeps in its kernel": "lambda chunk, x: time.sleep(0.2)",
        "copies": "lambda chunk, x: None",
        "waits for the lock": "lambda chunk, x: sum(range(1000))",
    }[where]
    ended = run_python(
        f"""
import threading, time, numpy as np, shiplap
node = shiplap.Node.load_or_measure("virtual:h100", say=lambda line: None)
job = shiplap.Job(1 << 16, "endless").inout("x", np.zeros(1 << 16)).host_kernel({kernel}).kernel_time(1e-3)
def work():
    prepared = node.plan(job, strategies="staged", chunks=8).prepare()
    while True:
        prepared.run()
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("done")
"""
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


class FakeLibrary:
    """A CUDA driver that keeps the names of its calls, and fails in one of them."""

    def __init__(self, failing: str = "") -> None:
        self.calls: list[str] = []
        self.failing = failing

    def __getattr__(self, name: str):
        def call(*_arguments: object) -> int:
            self.calls.append(name)
            return 700 if name == self.failing else 0

        return call


def test_the_driver_waits_in_the_context_of_the_memory_and_leaves_that_of_the_thread():
    from shiplap._driver import Driver

    for failing in ("", "cuStreamSynchronize"):
        library = FakeLibrary(failing)
        try:
            Driver(library).wait(1, 4711)  # type: ignore[arg-type]
        except shiplap.Error as error:
            assert failing in str(error)
        order = ["cuCtxPushCurrent_v2", "cuStreamSynchronize", "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2"]
        found = [call for call in library.calls if call in order]
        assert found == order, failing
        assert ("cuGetErrorName" in library.calls) == bool(failing)

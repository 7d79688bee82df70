import time

import numpy as np
import pytest

import shiplap


def test_an_unknown_or_missing_library_is_refused_with_the_names():
    with pytest.raises(shiplap.UsageError, match="view, cupy, torch, numba, jax"):
        shiplap.Job(8).in_("x", np.zeros(8)).kernel(lambda chunk, x: None, arrays="matlab")


def test_a_function_of_a_view_makes_the_arrays(node):
    x = np.arange(64.0)
    y = np.zeros(64)
    seen = []

    def flat(view):
        seen.append(type(view))
        return np.asarray(view).reshape(-1)

    job = shiplap.Job(64).in_("x", x).out("y", y)
    job = job.host_kernel(lambda chunk, x, y: np.copyto(y, x), arrays=flat).kernel_time(1e-4)
    node.plan(job).run()
    np.testing.assert_array_equal(y, x)
    assert set(seen) == {shiplap.View}


def test_views_have_the_interface_of_where_they_are():
    x = np.arange(12.0).reshape(4, 3)
    layout = shiplap._arrays.Layout("x", x.dtype, (3,), True)
    here = shiplap.View(layout, x.ctypes.data + 24, 48, 24, None)
    np.testing.assert_array_equal(np.asarray(here), x[1:3])
    assert (here.first, here.end, len(here)) == (1, 3, 2)
    assert not hasattr(here, "__cuda_array_interface__")
    there = shiplap.View(layout, x.ctypes.data, 96, 0, shiplap.Stream(1))
    assert not hasattr(there, "__array_interface__")
    assert there.__cuda_array_interface__["shape"] == (4, 3)
    assert there.__cuda_array_interface__["stream"] is None


def test_a_stream_follows_the_protocol_of_cuda_streams():
    assert shiplap.Stream(4711).__cuda_stream__() == (0, 4711)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["pageable", "pinned"])
@pytest.mark.parametrize("name", ["cupy", "torch", "numba"])
def test_kernels_of_libraries_compute_every_element(gpu, name, kind):
    pytest.importorskip(name)
    n = 1 << 22
    x = np.arange(n, dtype=np.float32)
    y = np.zeros(n, dtype=np.float32)
    if kind == "pinned":
        values, x, y = x, gpu.pinned_empty(n, np.float32), gpu.pinned_empty(n, np.float32)
        x[:] = values
    if name == "cupy":
        import cupy

        twice = cupy.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "twice")

        def kernel(chunk, x, y):
            twice(x, y)
    elif name == "torch":
        import torch

        def kernel(chunk, x, y):
            torch.mul(x, 2, out=y)
    else:
        if not hasattr(np, "row_stack"):
            np.row_stack = np.vstack  # some versions of Numba look for it where NumPy has it no more
        from numba import cuda

        @cuda.jit
        def twice_on_gpu(x, y):
            i = cuda.grid(1)
            if i < x.size:
                y[i] = 2 * x[i]

        def kernel(chunk, x, y):
            twice_on_gpu[(x.size + 255) // 256, 256, cuda.external_stream(chunk.stream.ptr)](x, y)

    job = shiplap.Job(n, "twice").in_("x", x).out("y", y).kernel(kernel, arrays=name)
    report = gpu.plan(job).run(repeats=3)
    assert not report.simulated
    np.testing.assert_array_equal(y, 2 * np.arange(n, dtype=np.float32))


@pytest.mark.gpu
def test_an_exception_in_a_kernel_for_a_gpu_leaves_plan_as_it_was_raised(gpu):
    def fails(chunk, x, y):
        raise LookupError("no kernel today")

    x = np.zeros(1 << 20)
    job = shiplap.Job(1 << 20).in_("x", x).out("y", np.zeros_like(x)).kernel(fails)
    with pytest.raises(LookupError, match="no kernel today"):
        gpu.plan(job)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["pageable", "pinned"])
def test_a_triton_softmax_by_rows_computes_every_row(gpu, kind):
    pytest.importorskip("triton")
    torch = pytest.importorskip("torch")
    from kernels_in_triton import softmax

    rows, columns = 4099, 1000
    values = np.random.default_rng(5).random((rows, columns), dtype=np.float32)
    x, y = (gpu.pinned_empty(values.shape, np.float32) for _ in range(2)) if kind == "pinned" else (values, values * 0)
    x[:] = values
    job = shiplap.Job(rows, "softmax").in_("x", x).out("y", y)
    gpu.plan(job.kernel(lambda chunk, x, y: softmax(x, y), arrays="torch")).run(repeats=2)
    np.testing.assert_allclose(y, torch.softmax(torch.from_numpy(values), 1).numpy(), rtol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["pageable", "pinned"])
def test_functions_of_jax_compute_every_element(gpu, kind):
    jax = pytest.importorskip("jax")
    n = 1 << 20
    values = np.random.default_rng(6).random(n, dtype=np.float32)
    x, y, total = values.copy(), np.zeros(n, np.float32), np.zeros(1, np.float32)
    if kind == "pinned":
        x, y = gpu.pinned_empty(n, np.float32), gpu.pinned_empty(n, np.float32)
        x[:] = values

    @jax.jit
    def step(x, total):
        return jax.numpy.sqrt(x) + 1, total + x.sum()

    job = shiplap.Job(n, "root").in_("x", x).out("y", y).carried("total", total)
    plan = gpu.plan(job.kernel(lambda chunk, x, total: step(x, total), arrays="jax"), chunks=[16])
    plan.run()
    np.testing.assert_allclose(y, np.sqrt(values) + 1, rtol=1e-6)
    np.testing.assert_allclose(total[0], values.sum(dtype=np.float64), rtol=1e-4)
    assert not any(row["graph"] for row in plan.rows())


@pytest.mark.gpu
def test_functions_of_jax_that_return_the_wrong_arrays_say_so(gpu):
    jax = pytest.importorskip("jax")
    x, y = np.zeros(4096, np.float32), np.zeros(4096, np.float32)
    job = shiplap.Job(4096).in_("x", x).out("y", y)
    for match, function in {
        "returned 2 arrays for the 1": lambda chunk, x: (x, x),
        "of shape": lambda chunk, x: jax.numpy.zeros(3),
        "returned int32": lambda chunk, x: x.astype(int),
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            gpu.plan(job.kernel(function, arrays="jax"))


@pytest.mark.gpu
def test_kernels_of_cupy_that_allocate_are_not_captured(gpu):
    cupy = pytest.importorskip("cupy")
    x, y = gpu.pinned_empty(1 << 20, np.float32), gpu.pinned_empty(1 << 20, np.float32)
    x[:] = np.linspace(0, 1, len(x))
    job = shiplap.Job(len(x)).in_("x", x).out("y", y)

    def in_place(chunk, x, y):
        cupy.multiply(x, 2, out=y)

    def allocates(chunk, x, y):
        y[:] = x + x

    for kernel, graphs in ((in_place, True), (allocates, False)):
        plan = gpu.plan(job.kernel(kernel, arrays="cupy"))
        assert any(row["graph"] for row in plan.rows()) == graphs
        y[:] = 0
        plan.run()
        np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.gpu
def test_a_call_of_a_slow_function_counts_in_the_prediction_and_leads_to_fewer_chunks(gpu):
    cupy = pytest.importorskip("cupy")
    n = 1 << 22
    x, y = gpu.pinned_empty(n, np.float32), gpu.pinned_empty(n, np.float32)
    x[:] = 1
    twice = cupy.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "twice")

    def slow(chunk, x, y):
        end = time.perf_counter() + 300e-6
        while time.perf_counter() < end:
            pass
        twice(x, y)

    job = shiplap.Job(n).in_("x", x).out("y", y)
    plans = [
        gpu.plan(job.kernel(kernel, arrays="cupy", captured=False), strategies=["streams"])
        for kernel in (lambda chunk, x, y: twice(x, y), slow)
    ]
    fast, slowed = (plan.to_dict()["chosen"]["chunks"] for plan in plans)
    assert slowed < fast
    report = plans[1].run(repeats=11, warm_up=2)
    assert abs(report.predicted / report.observed - 1) < 0.1

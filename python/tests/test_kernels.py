import numpy as np
import pytest

import shiplap
from shiplap._kernels import library


def test_an_unknown_or_missing_library_is_refused_with_the_names():
    with pytest.raises(shiplap.UsageError, match="view, cupy, torch, numba"):
        shiplap.Job(8).in_("x", np.zeros(8)).kernel(lambda chunk, x: None, arrays="matlab")


def test_a_function_of_a_view_makes_the_arrays(node):
    x = np.arange(64.0)
    y = np.zeros(64)
    seen = []

    def flat(view):
        seen.append(type(view))
        return np.asarray(view).reshape(-1)

    job = shiplap.Job(64).in_("x", x).out("y", y)
    job = job.host_kernel(lambda chunk, x, y: np.copyto(y, x), arrays=flat).takes(1e-4)
    node.plan(job).run()
    np.testing.assert_array_equal(y, x)
    assert set(seen) == {shiplap.View}


def test_views_have_the_interface_of_where_they_are():
    x = np.arange(12.0).reshape(4, 3)
    layout = shiplap._arrays.Layout("x", x.dtype, (3,), True)
    here = shiplap.View(layout, x.ctypes.data + 24, 48, 24, on_gpu=False)
    np.testing.assert_array_equal(np.asarray(here), x[1:3])
    assert (here.first, here.end, len(here)) == (1, 3, 2)
    assert not hasattr(here, "__cuda_array_interface__")
    there = shiplap.View(layout, x.ctypes.data, 96, 0, on_gpu=True)
    assert not hasattr(there, "__array_interface__")
    assert there.__cuda_array_interface__["shape"] == (4, 3)
    assert there.__cuda_array_interface__["stream"] is None


def test_a_stream_follows_the_protocol_of_cuda_streams():
    assert shiplap.Stream(4711).__cuda_stream__() == (0, 4711)


@pytest.fixture(scope="module")
def gpu() -> shiplap.Node:
    if "cuda:0" not in shiplap.devices():
        pytest.skip("there is no GPU here")
    return shiplap.Node.open("cuda:0", "h100")


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


def test_arrays_can_be_made_by_no_library_at_all():
    assert library("view").arrays(7) == 7

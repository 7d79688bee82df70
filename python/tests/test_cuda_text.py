import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import shiplap
from shiplap._arrays import Layout

SMOOTH = """
__device__ void smooth(unsigned long long row, shiplap::View<const float> u, shiplap::View<float> v, float factor) {
  const unsigned long long width = 4;
  for (unsigned long long i = row * width; i < (row + 1) * width; ++i) {
    float sum = u[i];
    if (i >= width) sum += u[i - width];
    if (i + width < 40) sum += u[i + width];
    v[i] = factor * sum;
  }
}
"""


def smoothed(u: np.ndarray, factor: float) -> np.ndarray:
    padded = np.pad(u, ((1, 1), (0, 0)))
    return factor * (padded[:-2] + padded[1:-1] + padded[2:])


def test_a_parameter_that_gets_an_array_of_the_other_role_is_an_error_that_names_it():
    kernel = shiplap.ItemFunction(SMOOTH, "smooth", np.float32(0.5))
    u = np.zeros((10, 4), dtype=np.float32)
    # As for a job that reads "v" and writes "u": parameters are found by these names.
    views = [
        shiplap.View(Layout(name, u.dtype, (4,), written), u.ctypes.data, u.nbytes, 0, None)
        for name, written in (("u", True), ("v", False))
    ]
    with pytest.raises(shiplap.UsageError, match="smooth gets an array as u that is written.*names of the arrays"):
        kernel.source(views)
    with pytest.raises(shiplap.UsageError, match="as v that is only read"):
        kernel.source([views[1], views[1]])


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no compiler here")
def test_the_kernel_around_an_item_function_visits_each_item_once_with_indices_of_the_whole_arrays(tmp_path):
    # The kernel runs on the host: the compiler sees its words for the GPU as nothing, and the grid as variables.
    kernel = shiplap.ItemFunction(SMOOTH, "smooth", np.float32(0.5))
    u = np.arange(40, dtype=np.float32).reshape(10, 4)
    v = np.zeros_like(u)
    layouts = [Layout("u", u.dtype, (4,), False), Layout("v", v.dtype, (4,), True)]
    # Rows 3 to 6, with a halo of one row.
    views = [
        shiplap.View(layouts[0], u.ctypes.data + 2 * 16, 5 * 16, 2 * 16, None),
        shiplap.View(layouts[1], v.ctypes.data + 3 * 16, 3 * 16, 3 * 16, None),
    ]
    source = tmp_path / "kernel.cpp"
    words = '#define __device__\n#define __global__\nstruct Dim { unsigned x; };\nextern "C" { Dim gridDim, blockDim, '
    source.write_text(words + "blockIdx, threadIdx; }\n" + kernel.source(views))
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-o", tmp_path / "k.so", source], check=True)
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    where = {n: ctypes.c_uint.in_dll(library, n) for n in ("gridDim", "blockDim", "blockIdx", "threadIdx")}
    where["gridDim"].value, where["blockDim"].value = 1, 2
    for thread in range(2):
        where["threadIdx"].value = thread
        arguments = [ctypes.c_ulonglong(3), ctypes.c_ulonglong(3)]
        for view in views:
            arguments += [
                ctypes.c_void_p(view.ptr),
                ctypes.c_ulonglong(view.first * 4),
                ctypes.c_ulonglong(view.end * 4),
            ]
        library.shiplap_items(*arguments, ctypes.c_float(0.5))
    np.testing.assert_allclose(v[3:6], smoothed(u, 0.5)[3:6])
    assert not v[:3].any() and not v[6:].any()


def test_types_without_a_name_in_cuda_are_refused():
    layout = Layout("z", np.dtype(np.complex64), (), True)
    z = np.zeros(4, np.complex64)
    view = shiplap.View(layout, z.ctypes.data, z.nbytes, 0, None)
    with pytest.raises(shiplap.UsageError, match="no type for complex64"):
        shiplap.ItemFunction("f()", "f").source([view])


def test_a_text_without_the_function_is_refused():
    with pytest.raises(shiplap.UsageError, match="does not define the function smoth"):
        shiplap.ItemFunction(SMOOTH, "smoth")


@pytest.mark.gpu
def test_an_item_function_runs_on_the_gpu_with_a_halo_and_with_any_grid(gpu):
    pytest.importorskip("cuda.core")
    u = np.random.default_rng(2).random((10, 4), dtype=np.float32)
    v = np.zeros_like(u)
    job = shiplap.Job(10, "smooth").in_("u", u, shiplap.halo(1, 1)).out("v", v)
    job = job.kernel(shiplap.ItemFunction(SMOOTH, "smooth", np.float32(0.5)))
    plan = gpu.plan(job)
    plan.run(repeats=2)
    np.testing.assert_allclose(v, smoothed(u, 0.5), rtol=1e-6)


@pytest.mark.gpu
def test_an_error_in_the_text_shows_the_line_of_the_text(gpu):
    pytest.importorskip("cuda.core")
    x = np.zeros(64, np.float32)
    job = shiplap.Job(64).inout("x", x)
    job = job.kernel(shiplap.ItemFunction("\n__device__ void f(size_t i, shiplap::View<float> x) { y = 1; }", "f"))
    with pytest.raises(Exception, match=r"\(2\).*y"):
        gpu.plan(job)

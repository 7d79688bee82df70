"""The two programs of the report of ETH Zürich (2025) in GT4Py: arccos of 2^20 to 2^27 floats with the copies there and
back, and steps of a fourth-order diffusion of doubles on 128 x 128 fields of several levels.

    pip install gt4py cupy-cuda13x "setuptools<70"
    CUDA_HOME=/usr/local/cuda python gt4py_programs.py [BACKEND]

BACKEND is gt:gpu (default) or a backend for the CPU, such as gt:cpu_ifirst. GT4Py 1.1 compiles with setuptools 69.5.1;
with 84.2.1 it ends in pyext_builder.py with "AttributeError: 'NoneType' object has no attribute 'items'". Its DaCe
backends need DaCe, which the package does not bring.

Times are medians. "all" contains the allocation on the GPU, the copy there and the copy back, from and to pageable
memory; "kernel" is the call alone. Every arccos is compared with NumPy's.
"""

import statistics
import sys
import time

import gt4py.storage
import numpy
from gt4py.cartesian import gtscript
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

Floats = Field[numpy.float32]
Doubles = Field[numpy.float64]


def arccos(x: Floats, y: Floats):
    with computation(PARALLEL), interval(...):
        y = acos(x)  # noqa: F821, F841 - a function of the language


def diffusion(u: Doubles, v: Doubles, alpha: numpy.float64):
    with computation(PARALLEL), interval(...):
        lap = -4.0 * u[0, 0, 0] + u[-1, 0, 0] + u[1, 0, 0] + u[0, -1, 0] + u[0, 1, 0]
        v = u[0, 0, 0] - alpha * (  # noqa: F841
            -4.0 * lap[0, 0, 0] + lap[-1, 0, 0] + lap[1, 0, 0] + lap[0, -1, 0] + lap[0, 1, 0]
        )


def compiled(definition, backend):
    start = time.perf_counter()
    stencil = gtscript.stencil(backend=backend, definition=definition)
    print(f"compiled {definition.__name__} {time.perf_counter() - start:.1f} s", flush=True)
    return stencil


def main(backend):
    on_gpu = "gpu" in backend

    def wait():
        if on_gpu:
            import cupy

            cupy.cuda.Device().synchronize()

    run_arccos = compiled(arccos, backend)
    for exponent in (20, 24, 27):
        shape = (1024, 1024, 2 ** (exponent - 20))
        x = numpy.random.default_rng(1).uniform(-1, 1, shape).astype(numpy.float32)
        whole, kernel = [], []
        for _ in range(6):
            start = time.perf_counter()
            source = gt4py.storage.from_array(x, backend=backend, dtype=numpy.float32)
            result = gt4py.storage.empty(shape, backend=backend, dtype=numpy.float32)
            wait()
            copied = time.perf_counter()
            run_arccos(source, result)
            wait()
            computed = time.perf_counter()
            y = result.get() if on_gpu else numpy.asarray(result)
            whole.append(time.perf_counter() - start)
            kernel.append(computed - copied)
        right = numpy.allclose(y, numpy.arccos(x), atol=1e-5)
        print(
            f"arccos 2^{exponent}: all {statistics.median(whole) * 1e3:.3f} ms, "
            f"kernel {statistics.median(kernel) * 1e3:.3f} ms, right {right}",
            flush=True,
        )

    run_diffuse = compiled(diffusion, backend)
    for levels in (8, 512, 4096, 8192):
        shape = (132, 132, levels)
        u = numpy.random.default_rng(2).uniform(0, 1, shape)
        u = gt4py.storage.from_array(u, backend=backend, dtype=numpy.float64)
        v = gt4py.storage.zeros(shape, backend=backend, dtype=numpy.float64)
        steps = []
        for _ in range(30):
            wait()
            start = time.perf_counter()
            run_diffuse(u, v, numpy.float64(0.02), origin=(2, 2, 0), domain=(128, 128, levels))
            wait()
            steps.append(time.perf_counter() - start)
        print(f"diffusion 128x128x{levels}: {statistics.median(steps) * 1e3:.4f} ms a step", flush=True)


main(sys.argv[1] if len(sys.argv) > 1 else "gt:gpu")

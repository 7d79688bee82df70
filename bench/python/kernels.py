#!/usr/bin/env python3
"""Four jobs with kernels of four libraries, from Python and in C++, in turn on one GPU.

  kernels.py DEVICE PROFILE OUT.json --program PATH [--rows N] [--rounds N]

saxpy in CuPy, Black-Scholes in PyTorch (whose functions allocate), a stencil with a halo of one row in CUDA C++ text,
and a softmax by rows in Triton; the program `python_kernels` has them in C++. Arrays are pinned, and both use the same
profile. In each round both have a turn, in an order drawn anew: an untimed run, then the timed ones, whose median is a
sample. The clock is the host's. Every result is compared with NumPy's.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import shiplap

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python/tests")]
COLUMNS = 1024
RATE, VOLATILITY = 0.02, 0.3
RUNS = 3  # timed runs of a turn

STENCIL = """
__device__ void smooth(size_t i, shiplap::View<const float> u, shiplap::View<float> v, long long elements) {
  float sum = u[i];
  if (i >= 1024) sum += u[i - 1024];
  if (i + 1024 < elements) sum += u[i + 1024];
  v[i] = sum / 3;
}
"""


class InCpp:
    """The program `python_kernels`, which answers requests line by line."""

    def __init__(self, path: str, device: str, profile: str, rows: int) -> None:
        command = [path, device, profile, str(rows)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.greeting = self._answer()

    def ask(self, **request: object) -> dict:
        """Return the answer to a request."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        answer = json.loads(self.process.stdout.readline() or '{"error": "the program has ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer


class InPython:
    """The jobs in Python."""

    def __init__(self, device: str, profile: str, rows: int) -> None:
        self.node = shiplap.Node.open(device, profile)
        self.rows = rows
        self.random = np.random.default_rng(1)

    def filled(self, *shape: int) -> np.ndarray:
        """Return random numbers in [0.5, 1.5) in pinned memory."""
        array = self.node.pinned_empty(shape, np.float32)
        self.random.random(out=array, dtype=np.float32)
        array += np.float32(0.5)
        return array

    def empty(self, *shape: int) -> np.ndarray:
        """Return an array in pinned memory."""
        return self.node.pinned_empty(shape, np.float32)

    def saxpy(self) -> tuple:
        """Return the job in CuPy, its output, and what is expected."""
        import cupy

        kernel = cupy.RawKernel(
            """extern "C" __global__ void saxpy(long long n, const float* x, float* y) {
                 const long long i = blockIdx.x * 256ll + threadIdx.x;
                 if (i < n) y[i] += 2 * x[i];
               }""",
            "saxpy",
        )

        def launch(chunk, x, y):
            kernel(((chunk.count + 255) // 256,), (256,), (np.int64(chunk.count), x, y))

        n = self.rows * COLUMNS
        x, y = self.filled(n), self.filled(n)
        before = y.copy()
        job = shiplap.Job(n, "saxpy").in_("x", x).inout("y", y).kernel(launch, arrays="cupy")
        return job, [y], lambda: [before + 2 * x], lambda: np.copyto(y, before)

    def black_scholes(self) -> tuple:
        """Return the job in PyTorch."""
        import torch

        def normal(d):
            return 0.5 * torch.erfc(-d * math.sqrt(0.5))

        def price(chunk, s, k, t, call, put):
            deviation = VOLATILITY * torch.sqrt(t)
            d1 = (torch.log(s / k) + (RATE + 0.5 * VOLATILITY**2) * t) / deviation
            discounted = k * torch.exp(-RATE * t)
            torch.sub(s * normal(d1), discounted * normal(d1 - deviation), out=call)
            torch.add(call - s, discounted, out=put)

        n = self.rows * COLUMNS // 2
        s, k, t = (self.filled(n) for _ in range(3))
        call, put = self.empty(n), self.empty(n)
        job = shiplap.Job(n, "black_scholes").in_("s", s).in_("k", k).in_("t", t).out("call", call).out("put", put)

        def expected():
            on_host = [torch.from_numpy(a) for a in (s, k, t)]
            results = [torch.empty(n), torch.empty(n)]
            price(None, *on_host, *results)
            return [r.numpy() for r in results]

        return job.kernel(price, arrays="torch"), [call, put], expected, lambda: None

    def smooth(self) -> tuple:
        """Return the job in CUDA C++ as text."""
        n = self.rows * COLUMNS
        u, v = self.filled(n), self.empty(n)
        job = shiplap.Job(n, "smooth").in_("u", u, shiplap.halo(COLUMNS, COLUMNS)).out("v", v)

        def expected():
            padded = np.pad(u.reshape(self.rows, COLUMNS), ((1, 1), (0, 0)))
            return [((padded[1:-1] + padded[:-2] + padded[2:]) / 3).reshape(-1)]

        return job.kernel(shiplap.ItemFunction(STENCIL, "smooth", n)), [v], expected, lambda: None

    def softmax(self) -> tuple:
        """Return the job in Triton."""
        from kernels_in_triton import softmax

        x, y = self.filled(self.rows, COLUMNS), self.empty(self.rows, COLUMNS)
        job = shiplap.Job(self.rows, "softmax").in_("x", x).out("y", y)

        def expected():
            raised = np.exp(x)
            return [raised / raised.sum(1, keepdims=True)]

        return job.kernel(lambda chunk, x, y: softmax(x, y), arrays="torch"), [y], expected, lambda: None


def median_ms(run, runs: int) -> float:
    """Return the median time of some runs after an untimed one."""
    run()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("profile")
    parser.add_argument("out")
    parser.add_argument("--program", required=True)
    parser.add_argument("--rows", type=int, default=65536)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    cpp = InCpp(arguments.program, arguments.device, arguments.profile, arguments.rows)
    python = InPython(arguments.device, arguments.profile, arguments.rows)
    order = random.Random(7)
    result, wrong = {"device": cpp.greeting["device"], "rows": arguments.rows, "jobs": []}, False
    kinds = {
        "saxpy": "CuPy RawKernel",
        "black_scholes": "PyTorch functions",
        "smooth": "CUDA C++ as text",
        "softmax": "Triton",
    }
    print("job            kernel             C++ ms   Python ms  ratio  predicted ms  call us  plan of Python")
    for name, kind in kinds.items():
        described = cpp.ask(do="prepare", job=name)
        job, outputs, expected, restore = getattr(python, name)()
        plan = python.node.plan(job)
        prepared = plan.prepare()
        prepared.run()
        restore()
        for output in outputs:
            if name != "saxpy":
                output[:] = np.nan
        prepared.run()
        right = all(np.allclose(o, e, atol=1e-5) for o, e in zip(outputs, expected(), strict=True))
        right = right and cpp.ask(do="check")["right"]
        wrong = wrong or not right
        samples = {"cpp": [], "python": []}
        for _ in range(arguments.rounds):
            for side in order.sample(["cpp", "python"], 2):
                if side == "cpp":
                    samples[side].append(statistics.median(cpp.ask(do="run", runs=RUNS)["ms"]))
                else:
                    samples[side].append(median_ms(prepared.run, RUNS))
        ms = {side: statistics.median(values) for side, values in samples.items()}
        call = plan.call * 1e6
        row = {
            "job": name,
            "kernel": kind,
            "cpp_ms": ms["cpp"],
            "python_ms": ms["python"],
            "ratio": ms["python"] / ms["cpp"],
            "predicted_ms": plan.predicted * 1e3,
            "predicted_cpp_ms": described["predicted_ms"],
            "call_us": call,
            "choice": plan.choice,
            "choice_cpp": described["how"],
            "right": right,
            "samples": samples,
        }
        result["jobs"].append(row)
        print(
            f"{name:14} {kind:17} {ms['cpp']:7.3f}  {ms['python']:9.3f}  {row['ratio']:5.3f}  "
            f"{row['predicted_ms']:12.3f}  {call:7.1f}  {plan.choice}" + ("" if right else "  WRONG"),
            flush=True,
        )
        del prepared, plan, job, outputs, expected, restore
    Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""First and later calls of jobs with CuPy kernels, beside what a program does without shiplap.

  first_call_cupy.py [MIB...]

Each line is a process of its own, in which the CUDA context, the kernels and the arrays exist before the first call.
"plain" is ``cupy.asarray``, the kernel and ``cupy.asnumpy``; "hand" is four streams over chunks, from pageable memory
through pinned buffers that the caller's thread fills and empties, the best of three numbers of chunks; "shiplap" plans,
prepares and runs in each call. "kept" is the median of later runs into kept memory. MIB is the size of the input.
"""

import multiprocessing
import statistics
import sys
import time

import numpy as np

COLUMNS = 1024
JOBS = ("saxpy", "price", "norm")
PRICE = """
const float root = 0.3f * sqrtf(years);
const float d1 = (logf(spot / strike) + 0.065f * years) / root;
const float discounted = strike * expf(-0.02f * years);
const float near = 0.5f * erfcf(-d1 * 0.70710678f), far = 0.5f * erfcf((root - d1) * 0.70710678f);
call = spot * near - discounted * far;
put = call - spot + discounted;
"""


class Work:
    """A job: numbers of inputs and outputs of one size, whether the last input is the output too, and its kernel."""

    def __init__(self, name, mebibytes, pinned):
        import cupy
        import cupyx

        self.name, self.pinned = name, pinned
        self.inputs, outputs = {"saxpy": (2, 0), "price": (3, 2), "norm": (1, 1)}[name]
        rows = (mebibytes << 18) // self.inputs // COLUMNS
        shape = (rows, COLUMNS) if name == "norm" else (rows * COLUMNS,)
        random = np.random.default_rng(1)

        def array():
            made = cupyx.empty_pinned(shape, np.float32) if pinned else np.empty(shape, np.float32)
            random.random(out=made, dtype=np.float32)
            made += np.float32(0.5)
            return made

        self.host = [array() for _ in range(self.inputs + outputs)]
        self.out = self.host[-1:] if outputs == 0 else self.host[self.inputs :]
        saxpy = cupy.ElementwiseKernel("float32 x", "float32 y", "y += 2 * x", "saxpy")
        price = cupy.ElementwiseKernel("float32 spot, float32 strike, float32 years", "float32 call, float32 put",
                                       PRICE, "price")  # fmt: skip

        def norm(x, y):
            cupy.subtract(x, x.mean(axis=1, keepdims=True), out=y)

        self.kernel = {"saxpy": saxpy, "price": price, "norm": norm}[name]
        small = [cupy.ones((4, COLUMNS) if name == "norm" else 64, cupy.float32) for _ in self.host]
        self.kernel(*small)
        cupy.cuda.Device().synchronize()

    def plain(self):
        import cupy

        sent = [cupy.asarray(one) for one in self.host[: self.inputs]]
        made = [] if len(self.out) + self.inputs > len(self.host) else [cupy.empty_like(sent[0]) for _ in self.out]
        self.kernel(*sent, *made)
        return [cupy.asnumpy(one) for one in made or sent[-1:]]

    def job(self):
        import shiplap

        job = shiplap.Job(len(self.host[0]), self.name)
        for number, one in enumerate(self.host):
            is_out, is_in = any(one is other for other in self.out), number < self.inputs
            add = job.inout if is_in and is_out else job.in_ if is_in else job.out
            job = add(f"a{number}", one)
        return job.kernel(lambda _, *arrays: self.kernel(*arrays), arrays="cupy")


class ByHand:
    def __init__(self, work, chunks):
        import cupy
        import cupyx

        self.work, self.size = work, -(-len(work.host[0]) // chunks)
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(4)]
        shape = (self.size, *work.host[0].shape[1:])
        self.slots = [[cupy.empty(shape, cupy.float32) for _ in work.host] for _ in self.streams]
        self.rings = [[cupyx.empty_pinned(shape, np.float32) for _ in work.host] for _ in self.streams]

    def __call__(self):
        work, waiting = self.work, [None] * 4
        outs = [number for number, one in enumerate(work.host) if any(one is other for other in work.out)]

        def finish(slot):
            if waiting[slot] is not None:
                self.streams[slot].synchronize()
                for number in outs:
                    part = work.host[number][waiting[slot]]
                    np.copyto(part, self.rings[slot][number][: len(part)])

        for i, first in enumerate(range(0, len(work.host[0]), self.size)):
            slot, part = i % 4, slice(first, first + self.size)
            count = len(work.host[0][part])
            there = [one[:count] for one in self.slots[slot]]
            here = [one[part] for one in work.host]
            if not work.pinned:
                finish(slot)
                waiting[slot] = part
                for number in range(work.inputs):
                    np.copyto(self.rings[slot][number][:count], here[number])
                here = [one[:count] for one in self.rings[slot]]
            with self.streams[slot] as stream:
                for number in range(work.inputs):
                    there[number].set(here[number], stream)
                work.kernel(*there)
                for number in outs:
                    there[number].get(stream, out=here[number], blocking=False)
        for slot in range(4):
            finish(slot)
            self.streams[slot].synchronize()


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def median(call):
    call()
    return statistics.median(timed(call) for _ in range(7))


def case(name, mebibytes, pinned, way):
    """Return seconds of three calls, of later runs, and predicted ones; None where there are none."""
    work = Work(name, mebibytes, pinned)
    before = work.host[-1].copy()
    expected = work.plain() if way != "plain" else []
    first = [None] * 3
    if way == "plain":
        return [timed(work.plain) for _ in first], None, None
    if way == "hand":
        ways = [ByHand(work, chunks) for chunks in (8, 16, 32)]
        ways[0]()
        right = all(np.allclose(a, b, atol=1e-4) for a, b in zip(work.out, expected, strict=True))
        if not right:
            raise SystemExit(f"{name} by hand is wrong")
        return first, min(median(one) for one in ways), None
    import shiplap

    node, job = shiplap.default_node(), work.job()
    for number in range(3):
        np.copyto(work.host[-1], before)
        first[number] = timed(lambda: node.plan(job, quick=True).prepare().run())
    if not all(np.allclose(a, b, atol=1e-4) for a, b in zip(work.out, expected, strict=True)):
        raise SystemExit(f"{name} of shiplap is wrong")
    plan = node.plan(job)
    return first, median(plan.prepare().run), plan.predicted


def main():
    print("job       input  memory    way           call 1      call 2      call 3        kept   predicted")
    forked = multiprocessing.get_context("fork")
    for name in JOBS:
        for mebibytes in [int(one) for one in sys.argv[1:]] or [16, 256, 4096]:
            for pinned in (True, False):
                for way in ("plain", "hand", "shiplap"):
                    with forked.Pool(1) as pool:
                        first, kept, predicted = pool.apply(case, (name, mebibytes, pinned, way))
                    cells = "".join(
                        "            " if t is None else f"{t * 1e3:12.2f}" for t in (*first, kept, predicted)
                    )
                    memory = "pinned" if pinned else "pageable"
                    print(f"{name:6}{mebibytes:5} MiB  {memory:8}  {way:8}{cells}".rstrip(), flush=True)


if __name__ == "__main__":
    main()

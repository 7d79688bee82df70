#!/usr/bin/env python3
"""256 MiB in and out of pageable memory with kernels in Python, by number of chunks: predicted and observed times.

  staged.py DEVICE PROFILE [ROUNDS]

Several threads of the library call the kernel, one after the other. The kernel that does nothing shows what these calls
cost without a launch. Medians, by the clock of the host, after an untimed run.
"""

import statistics
import sys
import time

import cupy
import numpy as np

import shiplap

ITEMS = 1 << 26
ADD = "__device__ void add(size_t i, shiplap::View<const float> x, shiplap::View<float> y) { y[i] = x[i] + 1.5f; }"

node = shiplap.Node.open(sys.argv[1], sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
x = np.random.default_rng(1).random(ITEMS, dtype=np.float32)
y = np.zeros_like(x)
add = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x + 1.5f", "add")
job = shiplap.Job(ITEMS, "add").in_("x", x).out("y", y)
kernels = {
    "CuPy": job.kernel(lambda chunk, x, y: add(x, y), arrays="cupy"),
    "nothing": job.kernel(lambda chunk, x, y: None),
    "text": job.kernel(shiplap.ItemFunction(ADD, "add")),
}
print("kernel   chunks  predicted ms  observed ms  call us")
for name, work in kernels.items():
    for chunks in ((), 16, 32, 64, 128):
        plan = node.plan(work, may_pin=False, chunks=chunks, strategies="staged")
        prepared = plan.prepare()
        prepared.run()
        times = []
        for _ in range(rounds):
            begin = time.perf_counter()
            prepared.run()
            times.append((time.perf_counter() - begin) * 1e3)
        made = plan.to_dict()["chosen"]["chunks"]
        observed = statistics.median(times)
        print(f"{name:8} {made:6}  {plan.predicted * 1e3:12.2f}  {observed:11.2f}  {plan.call * 1e6:7.1f}", flush=True)

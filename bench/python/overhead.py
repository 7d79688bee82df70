"""Time of the CPU that a call of a kernel in Python costs for each chunk, on a virtual device.

  overhead.py [ROUNDS]

The kernel does nothing. The cost is the difference between a run in 1001 chunks and one in a single chunk, over 1000.
It contains the work of the library for a chunk too. Medians. The last line is a call and callback through ctypes with
the same seven arguments, which reads three entries of each array and makes no views.
"""

import ctypes
import statistics
import sys
import time

import numpy as np

import shiplap

CHUNKS = 1001
ITEMS = 1 << 14


def seconds(job: shiplap.Job, chunks: int, rounds: int) -> float:
    """Return the median time of a run in this number of chunks, by the clock of the host."""
    prepared = NODE.plan(job, strategies=["streams"], chunks=[chunks]).prepare()
    prepared.run()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        prepared.run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


NODE = shiplap.Node.load_or_measure("virtual:h100", say=lambda line: None)
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
print("arrays  kernel gets    us a chunk")
for count in (1, 3):
    job = shiplap.Job(ITEMS, "nothing")
    for i in range(count):
        job = job.inout(f"a{i}", NODE.pinned_empty(ITEMS, np.float32))
    for what, arrays in (("views", "view"), ("NumPy arrays", np.asarray)):
        idle = job.host_kernel(lambda chunk, *given: None, arrays=arrays).kernel_time(1e-3)
        cost = (seconds(idle, CHUNKS, rounds) - seconds(idle, 1, rounds)) / (CHUNKS - 1)
        print(f"{count:6}  {what:12}  {cost * 1e6:11.1f}")


def ctypes_seconds(calls: int) -> float:
    """Return the time of a call of a Python function through a pointer of C."""
    array = ctypes.POINTER(ctypes.c_uint64)
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 4, array, array, array)

    def kernel(first, count, blocks, stream, operands, lengths, origins) -> None:
        operands[:3], lengths[:3], origins[:3]

    function = prototype(kernel)
    through_pointer = ctypes.cast(function, prototype)
    three = (ctypes.c_uint64 * 3)(1, 2, 3)
    begin = time.perf_counter()
    for _ in range(calls):
        through_pointer(1, 2, 3, 4, three, three, three)
    return (time.perf_counter() - begin) / calls


cost = statistics.median(ctypes_seconds(10_000) for _ in range(rounds))
print(f"     3  ctypes        {cost * 1e6:11.1f}")

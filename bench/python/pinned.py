"""New pinned memory by shiplap beside cudaHostAlloc and PyTorch, and what it does to kernels that run meanwhile.

  pinned.py OUT.txt [--sizes MIB,...] [--cpus N,...] [--repeats N]

Each row is the median of some new allocations, in turn with those of the other ways; a copy of the memory to the GPU
proves that it is pinned. "launch" is the longest time that a small kernel took from its launch to its end, launched
again and again by another thread meanwhile, beside the longest without an allocation.
"""

import argparse
import os
import statistics
import threading
import time

import cupy
import numpy as np
import torch

import shiplap


def by_driver(size):
    address = cupy.cuda.runtime.hostAlloc(size, 0)
    return address, lambda: cupy.cuda.runtime.freeHost(address)


def by_torch(size):
    memory = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    return memory.data_ptr(), getattr(torch._C, "_host_emptyCache", lambda: None), memory


def by_shiplap(size):
    memory = shiplap.pinned_empty(size, np.uint8)
    return memory.ctypes.data, None, memory


ways = {"cudaHostAlloc": by_driver, "torch pin_memory": by_torch, "shiplap.pinned_empty": by_shiplap}


class Launches:
    """Launches a small kernel again and again in a thread of its own, and keeps the longest time that one took."""

    def __init__(self):
        self.longest, self.stopped = 0.0, False
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.ready.wait()

    def run(self):
        x = torch.zeros(1 << 20, device="cuda")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for i in range(10**9):
                begin = time.perf_counter()
                x.add_(1)
                stream.synchronize()
                if i == 50:
                    self.longest = 0.0
                    self.ready.set()
                self.longest = max(self.longest, time.perf_counter() - begin)
                if self.stopped:
                    return

    def stop(self):
        self.stopped = True
        self.thread.join()
        return self.longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sizes", default="16,256,1024,4096")
    parser.add_argument("--cpus", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    own = sorted(os.sched_getaffinity(0))
    target = cupy.empty(16 << 20, cupy.uint8)
    shiplap.default_node()
    lines = [
        f"bench/python/pinned.py on one {torch.cuda.get_device_name()}: milliseconds of one allocation",
        "",
        f"{'size':>9}  {'CPUs':>4}  {'way':20}  {'allocate':>9}  {'GB/s':>6}  {'free':>7}  {'launch':>8}  {'alone':>8}",
    ]
    for size in (int(s) << 20 for s in options.sizes.split(",")):
        for cpus in (int(c) for c in options.cpus.split(",")):
            os.sched_setaffinity(0, own[:cpus])
            taken = {way: [] for way in ways}
            freed = {way: [] for way in ways}
            stalls = {way: [] for way in ways}
            alone = []
            for repeat in range(options.repeats + 2):
                for way, allocate in ways.items():
                    launches = Launches() if repeat >= options.repeats else None
                    begin = time.perf_counter()
                    address, free, *memory = allocate(size)
                    end = time.perf_counter()
                    if launches:
                        stalls[way].append(launches.stop())
                    copied = min(size, 16 << 20)
                    cupy.cuda.runtime.memcpyAsync(target.data.ptr, address + size - copied, copied, 1, 0)
                    cupy.cuda.runtime.deviceSynchronize()
                    middle = time.perf_counter()
                    memory.clear()
                    if free:
                        free()
                    if not launches:
                        taken[way].append(end - begin)
                        freed[way].append(time.perf_counter() - middle)
                launches = Launches()
                time.sleep(0.05)
                alone.append(launches.stop())
            for way in ways:
                t = statistics.median(taken[way])
                lines.append(
                    f"{size >> 20:>5} MiB  {cpus:>4}  {way:20}  {t * 1e3:9.2f}  {size / t / 1e9:6.1f}  "
                    f"{statistics.median(freed[way]) * 1e3:7.2f}  {max(stalls[way]) * 1e3:8.2f}  "
                    f"{max(alone) * 1e3:8.2f}"
                )
                print(lines[-1], flush=True)
            with open(options.out, "w") as file:
                file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Steps of a decoder that gathers 2,000 blocks of 64 KiB from a pinned pool of 8 GiB concurrent with a kernel of about 5 ms.

  decode.py DEVICE PROFILE OUT.json --program PATH --kernels LIBRARY [--rounds N]

Ways: one cudaMemcpyAsync for each block, cudaMemcpyBatchAsync, shiplap::move (all in the program decode_step), and
PyTorch's index_select into pinned memory followed by a copy. All run the same kernel, from the shared library. They
take turns, in an order drawn anew in each round; the figures are medians. Every way is checked byte by byte.
"""

import argparse
import ctypes
import json
import random
import statistics
import subprocess

BLOCK = 64 << 10
BLOCKS = 2000
POOL = 8 << 30
STEPS = 40
MEMORY_OF_KERNEL = 2 << 30


class InTorch:
    def __init__(self, library):
        import torch

        self.torch = torch
        self.library = ctypes.CDLL(library)
        self.pool = torch.empty((POOL // BLOCK, BLOCK // 8), dtype=torch.int64, pin_memory=True)
        self.pool.random_()
        self.staging = [torch.empty((BLOCKS, BLOCK // 8), dtype=torch.int64, pin_memory=True) for _ in range(2)]
        self.packed = [torch.empty((BLOCKS, BLOCK // 8), dtype=torch.int64, device="cuda") for _ in range(2)]
        self.scratch = torch.empty(MEMORY_OF_KERNEL, dtype=torch.uint8, device="cuda")
        self.moves = torch.cuda.Stream(priority=-1)
        self.kernels = torch.cuda.Stream()
        self.lists = [torch.randint(0, POOL // BLOCK, (BLOCKS,)) for _ in range(STEPS + 1)]

    def kernel(self):
        self.library.neighbour_memory_bound(
            ctypes.c_void_p(self.scratch.data_ptr()),
            ctypes.c_uint64(MEMORY_OF_KERNEL),
            ctypes.c_void_p(self.kernels.cuda_stream),
        )

    def pipeline(self):
        torch = self.torch
        event = torch.cuda.Event
        moved = [event() for _ in range(2)]
        used = [event() for _ in range(2)]
        copied = [event() for _ in range(2)]
        start, stop = event(enable_timing=True), event(enable_timing=True)
        torch.cuda.synchronize()
        start.record(self.kernels)
        self.moves.wait_event(start)
        for i in range(STEPS + 1):
            if i < STEPS:
                if i >= 2:
                    copied[i % 2].synchronize()  # the copy has read the staging memory
                    self.moves.wait_event(used[i % 2])
                torch.index_select(self.pool, 0, self.lists[i], out=self.staging[i % 2])
                with torch.cuda.stream(self.moves):
                    self.packed[i % 2].copy_(self.staging[i % 2], non_blocking=True)
                copied[i % 2].record(self.moves)
                moved[i % 2].record(self.moves)
            if i == 0:
                continue
            self.kernels.wait_event(moved[(i - 1) % 2])
            self.kernel()
            used[(i - 1) % 2].record(self.kernels)
        stop.record(self.kernels)
        torch.cuda.synchronize()
        return start.elapsed_time(stop) / STEPS

    def turn(self):
        for _ in range(2):
            self.pipeline()
        ms = self.pipeline()
        expected = self.pool[self.lists[STEPS - 1]]
        if not self.torch.equal(self.packed[(STEPS - 1) % 2].cpu(), expected):
            raise SystemExit("decode.py: PyTorch's blocks are wrong")
        return ms, ""


class InProgram:
    def __init__(self, arguments):
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ready = self.process.stdout.readline().strip()
        if not ready.startswith("ready"):
            raise SystemExit("decode.py: decode_step did not start")
        self.device = ready[len("ready ") :]

    def turn(self, way):
        self.process.stdin.write(way + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(maxsplit=1)
        if not answer or answer[0] == "wrong":
            raise SystemExit(f"decode.py: the blocks of {way} are wrong")
        return float(answer[0]), answer[1].strip() if len(answer) > 1 else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("device")
    parser.add_argument("profile")
    parser.add_argument("out")
    parser.add_argument("--program", required=True)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    program = InProgram([arguments.program, arguments.device, arguments.profile])
    ways = {way: (lambda way=way: program.turn(way)) for way in ("kernel", "loop", "batch", "shiplap", "limited")}
    try:
        ways["torch"] = InTorch(arguments.kernels).turn
    except ImportError as error:
        print(f"decode.py: PyTorch does not take part ({error})")
    times = {way: [] for way in ways}
    notes = {}
    for _ in range(arguments.rounds):
        for way in random.sample(list(ways), len(ways)):
            ms, notes[way] = ways[way]()
            times[way].append(ms)
    names = {
        "kernel": "the kernel alone",
        "loop": "one cudaMemcpyAsync a block",
        "batch": "cudaMemcpyBatchAsync",
        "shiplap": "shiplap::move, fastest",
        "limited": "shiplap::move, kernel at most 3 % slower",
        "torch": "PyTorch: index_select into pinned memory, copy",
    }
    for way, samples in times.items():
        note = f" ({notes[way]})" if notes.get(way) else ""
        print(f"{names[way] + note:<56} {statistics.median(samples):8.3f} ms a step")
    result = {
        "device": program.device,
        "block": BLOCK,
        "blocks": BLOCKS,
        "pool": POOL,
        "unit": "ms a step",
        "movers": notes,
        "samples": times,
    }
    with open(arguments.out, "w") as file:
        json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()

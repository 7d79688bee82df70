#!/usr/bin/env python3
"""shiplap beside what people use today: PyTorch, CuPy, plain cudaMemcpy and streams by hand, on one GPU.

  beside.py DEVICE PROFILE|measure OUT.json [--program PATH] [--scale S] [--rounds N]

All contenders do the same work, y = x + 1.5 over random floats in host memory, in rounds: in each round each contender
has one turn, in an order drawn anew. A turn is one untimed run, so that no contender pays for the one before, and then
the timed runs, whose median is a sample. The clock is the host's, from the first call until y is complete in host
memory. Nobody is charged for allocating, pinning, planning, choosing the number of chunks, and creating streams; ways
whose library allocates in every call, as `.cpu()` does, are charged for that and stand beside ways that do not. Every
contender's result is compared element by element before it is timed.

PyTorch and CuPy run in this process, the others in the program `beside`, which waits while it has no turn. What cannot
take part is reported with the reason. Writes JSON and prints tables; the last one is that of the README. Exit status: 0,
1 when shiplap itself was absent, 2 when a result was wrong.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import List

from contender import Absent, Missing, why
from in_cpp import Program
from tables import all_contenders, readme_table, to_json

MIB = 1 << 20
LEAST_ROUNDS = 11


@dataclass
class Work:
    name: str
    memory: str  # "pinned" or "pageable"
    bytes_each_way: int
    chunks: List[int]  # numbers of chunks that streams have the choice of
    rounds: int
    device_memory: int = 0  # most that a contender may use; 0: no limit
    slices: int = 1  # parts that ways without chunks work on one after another
    runs: int = 1  # timed runs of a turn
    seconds: float = 20  # after these no further round begins, once there are LEAST_ROUNDS

    @property
    def items(self):
        return self.bytes_each_way // 4


def works(scale, rounds):
    few = [4, 8, 16, 32]
    all_works = [
        Work("256 MiB each way, pinned", "pinned", 256 * MIB, few, 51),
        Work("256 MiB each way, pageable", "pageable", 256 * MIB, few, 31),
        Work("4 GiB each way, pageable", "pageable", 4096 * MIB, few, 11, seconds=40),
        Work("1 MiB each way, pinned", "pinned", MIB, few, 101, runs=9),
        Work("1 MiB each way, pageable", "pageable", MIB, few, 101, runs=9),
        Work(
            "4 GiB each way through 2 GiB of device memory, pinned",
            "pinned",
            4096 * MIB,
            [64, 128, 256],
            21,
            device_memory=2048 * MIB,
            slices=16,
            seconds=30,
        ),
    ]
    for work in all_works:
        work.bytes_each_way = int(work.bytes_each_way * scale)
        work.name += f", scaled by {scale:g}" if scale != 1 else ""
        work.device_memory = int(work.device_memory * scale)
        work.rounds = min(work.rounds, rounds or work.rounds)
    return all_works


IN_CPP = ("shiplap", "plain", "by hand")
IN_PYTHON = ("PyTorch", "CuPy", "shiplap in Python")


def made(tools, make):
    """What `make` returns, or what stands for it when it fails."""
    try:
        return make()
    except Exception as error:
        return Missing(tools, why(error))


def python_side(simulated, device, profile):
    if simulated:
        raise RuntimeError("the device is simulated")
    import in_python  # needs NumPy

    return in_python.Python(device, profile)


class Field:
    """The contenders of a work. One that fails leaves it, with the reason."""

    def __init__(self, sides, work):
        self.work = work
        self.contenders, self.absent = [], []
        for tools, side in sides.items():
            try:
                contenders, absent = side.contenders(work)
            except Exception as error:
                contenders, absent = Missing(tools, why(error)).contenders(work)
            self.contenders += contenders
            self.absent += absent

    def each(self, contenders, do):
        for contender in contenders:
            try:
                do(contender)
            except Exception as error:
                self.contenders.remove(contender)
                self.absent.append(Absent(contender.tool, contender.way, why(error)))

    def verify(self):
        def check(contender):
            contender.right = contender.check()

        self.each(list(self.contenders), check)

    def run(self, order):
        begin = time.monotonic()
        for turn in range(self.work.rounds):
            if turn >= LEAST_ROUNDS and time.monotonic() - begin > self.work.seconds:
                break
            drawn = list(self.contenders)
            order.shuffle(drawn)
            self.each(drawn, lambda contender: contender.take_turn(self.work.runs))


def first_line(path):
    try:
        return Path(path).read_text().splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def gpu_facts():
    asked = "name,driver_version,pcie.link.gen.current,pcie.link.width.current,clocks.sm,temperature.gpu,power.draw"
    try:
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader", "-i", "0"],
            capture_output=True,
            text=True,
            timeout=30,
        )
        return dict(zip(asked.split(","), answer.stdout.strip().split(", ")))
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"unknown": str(error)}


def machine():
    return {
        "gpu": gpu_facts(),
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "transparent_hugepages": first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
        "load": os.getloadavg(),
    }


def parsed_arguments():
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", help="cuda:0; CUDA_VISIBLE_DEVICES says which GPU that is")
    parser.add_argument("profile", help="a file, the name of a built-in profile, or measure")
    parser.add_argument("out", help="the JSON that is written")
    parser.add_argument("--program", default=here.parents[1] / "build/bench/beside", help="the program beside")
    parser.add_argument("--scale", type=float, default=1, help="less than 1: smaller arrays, for a trial")
    parser.add_argument("--rounds", type=int, default=0, help="at most this number of rounds of each work")
    parser.add_argument("--only", default="", help="only works whose name contains this text")
    return parser.parse_args()


def main():
    arguments = parsed_arguments()
    begin = time.monotonic()
    cpp = made(IN_CPP, lambda: Program(arguments.program, arguments.device, arguments.profile))
    simulated = cpp.greeting.get("simulated", False)
    python = made(IN_PYTHON, lambda: python_side(simulated, arguments.device, arguments.profile))
    result = {
        "schema": "shiplap/beside",
        "version": 1,
        "clock": "host, from the first call until the result is in host memory; an untimed run before each turn",
        "scale": arguments.scale,
        "machine": machine(),
        "shiplap": cpp.greeting,
        "versions": {"Python": platform.python_version(), **python.versions},
    }
    order = random.Random(31)
    fields = []
    for work in works(arguments.scale, arguments.rounds):
        if arguments.only not in work.name:
            continue
        field = Field({IN_CPP: cpp, IN_PYTHON: python}, work)
        field.verify()
        field.run(order)
        fields.append(field)
        print(all_contenders(field), flush=True)
        result["works"] = [to_json(f) for f in fields]
        result["seconds"] = round(time.monotonic() - begin, 1)
        Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
        field = None  # the arrays of a work go before those of the next come
        for contender in fields[-1].contenders:
            contender.run = contender.check = None
    cpp.close()
    print(readme_table(fields))
    if any(c.right is False for f in fields for c in f.contenders):
        return 2
    return 0 if all(any(c.tool == "shiplap" for c in f.contenders) for f in fields) else 1


if __name__ == "__main__":
    sys.exit(main())

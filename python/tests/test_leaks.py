"""Objects, memory and threads after they were used: nothing is left."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import shiplap
from jobs import doubling, pinned


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


class Noted(np.ndarray):
    """An array that says when it goes."""

    gone = 0

    def __del__(self):
        Noted.gone += 1


def plan_and_run(node, strategies):
    x = np.ones(1 << 16, np.float32)
    y = np.zeros(1 << 16, np.float32)
    if strategies == ["streams"]:
        x, y = pinned(node, x), pinned(node, y)
    x = x.view(Noted)
    prepared = node.plan(doubling(x, y), strategies=strategies, chunks=[8]).prepare()
    for _ in range(3):
        prepared.run()


def fail_in_a_kernel(node, strategies):
    x = np.ones(1 << 16, np.float32).view(Noted)
    y = np.zeros(1 << 16, np.float32)
    job = doubling(x, y).host_kernel(lambda chunk, x, y: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        node.plan(job, strategies=strategies).run()


def fail_in_a_plan(node, strategies):
    x = np.ones(1 << 16, np.float32).view(Noted)
    with pytest.raises(shiplap.UsageError):
        node.plan(
            shiplap.Job(1 << 16).in_("x", x).host_kernel(lambda chunk, x: None), strategies=strategies, chunks=[0]
        )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("use", [plan_and_run, fail_in_a_kernel, fail_in_a_plan])
@pytest.mark.parametrize("strategies", [["streams"], ["staged"], ["pageable"]])
def test_many_uses_leave_no_memory_no_array_and_no_thread(node, use, strategies):
    if use is not plan_and_run and strategies == ["streams"]:
        pytest.skip("the arrays are pageable")
    for _ in range(10):
        use(node, strategies)
    gc.collect()
    before, threads_before, Noted.gone = resident(), threads(), 0
    for _ in range(60):
        use(node, strategies)
    gc.collect()
    assert Noted.gone >= 60
    assert threads() <= threads_before
    assert resident() - before < 8 << 20  # 60 times the arrays would be 30 MiB


def test_an_interpreter_that_ends_with_everything_still_alive_ends_well():
    text = """
import numpy as np, shiplap
node = shiplap.Node.load_or_measure("virtual:h100", say=lambda line: None)
x, y = np.ones(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
job = shiplap.Job(1 << 16).in_("x", x).out("y", y).host_kernel(lambda chunk, x, y: np.copyto(y, x))
prepared = node.plan(job, strategies=["staged"], chunks=[8]).prepare()
prepared.run()
adaptive = shiplap.Adaptive(node, job)
adaptive.run(lambda number, x, y: number < 20)
print("end")
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_prepared_plan_can_go_while_other_threads_run_python(node):
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        for _ in range(20):
            plan_and_run(node, ["staged"])
    finally:
        stop.set()
        thread.join()

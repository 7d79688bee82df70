"""Plans that are saved, runs in the background, objects that are closed, and jobs of arrays that do not exist."""

import concurrent.futures
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import shiplap


@pytest.fixture
def node():
    return shiplap.Node.open("virtual:h200", "h200")


def doubling(kernel=lambda chunk, x, y: np.multiply(x, 2, out=y), items=1 << 18):
    x, y = np.arange(items, dtype=np.float32), np.zeros(items, np.float32)
    return shiplap.Job(items, "double").in_("x", x).out("y", y).host_kernel(kernel), x, y


def until_told():
    """Return an event, and a kernel that waits for it."""
    may_go_on = threading.Event()

    def held_up(chunk, x, y):
        assert may_go_on.wait(10)
        np.multiply(x, 2, out=y)

    return may_go_on, held_up


def test_a_saved_plan_has_its_choice_again_for_arrays_of_the_same_size_alone(node, tmp_path):
    job, _, _ = doubling()
    plan = node.plan(job, strategies="staged", chunks=6, threads=2)
    plan.save(tmp_path / "plan.json")
    other, x, y = doubling()
    again = node.plan(other, saved=tmp_path / "plan.json")
    assert again.choice == plan.choice
    assert again.predicted == pytest.approx(plan.predicted, rel=1e-9)
    again.run()
    assert (y == 2 * x).all()
    with pytest.raises(shiplap.UsageError, match="saved plan"):
        node.plan(doubling(items=1 << 17)[0], saved=tmp_path / "plan.json")
    with pytest.raises(shiplap.UsageError, match="chunks"):
        node.plan(other, saved=tmp_path / "plan.json", chunks=4)
    with pytest.raises(shiplap.UsageError, match="max_slowdown"):
        node.plan(other, saved=tmp_path / "plan.json", max_slowdown=0.1)
    with pytest.raises(shiplap.UsageError, match="saved"):
        node.plan(other, saved="")
    with pytest.raises(shiplap.Error, match="gone"):
        node.plan(other, saved=tmp_path / "gone.json")
    pinning = node.plan(other, runs=1_000_000)
    assert pinning.to_dict()["pins"]
    pinning.save(tmp_path / "pins.json")
    with pytest.raises(shiplap.UsageError, match="may_pin"):
        node.plan(other, saved=tmp_path / "pins.json", may_pin=False)


def test_a_summary_is_the_first_sentence(node):
    plan = node.plan(doubling()[0])
    assert plan.summary() in " ".join(str(plan).split())
    assert "\n" not in plan.summary()


def test_a_run_in_the_background_ends_with_its_time_and_the_results(node):
    may_go_on, held_up = until_told()
    job, x, y = doubling(held_up)
    prepared = node.plan(job, strategies="pageable").prepare()
    run = prepared.start()
    assert not run.done()
    with pytest.raises(shiplap.UsageError, match="running already"):
        prepared.run()
    with pytest.raises(shiplap.TimedOut):
        run.result(timeout=0.01)
    may_go_on.set()
    seconds = run.result()
    assert run.done()
    assert seconds == run.result() > 0
    assert (y == 2 * x).all()
    prepared.run()  # it is free again


def test_a_run_that_is_cancelled_leaves_whole_chunks_and_can_run_again(node):
    begun = threading.Event()

    def slow(chunk, x, y):
        begun.set()
        time.sleep(0.01)
        np.multiply(x, 2, out=y)

    job, x, y = doubling(slow)
    prepared = node.plan(job, strategies="staged", chunks=64, threads=2).prepare()
    run = prepared.start()
    assert begun.wait(10)
    run.cancel()
    for _ in range(2):
        with pytest.raises(shiplap.Cancelled):
            run.result()
    rows = (y == 2 * x).reshape(64, -1)
    assert not rows.all()
    assert all(row[1:].all() or not row[1:].any() for row in rows)  # x[0] is 0
    prepared.run()
    assert (y == 2 * x).all()


def test_what_a_kernel_raises_in_the_background_is_raised_by_result(node):
    def broken(chunk, x, y):
        raise KeyError("in the kernel")

    run = node.plan(doubling(broken)[0].kernel_time(1e-3)).prepare().start()
    for _ in range(2):
        with pytest.raises(KeyError, match="in the kernel"):
            run.result()


def test_a_run_keeps_what_it_needs_when_nobody_else_does(node):
    job, x, y = doubling()
    run = node.plan(job).prepare().start()
    del job
    run.result()
    assert (y == 2 * x).all()
    node.plan(doubling()[0]).prepare().start()  # nobody waits for it


def test_a_run_that_nobody_has_is_waited_for_before_its_memory_is_used_again(node):
    may_go_on, held_up = until_told()
    job, x, y = doubling(held_up)
    prepared = node.plan(job, strategies="pageable").prepare()
    runs = [prepared.start()]
    dropping = threading.Thread(target=runs.clear)
    dropping.start()
    for _ in range(20):
        with pytest.raises(shiplap.UsageError, match="running already"):
            prepared.close()
        time.sleep(0.005)
    may_go_on.set()
    dropping.join()
    assert (y == 2 * x).all()
    prepared.run()


def test_what_a_signal_raises_leaves_result_and_cancels_the_run(node):
    def slow(chunk, x, y):
        time.sleep(0.02)
        np.multiply(x, 2, out=y)

    def handle(number, frame):
        raise InterruptedError("by a signal")

    job, _, _ = doubling(slow)
    before = signal.signal(signal.SIGUSR1, handle)
    try:
        for chunks in (1, 64):
            with node.plan(job, strategies="staged", chunks=chunks, threads=1).prepare() as prepared:
                run = prepared.start()
                threading.Timer(0.005, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
                with pytest.raises(InterruptedError, match="by a signal"):
                    run.result()
                prepared.run()  # it is free again
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_many_threads_may_ask_for_one_result(node):
    job, _, _ = doubling(lambda chunk, x, y: time.sleep(0.02))
    run = node.plan(job, strategies="pageable").prepare().start()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert len(set(pool.map(lambda _: run.result(), range(8)))) == 1


def test_a_run_and_what_was_raised_in_it_are_collected(node):
    class Array(np.ndarray):
        pass

    def begin():
        y = np.zeros(1 << 16, np.float32).view(Array)
        known = weakref.ref(y)

        def broken(chunk, x, y):
            raise KeyError("in the kernel")

        job = shiplap.Job(len(y), "broken").in_("x", np.ones_like(y)).out("y", y).host_kernel(broken).kernel_time(1e-3)
        run = node.plan(job).prepare().start()
        with pytest.raises(KeyError):
            run.result()
        return known

    known = [begin() for _ in range(3)]
    gc.collect()
    assert [one() is None for one in known] == [True] * 3


def test_python_ends_although_a_run_is_in_flight(tmp_path):
    (tmp_path / "kernels.py").write_text(
        "import time\nimport numpy as np\ndef slow(chunk, x, y):\n    time.sleep(0.05)\n    np.multiply(x, 2, out=y)\n"
    )
    program = (
        "import numpy as np, shiplap, kernels\n"
        "x = np.ones(1 << 16, np.float32); y = np.empty_like(x)\n"
        "job = shiplap.Job(len(x), 'slow').in_('x', x).out('y', y).host_kernel(kernels.slow).kernel_time(1e-3)\n"
        "node = shiplap.Node.open('virtual:h200', 'h200')\n"
        "run = node.plan(job, strategies='staged', chunks=64, threads=2).prepare().start()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("stream", [7, 0])  # 0 is CUDA's default stream, and not no stream
def test_a_simulated_node_has_no_streams(node, stream):
    with pytest.raises(shiplap.Unsupported):
        node.plan(doubling()[0]).prepare().start(stream=stream).result()


def test_the_end_of_a_block_waits_for_the_run_in_flight_and_hides_no_exception(node):
    def slow(chunk, x, y):
        time.sleep(0.005)
        np.multiply(x, 2, out=y)

    job, x, y = doubling(slow)
    plan = node.plan(job, strategies="staged", chunks=32, threads=2)
    with plan.prepare() as prepared:
        run = prepared.start()
    assert run.result() > 0
    assert (y == 2 * x).all()
    with pytest.raises(KeyError, match="of the caller"), plan.prepare() as prepared:
        run = prepared.start()
        raise KeyError("of the caller")
    with pytest.raises(shiplap.Cancelled):
        run.result()


def test_a_closed_object_has_given_its_pins_back_and_runs_no_more(node):
    job, x, y = doubling(items=1 << 22)
    plan = node.plan(job, runs=1_000_000)
    with plan.prepare() as prepared:
        prepared.run()
        assert node.memory_of(x) == "pinned"
    assert node.memory_of(x) == "pageable"
    assert (y == 2 * x).all()
    with pytest.raises(shiplap.UsageError, match="closed"):
        prepared.run()
    prepared.close()  # once more is no error
    step = node.plan_step(shiplap.Step().kernel(job))
    with step.prepare() as steps:
        steps.run()
    with pytest.raises(shiplap.UsageError, match="closed"):
        steps.run()


def test_arrays_that_do_not_exist_can_be_planned_and_not_run(node):
    spec = shiplap.ArraySpec((1 << 20, 1 << 14), np.float32)  # 64 GiB
    job = shiplap.Job(1 << 20, "large").in_("x", spec).out("y", spec).kernel_time(1.0)
    planned = shiplap.Node.from_profile("h200").plan(job)
    assert planned.predicted > 2 * (1 << 36) / 110e9  # both directions of the link
    staged = shiplap.ArraySpec(1 << 20, np.float32, memory="pageable")
    plan = shiplap.Node.from_profile("h200").plan(
        shiplap.Job(1 << 20).inout("x", staged).kernel_time(1e-3), may_pin=False
    )
    assert plan.to_dict()["shape"]["memory"] == "pageable"
    with pytest.raises(shiplap.UsageError, match="x is an ArraySpec"):
        node.plan(job.host_kernel(lambda chunk, x, y: None))
    assert shiplap.ArraySpec(np.int64(4), np.float32).nbytes == 16
    for shape, dtype, memory in (
        ((-1,), float, "pinned"),
        (4.5, float, "pinned"),
        (1 << 62, float, "pinned"),
        (4, "nothing", "pinned"),
        (4, float, "device"),
    ):
        with pytest.raises(shiplap.UsageError):
            shiplap.ArraySpec(shape, dtype, memory)


def test_notes_go_to_the_log_of_a_program_that_has_one(caplog, capfd, monkeypatch):
    from shiplap._node import _note, _warn

    with caplog.at_level(logging.INFO, logger="shiplap"):
        _note("measuring")
    assert [record.getMessage() for record in caplog.records] == ["measuring"]
    assert capfd.readouterr().err == ""
    with caplog.at_level(logging.WARNING, logger="shiplap"):
        _warn("assumed")  # also seen by a program with logging as it comes
    assert caplog.records[-1].getMessage() == "assumed"
    monkeypatch.setattr(logging.getLogger("shiplap"), "hasHandlers", lambda: False)
    _note("measuring")
    assert capfd.readouterr().err == "shiplap: measuring\n"

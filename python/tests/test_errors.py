import os
import signal
import threading
import time

import numpy as np
import pytest

import shiplap
from jobs import doubling, pinned


def test_errors_are_exceptions_of_one_family():
    assert issubclass(shiplap.UsageError, shiplap.Error)
    assert issubclass(shiplap.UsageError, ValueError)
    assert issubclass(shiplap.Unsupported, shiplap.Error)
    assert issubclass(shiplap.Error, RuntimeError)
    with pytest.raises(shiplap.UsageError, match="built-in are.*h200"):
        shiplap.Node.load_or_measure("virtual:no-such-gpu")
    with pytest.raises(shiplap.Unsupported, match="cuda"):
        shiplap.Node.load_or_measure("cuda:77")


def test_an_exception_in_a_kernel_leaves_the_run_as_it_was_raised(node, arrays):
    x, y = (pinned(node, a) for a in arrays)

    class Mine(Exception):
        pass

    def fails(chunk, x, y):
        raise Mine(f"in chunk at {chunk.first}")

    job = doubling(x, y).host_kernel(fails)
    prepared = node.plan(job, strategies=["streams"], chunks=[4]).prepare()
    for _ in range(3):
        with pytest.raises(Mine, match="in chunk at 0"):
            prepared.run()


def test_a_run_above_its_time_limit_is_reported_and_the_next_one_is_right(node, arrays):
    x, y = (pinned(node, a) for a in arrays)
    prepared = node.plan(doubling(x, y)).prepare()
    with pytest.raises(shiplap.TimedOut, match="time limit"):
        prepared.run(limit=1e-9)
    prepared.run(limit=10.0)
    np.testing.assert_array_equal(y, 2 * x)


def test_an_exception_in_a_mapping_leaves_the_plan(node):
    def fails(first, end):
        raise LookupError("no such rows")

    x, y = pinned(node, np.zeros(100)), pinned(node, np.zeros(100))
    job = (
        shiplap.Job(100)
        .in_("x", x, shiplap.mapped_by(fails))
        .out("y", y)
        .host_kernel(lambda c, x, y: None)
        .kernel_time(1e-3)
    )
    with pytest.raises(LookupError, match="no such rows"):
        node.plan(job)


def test_a_kernel_with_the_wrong_number_of_parameters_says_so(node, arrays):
    job = doubling(*arrays).host_kernel(lambda chunk, x: None)
    with pytest.raises(shiplap.UsageError, match=r"host kernel is called with chunk, x, y, and it takes \(chunk, x\)"):
        node.plan(job)
    with pytest.raises(shiplap.UsageError, match="a kernel is a function, not 'foo'"):
        doubling(*arrays).host_kernel("foo")
    with pytest.raises(shiplap.UsageError, match="array z: add the arrays before the kernels"):
        doubling(*arrays).in_("z", arrays[0])
    with pytest.raises(shiplap.UsageError, match="give halo"):
        shiplap.Job(8).in_("x", np.zeros(8), 2)


def test_a_job_without_a_kernel_and_a_node_without_a_device_say_what_is_missing(node, arrays):
    x, y = arrays
    bare = shiplap.Job(len(x)).in_("x", x).out("y", y)
    with pytest.raises(shiplap.Error, match="host_kernel|kernel"):
        node.plan(bare).run()
    known = shiplap.Node.from_profile("h100")
    plan = known.plan(doubling(x, y))
    with pytest.raises(shiplap.UsageError, match="without a device"):
        plan.run()
    with pytest.raises(shiplap.UsageError, match="without a device"):
        known.pinned_empty(8)


@pytest.fixture
def interruptible():
    """Handles Ctrl-C as Python does: a shell starts background processes with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("strategy", ["explicit", "streams", "pageable", "staged"])
@pytest.mark.parametrize("by", ["Ctrl-C", "an exception"])
def test_a_stop_ends_a_run_of_every_strategy_at_once(node, strategy, by):
    x = np.zeros(64) if strategy in ("pageable", "staged") else pinned(node, np.zeros(64))
    calls = []

    def slow(chunk, x):
        calls.append(chunk.first)
        if by == "an exception":
            raise LookupError("no such item")
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    job = shiplap.Job(64, "slow").inout("x", x).host_kernel(slow).kernel_time(1e-3)
    chunks = 1 if strategy in ("explicit", "pageable") else 32
    prepared = node.plan(job, strategies=strategy, chunks=chunks, may_pin=False).prepare()
    for _ in range(3):
        calls.clear()
        with pytest.raises(KeyboardInterrupt if by == "Ctrl-C" else LookupError):
            prepared.run()
        assert len(calls) == 1


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_run_before_its_next_chunk(node):
    x = pinned(node, np.zeros(64))
    started = threading.Event()
    chunks = []

    def slow(chunk, x):
        started.set()
        chunks.append(chunk.first)
        time.sleep(0.05)

    def press():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    job = shiplap.Job(64, "slow").inout("x", x).host_kernel(slow).kernel_time(1e-3)
    prepared = node.plan(job, strategies=["streams"], chunks=[32]).prepare()
    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        prepared.run()
    thread.join()
    assert 0 < len(chunks) < 32
    before = len(chunks)
    prepared.run()
    assert len(chunks) == before + 32


def test_other_threads_run_while_a_plan_is_made_and_run(node):
    x = np.zeros(1 << 16)
    y = np.zeros_like(x)
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    node.plan(doubling(x, y))
    during = counted - before
    done.set()
    thread.join()
    assert during > 10


def test_many_threads_run_plans_of_their_own(node):
    failures = []

    def work(seed):
        try:
            x = np.random.default_rng(seed).random(1 << 14)
            y = np.zeros_like(x)
            prepared = node.plan(doubling(x, y)).prepare()
            for _ in range(5):
                y[:] = 0
                prepared.run()
                np.testing.assert_array_equal(y, 2 * x)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_kernels_that_fail_in_two_threads_raise_each_their_own_exception(node):
    x = np.zeros(1 << 14, np.float32)
    base = shiplap.Job(1 << 14, "base").inout("x", x)
    caught = {}

    def fail_often(name):
        def fails(chunk, x):
            time.sleep(0.001)
            raise KeyError(name)

        prepared = node.plan(base.host_kernel(fails), strategies=["staged"], chunks=[8]).prepare()
        for _ in range(20):
            with pytest.raises(KeyError) as raised:
                prepared.run()
            caught.setdefault(name, set()).add(raised.value.args)

    threads = [threading.Thread(target=fail_often, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caught == {"one": {("one",)}, "two": {("two",)}}


def test_an_interrupt_in_a_kernel_ends_a_plan_with_a_race(node):
    x = pinned(node, np.zeros(1 << 16, np.float32))

    def interrupted(chunk, x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        node.plan(shiplap.Job(1 << 16).inout("x", x).host_kernel(interrupted).kernel_time(1e-4), race=1.0)


def test_a_mapping_that_returns_no_range_is_named_with_what_it_returned(node):
    x, y = np.zeros(64), np.zeros(64)
    for wrong, shown in (((-1, 5), r"\(-1, 5\)"), ("ab", "'ab'")):
        job = shiplap.Job(64).in_("x", x, shiplap.mapped_by(lambda first, end, wrong=wrong: wrong)).out("y", y)
        with pytest.raises(shiplap.UsageError, match=f"array x: the mapping returned {shown}"):
            node.plan(job.host_kernel(lambda chunk, x, y: None))


def test_arrays_in_the_byte_order_of_other_machines_are_refused():
    with pytest.raises(shiplap.UsageError, match="order of other machines"):
        shiplap.Job(8).in_("x", np.zeros(8, ">f4"))

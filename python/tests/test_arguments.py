"""Numbers, texts, paths and objects that callers give."""

import math

import numpy as np
import pytest

import shiplap
from jobs import doubling


@pytest.fixture
def job():
    return doubling(np.zeros(64), np.zeros(64)).kernel_time(1e-4)


NO_WHOLE_NUMBERS = [3.7, math.nan, True, "3", None, -1, 1 << 70, [2.5]]
NO_NUMBERS = [math.nan, math.inf, -1, True, "3", [1]]


@pytest.mark.parametrize("wrong", NO_WHOLE_NUMBERS)
def test_whole_numbers_are_checked_everywhere(node, job, wrong):
    for name, call in {
        "pinned_empty": lambda: node.pinned_empty(wrong),
        "pinned_empty, tuple": lambda: node.pinned_empty((2, wrong)),
        "items": lambda: shiplap.Job(wrong),
        "before": lambda: shiplap.halo(wrong, 1),
        "after": lambda: shiplap.Reach(after=wrong),
        "block": lambda: shiplap.blocks(np.array([1]), wrong),
        "count": lambda: shiplap.strided(wrong, 8, 8),
        "pitch": lambda: shiplap.strided(8, 8, wrong),
        "chunks": lambda: node.plan(job, chunks=wrong),
        "threads": lambda: node.plan(job, threads=wrong),
        "gpus": lambda: node.plan(job, gpus=wrong),
        "device_memory": lambda: node.plan(job, device_memory=wrong),
        "runs": lambda: node.plan(job, runs=wrong),
        "repeats": lambda: node.plan(job).run(wrong),
        "warm_up": lambda: node.plan(job).run(1, wrong),
        "traffic": lambda: job.with_device_traffic(wrong),
        "thread blocks": lambda: job.with_thread_blocks(wrong, 64),
        "threads of a block": lambda: job.with_thread_blocks(8, wrong),
        "sharing": lambda: job.with_thread_blocks(8, 64, wrong),
        "in_flight": lambda: shiplap.Adaptive(node, job, in_flight=wrong),
        "counts": lambda: node.movers(wrong),
        "item threads": lambda: shiplap.ItemFunction("f()", "f", threads=wrong),
    }.items():
        with pytest.raises(shiplap.UsageError):
            call()
            pytest.fail(name)


@pytest.mark.parametrize("wrong", NO_NUMBERS)
def test_other_numbers_are_checked_everywhere(node, job, wrong):
    prepared = node.plan(job).prepare()
    for name, call in {
        "limit": lambda: prepared.run(limit=wrong),
        "reads": lambda: job.reads("x", wrong),
        "race": lambda: node.plan(job, race=wrong),
        "max_slowdown": lambda: node.plan(job, max_slowdown=wrong),
        "max_slowdown of movers": lambda: node.movers(max_slowdown=wrong),
        "memory_bound": lambda: node.movers(memory_bound=wrong),
        "thread_block": lambda: node.movers(thread_block=wrong),
        "kernel_time": lambda: job.kernel_time(wrong),
        "flops": lambda: job.with_flops(wrong),
        "efficiency": lambda: job.with_efficiency(wrong),
    }.items():
        with pytest.raises(shiplap.UsageError, match="`"):
            call()
            pytest.fail(name)


def test_anything_else_that_is_wrong_is_an_error_of_shiplap(node, job):
    for call in (
        lambda: node.plan("job"),
        lambda: node.plan(job, strategies=3),
        lambda: node.plan(job, strategies=[3]),
        lambda: node.plan(job, may_pin=1),
        lambda: node.plan(job, check_reach="yes"),
        lambda: node.plan(job).run(trace="best"),
        lambda: node.what_if(5),
        lambda: node.with_link(5),
        lambda: node.movers(pool=None),
        lambda: node.movers(()),
        lambda: node.movers(regular=1),
        lambda: node.save_profile(3),
        lambda: shiplap.Node("virtual:h100"),
        lambda: shiplap.Node.load_or_measure(3),
        lambda: shiplap.Node.load_or_measure("virtual:h100", say=3),
        lambda: shiplap.Node.from_profile(None),
        lambda: shiplap.Node.open("virtual:h100", 7),
        lambda: shiplap.Job(8, 5),
        lambda: shiplap.Job(8).in_(5, np.zeros(8)),
        lambda: shiplap.mapped_by(3),
        lambda: shiplap.Adaptive("virtual:h100", job),
        lambda: shiplap.Adaptive(node, "job"),
        lambda: shiplap.Adaptive(node, job, sample=3),
        lambda: shiplap.Adaptive(node, job).run(3),
        lambda: shiplap.Adaptive(node, job).run(lambda number, x, y: False, 3),
        lambda: shiplap.ItemFunction(3, "f"),
        lambda: shiplap.move("node", np.zeros(8), [1], None),
        lambda: job.zero_copy_suits("yes"),
        lambda: job.kernel(lambda chunk, x, y: None, captured="no"),
    ):
        with pytest.raises(shiplap.Error):
            call()


def test_numbers_of_numpy_lists_and_paths_are_taken(node, job, tmp_path):
    assert node.pinned_empty(np.int64(3)).shape == (3,)
    assert node.pinned_empty([2, np.uint8(3)], "f4").shape == (2, 3)
    assert node.pinned_empty(()).shape == ()
    assert node.pinned_empty((2, 0)).shape == (2, 0)
    options = dict(gpus=np.int32(1), device_memory=np.uint64(1 << 30), runs=np.int64(2), max_slowdown=np.float32(0.5))
    plan = node.plan(job, chunks=np.int64(4), strategies="staged", **options)
    assert plan.to_dict()["chosen"]["chunks"] == 4
    assert node.plan(job, strategies="staged", threads=[3], **options).to_dict()["chosen"]["threads_each_way"] == 3
    node.plan(job, chunks=np.array([2, 4]), race=np.float64(0), may_pin=np.True_)
    assert len(plan.run(np.int64(2), np.int8(1)).samples) == 2
    plan.prepare().run(np.float32(60))
    shiplap.Job(np.int64(8)).in_("x", np.zeros(8), shiplap.halo(np.int8(1), np.int64(1)))
    assert shiplap.blocks([1, 2, 3], np.int64(8)).count == 3
    assert {row["blocks"] for row in node.movers(np.int64(64)).rows()} == {64}
    assert shiplap.Adaptive(node, job, in_flight=np.int64(2)) is not None
    node.save_profile(tmp_path / "node.json")
    assert shiplap.Node.from_profile(tmp_path / "node.json").profile_hash == node.profile_hash
    assert shiplap.Node.open("virtual:h200", tmp_path / "node.json").profile_hash == node.profile_hash
    assert np.array_equal(
        node.plan(job.kernel_time(np.float64(1e-3))).interval, node.plan(job.kernel_time(1e-3)).interval
    )


def test_batches_that_do_not_fit_are_refused_with_the_number_that_does(node, job):
    for too_many in (65, 10**6):
        with pytest.raises(shiplap.UsageError, match=rf"`in_flight` {too_many}.*give at most 64"):
            shiplap.Adaptive(node, job, in_flight=too_many)
    frames = doubling(*(node.pinned_empty(1 << 12) for _ in range(2)))
    assert shiplap.Adaptive(node, frames, in_flight=64).run(lambda number, x, y: number < 100).batches == 100


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert shiplap.__version__ == version("shiplap")

import threading

import numpy as np
import pytest

import shiplap
from jobs import doubling


def batch():
    return doubling(np.zeros(1 << 12, np.float32), np.zeros(1 << 12, np.float32))


def test_every_batch_is_computed_and_arrives_in_order(node):
    adaptive = shiplap.Adaptive(node, batch())
    arrived = []

    def source(number, x, y):
        x[:] = number + 1
        y[:] = -1
        return number < 40

    def sink(number, x, y):
        assert (y == 2 * (number + 1)).all()
        arrived.append(number)

    report = adaptive.run(source, sink)
    assert arrived == list(range(40))
    assert report.batches == 40
    assert report.items == 40 << 12
    assert report.rate == pytest.approx(report.items / report.elapsed)


def test_a_sample_is_given_the_arrays_of_a_batch(node):
    shapes = []
    shiplap.Adaptive(node, batch(), sample=lambda x, y: shapes.append((x.shape, y.dtype)))
    assert set(shapes) <= {((1 << 12,), np.dtype(np.float32))}


def test_an_exception_in_the_source_or_the_sink_ends_the_run_and_the_next_one_works(node):
    adaptive = shiplap.Adaptive(node, batch())

    def fails(number, x, y):
        x[:] = number
        if number == 5:
            raise LookupError("the camera is gone")
        return True

    with pytest.raises(LookupError, match="the camera is gone"):
        adaptive.run(fails)

    def refuses(number, x, y):
        raise ValueError("the disk is full")

    with pytest.raises(ValueError, match="the disk is full"):
        adaptive.run(lambda number, x, y: number < 3, refuses)
    assert adaptive.run(lambda number, x, y: number < 3).batches == 3


def test_a_second_run_is_refused_while_one_is_in_flight(node):
    adaptive = shiplap.Adaptive(node, batch())
    seen = []

    def runs_again():
        try:
            seen.append(adaptive.run(lambda number, x, y: number < 3))
        except shiplap.UsageError as error:
            seen.append(error)

    def source(number, x, y):
        x[:] = number
        if number == 0:
            thread = threading.Thread(target=runs_again)
            thread.start()
            thread.join()
            runs_again()
        return number < 5

    assert adaptive.run(source).batches == 5
    assert len(seen) == 2
    assert all(isinstance(error, shiplap.UsageError) for error in seen)
    assert adaptive.run(lambda number, x, y: number < 3).batches == 3


def test_arrays_outlive_the_object(node):
    kept = []

    def keep(number, x, y):
        kept.append(x)
        return number < 1

    shiplap.Adaptive(node, batch()).run(keep)
    kept[0][:] = 7
    assert kept[0].sum() == 7 << 12


def test_an_object_whose_sample_and_source_refer_to_it_is_collected(node):
    import gc
    import weakref

    class Camera:
        def start(self):
            self.adaptive = shiplap.Adaptive(node, batch(), sample=self.fill)
            self.adaptive.run(lambda number, x, y: number < 2)

        def fill(self, x, y):
            x[:] = 1

    camera = Camera()
    camera.start()
    seen = weakref.ref(camera)
    del camera
    gc.collect()
    assert seen() is None


def test_kernels_that_wait_are_refused_with_the_reason(node):
    batch = shiplap.Job(64, "waits").inout("x", np.zeros(64)).host_kernel(lambda chunk, x: None)
    batch._core.waits = True  # as a kernel of JAX
    with pytest.raises(shiplap.UsageError, match="waits: its kernel waits for the GPU"):
        shiplap.Adaptive(node, batch)

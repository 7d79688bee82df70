import gc
import threading
import weakref

import numpy as np
import pytest

import shiplap

torch = pytest.importorskip("torch")
import shiplap.torch  # noqa: E402
from shiplap import _torch_prefetch, _torch_stream  # noqa: E402


def softmax(x):
    return torch.softmax(x, dim=-1)


def test_stream_gives_what_the_function_gives(node):
    x = torch.rand(4096, 96)
    torch.testing.assert_close(shiplap.torch.stream(softmax, x, node=node), softmax(x))


def test_stream_takes_modules_several_tensors_and_several_results(node):
    layer = torch.nn.Linear(32, 16)
    x = torch.rand(1000, 32)
    torch.testing.assert_close(shiplap.torch.stream(layer, x, node=node), layer(x).detach())
    a, b = torch.rand(500, 3), torch.rand(500, 3, dtype=torch.float64)
    total, product = shiplap.torch.stream(lambda a, b: (a + b, (a * b).sum(1)), (a, b), node=node)
    torch.testing.assert_close(total, a + b)
    torch.testing.assert_close(product, (a * b).sum(1))


def test_stream_cuts_along_another_dimension_where_its_slices_are_contiguous(node):
    x = torch.rand(300, 20).t()
    torch.testing.assert_close(shiplap.torch.stream(torch.exp, x, chunk_dim=1, node=node), x.exp())
    with pytest.raises(shiplap.UsageError, match="not contiguous"):
        shiplap.torch.stream(torch.exp, torch.rand(20, 300), chunk_dim=1, node=node)


def test_a_plan_serves_other_tensors_of_the_same_shape_and_keeps_none_alive(node):
    def job_of(x, y):
        return _torch_stream._job(softmax, [x], [y], 0)

    first, second = torch.rand(512, 96), torch.rand(512, 96)
    results = torch.empty(512, 96), torch.empty(512, 96)
    kept = node.plan(job_of(first, results[0]), quick=True)._without_arrays()
    alive = weakref.ref(first)
    del first
    gc.collect()
    assert alive() is None
    kept._of(job_of(second, results[1])).prepare().run()
    torch.testing.assert_close(results[1], softmax(second))
    with pytest.raises(shiplap.UsageError):
        kept._of(job_of(second[:256], results[1][:256])).prepare()


@pytest.fixture
def as_gpu(node, monkeypatch):
    """Return a node whose calls of `stream` are planned as on a GPU, and computed on the CPU."""
    monkeypatch.setattr(shiplap.Node, "has_gpu", property(lambda self: True))
    monkeypatch.setattr(_torch_stream, "_GPU", "cpu")
    monkeypatch.setattr(_torch_stream, "_finish_before", lambda node: None)
    monkeypatch.setattr(_torch_stream, "_calls", {})
    monkeypatch.setattr(shiplap._job.Job, "_started", lambda self, core, memory: self)
    return node


def expect_planned_once_it_pays(node, layer, x, y, apply):
    (calls,) = (_torch_stream._calls,)
    torch.testing.assert_close(shiplap.torch.stream(layer, x, node=node), apply(x))
    (known,) = calls.values()
    assert known.plan is None and known.could_save > 0
    for quick in (True, False):
        known.could_save = 3600  # as after many calls
        torch.testing.assert_close(shiplap.torch.stream(layer, x, node=node), apply(x))
        assert known.plan is not None and known.quick == quick
    torch.testing.assert_close(shiplap.torch.stream(layer, y, node=node), apply(y))
    assert len(calls) == 1


def test_stream_plans_repeated_calls_and_not_the_first_one(as_gpu):
    layer = torch.nn.Linear(256, 16)
    expect_planned_once_it_pays(
        as_gpu, layer, torch.rand(1024, 256), torch.rand(1024, 256), lambda x: layer(x).detach()
    )


@pytest.mark.gpu
def test_stream_plans_repeated_calls_and_not_the_first_one_on_a_gpu(gpu):
    layer = torch.nn.Linear(256, 16).cuda()
    _torch_stream._calls.clear()
    x, y = torch.rand(1024, 256), torch.rand(1024, 256)
    expect_planned_once_it_pays(gpu, layer, x, y, lambda x: layer(x.cuda()).cpu().detach())


def test_stream_plans_anew_when_the_results_change(as_gpu):
    layer, x = torch.nn.Linear(256, 16), torch.rand(1024, 256)
    shiplap.torch.stream(layer, x, node=as_gpu)
    (known,) = _torch_stream._calls.values()
    known.could_save = 3600
    shiplap.torch.stream(layer, x, node=as_gpu)
    layer.weight = torch.nn.Parameter(torch.rand(8, 256))
    layer.bias = torch.nn.Parameter(torch.rand(8))
    torch.testing.assert_close(shiplap.torch.stream(layer, x, node=as_gpu), layer(x).detach())


def test_stream_takes_and_returns_the_same_in_first_and_in_planned_calls(as_gpu):
    x, y = torch.rand(1024, 64), torch.empty(1024, 64)
    for planned in (False, True):
        for known in _torch_stream._calls.values():
            known.could_save = 3600
        assert shiplap.torch.stream(softmax, x, out=[y], node=as_gpu) is y, planned
        torch.testing.assert_close(y, softmax(x))
        with pytest.raises(shiplap.UsageError, match="not contiguous"):
            shiplap.torch.stream(softmax, x, out=torch.empty(64, 1024).t(), node=as_gpu)
    with pytest.raises(shiplap.UsageError, match="slices"):
        shiplap.torch.stream(torch.sum, x, node=as_gpu)
    with pytest.raises(shiplap.UsageError, match="out has"):
        shiplap.torch.stream(softmax, x, out=torch.empty(1024, 5), node=as_gpu)


def scaled(x):
    return x * 2, x.sum(dim=-1).to(torch.bfloat16)


def expect_results_of_their_own(node, pinned):
    x = torch.rand(1 << 12, 1 << 8)
    x = x.pin_memory() if pinned else x
    for planned in (False, True):
        for known in _torch_stream._calls.values():
            known.could_save = 3600
        results = [shiplap.torch.stream(scaled, x, node=node) for _ in range(3)]
        for result in results:  # none lies in the memory of another, and each lives as long as it is held
            torch.testing.assert_close(result, scaled(x), msg=f"planned: {planned}")
            assert [r.is_pinned() for r in result] == [pinned] * 2, planned


def test_results_of_stream_are_new_tensors_in_each_call(as_gpu):
    expect_results_of_their_own(as_gpu, pinned=False)


@pytest.mark.gpu
@pytest.mark.parametrize("pinned", [False, True])
def test_results_of_stream_are_new_tensors_in_each_call_on_a_gpu(gpu, pinned):
    _torch_stream._calls.clear()
    expect_results_of_their_own(gpu, pinned)


@pytest.mark.gpu
def test_stream_plans_large_tensors_in_the_first_call(gpu):
    _torch_stream._calls.clear()
    x = torch.rand(1 << 27)  # 512 MiB, pageable
    torch.testing.assert_close(shiplap.torch.stream(torch.sqrt, x, node=gpu), torch.sqrt(x))
    (known,) = _torch_stream._calls.values()
    assert known.plan is not None and known.quick


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16, torch.complex64, torch.bool])
def test_stream_takes_types_whether_numpy_has_them_or_not(node, dtype):
    x = torch.rand(1000, 8).to(dtype)
    found = shiplap.torch.stream(lambda x: x.clone(), x, node=node)
    assert found.dtype == dtype and torch.equal(found.view(torch.uint8), x.view(torch.uint8))


def test_tensors_may_be_written_whatever_the_version_of_numpy(node, monkeypatch):
    def read_only(tensor):  # as NumPy before 2.2
        found = tensor.numpy().view()
        found.flags.writeable = False
        return found

    monkeypatch.setattr(np, "from_dlpack", read_only)
    x, y = torch.rand(64), torch.zeros(64)
    job = shiplap.Job(64).in_("x", x).out("y", y).kernel_time(1e-4)
    node.plan(job.host_kernel(lambda chunk, x, y: np.multiply(x, 2, out=y))).run()
    torch.testing.assert_close(y, 2 * x)
    with pytest.raises(shiplap.UsageError, match="requires grad"):
        shiplap.Job(64).out("y", torch.zeros(64, requires_grad=True))


def test_a_tensor_that_a_host_kernel_keeps_or_returns_is_refused(node):
    x, y, kept = torch.rand(64), torch.zeros(64), []
    job = shiplap.Job(64).in_("x", x).out("y", y).kernel_time(1e-4)
    for match, kernel in {
        "kept array x": lambda chunk, x, y: kept.append(x[1:]),
        "returned an array": lambda chunk, x, y: 2 * x,
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            node.plan(job.host_kernel(kernel, arrays="torch")).run()
    node.plan(job.host_kernel(lambda chunk, x, y: torch.mul(x, 2, out=y), arrays="torch")).run()
    torch.testing.assert_close(y, 2 * x)


def test_streamed_reads_the_tensors_in_every_run_and_writes_the_same_results(node):
    x, y = torch.zeros(2048), torch.empty(2048)
    applied = shiplap.torch.streamed(torch.cos, x, out=y, node=node)
    for value in (1.0, 2.0):
        x.fill_(value)
        assert applied.run() is y
        torch.testing.assert_close(y, x.cos())


def test_stream_says_what_is_wrong(node):
    x = torch.rand(64, 4)
    for match, call in {
        "equal and": lambda: shiplap.torch.stream(torch.add, (x, x[:3]), node=node),
        "one slice along": lambda: shiplap.torch.stream(torch.t, x, node=node),
        "for a chunk whose part": lambda: shiplap.torch.stream(lambda x: x.mean(0, keepdim=True), x, node=node),
        "out has": lambda: shiplap.torch.stream(torch.exp, x, out=torch.empty(64, 5), node=node),
        "none: give cuda": lambda: shiplap.torch.prefetch([x], "cpu"),
        "give a tensor, as from": lambda: shiplap.torch.stream(torch.exp, np.zeros(8), node=node),
        r"as with .contiguous\(\)": lambda: shiplap.torch.stream(torch.exp, x.t(), node="virtual:h100"),
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            call()


def test_prefetch_says_what_is_missing():
    match = "depth 0" if torch.cuda.is_available() else "PyTorch finds none"
    with pytest.raises(shiplap.UsageError, match=match):
        shiplap.torch.prefetch([torch.zeros(1)], depth=0)


def test_the_time_of_a_function_on_a_virtual_device_follows_from_its_bytes(node):
    small, large = (shiplap.torch.streamed(torch.exp, torch.rand(n, 64), node=node).plan for n in (1000, 100000))
    assert "derived" in str(large)
    assert large.predicted > 5 * small.predicted


def test_the_way_of_batches_follows_from_the_figures_of_the_node(node):
    large = shiplap.torch.Way(node, 64 << 20, 64 << 20)
    assert large.staged and large.depth == 2
    pinned = shiplap.torch.Way(node, 64 << 20, 0)
    assert not pinned.staged and pinned.time < large.time
    small = shiplap.torch.Way(node, 4096, 4096)
    assert small.depth > large.depth


def test_batches_keep_their_types_and_what_is_no_tensor():
    from collections import OrderedDict, UserDict

    twice = _torch_prefetch.map_tensors(
        {"a": OrderedDict(x=torch.ones(2)), "b": UserDict(y=[torch.ones(1), "text"]), "c": None}, lambda t: 2 * t
    )
    assert type(twice["a"]) is OrderedDict and twice["a"]["x"].tolist() == [2, 2]
    assert type(twice["b"]) is UserDict and twice["b"]["y"][0].item() == 2 and twice["b"]["y"][1] == "text"
    assert twice["c"] is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int8, torch.complex64, torch.bool])
def test_places_in_a_slot_lie_side_by_side_and_keep_the_format(dtype):
    images = torch.rand(3, 5, 7, 9).to(memory_format=torch.channels_last).to(dtype)
    tensors = [torch.rand(11).to(dtype), images, torch.rand(4, 6).to(dtype).t(), torch.empty(0, 3).to(dtype)]
    memory = torch.zeros(1 << 16, dtype=torch.uint8)
    places, offset = [], 512
    for tensor in tensors:
        place = _torch_prefetch._place_for(tensor, memory, offset)
        assert place.data_ptr() == memory.data_ptr() + offset or tensor.nbytes == 0
        places.append(place.copy_(tensor))
        offset += _torch_prefetch._padded(tensor)
    assert places[1].is_contiguous(memory_format=torch.channels_last)
    assert all(torch.equal(place, tensor) for place, tensor in zip(places, tensors, strict=True))
    assert not memory[:512].any() and not memory[offset:].any()


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


class Loader:
    """Batches of tensors in a dictionary, with a label that is no tensor; fails at the batch `fails_at`."""

    def __init__(self, batches: int, pinned: bool = False, fails_at: int = -1) -> None:
        self.batches, self.pinned, self.fails_at = batches, pinned, fails_at
        self.threads: set[int] = set()

    def __len__(self) -> int:
        return self.batches

    def __iter__(self):
        for i in range(self.batches):
            self.threads.add(threading.get_ident())
            if i == self.fails_at:
                raise LookupError(f"batch {i} is lost")
            x = torch.full((256, 1024), float(i))
            yield {"x": x.pin_memory() if self.pinned else x, "pair": (torch.arange(3) + i, f"label {i}")}


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("pinned", [False, True])
def test_prefetch_gives_all_batches_in_order_on_the_gpu_and_again(pinned, threaded):
    batches = shiplap.torch.prefetch(Loader(50, pinned), threaded=threaded)
    assert len(batches) == 50
    for _ in range(2):
        for i, batch in enumerate(batches):
            assert batch["x"].is_cuda and batch["pair"][1] == f"label {i}"
            assert bool((batch["x"] == i).all()) and batch["pair"][0].tolist() == [i, i + 1, i + 2]
        assert i == 49
    assert batches.way is not None


@needs_gpu
@pytest.mark.gpu
def test_prefetch_in_a_thread_raises_what_the_loader_raises_at_its_place_and_ends_early_without_a_trace():
    seen = []
    with pytest.raises(LookupError, match="batch 7 is lost"):
        for batch in shiplap.torch.prefetch(Loader(50, fails_at=7), threaded=True):
            seen.append(int(batch["x"][0, 0]))
    assert seen == list(range(7))
    before = threading.active_count()
    for batch in shiplap.torch.prefetch(Loader(1000), threaded=True):
        break
    assert threading.active_count() <= before
    del batch


@needs_gpu
@pytest.mark.gpu
def test_prefetch_keeps_formats_and_refuses_batches_without_tensors():
    images = [torch.rand(8, 3, 16, 16).to(memory_format=torch.channels_last) for _ in range(3)]
    for batch, image in zip(shiplap.torch.prefetch(images), images, strict=True):
        assert batch.is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(batch.cpu(), image)
    with pytest.raises(shiplap.UsageError, match="no tensor in a batch of type str"):
        next(iter(shiplap.torch.prefetch(["text"])))


@needs_gpu
@pytest.mark.gpu
def test_functions_that_allocate_are_not_captured_and_those_that_do_not_are():
    node = shiplap.Node.open("cuda:0", "h100")
    x = node.pinned_empty(1 << 20, np.float32)
    y = node.pinned_empty(1 << 20, np.float32)
    x[:] = np.linspace(0, 1, len(x))
    job = shiplap.Job(len(x)).in_("x", x).out("y", y)
    for kernel, graphs in ((lambda c, x, y: torch.mul(x, 2, out=y), True), (lambda c, x, y: y.copy_(2 * x), False)):
        plan = node.plan(job.kernel(kernel, arrays="torch"))
        assert any(row["graph"] for row in plan.rows()) == graphs
        y[:] = 0
        plan.run()
        np.testing.assert_array_equal(y, 2 * x)

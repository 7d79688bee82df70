import copy
import random
import threading

import pytest

import shiplap

torch = pytest.importorskip("torch")
import shiplap.torch  # noqa: E402
from layered_models import Block, Drawn, Net, weights_of  # noqa: E402
from shiplap import _torch_offload  # noqa: E402

KIB = 1024


def data_of(model):
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 1.5])
def test_a_model_gives_the_same_bits_whatever_stays_on_the_gpu(node, part):
    model = Net().eval()
    resident = copy.deepcopy(model)
    before = data_of(model)
    memory = int(weights_of(model) * part)
    returned = shiplap.torch.offload(model, memory, node=node)
    assert returned is model
    plan = model.offloaded.plan
    assert plan.kept + plan.ring <= memory
    assert (plan.streamed == 0) == (part > 1)
    with torch.no_grad():
        for rows in (1, 7, 3, 3):
            x = torch.rand(rows, 64)
            assert torch.equal(model(x), resident(x))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])


def test_layers_come_from_their_own_place_and_are_read_while_they_are_there(node):
    model = Net().eval()
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    seen = []
    for block in model.blocks:
        block.register_forward_pre_hook(lambda module, _: seen.append([p.data_ptr() for p in module.parameters()]))
    at_rest = [[p.data_ptr() for p in block.parameters()] for block in model.blocks]
    with torch.no_grad():
        model(torch.rand(1, 64))
        model(torch.rand(1, 64))
    assert seen[:6] == seen[6:]  # addresses stay from call to call
    assert seen[:6] != at_rest
    assert [[p.data_ptr() for p in block.parameters()] for block in model.blocks] == at_rest


def test_random_models_with_ties_repeats_and_branches_give_the_same_bits(node):
    for seed in range(60):
        rng = random.Random(seed)
        torch.manual_seed(seed)
        model = Drawn(rng).eval()
        resident = copy.deepcopy(model)
        memory = rng.randint(70 * KIB, 200 * KIB)
        shiplap.torch.offload(model, memory, node=node)
        with torch.inference_mode():
            for _ in range(5):
                x = torch.rand(rng.randint(1, 4), 16)
                assert torch.equal(model(x), resident(x)), seed
                if rng.random() < 0.4:
                    rng.shuffle(model.order)
                    resident.order = list(model.order)
        model.offloaded.remove()
        assert torch.equal(model(torch.ones(2, 16)), resident(torch.ones(2, 16)))


def test_experts_that_a_call_leaves_out_are_not_fetched(node, monkeypatch):
    class Mixture(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList(torch.nn.ModuleDict({
                "router": torch.nn.Linear(16, 4), "experts": torch.nn.ModuleList(Block(16, 200) for _ in range(4)),
            }) for _ in range(3))  # fmt: skip

        def forward(self, x, chosen):
            for block in self.blocks:
                x = block["experts"][chosen](x) + block["router"](x).sum()
            return x

    model = Mixture().eval()
    resident = copy.deepcopy(model)
    shiplap.torch.offload(model, 100 * KIB, node=node)
    fetched = []
    fetch = _torch_offload.Offloaded._fetch
    monkeypatch.setattr(
        _torch_offload.Offloaded, "_fetch", lambda self, layer: (fetched.append(layer.name), fetch(self, layer))[1]
    )
    with torch.no_grad():
        for chosen in (0, 1, 0, 1):
            x = torch.rand(2, 16)
            assert torch.equal(model(x, chosen), resident(x, chosen))
        fetched.clear()
        model(x, 2)
    assert not [name for name in fetched if ".experts." in name and not name.endswith(".2")]


def test_transformers_of_pytorch_give_the_same_bits(node):
    # Their fast paths depend on whether weights may have gradients, and some read weights without calling their module.
    encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 3)
    whole = torch.nn.Transformer(64, 4, 2, 2, 128, batch_first=True)
    for model, inputs in ((encoder, 1), (whole, 2)):
        model.eval()
        resident = copy.deepcopy(model)
        shiplap.torch.offload(model, weights_of(model) // 2, node=node)
        with torch.no_grad():
            for _ in range(3):
                x = [torch.rand(2, 5, 64) for _ in range(inputs)]
                assert torch.equal(model(*x), resident(*x))


def test_a_plan_with_measured_times_moves_weights_and_no_bit(node):
    model = Net(depth=8).eval()
    resident = copy.deepcopy(model)
    memory = weights_of(model) // 2
    shiplap.torch.offload(model, memory, node=node)
    x = torch.rand(2, 64)
    with torch.no_grad():
        model(x)
        with pytest.raises(shiplap.UsageError, match="twice"):
            model.offloaded.plan_again()
        model(x)
        timed = model.offloaded.plan
        plan = model.offloaded.plan_again()
        assert plan.kept + plan.ring <= memory
        assert plan.seconds <= timed.seconds * 1.001
        for _ in range(3):
            assert torch.equal(model(x), resident(x))
    assert torch.equal(model.offloaded.remove()(x), resident(x))


def test_changed_weights_are_fetched_again(node):
    model = Net().eval()
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    other = Net().eval()
    x = torch.rand(2, 64)
    with torch.no_grad():
        model(x)
        model.load_state_dict(other.state_dict())
        assert torch.equal(model(x), other(x))
        for block in model.blocks:
            block.up.weight.mul_(2)
        for block in other.blocks:
            block.up.weight.mul_(2)
        assert torch.equal(model(x), other(x))


def test_an_exception_in_the_middle_leaves_a_model_that_works(node):
    model = Net().eval()
    resident = copy.deepcopy(model)
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    hook = model.blocks[3].down.register_forward_hook(lambda *_: (_ for _ in ()).throw(ValueError("in the middle")))
    x = torch.rand(2, 64)
    with torch.no_grad():
        for _ in range(2):
            with pytest.raises(ValueError, match="in the middle"):
                model(x)
        hook.remove()
        for _ in range(3):
            assert torch.equal(model(x), resident(x))


class Odd(torch.nn.Module):
    """What models of others do with their weights, beside layers as all have them."""

    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(16, 64) for _ in range(4))
        self.table = View()
        self.counter = Counter()
        self.alone = torch.nn.ModuleList([Block(16, 64)])  # a list of one, which is never called
        self.loose = torch.nn.ParameterList(torch.rand(16) for _ in range(3))
        self.one = torch.nn.Linear(16, 16, bias=False)
        self.other = torch.nn.Linear(16, 16, bias=False)
        self.other.weight = torch.nn.Parameter(self.one.weight.data.t())  # of one memory, and not of one shape

    def forward(self, x, seen):
        table = self.table(x)
        for block in (*self.blocks, *self.alone):
            x = block(x)
        seen.append(float(self.counter(x).sum()))
        return self.other(self.one(x)) + table + sum(self.loose)


class View(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(400, 16))

    def forward(self, x):
        return self.weight[: len(x)]  # memory of the weight itself


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(400))

    def forward(self, x):
        return self.weight.add_(1)


def test_models_that_use_weights_in_odd_ways_give_the_same_bits(node):
    model = Odd().eval()
    resident = copy.deepcopy(model)
    resident.other.weight.data = resident.one.weight.data.t()
    shiplap.torch.offload(model, 55 * KIB, node=node)
    assert model.offloaded.plan.streamed > 0
    seen, expected = [], []
    with torch.no_grad():
        for _ in range(4):
            x = torch.rand(3, 16)
            assert torch.equal(model(x, seen), resident(x, expected))
    assert seen == expected == [400.0, 800.0, 1200.0, 1600.0]
    model.offloaded.remove()
    with torch.no_grad():
        model.one.weight.mul_(2)
    assert torch.equal(model.other.weight, model.one.weight.t())


def test_changes_that_pytorch_does_not_count_are_seen_after_refetch_and_other_memory_at_once(node):
    model, other = Net().eval(), Net().eval()
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    x = torch.rand(2, 64)
    with torch.no_grad():
        model(x)
        for old, new in zip(model.parameters(), other.parameters(), strict=True):
            old.data.copy_(new)
        model.offloaded.refetch()
        assert torch.equal(model(x), other(x))
        for block, like in zip(model.blocks, other.blocks, strict=True):
            block.up.weight.data = like.up.weight.data * 2
            like.up.weight.mul_(2)
        assert torch.equal(model(x), other(x))
        with pytest.raises(shiplap.UsageError, match="assign"):
            model.load_state_dict(other.state_dict(), assign=True)


def test_gradients_of_inputs_are_refused_too(node):
    model = Net().eval().requires_grad_(False)
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    with pytest.raises(shiplap.UsageError, match="no gradients"):
        model(torch.rand(1, 64, requires_grad=True))
    model(torch.rand(1, 64))


def test_an_interrupted_call_leaves_a_model_that_works(node):
    model = Net().eval()
    resident = copy.deepcopy(model)
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)

    def interrupt(*_):
        raise KeyboardInterrupt

    hook = model.blocks[2].up.register_forward_pre_hook(interrupt)
    x = torch.rand(2, 64)
    with torch.no_grad():
        with pytest.raises(KeyboardInterrupt):
            model(x)
        hook.remove()
        for _ in range(3):
            assert torch.equal(model(x), resident(x))
    assert torch.equal(model.offloaded.remove()(x), resident(x))


class Packed(torch.nn.Module):
    """A linear layer of 8-bit weights in a buffer, as quantisation keeps them."""

    def __init__(self, width, kind):
        super().__init__()
        self.register_buffer("weight", torch.randint(-8, 8, (width, width), dtype=torch.int8).to(kind))
        self.register_buffer("scale", torch.full((width,), 1 / 64))

    def forward(self, x):
        return x @ (self.weight.float() * self.scale)


@pytest.mark.parametrize(("kind", "is_streamed"), [(torch.int8, True), (torch.int32, True), (torch.float32, False)])
def test_quantised_weights_in_buffers_are_streamed_and_other_buffers_stay(node, kind, is_streamed):
    width = 1024  # 1 MiB of 8-bit weights
    resident = torch.nn.Sequential(*(Packed(width, kind) for _ in range(6))).eval()
    model = copy.deepcopy(resident)
    all_weights = sum(buffer.nbytes for buffer in model.buffers())
    if not is_streamed:
        with pytest.raises(shiplap.UsageError, match="no layers"):
            shiplap.torch.offload(model, all_weights // 2, node=node)
        return
    plan = shiplap.torch.offload(model, all_weights // 2, node=node).offloaded.plan
    assert plan.streamed > 0.4 * all_weights
    with torch.no_grad():
        for rows in (1, 5):
            x = torch.rand(rows, width)
            assert torch.equal(model(x), resident(x))
        for one in (model, resident):
            one.load_state_dict({name: tensor + 1 for name, tensor in resident.state_dict().items()})
        assert torch.equal(model(x), resident(x))
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, resident.state_dict()[name])


def test_what_has_no_values_yet_is_named(node):
    with torch.device("meta"):
        model = Net()
    model.load_state_dict({name: torch.zeros(one.shape) for name, one in model.state_dict().items()}, assign=True)
    model.register_buffer("table", torch.empty(4, device="meta"), persistent=False)
    with pytest.raises(shiplap.UsageError, match="table of the model have no values"):
        shiplap.torch.offload(model, weights_of(model) // 2, node=node)


def test_a_weight_of_another_shape_is_refused_with_what_to_do(node):
    model = Net().eval()
    shiplap.torch.offload(model, weights_of(model) // 3, node=node)
    layer = next(layer for layer in model.offloaded._layers if layer.streamed)
    weight = layer.streamed[0].tensor
    weight.data = torch.zeros(weight.shape[0] + 1, *weight.shape[1:])
    with torch.no_grad(), pytest.raises(shiplap.UsageError, match=r"another shape.*remove\(\)"):
        for _ in range(2):
            model(torch.rand(1, 64))


class WithDevice(Net):
    """A model whose class has a property `device`, as those of transformers have."""

    @property
    def device(self):
        return next(self.parameters()).device


def test_an_offloaded_model_is_not_saved_as_a_whole(node, tmp_path):
    for kind in (Net, WithDevice):
        model = kind().eval()
        shiplap.torch.offload(model, weights_of(model) // 2, node=node)
        with pytest.raises(shiplap.UsageError, match="state_dict"):
            torch.save(model, tmp_path / "model.pt")


def test_the_plan_shows_itself_as_a_whole_sentence(node):
    shown = repr(shiplap.torch.fit(Net(), weights_of(Net()) // 2, node=node))
    assert shown.startswith("LayerPlan('Net: ")
    assert shown.endswith(".')")


class Counting(torch.nn.Module):
    """A layer with large integer buffers that are no weights: what it has seen, and one buffer in two parts."""

    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width, bias=False)
        self.register_buffer("seen", torch.zeros(1 << 20, dtype=torch.int8))
        self.register_buffer("packed_weight", torch.zeros(1 << 20, dtype=torch.int8))
        self.register_buffer("weight_part", self.packed_weight[: 1 << 19])

    def forward(self, x):
        self.seen.data += 1  # as kernels that PyTorch knows nothing of write
        self.packed_weight.add_(1)
        return self.inner(x) + self.seen[0] + self.weight_part[0]


def test_integer_buffers_that_are_no_weights_or_share_memory_stay_where_they_are(node):
    resident = torch.nn.Sequential(*(Counting(64) for _ in range(4))).eval()
    model = copy.deepcopy(resident)
    for one in model:  # a copy has two storages where the model had one
        one.weight_part = one.packed_weight[: 1 << 19]
    sizes = sum(one.nbytes for one in (*model.parameters(), *model.buffers()))
    shiplap.torch.offload(model, sizes - 20_000, node=node)
    with torch.no_grad():
        for _ in range(4):
            x = torch.rand(2, 64)
            assert torch.equal(model(x), resident(x))


@pytest.mark.parametrize("kind", ["inference", "sparse", "subclass"])
def test_buffers_that_cannot_be_streamed_are_refused(node, kind):
    model = Net().eval()
    if kind == "inference":
        with torch.inference_mode():
            made = torch.ones(1 << 20, dtype=torch.int8)
    elif kind == "sparse":
        made = torch.eye(8).to_sparse()
    else:
        made = torch.ones(1 << 20, dtype=torch.int8).as_subclass(type("Own", (torch.Tensor,), {}))
    model.register_buffer("weight", made)
    with pytest.raises(shiplap.Unsupported, match=r"inference mode|plain tensors"):
        shiplap.torch.offload(model, weights_of(model) // 2, node=node)


def test_a_failed_set_up_leaves_the_model_as_it_was(node, monkeypatch):
    model = Net().eval()
    before = data_of(model)
    calls = []
    pinned = type(node).pinned_empty

    def fails(self, *args):
        calls.append(args)
        if len(calls) == 3:
            raise shiplap.Error("no more memory")
        return pinned(self, *args)

    monkeypatch.setattr(type(node), "pinned_empty", fails)
    with pytest.raises(shiplap.Error, match="no more memory"):
        shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    monkeypatch.undo()
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)


def test_what_cannot_be_done_is_refused_with_what_to_do(node):
    model = Net().eval()
    with pytest.raises(shiplap.Unsupported, match="largest layer needs"):
        shiplap.torch.offload(model, 1000, node=node)
    with pytest.raises(shiplap.UsageError, match="torch.nn.Module"):
        shiplap.torch.offload(torch.relu, "1 MiB", node=node)
    with pytest.raises(shiplap.UsageError, match="memory"):
        shiplap.torch.offload(model, "much", node=node)
    with pytest.raises(shiplap.UsageError, match="blocks has a Linear"):
        shiplap.torch.offload(model, "1 MiB", node=node, blocks=[torch.nn.Linear(2, 2)])
    with torch.device("meta"), pytest.raises(shiplap.UsageError, match="fit"):
        shiplap.torch.offload(Net(), "1 MiB", node=node)
    with torch.inference_mode():
        made_there = Net()
    with pytest.raises(shiplap.Unsupported, match="no_grad"):
        shiplap.torch.offload(made_there, "1 MiB", node=node)
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    with pytest.raises(shiplap.UsageError, match="offloaded already"):
        shiplap.torch.offload(model, "1 GiB", node=node)
    with pytest.raises(shiplap.UsageError, match="no gradients"):
        model(torch.rand(1, 64))
    block = model.blocks[0]
    for moves in (model.half, lambda: model.to(torch.float64), lambda: copy.deepcopy(model), block.double,
                  lambda: copy.deepcopy(block)):  # fmt: skip
        with pytest.raises(shiplap.UsageError, match="remove"):
            moves()
    model.offloaded.remove()
    model.double()(torch.rand(1, 64, dtype=torch.float64)).sum().backward()


def test_a_call_beside_a_call_of_another_thread_is_refused(node):
    model = Net().eval()
    resident = copy.deepcopy(model)
    shiplap.torch.offload(model, weights_of(model) // 2, node=node)
    refused = []

    def call_beside(*_):
        def work():
            with torch.no_grad():
                try:
                    model(torch.rand(1, 64))
                except shiplap.UsageError as error:
                    refused.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    hook = model.last.register_forward_pre_hook(call_beside)
    x = torch.rand(1, 64)
    with torch.no_grad():
        assert torch.equal(model(x), resident(x))
        hook.remove()
        assert torch.equal(model(x), resident(x))
    assert len(refused) == 1 and "another thread" in refused[0]


def test_fit_says_what_a_model_without_memory_would_take(node):
    with torch.device("meta"):
        model = Net(depth=12, width=4096, hidden=14336)
    plan = shiplap.torch.fit(model, "1 GiB", node=node)
    assert plan.memory == 1 << 30
    assert plan.kept + plan.ring <= 1 << 30
    assert plan.seconds >= plan.bound > 0
    assert plan.explain().startswith("Net: ")
    points = plan.to_dict(points=True)["points"]
    assert points[0]["predicted"]["value"] > points[-1]["predicted"]["value"]


@pytest.mark.gpu
def test_a_model_on_the_gpu_gives_the_same_bits_within_its_memory(gpu):
    torch.manual_seed(1)
    with torch.device("cpu"):
        model = Net(depth=10, width=2048, hidden=8192).eval()
    with torch.no_grad():
        x = torch.rand(64, 2048, device="cuda")
        resident = copy.deepcopy(model).to("cuda")
        expected = [resident(x * k) for k in (1, 2, 3)]
        del resident
        torch.cuda.empty_cache()
        memory = weights_of(model) // 3
        before = torch.cuda.memory_allocated()
        shiplap.torch.offload(model, memory, node=gpu)
        assert torch.cuda.memory_allocated() - before <= memory + (2 << 20)
        for _ in range(3):
            for k, result in zip((1, 2, 3), expected, strict=True):
                assert torch.equal(model(x * k), result)
        with torch.autocast("cuda", dtype=torch.float16):
            model(x)
        assert torch.cuda.memory_allocated() - before <= memory + (32 << 20)
        assert model.offloaded.plan.seconds > 0
        model.offloaded.plan_again()
        assert torch.cuda.memory_allocated() - before <= memory + (32 << 20)
        assert torch.equal(model(x), expected[0])
        assert torch.equal(model.offloaded.remove().to("cuda")(x), expected[0])

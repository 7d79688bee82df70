"""Models whose weights do not fit on the GPU: `shiplap.torch.offload` beside a pipeline by hand and accelerate.

    python offload.py [transformers | limits | files FOLDER]

The first model has twelve layers of a transformer (433 MB each, bf16). By hand: pinned flat layers, two buffers on
the GPU, one copy stream, and, with more memory, whole layers that stay, spread evenly. Times are those of calls that
follow others, by events in their stream: medians, the ways in turn. First calls are timed by the host's clock until the
GPU has ended. shiplap's plan knows the times of the layers (`plan_again`) but for "first" and "again". "error" is
the largest difference from the model on the GPU; 0 is the same bits. With ``transformers``: a decoder of 7 B and a
mixture of experts of random weights, prefill and decode, and a vision model. With ``limits``: the first model with 5 to
100 % of its memory, where PyTorch may have no more than this and 0.75 GiB for the rest. With ``files``: the first model
mapped from a file in FOLDER, of which host memory holds a part.
"""

from __future__ import annotations

import copy
import operator
import statistics
import sys
import time

import torch

import shiplap.torch

DEVICE = "cuda:0"
LAYERS, WIDTH, HIDDEN = 12, 4096, 14336


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        kind = dict(bias=False, dtype=torch.bfloat16)
        self.qkv = torch.nn.Linear(WIDTH, WIDTH * 3 // 2, **kind)
        self.out = torch.nn.Linear(WIDTH, WIDTH, **kind)
        self.gate = torch.nn.Linear(WIDTH, HIDDEN, **kind)
        self.up = torch.nn.Linear(WIDTH, HIDDEN, **kind)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, **kind)
        self.norm = torch.nn.RMSNorm(WIDTH, dtype=torch.bfloat16)

    def forward(self, x):
        x = x + self.out(self.qkv(self.norm(x))[..., :WIDTH])
        y = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def bytes_of(model):
    return sum(one.nbytes for one in model.parameters())


def seconds_of(call):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def period_of(call, calls=3):
    """Seconds of a call that follows others. A call of shiplap ends while weights for the next one arrive."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    call()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3 / calls


class ByHand:
    """Two buffers and a copy stream; `stay` of the layers are on the GPU, spread evenly."""

    def __init__(self, model, stay=0, buffers=2):
        self.flat = []
        for layer in model.layers:
            flat = torch.empty(bytes_of(layer) // 2, dtype=torch.bfloat16, pin_memory=True)
            torch.cat([one.data.reshape(-1) for one in layer.parameters()], out=flat)
            self.flat.append(flat)
        stays = {int(i * LAYERS / stay) for i in range(stay)}
        self.streamed = [i for i in range(LAYERS) if i not in stays]
        self.buffers = [torch.empty_like(self.flat[0], device=DEVICE) for _ in range(buffers)]
        self.modules = [self.module_on(model, buffer) for buffer in self.buffers]
        self.resident = {i: self.module_on(model, self.flat[i].to(DEVICE)) for i in stays}
        self.stream = torch.cuda.Stream()

    @staticmethod
    def module_on(model, memory):
        module, begin = copy.deepcopy(model.layers[0]), 0
        for one in module.parameters():
            one.data = memory[begin : begin + one.numel()].view(one.shape)
            begin += one.numel()
        return module

    def __call__(self, x):
        current = torch.cuda.current_stream()
        self.stream.wait_stream(current)
        free, ready = [None] * len(self.buffers), {}

        def fetch(j):
            slot = j % len(self.buffers)
            with torch.cuda.stream(self.stream):
                if free[slot] is not None:
                    self.stream.wait_event(free[slot])
                self.buffers[slot].copy_(self.flat[self.streamed[j]], non_blocking=True)
                ready[self.streamed[j]] = (slot, self.stream.record_event())

        following = 0
        while following < min(len(self.buffers), len(self.streamed)):
            fetch(following)
            following += 1
        for i in range(LAYERS):
            if i in self.resident:
                x = self.resident[i](x)
                continue
            slot, event = ready[i]
            current.wait_event(event)
            x = self.modules[slot](x)
            free[slot] = current.record_event()
            if following < len(self.streamed):
                fetch(following)
                following += 1
        return x


def error_of(result, expected):
    return float((result.float().cpu() - expected).abs().max())


def made(kind, *args):
    """Return a model of random weights on the GPU."""
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(DEVICE):
        model = kind(*args).eval()
    torch.set_default_dtype(torch.float32)
    return model


def median_of(call, rounds):
    return statistics.median(period_of(call) for _ in range(rounds))


def rate_of_link():
    here = torch.empty(1 << 28, dtype=torch.uint8, pin_memory=True)
    there = torch.empty(1 << 28, dtype=torch.uint8, device=DEVICE)
    return (1 << 28) / median_of(lambda: there.copy_(here, non_blocking=True), 20)


def layers():
    model = made(Net)
    inputs = {n: torch.randn(n, WIDTH, dtype=torch.bfloat16, device=DEVICE) * 0.1 for n in (16, 2048, 8192, 16384)}
    expected = {n: model(x).float().cpu() for n, x in inputs.items()}
    compute = {n: median_of(lambda x=x: model(x), 3) for n, x in inputs.items()}
    model.to("cpu")
    torch.cuda.empty_cache()
    rate = rate_of_link()
    size = bytes_of(model)
    print(f"{size / 1e9:.2f} GB of weights, link {rate / 1e9:.1f} GB/s")
    for stay in (0, 6, 9):
        memory = (stay + 2) * size // LAYERS
        by_hand = ByHand(model, stay)
        used = torch.cuda.memory_allocated()
        took = seconds_of(lambda memory=memory: shiplap.torch.offload(model, memory))
        ours = torch.cuda.memory_allocated() - used
        print(f"\n{stay} of {LAYERS} layers and two buffers: {memory / 1e9:.2f} GB; shiplap takes {ours / 1e9:.2f} GB, "
              f"set up in {took:.2f} s")  # fmt: skip
        print("tokens  bound of issue  by hand        shiplap        predicted  shiplap/hand  shiplap/bound  error")
        for n, x in inputs.items():
            bound = max(compute[n], max(0, size - memory) / rate)
            for _ in range(2):
                model(x)
            model.offloaded.measure_again()
            model(x)
            model.offloaded.plan_again()
            error = max(error_of(way(x), expected[n]) for way in (by_hand, model, model))
            hand, own = [], []
            for _ in range(5):
                hand.append(period_of(lambda x=x, way=by_hand: way(x)))
                own.append(period_of(lambda x=x: model(x)))
            model.offloaded.measure_again()
            model(x)
            predicted = model.offloaded.plan.seconds
            h, o = statistics.median(hand), statistics.median(own)
            print(f"{n:6}  {bound * 1e3:8.1f} ms  {h * 1e3:8.1f} ms    {o * 1e3:8.1f} ms    {predicted * 1e3:8.1f} ms"
                  f"  {o / h:8.3f}  {o / bound:8.3f}      {error:g}", flush=True)  # fmt: skip
        model.offloaded.remove()
        del by_hand
        torch.cuda.empty_cache()
    others(model, inputs, expected)


def others(model, inputs, expected):
    """The ways that people use, as far as they are installed."""

    def show(name, way):
        for n, x in inputs.items():
            first = seconds_of(lambda x=x: way(x))
            again = period_of(lambda x=x: way(x), 2)
            error = error_of(way(x), expected[n])
            print(
                f"{name}, {n} tokens: first {first * 1e3:.0f} ms, then {again * 1e3:.1f} ms, error {error:g}",
                flush=True,
            )

    try:
        from diffusers.hooks import apply_group_offloading
    except ImportError:
        print("diffusers is not installed")
    else:
        for kind in ({"offload_type": "block_level", "num_blocks_per_group": 1}, {"offload_type": "leaf_level"}):
            other = copy.deepcopy(model)
            places = {"onload_device": torch.device(DEVICE), "offload_device": torch.device("cpu")}
            apply_group_offloading(other, **places, **kind, use_stream=True)
            show(f"diffusers, {kind['offload_type']} with a stream", other)
            del other
            torch.cuda.empty_cache()
    try:
        import accelerate
    except ImportError:
        print("accelerate is not installed")
    else:
        show("accelerate.cpu_offload", accelerate.cpu_offload(model, execution_device=torch.device(DEVICE)))


def limits():
    """What a call takes by memory. PyTorch ends the process where the limit does not hold."""
    model = made(Net)
    x = torch.randn(2048, WIDTH, dtype=torch.bfloat16, device=DEVICE) * 0.1
    expected = model(x).float().cpu()
    compute = median_of(lambda: model(x), 5)
    model.to("cpu")
    rate, size = rate_of_link(), bytes_of(model)
    total = torch.cuda.get_device_properties(DEVICE).total_memory
    print(f"{size / 1e9:.2f} GB of weights, link {rate / 1e9:.1f} GB/s, 2048 tokens: {compute * 1e3:.1f} ms on the GPU")
    print("memory    predicted  observed   error of it  bound      most by PyTorch  error")
    for percent in (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100):
        memory = size * percent // 100
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((memory + 768 * 2**20) / total)
        try:
            shiplap.torch.offload(model, memory)
        except shiplap.Unsupported as refusal:
            print(f"{percent:4} %    {refusal}")
            continue
        for _ in range(2):
            model(x)
        model.offloaded.plan_again()
        torch.cuda.reset_peak_memory_stats()
        own = median_of(lambda: model(x), 5)
        most, plan = torch.cuda.max_memory_allocated(), model.offloaded.plan
        error = error_of(model(x), expected)
        bound = max(compute, max(0, size - memory) / rate)
        print(f"{percent:4} %  {plan.seconds * 1e3:8.1f} ms {own * 1e3:8.1f} ms  {plan.seconds / own - 1:+9.1%}  "
              f"{bound * 1e3:8.1f} ms  {most / 1e9:8.2f} GB       {error:g}", flush=True)  # fmt: skip
        model.offloaded.remove()
    torch.cuda.set_per_process_memory_fraction(1.0)


def architecture(name, kind, config, calls, result):
    """A model of transformers; `calls` are what it is called with, by name, and `result` the result's attribute."""
    model = made(kind, config)
    size = bytes_of(model)
    output = operator.attrgetter(result)
    expected = {what: output(model(ids)).float().cpu() for what, ids in calls.items()}
    compute = {what: median_of(lambda ids=ids: model(ids), 3) for what, ids in calls.items()}
    model.to("cpu")
    torch.cuda.empty_cache()
    for part in (0.25, 0.5):
        memory = int(size * part)
        before = torch.cuda.memory_allocated()
        took = seconds_of(lambda memory=memory: shiplap.torch.offload(model, memory))
        ours = torch.cuda.memory_allocated() - before
        print(f"\n{name}: {size / 1e9:.2f} GB with {memory / 1e9:.2f} GB", end="; ")
        print(f"shiplap takes {ours / 1e9:.2f} GB, set up in {took:.2f} s")
        print("call             first       again       with times  predicted   bound       on the GPU  error")
        plain = {}
        for what, ids in calls.items():
            first = seconds_of(lambda ids=ids: model(ids))
            plain[what] = first, median_of(lambda ids=ids: model(ids), 2)
        for what, ids in calls.items():
            for _ in range(2):
                model(ids)
            model.offloaded.measure_again()
            model(ids)
            model.offloaded.plan_again()
            error = max(error_of(output(model(ids)), expected[what]) for _ in range(2))
            own = median_of(lambda ids=ids: model(ids), 3)
            model.offloaded.measure_again()
            model(ids)
            plan = model.offloaded.plan
            times = (*plain[what], own, plan.seconds, max(compute[what], plan.bound), compute[what])
            print(f"{what:15}", *(f"{one * 1e3:8.1f} ms " for one in times), f"{error:g}", flush=True)
        print(model.offloaded.plan.explain())
        if "decode" in calls:
            print("generate:", model.generate(calls["decode"], max_new_tokens=4, do_sample=False).shape)
        model.offloaded.remove()
        torch.cuda.empty_cache()


def files(folder):
    import os

    resident = made(Net)
    x = torch.randn(2048, WIDTH, dtype=torch.bfloat16, device=DEVICE) * 0.1
    expected = resident(x).float().cpu()
    path = os.path.join(folder, "weights.pt")
    torch.save({name: one.cpu() for name, one in resident.state_dict().items()}, path)
    size = bytes_of(resident)
    del resident
    torch.cuda.empty_cache()
    memory = 2 * size // LAYERS
    print(f"{size / 1e9:.2f} GB in {path}, two layers on the GPU, 2048 tokens, link {rate_of_link() / 1e9:.1f} GB/s")
    print("host memory  set up   first       then        GB/s over the link  error")
    for part in (1, 0.5, 0):
        with torch.device("meta"):
            model = Net().eval()
        model.load_state_dict(torch.load(path, mmap=True, weights_only=True), assign=True)
        took = seconds_of(
            lambda model=model, part=part: shiplap.torch.offload(model, memory, host_memory=int(part * size))
        )
        first = seconds_of(lambda model=model: model(x))
        again = median_of(lambda model=model: model(x), 5)
        error = error_of(model(x), expected)
        rate = model.offloaded.plan.streamed / again
        print(f"{part:8.0%}   {took:6.2f} s  {first * 1e3:7.1f} ms  {again * 1e3:7.1f} ms  {rate / 1e9:8.1f}"
              f"            {error:g}", flush=True)  # fmt: skip
        model.offloaded.remove()


def architectures():
    import transformers

    small = dict(max_position_embeddings=4096)
    tokens = {
        what: torch.randint(0, 32000, (1, n), device=DEVICE) for what, n in (("prefill of 2048", 2048), ("decode", 1))
    }
    llama = transformers.LlamaConfig(**small)
    architecture("Llama, 6.7 B", transformers.LlamaForCausalLM, llama, tokens, "logits")
    mixture = transformers.MixtralConfig(num_hidden_layers=4, **small)
    architecture("Mixtral, 4 layers, 5.8 B", transformers.MixtralForCausalLM, mixture, tokens, "logits")
    vision = transformers.ViTConfig(
        hidden_size=3072,
        num_hidden_layers=32,
        num_attention_heads=24,
        intermediate_size=12288,
        patch_size=14,
        image_size=224,
    )
    images = {f"{n} images": torch.randn(n, 3, 224, 224, dtype=torch.bfloat16, device=DEVICE) for n in (1, 16)}
    architecture("ViT, 3.6 B", transformers.ViTModel, vision, images, "last_hidden_state")


if __name__ == "__main__":
    with torch.no_grad():
        match sys.argv[1:]:
            case ["transformers"]:
                architectures()
            case ["limits"]:
                limits()
            case ["files", folder]:
                files(folder)
            case _:
                layers()

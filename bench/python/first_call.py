"""First and later calls of shiplap.torch.stream beside what a program does without it.

  first_call.py OUT.txt [--sizes MIB,...] [--modules NAME,...] [--cores N,...] [--ways WAY,...] [--calls N]

A module goes over rows in host memory, in a process of its own for each line, in which the CUDA context and the module
are made first and the figures of the node are known; importing shiplap and opening the device are counted apart
("open"). "plain" is ``module(x.to("cuda")).cpu()``. "hand" is what people write instead: four streams over chunks, from
pinned memory as it is, from pageable memory through pinned buffers that all cores fill and empty; the best of three
numbers of chunks, into memory that is kept. "streamed" is the median of nine runs of ``shiplap.torch.streamed``, which
keeps its memory too, with the time that it predicts.
"""

import argparse
import multiprocessing
import os
import time


def modules() -> dict:
    """Return what makes each module and the shape of one of its rows."""
    from torch import nn

    return {
        "mlp": (lambda: nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 256)), (1024,)),
        "norm": (lambda: nn.Sequential(nn.LayerNorm(1024), nn.GELU()), (1024,)),
        "conv": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU()), (3, 64, 64)),
        "encoder": (lambda: nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), (16, 256)),
        "head": (lambda: nn.Sequential(nn.Linear(4096, 16), nn.Softmax(-1)), (4096,)),
        "decode": (lambda: nn.Sequential(nn.Linear(64, 1024), nn.Sigmoid()), (64,)),
    }


def rows_of(shape: tuple, mebibytes: int, pinned: bool):
    """Return random rows of about this size; a part of them repeats, since making gigabytes takes long."""
    import torch

    count = max(1, (mebibytes << 18) // int(torch.tensor(shape).prod()))
    x = torch.empty((count, *shape), pin_memory=pinned)
    some = torch.rand((min(count, 4096), *shape))
    for first in range(0, count, len(some)):
        x[first : first + len(some)] = some[: count - first]
    return x


def by_hand(module, x, out, chunks: int) -> None:
    """Take the rows through the module in this number of chunks on four streams."""
    import torch

    size = -(-len(x) // chunks)
    firsts = range(0, len(x), size)
    streams = by_hand.streams
    if x.is_pinned():
        for i, first in enumerate(firsts):
            with torch.cuda.stream(streams[i % 4]):
                part = slice(first, first + size)
                out[part].copy_(module(x[part].to("cuda", non_blocking=True)), non_blocking=True)
        torch.cuda.synchronize()
        return
    rings = by_hand.rings.setdefault(
        (chunks, out.shape),
        [(torch.empty((size, *x.shape[1:]), pin_memory=True), torch.empty((size, *out.shape[1:]), pin_memory=True))
         for _ in streams],
    )  # fmt: skip
    waiting: list = [None] * 4

    def finish(slot: int) -> None:
        if waiting[slot] is not None:
            streams[slot].synchronize()
            part = waiting[slot]
            out[part].copy_(rings[slot][1][: len(out[part])])

    for i, first in enumerate(firsts):
        slot = i % 4
        finish(slot)
        part = slice(first, first + size)
        source = rings[slot][0][: len(x[part])]
        source.copy_(x[part])
        with torch.cuda.stream(streams[slot]):
            rings[slot][1][: len(source)].copy_(module(source.to("cuda", non_blocking=True)), non_blocking=True)
        waiting[slot] = part
    for i in range(len(firsts), len(firsts) + 4):
        finish(i % 4)


def median(call, count: int) -> float:
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[count // 2]


def one_case(way: str, name: str, mebibytes: int, pinned: bool, cores: int, calls: int) -> dict:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.set_grad_enabled(False)
    make, shape = modules()[name]
    module = make().cuda().eval()
    x = rows_of(shape, mebibytes, pinned)
    module(torch.rand((8, *shape), device="cuda"))
    torch.cuda.synchronize()

    def plain():
        return module(x.to("cuda", non_blocking=True)).cpu()

    found: dict = {"calls": []}
    if way == "hand":
        right = plain()
        out = torch.zeros(right.shape, pin_memory=pinned)
        by_hand.streams, by_hand.rings = [torch.cuda.Stream() for _ in range(4)], {}
        tries = []
        for chunks in (8, 16, 32):
            by_hand(module, x, out, chunks)
            tries.append(median(lambda: by_hand(module, x, out, chunks), 5))  # noqa: B023
        found["kept"] = min(tries)
        found["right"] = torch.allclose(right, out, atol=1e-3)
        return found
    call = plain
    if way == "stream":
        begin = time.perf_counter()
        import shiplap.torch

        node = shiplap.default_node()
        found["open"] = time.perf_counter() - begin
        call = lambda: shiplap.torch.stream(module, x, node=node)  # noqa: E731
    for _ in range(calls):
        begin = time.perf_counter()
        result = call()
        found["calls"].append(time.perf_counter() - begin)
    if way == "stream":
        streamed = shiplap.torch.streamed(module, x, node=node)
        streamed.run()
        found["kept"] = median(streamed.run, 9)
        found["predicted"] = streamed.plan.predicted
        right = plain()
        found["right"] = torch.allclose(right, result, atol=1e-3) and torch.allclose(right, streamed.out, atol=1e-3)
    return found


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:10.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sizes", default="1,16,256,1024,4096")
    parser.add_argument("--modules", default="mlp")
    parser.add_argument("--cores", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--ways", default="plain,hand,stream")
    parser.add_argument("--calls", type=int, default=5)
    options = parser.parse_args()
    import torch  # before the processes are forked, which begin without a context all the same

    forked = multiprocessing.get_context("fork")
    with forked.Pool(1) as pool:
        gpu = pool.apply(torch.cuda.get_device_name)
    heads = [*(f"call {i + 1}" for i in range(options.calls)), "kept", "predicted", "open"]
    lines = [
        f"bench/python/first_call.py on one {gpu}: milliseconds; kept: a run by hand or of streamed, in kept memory",
        "",
        f"{'module':8}{'input':>9}  {'memory':8}  {'cores':>5}  {'way':6}" + "".join(f"{head:>10}" for head in heads),
    ]
    print(lines[-1], flush=True)
    cases = [
        (way, module, int(size), memory == "pinned", int(cores))
        for cores in options.cores.split(",")
        for module in options.modules.split(",")
        for size in options.sizes.split(",")
        for memory in ("pinned", "pageable")
        for way in options.ways.split(",")
    ]
    for way, module, size, pinned, cores in cases:
        with forked.Pool(1) as pool:
            found = pool.apply(one_case, (way, module, size, pinned, cores, options.calls))
        if not found.get("right", True):
            raise SystemExit(f"{module}, {size} MiB, {'pinned' if pinned else 'pageable'}, {way}: the results differ")
        cells = [milliseconds(t) for t in found["calls"]] + [" " * 10] * (options.calls - len(found["calls"]))
        cells += [milliseconds(found[key]) if key in found else " " * 10 for key in ("kept", "predicted", "open")]
        memory = "pinned" if pinned else "pageable"
        lines.append(f"{module:8}{size:5} MiB  {memory:8}  {cores:5}  {way:6}" + "".join(cells).rstrip())
        print(lines[-1], flush=True)
        with open(options.out, "w") as file:  # as far as it has come
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

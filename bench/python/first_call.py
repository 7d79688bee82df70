"""First and later calls of shiplap.torch.stream beside what a program does without it.

  first_call.py OUT.txt [--sizes MIB,...] [--calls N]

An MLP (1024 to 256 features) goes over rows of float32 in host memory. Each case runs in a fresh process, in which the
CUDA context and the module are made first and the figures of the node are known; importing shiplap and opening the
device are counted apart ("open"). "plain" is ``module(x.to("cuda")).cpu()``; "streamed" is the median of nine runs of
``shiplap.torch.streamed``, with the time that it predicts.
"""

import argparse
import json
import subprocess
import sys
import time


def one_case(way: str, mebibytes: int, pinned: bool, calls: int) -> dict:
    import torch

    torch.zeros(1, device="cuda")
    module = torch.nn.Sequential(torch.nn.Linear(1024, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256)).cuda().eval()
    x = torch.rand(mebibytes * 256, 1024)
    if pinned:
        x = x.pin_memory()

    def plain():
        with torch.no_grad():
            return module(x.to("cuda", non_blocking=True)).cpu()

    with torch.no_grad():
        module(torch.rand(8, 1024, device="cuda"))
    torch.cuda.synchronize()
    found: dict = {}
    call = plain
    if way == "stream":
        begin = time.perf_counter()
        import shiplap.torch

        node = shiplap.default_node()
        found["open"] = time.perf_counter() - begin
        call = lambda: shiplap.torch.stream(module, x, node=node)  # noqa: E731
    found["calls"] = []
    for _ in range(calls):
        begin = time.perf_counter()
        result = call()
        found["calls"].append(time.perf_counter() - begin)
    if way == "stream":
        streamed = shiplap.torch.streamed(module, x, node=node)
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            streamed.run()
            times.append(time.perf_counter() - begin)
        found["streamed"] = sorted(times)[4]
        found["predicted"] = streamed.plan.predicted
        found["right"] = torch.allclose(plain(), result, atol=1e-4) and torch.allclose(result, streamed.out, atol=1e-4)
    return found


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:8.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--sizes", default="1,16,256,1024,4096")
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--case", nargs=3, metavar=("WAY", "MIB", "MEMORY"), help="run one case, and print it as JSON")
    options = parser.parse_args()
    if options.case:
        way, size, memory = options.case
        print(json.dumps(one_case(way, int(size), memory == "pinned", options.calls)))
        return
    import torch

    lines = [f"bench/python/first_call.py on one {torch.cuda.get_device_name()}: milliseconds", ""]
    heads = [*(f"call {i + 1}" for i in range(options.calls)), "streamed", "predicted", "open"]
    lines.append(f"{'input':>8}  {'memory':8}  {'way':6}" + "".join(f"{head:>10}" for head in heads))
    for size in options.sizes.split(","):
        for memory in ("pinned", "pageable"):
            for way in ("plain", "stream"):
                case = [
                    sys.executable,
                    __file__,
                    options.out,
                    "--calls",
                    str(options.calls),
                    "--case",
                    way,
                    size,
                    memory,
                ]
                found = json.loads(subprocess.run(case, check=True, capture_output=True, text=True).stdout)
                if not found.get("right", True):
                    raise SystemExit(f"{size} MiB, {memory}: the results differ")
                cells = [milliseconds(t) for t in found["calls"]]
                cells += [milliseconds(found[key]) if key in found else "" for key in ("streamed", "predicted", "open")]
                lines.append(f"{size + ' MiB':>8}  {memory:8}  {way:6}" + "".join(f"{cell:>10}" for cell in cells))
                print(lines[-1], flush=True)
                with open(options.out, "w") as file:  # as far as it has come
                    file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

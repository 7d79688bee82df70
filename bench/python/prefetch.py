#!/usr/bin/env python3
"""Batches per second of a DataLoader: plain, pin_memory with non_blocking, and shiplap.torch.prefetch, on one GPU.

  prefetch.py DEVICE PROFILE OUT.json [--batches N] [--rounds N]

A batch is 64 images of 3 x 224 x 224 floats. The transform of an image (a crop, a flip, a scale) costs the host
something; one loader has it in the process itself, one in 8 workers, and others have none. The step of the GPU is a
convolution with its gradient. Every way runs the same batches in turn, in an order drawn anew in each round. Figures
are medians over the rounds, of batches a second and of the ratio to pin_memory in the same round. The sums of all
pixels are compared.
"""

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

import torch

import shiplap
import shiplap.torch

IMAGES, CHANNELS, SIDE, BATCH = 2048, 3, 224, 64


class Images(torch.utils.data.Dataset):
    """Images in host memory, with a transform or without."""

    def __init__(self, batches: int, transform: bool) -> None:
        self.images = torch.rand(IMAGES, CHANNELS, SIDE + 16, SIDE + 16)
        self.batches = batches
        self.transform = transform

    def __len__(self) -> int:
        return self.batches * BATCH

    def __getitem__(self, i: int) -> torch.Tensor:
        image = self.images[i % IMAGES]
        at = i % 16 if self.transform else 0
        cropped = image[:, at : at + SIDE, at : at + SIDE]
        if not self.transform:
            return cropped
        return ((cropped.flip(2) if i % 2 else cropped) - 0.45) / 0.22


class Step:
    """A step of training, on a part of each image."""

    def __init__(self, repeats: int) -> None:
        torch.manual_seed(1)
        self.layer = torch.nn.Conv2d(CHANNELS, 32, 7, stride=4).cuda()
        self.repeats = repeats
        self.total = torch.zeros((), device="cuda", dtype=torch.float64)

    def __call__(self, batch: torch.Tensor) -> None:
        self.total += batch.sum(dtype=torch.float64)
        for _ in range(self.repeats):
            self.layer.zero_grad(set_to_none=True)
            self.layer(batch).square().mean().backward()


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("profile")
    parser.add_argument("out")
    parser.add_argument("--batches", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    node = shiplap.Node.open(arguments.device, arguments.profile)
    result: dict = {"device": torch.cuda.get_device_name(), "loaders": []}
    order = random.Random(5)
    wrong = False
    print("loader                        step      plain   pinned  prefetch  prefetch of pinned   both over pinned")
    for name, transform, workers, repeats in (
        ("transform, 0 workers", True, 0, 4),
        ("transform, 8 workers", True, 8, 4),
        ("transform, 8 workers", True, 8, 30),
        ("no transform, 8 workers", False, 8, 30),
    ):
        data = Images(arguments.batches, transform)

        def loader(pinned: bool, data=data, workers=workers):
            return torch.utils.data.DataLoader(
                data, BATCH, pin_memory=pinned, num_workers=workers, persistent_workers=workers > 0
            )

        plain, pinned = loader(False), loader(True)
        fetched, fetched_pinned = (shiplap.torch.prefetch(it, node=node) for it in (plain, pinned))
        ways = {
            "plain": lambda it=plain: (batch.cuda() for batch in it),
            "pinned": lambda it=pinned: (batch.cuda(non_blocking=True) for batch in it),
            "prefetch": lambda it=fetched: iter(it),
            "prefetch of pinned": lambda it=fetched_pinned: iter(it),
        }
        step = Step(repeats)
        rates: dict[str, list[float]] = {way: [] for way in ways}
        totals = set()
        for turn in range(arguments.rounds + 1):
            for way in order.sample(list(ways), len(ways)):
                step.total.zero_()
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for batch in ways[way]():
                    step(batch)
                torch.cuda.synchronize()
                elapsed = time.perf_counter() - begin
                totals.add(round(float(step.total), 1))
                if turn > 0:
                    rates[way].append(arguments.batches / elapsed)
        wrong = wrong or len(totals) != 1
        medians = {way: statistics.median(values) for way, values in rates.items()}
        over = {
            way: statistics.median(a / b for a, b in zip(rates[way], rates["pinned"], strict=True))
            for way in ("prefetch", "prefetch of pinned")
        }
        result["loaders"].append(
            {
                "loader": name,
                "steps": repeats,
                "rates": rates,
                "medians": medians,
                "over_pinned": over,
                "way": repr(fetched.way),
            }
        )
        cells = "  ".join(f"{medians[way]:{width}.1f}" for way, width in zip(ways, (7, 7, 8, 18), strict=True))
        right = "" if len(totals) == 1 else "  WRONG"
        ratios = "  ".join(f"{ratio:9.3f}" for ratio in over.values())
        print(f"{name:28}  {repeats:2} conv  {cells}   {ratios}   {fetched.way}{right}", flush=True)
        del plain, pinned, fetched, fetched_pinned, ways
    Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Inference of a small CNN over batches in host memory: 128 x 3 x 128 x 128 floats (25 MB) in, 7 MB out.

`before` copies each batch from pageable memory, computes, and copies the output to pageable memory. `after` pins the
batches and the outputs, and copies the next batch in a second stream while the model computes.
"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close, convolve

BATCHES = 4
IMAGES = 128
OUTPUT_SHAPE = (IMAGES, 4, 59, 59)


def next_batch(batches: list[torch.Tensor], step: int) -> torch.Tensor:
    """Return the batch of a step, after the host has changed it, as a source of new data would."""
    batch = batches[step % BATCHES]
    batch[0, 0, 0, 0] = step % 10 / 10
    return batch


@torch.no_grad()
def before(steps: Steps, model: torch.nn.Module, batches: list[torch.Tensor]) -> list[torch.Tensor]:
    outputs = [torch.empty(0)] * BATCHES
    for step in steps:
        x = next_batch(batches, step).to("cuda")
        outputs[step % BATCHES] = model(x).cpu()
    return outputs


@torch.no_grad()
def after(steps: Steps, model: torch.nn.Module, batches: list[torch.Tensor]) -> list[torch.Tensor]:
    batches = [batch.pin_memory() for batch in batches]
    slots = [torch.empty_like(batch, device="cuda") for batch in batches[:2]]
    outputs = [torch.empty(OUTPUT_SHAPE, pin_memory=True) for _ in batches]
    copies = torch.cuda.Stream()
    compute = torch.cuda.current_stream()
    arrived, used, complete = ([torch.cuda.Event() for _ in slots] for _ in range(3))

    def prefetch(step: int) -> None:
        slot = step % 2
        with torch.cuda.stream(copies):
            copies.wait_event(used[slot])
            slots[slot].copy_(next_batch(batches, step), non_blocking=True)
            arrived[slot].record(copies)

    prefetch(0)
    for step in steps:
        slot = step % 2
        if step + 1 < len(steps):
            prefetch(step + 1)
        compute.wait_event(arrived[slot])
        y = model(slots[slot])
        used[slot].record(compute)
        outputs[step % BATCHES].copy_(y, non_blocking=True)
        complete[slot].record(compute)
        complete[1 - slot].synchronize()  # the output of the previous step is in host memory
    return outputs


def expected_output(model: torch.nn.Sequential, images: np.ndarray) -> np.ndarray:
    """Compute on the host what the model gives."""
    y = images.astype(np.float64)
    for layer in model:
        if isinstance(layer, torch.nn.Conv2d):
            y = convolve(y, layer.weight.numpy(force=True), layer.bias.numpy(force=True), layer.stride[0])
        else:
            y = np.maximum(y, 0)
    return y


def main() -> int:
    steps = Steps("torch_inference", before=800, after=5000, wait=torch.cuda.synchronize)
    torch.manual_seed(1)
    batches = [torch.rand(IMAGES, 3, 128, 128) for _ in range(BATCHES)]
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 32, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 4, 3),
    ).cuda()
    version = before if steps.version == "before" else after
    outputs = version(steps, model, batches)

    for step in range(len(steps) - BATCHES, len(steps)):
        next_batch(batches, step)
    # The first and the last image of each batch are verified. cuDNN may use TF32, whose products have 10 bits.
    right = all(
        close(output[[0, -1]].numpy(), expected_output(model, batch[[0, -1]].numpy()), tolerance=1e-2)
        for output, batch in zip(outputs, batches, strict=True)
    )
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

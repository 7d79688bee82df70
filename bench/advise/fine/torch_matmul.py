#!/usr/bin/env python3
"""Products of 4096 x 4096 matrices that stay on the GPU. The loss, 4 bytes, is read once in 50 steps.

`before` and `after` are the same: there is nothing to improve.
"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close

WIDTH = 4096
INPUTS = 3
STEPS_BETWEEN_READS = 50


@torch.no_grad()
def multiply(steps: Steps, inputs: list[torch.Tensor], weight: torch.Tensor) -> list[tuple[int, float]]:
    """Return the number of the input and the loss for every loss that was read."""
    inputs = [x.to("cuda") for x in inputs]
    weight = weight.to("cuda")
    losses = []
    for step in steps:
        loss = (inputs[step % INPUTS] @ weight).square().mean()
        if step % STEPS_BETWEEN_READS == 0:
            losses.append((step % INPUTS, loss.item()))
    return losses


def main() -> int:
    steps = Steps("torch_matmul", before=1500, after=1500, wait=torch.cuda.synchronize)
    torch.manual_seed(1)
    inputs = [scale * torch.rand(WIDTH, WIDTH) for scale in (0.5, 1, 2)]
    weight = torch.randn(WIDTH, WIDTH) / WIDTH**0.5
    losses = multiply(steps, inputs, weight)

    expected = [np.mean(np.square(x.numpy() @ weight.numpy()), dtype=np.float64) for x in inputs]
    right = all(close(np.array(loss), expected[number], tolerance=1e-2) for number, loss in losses)
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

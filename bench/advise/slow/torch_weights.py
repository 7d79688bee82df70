#!/usr/bin/env python3
"""A forward pass of 12 linear layers with 201 MB of weights in pinned host memory; the input has 32 x 2048 floats.

`before` copies all weights to the GPU in every step and drops them afterwards. `after` copies them once.
"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close

LAYERS = 12
WIDTH = 2048
INPUTS = 4


def forward(weights: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    for weight in weights:
        x = torch.relu(torch.nn.functional.linear(x, weight))
    return x


def next_input(inputs: list[torch.Tensor], step: int) -> torch.Tensor:
    """Return the input of a step, after the host has changed it, as a source of new data would."""
    x = inputs[step % INPUTS]
    x[0, 0] = step % 10
    return x


@torch.no_grad()
def before(steps: Steps, weights: list[torch.Tensor], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    outputs = [torch.empty(0)] * INPUTS
    for step in steps:
        weights_on_gpu = [weight.to("cuda") for weight in weights]
        x = next_input(inputs, step).to("cuda")
        outputs[step % INPUTS] = forward(weights_on_gpu, x).cpu()
        del weights_on_gpu
    return outputs


@torch.no_grad()
def after(steps: Steps, weights: list[torch.Tensor], inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    outputs = [torch.empty(0)] * INPUTS
    weights_on_gpu = [weight.to("cuda") for weight in weights]
    for step in steps:
        x = next_input(inputs, step).to("cuda")
        outputs[step % INPUTS] = forward(weights_on_gpu, x).cpu()
    return outputs


def expected_output(weights: list[torch.Tensor], x: torch.Tensor) -> np.ndarray:
    """Compute on the host what the layers give."""
    y = x.numpy()
    for weight in weights:
        y = np.maximum(y @ weight.numpy().T, 0)
    return y


def main() -> int:
    steps = Steps("torch_weights", before=1000, after=12000, wait=torch.cuda.synchronize)
    torch.manual_seed(1)
    deviation = (2 / WIDTH) ** 0.5  # keeps the size of the activations from layer to layer
    weights = [(deviation * torch.randn(WIDTH, WIDTH)).pin_memory() for _ in range(LAYERS)]
    inputs = [torch.randn(32, WIDTH) for _ in range(INPUTS)]
    version = before if steps.version == "before" else after
    outputs = version(steps, weights, inputs)

    right = all(
        close(output.numpy(), expected_output(weights, x), tolerance=1e-2)
        for output, x in zip(outputs, inputs, strict=True)
    )
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

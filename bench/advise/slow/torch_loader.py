#!/usr/bin/env python3
"""A training loop over a DataLoader of 4 workers: batches of 64 x 3 x 224 x 224 floats (39 MB), a CNN and its gradient.

`before` copies each batch from pageable memory and waits for the copy. `after` lets the DataLoader pin the batches and
does not wait for the copies. Both read the loss in every step. The weights are not updated, so that the host can verify
the loss of any step.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close, convolve

BATCH = 64
SIDE = 224
IMAGES = 4 * BATCH
OFFSETS = 32


class Images(Dataset):
    """Crops of random images of different brightness. Each round through the images takes other rows."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.images = 2 * torch.rand(IMAGES, 1, 1, 1) * torch.rand(IMAGES, 3, SIDE + OFFSETS, SIDE)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> torch.Tensor:
        offset = i // IMAGES % OFFSETS
        return self.images[i % IMAGES, :, offset : offset + SIDE]


def train(model: torch.nn.Module, x: torch.Tensor) -> float:
    model.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    return loss.item()


def before(steps: Steps, model: torch.nn.Module, images: Images) -> list[float]:
    loader = DataLoader(images, BATCH, num_workers=4)
    losses = []
    for _, batch in zip(steps, loader, strict=True):
        losses.append(train(model, batch.to("cuda")))
    return losses


def after(steps: Steps, model: torch.nn.Module, images: Images) -> list[float]:
    loader = DataLoader(images, BATCH, num_workers=4, pin_memory=True)
    losses = []
    for _, batch in zip(steps, loader, strict=True):
        losses.append(train(model, batch.to("cuda", non_blocking=True)))
    return losses


def expected_loss(model: torch.nn.Sequential, images: np.ndarray) -> np.ndarray:
    """Compute the loss of one batch on the host, image by image to save memory."""
    squares = []
    for image in images:
        y = image[None]
        for layer in model:
            if isinstance(layer, torch.nn.Conv2d):
                y = convolve(y, layer.weight.numpy(force=True), layer.bias.numpy(force=True), layer.stride[0])
            else:
                y = np.maximum(y, 0)
        squares.append(np.mean(np.square(y), dtype=np.float64))
    return np.mean(squares)


def main() -> int:
    steps = Steps("torch_loader", before=300, after=400, wait=torch.cuda.synchronize)
    torch.manual_seed(1)
    images = Images(len(steps) * BATCH)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, 64, 3),
        torch.nn.ReLU(),
        torch.nn.Conv2d(64, 128, 3, stride=2),
    ).cuda()
    version = before if steps.version == "before" else after
    losses = np.array(version(steps, model, images))

    # The losses of three steps are verified. cuDNN may use TF32, whose products have 10 bits.
    right = len(losses) == len(steps)
    for step in (0, 1, len(steps) - 1):
        batch = np.stack([images[i].numpy() for i in range(step * BATCH, (step + 1) * BATCH)])
        right = right and close(losses[step], expected_loss(model, batch), tolerance=5e-3)
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

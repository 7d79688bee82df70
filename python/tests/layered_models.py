"""Models in layers that tests offload."""

import random

import torch


class Block(torch.nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, hidden)
        self.down = torch.nn.Linear(hidden, width, bias=False)
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x):
        return x + self.scale * self.down(torch.relu(self.up(self.norm(x))))


class Net(torch.nn.Module):
    def __init__(self, depth: int = 6, width: int = 64, hidden: int = 128) -> None:
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.blocks = torch.nn.ModuleList(Block(width, hidden) for _ in range(depth))
        self.last = torch.nn.Linear(width, width)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def weights_of(model):
    return sum(parameter.nbytes for parameter in model.parameters())


class Drawn(torch.nn.Module):
    """Layers of drawn sizes, in a drawn order that may repeat and leave out, and may change from call to call."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        count = rng.randint(1, 8)
        self.parts = torch.nn.ModuleList(Block(16, rng.choice([1, 8, 64, 300])) for _ in range(count))
        self.shared = torch.nn.Linear(16, 16)
        self.tied = torch.nn.Linear(16, 16)
        if rng.random() < 0.5:
            self.tied.weight = self.shared.weight
        self.loose = torch.nn.Parameter(torch.rand(16))
        self.order = [rng.randrange(count) for _ in range(rng.randint(1, 12))]

    def forward(self, x):
        x = self.shared(x) + self.loose
        for number in self.order:
            x = self.parts[number](x)
        return self.tied(x)

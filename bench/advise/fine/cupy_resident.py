#!/usr/bin/env python3
"""sum(sqrt(a x x + 1)) with CuPy over an array of 256 MiB that stays on the GPU. The sum is read once in 20 steps.

`before` and `after` are the same: there is nothing to improve.
"""

import sys
from pathlib import Path

import cupy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close

COUNT = 64 << 20
STEPS_BETWEEN_READS = 20


def factor(step: int) -> float:
    """Return a different factor in successive steps, to reveal a sum that another step left behind."""
    return 1.0 + step % 3


def reduce(steps: Steps, x: np.ndarray) -> list[tuple[float, float]]:
    """Return the factor and the sum for every sum that was read."""
    x = cupy.asarray(x)
    sums = []
    for step in steps:
        total = cupy.sqrt(factor(step) * x * x + 1).sum()
        if step % STEPS_BETWEEN_READS == 0:
            sums.append((factor(step), float(total)))
    return sums


def main() -> int:
    steps = Steps("cupy_resident", before=5000, after=5000, wait=lambda: cupy.cuda.Device().synchronize())
    x = np.random.default_rng(1).random(COUNT, np.float32)
    sums = reduce(steps, x)

    expected = {a: np.sum(np.sqrt(a * x * x + 1), dtype=np.float64) for a in {a for a, _ in sums}}
    right = all(close(np.array(total), expected[a], tolerance=1e-4) for a, total in sums)
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""y = sqrt(x x + 1) with CuPy over NumPy arrays of 64 MiB.

`before` makes a CuPy array of each input and a NumPy array of each result. `after` has inputs and results in pinned
memory, copies into an array that is allocated once, and waits once a step.
"""

import sys
from pathlib import Path

import cupy
import cupyx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close

COUNT = 16 << 20
INPUTS = 4


def compute(x: cupy.ndarray) -> cupy.ndarray:
    return cupy.sqrt(x * x + 1)


def next_input(inputs: list[np.ndarray], step: int) -> np.ndarray:
    """Return the input of a step, after the host has changed it, as a source of new data would."""
    x = inputs[step % INPUTS]
    x[0] = step % 10
    return x


def before(steps: Steps, inputs: list[np.ndarray]) -> list[np.ndarray]:
    results = [np.empty(0, np.float32)] * INPUTS
    for step in steps:
        x = cupy.asarray(next_input(inputs, step))
        y = compute(x)
        results[step % INPUTS] = cupy.asnumpy(y)
    return results


def pinned(array: np.ndarray) -> np.ndarray:
    copy = cupyx.empty_pinned(array.shape, array.dtype)
    copy[...] = array
    return copy


def after(steps: Steps, inputs: list[np.ndarray]) -> list[np.ndarray]:
    inputs = [pinned(array) for array in inputs]
    results = [cupyx.empty_pinned(array.shape, array.dtype) for array in inputs]
    x = cupy.empty(COUNT, np.float32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for step in steps:
            x.set(next_input(inputs, step), stream)
            y = compute(x)
            y.get(stream, out=results[step % INPUTS], blocking=False)
            stream.synchronize()
    return results


def main() -> int:
    steps = Steps("cupy_arrays", before=150, after=1400, wait=lambda: cupy.cuda.Device().synchronize())
    generator = np.random.default_rng(1)
    inputs = [generator.random(COUNT, np.float32) for _ in range(INPUTS)]
    version = before if steps.version == "before" else after
    results = version(steps, inputs)

    for step in range(len(steps) - INPUTS, len(steps)):
        next_input(inputs, step)
    right = all(close(result, np.sqrt(x * x + 1), tolerance=1e-5) for result, x in zip(results, inputs, strict=True))
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

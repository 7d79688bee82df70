#!/usr/bin/env python3
"""y = tanh(x table) with JAX: x has 1024 x 4096 floats (16 MiB), the table 4096 x 4096 floats (64 MiB).

The table never changes. `before` copies x and the table to the GPU in every step. `after` copies the table once.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX reads it when it is imported

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from steps import Steps, close

ROWS = 1024
WIDTH = 4096
INPUTS = 4


@jax.jit
def look_up(x: jax.Array, table: jax.Array) -> jax.Array:
    return jnp.tanh(x @ table)


def next_input(inputs: list[np.ndarray], step: int) -> np.ndarray:
    """Return the input of a step, after the host has changed it, as a source of new data would."""
    x = inputs[step % INPUTS]
    x[0, 0] = step % 10
    return x


def before(steps: Steps, inputs: list[np.ndarray], table: np.ndarray) -> list[np.ndarray]:
    results = [np.empty(0, np.float32)] * INPUTS
    for step in steps:
        table_on_gpu = jax.device_put(table)
        x = jax.device_put(next_input(inputs, step))
        results[step % INPUTS] = np.asarray(look_up(x, table_on_gpu))
    return results


def after(steps: Steps, inputs: list[np.ndarray], table: np.ndarray) -> list[np.ndarray]:
    results = [np.empty(0, np.float32)] * INPUTS
    table_on_gpu = jax.device_put(table)
    for step in steps:
        x = jax.device_put(next_input(inputs, step))
        results[step % INPUTS] = np.asarray(look_up(x, table_on_gpu))
    return results


def main() -> int:
    # The GPU is idle after np.asarray, which waits for the result.
    steps = Steps("jax_steps", before=250, after=700, wait=lambda: None)
    generator = np.random.default_rng(1)
    table = generator.standard_normal((WIDTH, WIDTH), np.float32) / np.float32(WIDTH**0.5)
    inputs = [generator.standard_normal((ROWS, WIDTH), np.float32) for _ in range(INPUTS)]
    version = before if steps.version == "before" else after
    results = version(steps, inputs, table)

    # JAX may use TF32, whose products have 10 bits.
    right = all(close(result, np.tanh(x @ table), tolerance=1e-2) for result, x in zip(results, inputs, strict=True))
    return steps.report(right)


if __name__ == "__main__":
    sys.exit(main())

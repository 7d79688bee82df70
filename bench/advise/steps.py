"""Command line, timing and JSON line of the Python programs in bench/advise.

A program is called as `NAME before|after [--steps N]`. It iterates over a `Steps`, one iteration a step, and ends with
`Steps.report`. The last line that it prints is one JSON object. Its exit status is 1 when a result was wrong.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

WARM_UP = 5


class Steps:
    """The numbers of the steps, 0 to WARM_UP + N - 1; the host's clock is read between them.

    Parameters
    ----------
    program
        The name in the JSON line.
    before, after
        The default number of timed steps of each version.
    wait
        Waits until the GPU is idle. It is called before the first timed step begins and before the last step ends.
    """

    def __init__(self, program: str, before: int, after: int, wait: Callable[[], object]) -> None:
        parser = argparse.ArgumentParser(prog=program)
        parser.add_argument("version", choices=("before", "after"))
        parser.add_argument("--steps", type=int, help=f"timed steps (default: {before} before, {after} after)")
        arguments = parser.parse_args()
        self.program = program
        self.version: str = arguments.version
        default = before if self.version == "before" else after
        self.steps: int = default if arguments.steps is None else arguments.steps
        if self.steps < 1:
            parser.error("--steps must be at least 1")
        self.wait = wait
        self.times: list[float] = []

    def __len__(self) -> int:
        return WARM_UP + self.steps

    def __iter__(self) -> Iterator[int]:
        yield from range(WARM_UP)
        self.wait()
        self.times = [time.perf_counter()]
        for step in range(WARM_UP, len(self)):
            yield step
            if step == len(self) - 1:
                self.wait()
            self.times.append(time.perf_counter())

    def report(self, right: bool) -> int:
        """Print the JSON line and return the exit status."""
        times_ms = np.diff(self.times) * 1e3
        line = {
            "program": self.program,
            "version": self.version,
            "steps": self.steps,
            "median_ms": statistics.median(times_ms.tolist()),
            "total_ms": (self.times[-1] - self.times[0]) * 1e3,
            "right": bool(right),
        }
        print(json.dumps(line), flush=True)
        return 0 if right else 1


def close(result: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Whether the largest error is at most `tolerance` of the largest expected value."""
    return bool(np.max(np.abs(result - expected)) <= tolerance * np.max(np.abs(expected)))


def convolve(images: np.ndarray, weight: np.ndarray, bias: np.ndarray, stride: int) -> np.ndarray:
    """Compute on the host what torch.nn.Conv2d without padding computes."""
    windows = np.lib.stride_tricks.sliding_window_view(images, weight.shape[2:], axis=(2, 3))
    products = np.tensordot(windows[:, :, ::stride, ::stride], weight, axes=((1, 4, 5), (1, 2, 3)))
    return np.moveaxis(products + bias, 3, 1)

"""Kernels in Triton, which compiles functions of files only."""

import triton
import triton.language as tl


@triton.jit
def _softmax(x, y, columns, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, block)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    raised = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + at, raised / tl.sum(raised, axis=0), mask=inside)


def softmax(x, y):
    rows, columns = x.shape
    _softmax[(rows,)](x, y, columns, triton.next_power_of_2(columns))

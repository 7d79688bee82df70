# For someone who builds a PyTorch extension on shiplap: builds rows.cpp, compares with PyTorch, checks errors.
import os
import subprocess

import torch
from torch.utils.cpp_extension import load

here = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("MAX_JOBS", "1")


def flags(option):
    return subprocess.run(["pkg-config", option, "shiplap"], check=True, capture_output=True, text=True).stdout.split()


rows = load(
    "rows",
    [f"{here}/rows.cpp"],
    extra_cflags=["-O2", "-std=c++20", *flags("--cflags")],
    extra_ldflags=[*flags("--libs"), "-Wl,--exclude-libs,ALL"],
)


def check(x, **options):
    torch.testing.assert_close(rows.normalise_rows(x, **options), torch.nn.functional.normalize(x, dim=1))


def must_raise(error, text, x, **options):
    try:
        rows.normalise_rows(x, **options)
    except error as caught:
        print(f"{type(caught).__name__}: {caught}")
        assert text in str(caught), caught
    else:
        raise AssertionError(f"{error.__name__} is not raised")


torch.manual_seed(1)
large = torch.randn(200_000, 96)
check(large)
check(large, chunks=16)
check(large, device="virtual:h200:2")
check(large.t()[:, :1000])  # not contiguous
check(torch.randn(7, 3))
check(torch.zeros(4, 4))
must_raise(rows.ShiplapUsageError, "nosuch", large, device="virtual:nosuch")
must_raise(rows.ShiplapUsageError, "no elements", torch.empty(0, 96))
must_raise(rows.ShiplapError, "", large, device="cuda:0")  # no GPU here; elsewhere no `kernel` for one
must_raise(rows.ShiplapError, "not finite", torch.full((5, 5), float("nan")))
must_raise(ValueError, "float32", large.double())
must_raise(rows.ShiplapUsageError, "chunks", large, chunks=10**9)
print("all results are right")

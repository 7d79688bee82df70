import numpy as np
import pytest

import shiplap
from test_move import OnGpu


def test_what_cannot_be_copied_is_refused_with_the_reason(node):
    copier = shiplap.Copier(node)
    pinned = node.pinned_empty(64, np.float32)
    for match, call in {
        "no __cuda_array_interface__": lambda: copier.copy(pinned, np.zeros(64, np.float32)),
        "has 256 B, and the one on the host 128 B": lambda: copier.copy(OnGpu(np.zeros(64, np.float32)), pinned[:32]),
        "on a GPU of virtual:": lambda: copier.copy(OnGpu(np.zeros(64, np.float32)), pinned),
        "no CUDA stream": lambda: copier.copy(OnGpu(np.zeros(64, np.float32)), pinned, "stream"),
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            call()
    with pytest.raises(shiplap.UsageError, match="relay"):
        shiplap.Copier(node, relay=[-1])
    with pytest.raises(shiplap.UsageError, match="no device"):
        shiplap.Copier(shiplap.Node.from_profile("h200"))


@pytest.mark.gpu
def test_arrays_arrive_and_come_back_in_the_order_of_the_stream(gpu):
    torch = pytest.importorskip("torch")
    copier = shiplap.Copier(gpu)
    there = torch.empty(1 << 24, device="cuda")
    host = gpu.pinned_empty(1 << 24, np.float32)
    host[:] = np.arange(1 << 24, dtype=np.float32)
    back = gpu.pinned_empty(1 << 24, np.float32)
    stream = torch.cuda.Stream()
    assert sum(copier.copy(there, host, stream).values()) < 1
    with torch.cuda.stream(stream):
        there += 1
    copier.copy(back, there, stream)
    stream.synchronize()
    np.testing.assert_array_equal(back, host + 1)

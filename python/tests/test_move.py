import numpy as np
import pytest

import shiplap


class OnGpu:
    """An array that claims to be on a GPU."""

    def __init__(self, array: np.ndarray, strides: tuple[int, ...] | None = None) -> None:
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "strides": strides}


def test_strides_of_dimensions_of_one_element_do_not_matter():
    from shiplap._move import array_on_gpu

    array = np.zeros((1, 8), np.float32)
    for given in (OnGpu(array, strides=(64, 4)), OnGpu(np.zeros((), np.float32), strides=())):
        assert array_on_gpu("x", given, written=True)[0] == given.array.ctypes.data


def test_what_cannot_be_moved_is_refused_with_the_numbers(node):
    pool = np.zeros((8, 64), np.float32)
    for match, call in {
        "no __cuda_array_interface__": lambda: shiplap.move(node, pool, [1], np.zeros(64)),
        "are 512 B, and the array on the GPU has 256 B": lambda: shiplap.move(
            node, pool, [1, 2], OnGpu(np.zeros(64, np.float32))
        ),
        "not contiguous": lambda: shiplap.move(node, pool, [1], OnGpu(np.zeros((8, 8), np.float32), strides=(64, 4))),
        "no CUDA stream": lambda: shiplap.move(node, pool, [1], OnGpu(np.zeros(64, np.float32)), "stream"),
        "integers": lambda: shiplap.move(node, pool, [0.5], OnGpu(np.zeros(64, np.float32))),
        "index -1 at position 1": lambda: shiplap.move(node, pool, [0, -1], OnGpu(np.zeros(128, np.float32))),
    }.items():
        with pytest.raises(shiplap.UsageError, match=match):
            call()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_blocks_move_there_and_back_in_streams_of_libraries(gpu, name):
    library = pytest.importorskip(name)
    pool = gpu.pinned_empty((1000, 256), np.float32)
    pool[:] = np.random.default_rng(3).random(pool.shape)
    index = np.random.default_rng(4).permutation(1000)[:300]
    if name == "cupy":
        packed = library.empty((300, 256), np.float32)
        stream = library.cuda.Stream(non_blocking=True)
    else:
        packed = library.empty((300, 256), device="cuda")
        stream = library.cuda.Stream()
    assert shiplap.move(gpu, pool, index, packed, stream)
    stream.synchronize()
    np.testing.assert_array_equal(packed.get() if name == "cupy" else packed.cpu().numpy(), pool[index])
    expected = pool.copy()
    expected[index[::-1]] = pool[index]
    shiplap.move_back(gpu, pool, index[::-1], packed, stream, max_slowdown=0.05)
    stream.synchronize()
    np.testing.assert_array_equal(pool, expected)
    with pytest.raises(shiplap.UsageError, match="position 1"):
        shiplap.move(gpu, pool, [0, 1000], packed[:2], stream)

import numpy as np
import pytest

import shiplap


@pytest.fixture
def node() -> shiplap.Node:
    return shiplap.Node.load_or_measure("virtual:h100", say=lambda line: None)


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(1).random(1 << 20, dtype=np.float32)
    return x, np.zeros_like(x)


@pytest.fixture(scope="session")
def gpu() -> shiplap.Node:
    if "cuda:0" not in shiplap.devices():
        pytest.skip("there is no GPU here")
    return shiplap.Node.open("cuda:0", "h100")

"""Simulated nodes and a cluster of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes import Watcher
from simulated import Nodes
from slurm import Slurm


@pytest.fixture(scope="session", autouse=True)
def ended_by_a_signal() -> None:
    """Let SIGTERM end the tests as Ctrl-C does, so that daemons are stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """End what tests have started, however they end."""
    watcher = Watcher(tmp_path_factory.getbasetemp())
    yield
    watcher.stop()


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    """Eight nodes with two GPUs each."""
    nodes = Nodes(tmp_path / "nodes", [f"node{number}" for number in range(1, 9)])
    yield nodes
    nodes.stop()


@pytest.fixture(scope="session")
def running_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    folder = tmp_path_factory.mktemp("slurm")
    nodes = Nodes(folder / "nodes", [f"node{number}" for number in range(1, 5)])
    slurm = Slurm(folder, nodes)
    yield slurm
    slurm.stop()


@pytest.fixture
def slurm(running_slurm: Slurm) -> Slurm:
    """Four healthy nodes without jobs."""
    running_slurm.nodes.heal_all()
    running_slurm.reset()
    return running_slurm

"""Simulated nodes and a cluster of them."""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpi import Mpi
from processes import Watcher
from simulated import Nodes
from slurm import Slurm


@pytest.fixture(scope="session", autouse=True)
def ended_by_a_signal() -> None:
    """Let SIGTERM end the tests as Ctrl-C does, so that daemons are stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def base() -> Iterator[Path]:
    """A folder with a short name, which tables show whole. What works in it ends with the tests, however they end."""
    folder = Path(tempfile.mkdtemp(prefix="shiplap-"))
    # Slurm's user reads here.
    folder.chmod(0o755)
    watcher = Watcher(folder)
    yield folder
    watcher.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def nodes(base: Path) -> Iterator[Nodes]:
    """Eight healthy nodes with two GPUs each."""
    folder = Path(tempfile.mkdtemp(dir=base))
    nodes = Nodes(folder / "nodes", [f"node{number}" for number in range(1, 9)])
    yield nodes
    nodes.stop()


@pytest.fixture
def mpi(nodes: Nodes, tmp_path: Path) -> Mpi:
    """OpenMPI on eight healthy nodes."""
    return Mpi(tmp_path, nodes)


@pytest.fixture(scope="session")
def running_slurm(base: Path) -> Iterator[Slurm]:
    folder = base / "slurm"
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

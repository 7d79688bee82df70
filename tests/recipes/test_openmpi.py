"""The recipe for OpenMPI with mpirun and a daemon of it on each of eight simulated nodes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from mpi import Mpi
from page import recipe
from simulated import SICKNESSES, Nodes


def test_each_rank_has_a_node_of_its_own(mpi: Mpi, nodes: Nodes) -> None:
    found = mpi.run("mpirun -n 8 --map-by ppr:1:node hostname")
    assert sorted(found.stdout.split()) == nodes.names, found.stderr


@pytest.mark.parametrize("name", SICKNESSES)
def test_mpirun_finds_a_sick_node_and_names_the_cause(name: str, mpi: Mpi, nodes: Nodes, tmp_path: Path) -> None:
    sickness = nodes.plant(name, "node5")
    found = mpi.run(recipe("openmpi-fleet"))
    assert found.returncode == 2, found.stderr
    assert "16 GPUs: 15 good, 1 sick" in found.stdout
    sick = json.loads(nodes.run("shiplap fleet collect fleet --json", folder=tmp_path).stdout)["nodes"][0]
    assert sick["node"] == "node5" and sick["state"] == "sick"
    assert sickness.cause in sick["cause"]


def test_mpirun_finds_nothing_in_a_healthy_cluster(mpi: Mpi) -> None:
    found = mpi.run(recipe("openmpi-fleet"))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("16 GPUs: 16 good")


def test_a_node_that_hangs_is_missing_and_the_rest_is_judged(mpi: Mpi, nodes: Nodes) -> None:
    nodes.plant("clocks", "node5")
    for gpu in (0, 1):
        nodes.hang("node2", gpu)
    begin = time.monotonic()
    found = mpi.run(recipe("openmpi-fleet").replace("--budget 30s", "--budget 2s"))
    assert time.monotonic() - begin < 15
    assert found.returncode == 2
    assert "14 GPUs: 13 good, 1 sick" in found.stdout

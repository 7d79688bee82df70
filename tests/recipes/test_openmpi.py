"""The recipe for OpenMPI with mpirun and a daemon of it on each of eight simulated nodes."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from page import recipe
from simulated import SICKNESSES, Nodes

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(nodes: Nodes, tmp_path: Path) -> Run:
    """Run a script where mpirun knows the nodes. A command that stands in for ssh starts OpenMPI's daemon on a node."""
    agent = nodes.command(
        "remote_shell",
        f"""
        export SHIPLAP_NODE="$1" LD_PRELOAD={nodes.folder}/node_name.so
        shift
        exec sh -c "$*"
        """,
    )
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"{node} slots=1\n" for node in nodes.names))
    environment = {
        "OMPI_MCA_plm_rsh_agent": str(agent),
        "OMPI_MCA_orte_default_hostfile": str(hosts),
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_oob_tcp_if_include": "lo",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        "TMPDIR": str(tmp_path),
    }
    if os.getuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return lambda command: nodes.run(command, folder=tmp_path, environment=environment)


def test_each_rank_has_a_node_of_its_own(run: Run, nodes: Nodes) -> None:
    found = run("mpirun -n 8 --map-by ppr:1:node hostname")
    assert sorted(found.stdout.split()) == nodes.names, found.stderr


@pytest.mark.parametrize("name", SICKNESSES)
def test_mpirun_finds_a_sick_node_and_names_the_cause(name: str, run: Run, nodes: Nodes, tmp_path: Path) -> None:
    sickness = nodes.plant(name, "node5")
    found = run(recipe("openmpi-fleet"))
    assert found.returncode == 2, found.stderr
    assert "16 GPUs: 15 good, 1 sick" in found.stdout
    sick = json.loads(nodes.run("shiplap fleet collect fleet --json", folder=tmp_path).stdout)["nodes"][0]
    assert sick["node"] == "node5" and sick["state"] == "sick"
    assert sickness.cause in sick["cause"]


def test_mpirun_finds_nothing_in_a_healthy_cluster(run: Run) -> None:
    found = run(recipe("openmpi-fleet"))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("16 GPUs: 16 good")


def test_a_node_that_hangs_is_missing_and_the_rest_is_judged(run: Run, nodes: Nodes) -> None:
    nodes.plant("clocks", "node5")
    for gpu in (0, 1):
        nodes.hang("node2", gpu)
    begin = time.monotonic()
    found = run(recipe("openmpi-fleet").replace("--budget 30s", "--budget 2s"))
    assert time.monotonic() - begin < 15
    assert found.returncode == 2
    assert "14 GPUs: 13 good, 1 sick" in found.stdout

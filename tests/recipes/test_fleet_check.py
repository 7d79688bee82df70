"""shiplap fleet check, under srun with four nodes and under mpirun with eight, each with two virtual GPUs."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import pytest

from mpi import Mpi
from page import recipe
from processes import command_lines, wait_for
from simulated import SICKNESSES, Nodes
from slurm import Slurm


def briefly(text: str, folder: Path, budget: int = 2, limit: int = 30) -> str:
    """A recipe with its messages in a folder, and with short times in seconds."""
    text = text.replace("/shared/checks", str(folder)).replace("600", str(limit))
    return text.replace("shiplap fleet check", f"shiplap fleet check --budget {budget}s --begin-within 5s")


def rows(output: str) -> list[str]:
    """The lines of the table of GPUs that are not good."""
    return [line for line in output.splitlines() if re.match(r" *\S+ +virtual:\S+ +(sick|suspect|busy|unknown) ", line)]


def assert_only_sick(output: str, node: str, gpu: int, cause: str) -> None:
    found = rows(output)
    assert len(found) == 1, output
    assert re.match(rf" *{node} +virtual:\S+/{node}/{gpu}\.json +sick ", found[0]), output
    assert cause in found[0]


# --- srun


def test_srun_names_no_gpu_of_healthy_nodes(slurm: Slurm, tmp_path: Path) -> None:
    found = slurm.run(briefly(recipe("slurm-fleet-check"), tmp_path))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("8 GPUs: 8 good") and rows(found.stdout) == []


@pytest.mark.parametrize("name", SICKNESSES)
def test_srun_names_a_sick_gpu_and_its_cause(name: str, slurm: Slurm, tmp_path: Path) -> None:
    sickness = slurm.nodes.plant(name, "node2", 1)
    found = slurm.run(briefly(recipe("slurm-fleet-check"), tmp_path))
    assert found.returncode == 2, found.stderr
    assert "8 GPUs: 7 good, 1 sick" in found.stdout
    assert_only_sick(found.stdout, "node2", 1, sickness.cause)


@pytest.mark.parametrize("name", ["KILL", "STOP"])
def test_srun_reports_a_rank_that_dies_or_hangs_and_judges_the_rest(name: str, slurm: Slurm, tmp_path: Path) -> None:
    sickness = slurm.nodes.plant("iommu", "node2")
    slurm.nodes.signal("node3", name)
    begin = time.monotonic()
    # 5 s until the rank is given up, two checks of 2 s, and as much again for a slow machine.
    found = slurm.run(briefly(recipe("slurm-fleet-check"), tmp_path, limit=18))
    assert time.monotonic() - begin < 40
    assert re.search(r"^  .*rank 2\b.* did not begin", found.stdout, re.M), found.stdout
    assert "6 GPUs: 5 good, 1 sick" in found.stdout
    assert_only_sick(found.stdout, "node2", 0, sickness.cause)
    # srun ends with the highest code of all ranks.
    assert found.returncode == 137


def test_srun_reports_gpus_that_hang_by_node_and_rank_and_judges_the_rest(slurm: Slurm, tmp_path: Path) -> None:
    sickness = slurm.nodes.plant("iommu", "node2")
    slurm.nodes.hang("node3", 1)
    found = slurm.run(briefly(recipe("slurm-fleet-check"), tmp_path))
    assert found.returncode == 2, found.stderr
    assert re.search(r"^  node3 \(rank 2\) virtual:\S+/1\.json: nothing answered within the budget", found.stdout, re.M)
    assert "7 GPUs: 6 good, 1 sick" in found.stdout
    assert_only_sick(found.stdout, "node2", 0, sickness.cause)


def test_srun_reports_a_rank_that_dies_while_it_checks_by_its_node(slurm: Slurm, tmp_path: Path) -> None:
    sickness = slurm.nodes.plant("iommu", "node2")
    slurm.nodes.hang("node3")
    command = briefly(recipe("slurm-fleet-check"), tmp_path, budget=5)
    with slurm.nodes.start(command, environment=slurm.environment()) as srun:
        kill_rank(slurm.nodes, "node3")
        output, _ = srun.communicate(timeout=60)
    assert re.search(r"^  .*node3.*rank 2|^  .*rank 2.*node3", output, re.M), output
    assert_only_sick(output, "node2", 0, sickness.cause)


def kill_rank(nodes: Nodes, node: str) -> None:
    """Kill the rank of a node while it checks the first GPU."""
    gpu = f"virtual:{nodes.file(node)}"

    def running(*command: str) -> list[int]:
        return [
            process
            for process, arguments in command_lines().items()
            if tuple(arguments[1 : 1 + len(command)]) == command and gpu in arguments
        ]

    wait_for(lambda: running("check") != [], f"{node} checks its GPU")
    time.sleep(3)  # the others are checked, the sick one twice
    for rank in running("fleet", "check"):
        os.kill(rank, signal.SIGKILL)


# --- mpirun


def test_mpirun_names_no_gpu_of_healthy_nodes(mpi: Mpi) -> None:
    found = mpi.run(recipe("openmpi-fleet-check"))
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("16 GPUs: 16 good") and rows(found.stdout) == []


@pytest.mark.parametrize("name", SICKNESSES)
def test_mpirun_names_a_gpu_that_only_its_peers_show_to_be_sick(name: str, mpi: Mpi, nodes: Nodes) -> None:
    # Duplex copies vary by 3 % from check to check, so only half of their rate stands out.
    severity = 1 if name == "busy_host_memory" else 0.3
    sickness = nodes.plant(name, "node5", severity=severity)
    if name in ("far_socket", "clocks"):
        assert nodes.run(recipe("one-gpu"), "node5").returncode == 0, "its own check finds nothing bad"
    found = mpi.run(recipe("openmpi-fleet-check"))
    assert found.returncode == 2, found.stderr
    assert "16 GPUs: 15 good, 1 sick" in found.stdout
    assert_only_sick(found.stdout, "node5", 0, sickness.cause)


def test_mpirun_reports_a_rank_that_hangs_and_judges_the_rest(mpi: Mpi, nodes: Nodes, tmp_path: Path) -> None:
    sickness = nodes.plant("clocks", "node5")
    nodes.signal("node3", "STOP")
    begin = time.monotonic()
    found = mpi.run(briefly(recipe("openmpi-fleet-check-folder"), tmp_path))
    assert time.monotonic() - begin < 30
    assert found.returncode == 2, found.stderr
    assert re.search(r"^  .*rank 2\b.* did not begin", found.stdout, re.M), found.stdout
    assert "14 GPUs: 13 good, 1 sick" in found.stdout
    assert_only_sick(found.stdout, "node5", 0, sickness.cause)


def test_mpirun_ends_when_a_rank_dies_and_what_was_reported_is_judged(mpi: Mpi, nodes: Nodes, tmp_path: Path) -> None:
    sickness = nodes.plant("clocks", "node5")
    nodes.hang("node3")
    command = briefly(recipe("openmpi-fleet-check-folder"), tmp_path, budget=20)
    begin = time.monotonic()
    with mpi.start(command) as mpirun:
        kill_rank(nodes, "node3")
        output, errors = mpirun.communicate(timeout=60)
    assert time.monotonic() - begin < 20, errors
    assert re.search(r"^  .*node3.*rank 2|^  .*rank 2.*node3", output, re.M), output + errors
    assert_only_sick(output, "node5", 0, sickness.cause)


def test_by_mpi_a_rank_that_hangs_at_its_start_ends_with_the_time_limit(mpi: Mpi, nodes: Nodes, tmp_path: Path) -> None:
    nodes.signal("node3", "STOP")
    begin = time.monotonic()
    found = mpi.run(briefly(recipe("openmpi-fleet-check"), tmp_path, limit=5))
    assert time.monotonic() - begin < 20
    assert found.returncode not in (0, 2)
    assert "timeout" in found.stderr.lower() or "time limit" in found.stderr.lower(), found.stderr

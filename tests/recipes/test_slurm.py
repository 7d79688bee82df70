"""The recipes for Slurm in a Slurm that runs: four simulated nodes with two virtual GPUs each."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from page import recipe
from processes import wait_for
from simulated import SICKNESSES, Nodes
from slurm import Slurm


def script(slurm: Slurm, name: str, text: str) -> Path:
    """A recipe as a program of Slurm. Its path of an installed shiplap is that of the command for simulated nodes."""
    path = slurm.folder / name
    path.write_text(slurm.nodes.installed(text))
    path.chmod(0o755)
    return path


def use_prolog(slurm: Slurm) -> None:
    prolog = script(slurm, "prolog.sh", recipe("slurm-prolog"))
    slurm.configure(recipe("slurm-prolog-conf").replace("/etc/slurm/prolog.sh", str(prolog)))


def use_health_check(slurm: Slurm, interval: int) -> None:
    # Slurm gives a health check no path of its configuration, which mostly is where scontrol looks by itself.
    first, rest = recipe("slurm-health-check").split("\n", 1)
    text = f"{first}\nexport SLURM_CONF={slurm.folder}/slurm.conf\n{rest}"
    check = script(slurm, "health-check.sh", text)
    lines = recipe("slurm-health-check-conf").replace("/etc/slurm/health-check.sh", str(check))
    slurm.configure(lines.replace("HealthCheckInterval=3600", f"HealthCheckInterval={interval}"))


def test_the_nodes_have_names_of_their_own(slurm: Slurm) -> None:
    assert sorted(slurm.output("srun --nodes=4 hostname").split()) == slurm.nodes.names


def test_a_prolog_starts_jobs_on_good_busy_and_unchecked_nodes(slurm: Slurm) -> None:
    use_prolog(slurm)
    slurm.nodes.use("node2")
    slurm.nodes.lose("node3", 1)
    assert sorted(slurm.output("srun --nodes=4 --gpus-per-node=2 hostname").split()) == slurm.nodes.names
    assert [slurm.reason(node) for node in slurm.nodes.names] == ["none"] * 4


@pytest.mark.parametrize("gpu", [0, 1])
def test_a_prolog_drains_a_node_with_a_bad_gpu_and_the_job_runs_elsewhere(gpu: int, slurm: Slurm) -> None:
    use_prolog(slurm)
    slurm.nodes.plant("clocks", "node1", gpu)
    slurm.run("srun --nodes=1 --gpus-per-node=2 --nodelist=node1 hostname & sleep 2; kill $!", timeout=30)
    wait_for(lambda: slurm.state("node1") == "drained", "node1 is drained")
    assert slurm.reason("node1") == "Prolog error"
    assert slurm.output("srun --nodes=1 --gpus-per-node=2 hostname").split()[0] != "node1"


def test_a_prolog_checks_the_gpus_of_the_job_alone(slurm: Slurm) -> None:
    use_prolog(slurm)
    slurm.nodes.plant("clocks", "node1", 1)
    assert slurm.output("srun --nodelist=node1 --gpus-per-node=1 hostname").split() == ["node1"]
    assert slurm.output("srun --nodelist=node1 hostname").split() == ["node1"]


def test_a_health_check_drains_a_bad_node_with_the_finding_as_its_reason(slurm: Slurm) -> None:
    slurm.nodes.plant("far_socket", "node3", 1)
    slurm.nodes.use("node4")
    use_health_check(slurm, interval=1)
    wait_for(lambda: slurm.state("node3") == "drained", "node3 is drained")
    assert slurm.reason("node3").startswith("BAD node3 ") and "copies from the GPU" in slurm.reason("node3")
    assert [slurm.state(node) for node in ("node1", "node2", "node4")] == ["idle"] * 3


def judged(nodes: Nodes, folder: Path) -> dict:
    return json.loads(nodes.run("shiplap fleet collect fleet --expect nodes.txt --json", folder=folder).stdout)


@pytest.mark.parametrize("name", SICKNESSES)
def test_srun_finds_a_sick_node_and_names_the_cause(name: str, slurm: Slurm, tmp_path: Path) -> None:
    sickness = slurm.nodes.plant(name, "node2", 1)
    found = slurm.run(recipe("slurm-fleet"), folder=tmp_path)
    assert found.returncode == 2, found.stderr
    assert re.search(r"8 GPUs: 7 good, 1 sick", found.stdout), found.stdout
    assert (tmp_path / "nodes.txt").read_text().split() == slurm.nodes.names
    sick = judged(slurm.nodes, tmp_path)["nodes"][0]
    assert sick["node"] == "node2" and sick["gpu"].endswith("/1.json") and sick["state"] == "sick"
    assert sickness.cause in sick["cause"]


def test_srun_finds_nothing_in_a_healthy_cluster(slurm: Slurm, tmp_path: Path) -> None:
    found = slurm.run(recipe("slurm-fleet"), folder=tmp_path)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("8 GPUs: 8 good")


def test_srun_reports_a_node_that_hangs_and_a_node_that_is_lost_and_judges_the_rest(
    slurm: Slurm, tmp_path: Path
) -> None:
    slurm.nodes.plant("iommu", "node1")
    for gpu in (0, 1):
        slurm.nodes.hang("node3", gpu)
        slurm.nodes.lose("node4", gpu)
    begin = time.monotonic()
    found = slurm.run(recipe("slurm-fleet").replace("--budget 30s", "--budget 2s"), folder=tmp_path)
    assert time.monotonic() - begin < 15
    assert found.returncode == 2
    assert "  node3\n  node4\n" in found.stdout
    assert "4 GPUs: 3 good, 1 sick" in found.stdout

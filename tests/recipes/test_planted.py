"""The planted GPUs are what they claim to be: healthy ones are good, and a check names what is wrong with others."""

from __future__ import annotations

import json

import pytest

from page import recipe
from simulated import SICKNESSES, Nodes


def test_healthy_nodes_are_good_and_differ(nodes: Nodes) -> None:
    lines = set()
    for node in nodes.names:
        result = nodes.run("shiplap check --device cuda:0 --json", node)
        assert result.returncode == 0, result.stderr
        check = json.loads(result.stdout)
        assert check["verdict"] == "good" and check["node"] == node
        lines.add(tuple(figure["measured_text"] for figure in check["figures"]))
    assert len(lines) == len(nodes.names)


@pytest.mark.parametrize("name", SICKNESSES)
def test_a_planted_sickness_is_bad_by_its_own_check(name: str, nodes: Nodes) -> None:
    sickness = nodes.plant(name, "node3")
    result = nodes.run(recipe("one-gpu"), "node3")
    assert result.returncode == 2
    assert result.stdout.startswith("BAD node3 ") and sickness.finding in result.stdout


def test_a_gpu_that_hangs_or_is_lost_could_not_be_checked(nodes: Nodes) -> None:
    nodes.hang("node1")
    hanging = nodes.run("shiplap check --device cuda:0 --budget 1s --line", "node1", timeout=10)
    assert hanging.returncode == 1 and hanging.stdout.startswith("UNKNOWN node1 ")
    nodes.lose("node2")
    lost = nodes.run("shiplap check --device cuda:0 --line", "node2")
    assert lost.returncode == 1 and lost.stdout.startswith("UNKNOWN node2 ")

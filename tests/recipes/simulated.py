"""Simulated nodes: GPUs that are healthy with the noise of a real one or planted sick, and commands that find them."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import random
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from page import ROOT
from processes import MARK, end_processes_of

PROGRAM = Path(os.environ.get("SHIPLAP", ROOT / "build/shiplap")).resolve()

TO_GPU = "copies to the GPU"
FROM_GPU = "copies from the GPU"
TO_GPU_BESIDE = "copies to the GPU while copies from it run"
FROM_GPU_BESIDE = "copies from the GPU while copies to it run"
KERNEL_READS = "kernels that read host memory"
KERNEL_WRITES = "kernels that write host memory"
MEMORY = "device memory"
ARITHMETIC = "fp32 multiply-adds"
LINK = (TO_GPU, FROM_GPU, TO_GPU_BESIDE, FROM_GPU_BESIDE, KERNEL_READS, KERNEL_WRITES)


@dataclasses.dataclass(frozen=True)
class Sickness:
    """What is wrong with a GPU, and what is said about it."""

    factors: Mapping[str, float]  # on the figures of a healthy GPU
    finding: str  # the figure that is named
    cause: str  # words of the cause that a fleet is told
    conditions: Mapping[str, str] = dataclasses.field(default_factory=dict)


#: Names are those of tests/fleet/judge_test.cpp. The factors are large enough for the limits of a single check.
SICKNESSES = {
    "trained_down": Sickness(
        dict.fromkeys(LINK, 0.5),
        "the link as it is trained",
        "the link trained down to fewer lanes or an older generation",
        {"gpu.link_loaded": "16.0 GT/s PCIe x16"},
    ),
    "far_socket": Sickness({FROM_GPU: 0.6, FROM_GPU_BESIDE: 0.6}, FROM_GPU, "the far socket"),
    "iommu": Sickness(
        {**dict.fromkeys(LINK, 0.6), KERNEL_READS: 0.25, KERNEL_WRITES: 0.25}, TO_GPU, "an IOMMU that translates"
    ),
    "clocks": Sickness({MEMORY: 0.6, ARITHMETIC: 0.7}, MEMORY, "clocks of the GPU held down"),
    "busy_host_memory": Sickness(
        {TO_GPU_BESIDE: 0.5, FROM_GPU_BESIDE: 0.5},
        TO_GPU_BESIDE,
        "host memory that is busy or too slow for both directions",
    ),
}


def noise() -> dict[str, float]:
    """Relative standard deviation of each figure over 16 checks of a GPU in a row."""
    text = (ROOT / "results/h100/check_noise.txt").read_text()
    return {name: float(percent) / 100 for name, percent in re.findall(r"^(\S.*?) +[\d.e+]+ +([\d.]+) %", text, re.M)}


def scale(quantity: dict, factor: float) -> None:
    for key in ("value", "low", "high"):
        if key in quantity:
            quantity[key] *= factor


def with_factors(profile: dict, factors: Mapping[str, float]) -> dict:
    """A profile whose figures are those of the given one times these factors."""
    changed = copy.deepcopy(profile)
    link, gpu = changed["links"][0], changed["gpus"][0]
    times = {  # the inverse of a rate
        TO_GPU: link["h2d"]["per_byte"],
        FROM_GPU: link["d2h"]["per_byte"],
        TO_GPU_BESIDE: link["h2d"]["duplex"]["per_byte"],
        FROM_GPU_BESIDE: link["d2h"]["duplex"]["per_byte"],
    }
    rates = {
        KERNEL_READS: [row["rate"] for row in link["zero_copy"]["read"]],
        KERNEL_WRITES: [row["rate"] for row in link["zero_copy"]["write"]],
        MEMORY: [gpu["memory_bandwidth"]],
        ARITHMETIC: [gpu["flop_rate"]],
    }
    for what, factor in factors.items():
        if what in times:
            scale(times[what], 1 / factor)
        for quantity in rates.get(what, []):
            scale(quantity, factor)
    return changed


class Nodes:
    """A folder with the GPUs of simulated nodes, and `shiplap` and `hostname` for them in its folder bin."""

    def __init__(self, folder: Path, names: list[str], gpus: int = 2) -> None:
        self.folder = folder
        self.names = names
        self.gpus = gpus
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.random = random.Random(20261126)
        self.healthy = json.loads((ROOT / "profiles/h200.json").read_text())
        del self.healthy["measurements"][5:]  # they make the file large
        self._make_commands()
        for node in names:
            (folder / node).mkdir()
            for gpu in range(gpus):
                self.heal(node, gpu)

    def heal(self, node: str, gpu: int = 0) -> None:
        """Make a GPU healthy. Nodes differ from each other by twice as much as a node from itself."""
        factors = {what: 1 + 2 * deviation * self.random.gauss(0, 1) for what, deviation in noise().items()}
        self._write(node, gpu, with_factors(self.healthy, factors))

    def plant(self, name: str, node: str, gpu: int = 0, severity: float = 1) -> Sickness:
        """Make a GPU sick; less so with a severity below 1."""
        sickness = SICKNESSES[name]
        factors = {what: 1 - severity * (1 - factor) for what, factor in sickness.factors.items()}
        profile = with_factors(json.loads(self.file(node, gpu).read_text()), factors)
        profile["conditions"].update(sickness.conditions)
        self._write(node, gpu, profile)
        return sickness

    def hang(self, node: str, gpu: int = 0) -> None:
        """Make whoever opens a GPU wait without end, as a call into a driver may."""
        self.file(node, gpu).unlink()
        os.mkfifo(self.file(node, gpu))

    def lose(self, node: str, gpu: int = 0) -> None:
        """Make a GPU one that cannot be checked."""
        self.file(node, gpu).write_text("{}")

    def use(self, node: str) -> None:
        """Let a job of somebody else use a node. Virtual GPUs have no load, so the command says it."""
        (self.folder / node / "busy").touch()

    def signal(self, node: str, signal: str) -> None:
        """Let every shiplap that starts on a node get a signal, as KILL or STOP."""
        (self.folder / node / "signal").write_text(signal)

    def heal_all(self) -> None:
        for node in self.names:
            for name in ("busy", "signal"):
                (self.folder / node / name).unlink(missing_ok=True)
            for gpu in range(self.gpus):
                self.file(node, gpu).unlink(missing_ok=True)
                self.heal(node, gpu)

    def file(self, node: str, gpu: int = 0) -> Path:
        return self.folder / node / f"{gpu}.json"

    def environment(self, node: str | None = None) -> dict[str, str]:
        """Environment of commands; with a node, of those that run there."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM", "OMPI", "PMIX"))}
        environment["PATH"] = f"{self.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        environment[MARK] = str(self.folder)
        if node is not None:
            environment["SHIPLAP_NODE"] = node
            environment["LD_PRELOAD"] = str(self.folder / "node_name.so")
        return environment

    def run(
        self,
        command: str,
        node: str | None = None,
        folder: Path | None = None,
        timeout: float = 60,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a script by the shell."""
        with self.start(command, node, folder, environment) as shell:
            try:
                output, errors = shell.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                self.stop()
                output, errors = shell.communicate()
                raise AssertionError(f"{command} has not ended after {timeout} s:\n{output}{errors}") from None
        return subprocess.CompletedProcess(command, shell.returncode, output, errors)

    def start(
        self,
        command: str,
        node: str | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a script by the shell."""
        return subprocess.Popen(
            ["sh", "-c", command],
            cwd=folder,
            env={**self.environment(node), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def installed(self, text: str) -> str:
        """A recipe with the path of these commands where it has that of an installed shiplap."""
        return text.replace("/usr/bin/shiplap", str(self.bin / "shiplap"))

    def stop(self) -> None:
        end_processes_of(self.folder)

    def _write(self, node: str, gpu: int, profile: dict) -> None:
        self.file(node, gpu).write_text(json.dumps(profile))

    def _make_commands(self) -> None:
        library = self.folder / "node_name.so"
        compiler = os.environ.get("CC", "cc")
        source = Path(__file__).with_name("node_name.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        folder, program = shlex.quote(str(self.folder)), shlex.quote(str(PROGRAM))
        gpus = " ".join(f'--device virtual:{folder}/"$SHIPLAP_NODE"/{gpu}.json' for gpu in range(self.gpus))
        self.command(
            "shiplap",
            f"""
            # A program of Slurm's prolog has no name of a simulated node yet.
            export SHIPLAP_NODE="${{SHIPLAP_NODE:-${{SLURMD_NODENAME:-}}}}"
            export LD_PRELOAD={folder}/node_name.so
            if [ -e {folder}/"$SHIPLAP_NODE"/busy ]; then
              echo "BUSY $SHIPLAP_NODE: not judged: a job of somebody else"
              exit 0
            fi
            [ ! -e {folder}/"$SHIPLAP_NODE"/signal ] || kill -"$(cat {folder}/"$SHIPLAP_NODE"/signal)" $$
            # There is no GPU here, so cuda:N is the virtual GPU N of the node.
            for argument; do
              shift
              case $argument in cuda:*) argument=virtual:{folder}/$SHIPLAP_NODE/${{argument#cuda:}}.json ;; esac
              set -- "$@" "$argument"
            done
            case "$1 ${{2:-}} $*" in "fleet check "*--device*) ;; "fleet check "*) set -- "$@" {gpus} ;; esac
            exec {program} "$@"
            """,
        )

    def command(self, name: str, script: str) -> Path:
        """Write a command that the shell runs."""
        path = self.bin / name
        lines = [line.strip() for line in script.strip().splitlines()]
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return path

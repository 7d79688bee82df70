"""Slurm with simulated nodes: munged, slurmctld and a slurmd for each node, on this machine and for this test alone."""

from __future__ import annotations

import os
import pwd
import secrets
import subprocess
from pathlib import Path

from processes import Daemons, end_processes_of, free_ports, wait_for
from simulated import Nodes

CONFIGURATION = """\
ClusterName=recipes
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
PlugStackConfig={folder}/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=0
KillWait=1
GresTypes=gpu
TaskProlog={folder}/task_prolog
Include {folder}/more.conf
"""


class Slurm:
    """A cluster. Several slurmd run on one host, each with its own port and name."""

    def __init__(self, folder: Path, nodes: Nodes) -> None:
        self.folder = folder
        self.nodes = nodes
        self.daemons = Daemons(folder)
        self.ports = free_ports(1 + len(nodes.names))
        for name in ("state", *(f"spool/{node}" for node in nodes.names)):
            (folder / name).mkdir(parents=True)
        self._configure()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def environment(self) -> dict[str, str]:
        return {**self.nodes.environment(), "SLURM_CONF": str(self.folder / "slurm.conf")}

    def run(self, command: str, folder: Path | None = None, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a script on the node where users log in."""
        return self.nodes.run(command, folder=folder, timeout=timeout, environment=self.environment())

    def output(self, command: str) -> str:
        result = self.run(command)
        assert result.returncode == 0, f"{command}: {result.stderr}{result.stdout}"
        return result.stdout

    def configure(self, lines: str = "") -> None:
        """Add lines to the configuration of the running cluster."""
        (self.folder / "more.conf").write_text(f"# what a test adds\n{lines}")
        self.output("scontrol reconfigure")

    def state(self, node: str) -> str:
        """State of a node, as in "idle" or "drained"."""
        return self.output(f"sinfo --noheader --nodes={node} --format=%T").strip().rstrip("*")

    def reason(self, node: str) -> str:
        return self.output(f"sinfo --noheader --nodes={node} --format=%E").strip()

    def reset(self) -> None:
        """Cancel all jobs and bring all nodes back."""
        self.run("scancel --user=$(id -un) --signal=KILL; scancel --user=$(id -un)")
        self.configure()
        for node in self.nodes.names:
            wait_for(lambda node=node: not self._has_job(node), f"{node} is without a job")
            if self.state(node) != "idle":
                self.run(f"scontrol update NodeName={node} State=RESUME")
        wait_for(self._all_idle, "all nodes are idle")

    def _has_job(self, node: str) -> bool:
        return self.state(node).startswith(("alloc", "mix", "comp", "draining"))

    def logs(self) -> str:
        return "\n".join(f"--- {name}\n{self.daemons.log(name)[-3000:]}" for name, _ in self.daemons.running)

    def stop(self) -> None:
        end_processes_of(self.folder)
        self.daemons.stop()

    def _configure(self) -> None:
        user = pwd.getpwuid(os.getuid()).pw_name
        text = CONFIGURATION.format(folder=self.folder, ports=self.ports, user=user)
        names = self.nodes.names
        for node, port in zip(names, self.ports[1:], strict=True):
            text += f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=8"
            text += f" Gres=gpu:{self.nodes.gpus}\n"
        text += f"PartitionName=all Nodes={','.join(names)} Default=YES State=UP\n"
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "more.conf").write_text("# what a test adds\n")
        (self.folder / "plugstack.conf").touch()
        # Each GPU of Slurm needs a device file. Any will do, since none is used.
        (self.folder / "gres.conf").write_text(
            "".join(f"Name=gpu File={file}\n" for file in ("/dev/null", "/dev/zero", "/dev/full")[: self.nodes.gpus])
        )
        # The other plugins need a cgroup file system that can be written. This one opens nothing before it is used.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        prolog = self.folder / "task_prolog"
        library = self.nodes.folder / "node_name.so"
        prolog.write_text(
            f'#!/bin/sh\necho "export SHIPLAP_NODE=$SLURMD_NODENAME"\necho "export LD_PRELOAD={library}"\n'
        )
        prolog.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)

    def _start(self) -> None:
        environment = self.environment()
        paths = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "seed-file": "munge.seed"}
        options = [f"--{option}={self.folder / name}" for option, name in paths.items()]
        # --force: folders above may belong to somebody else.
        self.daemons.start("munged", ["munged", "--foreground", "--force", "--num-threads=10", *options], environment)
        wait_for((self.folder / "munge.socket").exists, "munged listens")
        self.daemons.start("slurmctld", ["slurmctld", "-D", "-i"], environment)
        for node in self.nodes.names:
            self.daemons.start(f"slurmd-{node}", ["slurmd", "-D", "-N", node], environment)
        try:
            wait_for(self._all_idle, "all nodes are idle")
        except AssertionError as error:
            raise AssertionError(f"Slurm does not start: {error}\n{self.logs()}") from error

    def _all_idle(self) -> bool:
        self.daemons.check()
        found = self.run("sinfo --noheader --Node --format=%T")
        return found.returncode == 0 and found.stdout.split() == ["idle"] * len(self.nodes.names)

"""OpenMPI with simulated nodes: mpirun here, and a daemon of OpenMPI for each node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from simulated import Nodes


class Mpi:
    """Runs scripts where mpirun knows the nodes. A command that stands in for ssh starts OpenMPI's daemon on a node."""

    def __init__(self, folder: Path, nodes: Nodes) -> None:
        self.folder = folder
        self.nodes = nodes
        agent = nodes.command(
            "remote_shell",
            f"""
            export SHIPLAP_NODE="$1" LD_PRELOAD={nodes.folder}/node_name.so
            shift
            exec sh -c "$*"
            """,
        )
        hosts = folder / "hosts"
        hosts.write_text("".join(f"{node} slots=1\n" for node in nodes.names))
        self.environment = {
            "OMPI_MCA_plm_rsh_agent": str(agent),
            "OMPI_MCA_orte_default_hostfile": str(hosts),
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "lo",
            "OMPI_MCA_oob_tcp_if_include": "lo",
            "TMPDIR": str(folder),
        }
        if os.getuid() == 0:
            self.environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return self.nodes.run(command, folder=self.folder, environment=self.environment)

    def start(self, command: str) -> subprocess.Popen[str]:
        return self.nodes.start(command, folder=self.folder, environment=self.environment)

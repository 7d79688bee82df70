"""Processes that a test starts, all of which end with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

#: Every process that a test starts, directly or not, has this variable in its environment. Its value is a folder.
MARK = "SHIPLAP_RECIPES"


class Failed(AssertionError):
    """What was waited for did not happen."""


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 30) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"after {seconds} s still not: {what}")
        time.sleep(0.05)


def free_ports(number: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def processes_of(folder: Path) -> list[int]:
    """Processes whose mark or working folder is a folder or one in it, without those that have ended already."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
            places = [variable.removeprefix(f"{MARK}=") for variable in variables if variable.startswith(f"{MARK}=")]
            # A step of Slurm overwrites its environment with its title.
            places.append(os.readlink(entry / "cwd"))
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:  # it has ended, or it is somebody else's
            continue
        if state != "Z" and any(Path(place).is_relative_to(folder) for place in places):
            found.append(int(entry.name))
    return found


def command_lines() -> dict[int, list[str]]:
    """Arguments of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            except OSError:  # it has ended
                continue
    return found


def end_processes_of(folder: Path) -> None:
    """End every process of a folder, those that were forked meanwhile included."""

    def all_ended() -> bool:
        for process in processes_of(folder):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not processes_of(folder)

    wait_for(all_ended, f"the end of all processes of {folder}", 10)


class Watcher:
    """A process that ends every process of a folder when the tests have died, be it by SIGKILL."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, folder], stdin=subprocess.PIPE, start_new_session=True
        )

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Daemons:
    """Programs that run in the foreground, each with its own log."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.running: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        log = (self.logs / f"{name}.log").open("wb")
        process = subprocess.Popen(
            [*map(str, command)],
            cwd=self.logs,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            start_new_session=True,
        )
        log.close()
        self.running.append((name, process))

    def check(self) -> None:
        """Fail with the log of a daemon that has ended."""
        for name, process in self.running:
            if process.poll() is not None:
                raise Failed(f"{name} has ended with {process.returncode}:\n{self.log(name)}")

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace")

    def stop(self) -> None:
        for _, process in self.running:
            process.kill()
        for _, process in self.running:
            process.wait()
        self.running.clear()


if __name__ == "__main__":
    sys.stdin.read()
    end_processes_of(Path(sys.argv[1]))

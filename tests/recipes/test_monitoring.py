"""The recipes of programs that watch nodes: by these programs where they can be had, else as near to them as can be."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import shutil
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from page import recipe
from processes import Daemons, free_ports, wait_for
from simulated import Nodes

#: Debian packages that are unpacked and not installed, because installed ones start services.
UNPACKED = Path(os.environ.get("SHIPLAP_UNPACKED", "/"))


def program(name: str) -> str:
    """Path of a program that ./dev recipes unpacks, or of an installed one."""
    path = f"{UNPACKED}/usr/sbin:{UNPACKED}/usr/bin:{os.environ['PATH']}"
    found = shutil.which(name, path=path)
    assert found, f"{name} is missing: ./dev recipes brings it"
    return found


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    daemons = Daemons(tmp_path)
    yield daemons
    daemons.stop()


# --- NHC


def nhc_command(line: str) -> tuple[list[str], int]:
    """The command of a line for check_cmd_status, and its time limit."""
    target, _, check = line.partition("||")
    assert target.strip() == "*"
    words = shlex.split(check)
    assert words[0] == "check_cmd_status"
    assert words[1:5] == ["-t", words[2], "-r", "0"]
    return words[5:], int(words[2])


def test_the_command_for_nhc_fails_for_a_bad_node_alone(nodes: Nodes) -> None:
    command, limit = nhc_command(nodes.installed(recipe("nhc")))
    budget = int(re.search(r"--budget (\d+)s", recipe("nhc"))[1])
    assert budget < limit < 30, "NHC's own time limit is 30 s, and a check must end before it"
    codes = {}
    nodes.plant("clocks", "node2")
    nodes.lose("node3")
    nodes.use("node4")
    for node in ("node1", "node2", "node3", "node4"):
        codes[node] = nodes.run(shlex.join(command), node).returncode
    assert codes == {"node1": 0, "node2": 1, "node3": 0, "node4": 0}


# --- Nagios

NAGIOS = """\
log_file={folder}/nagios.log
object_cache_file={folder}/objects.cache
precached_object_file={folder}/objects.precache
status_file={folder}/status.dat
status_update_interval=1
lock_file={folder}/nagios.lock
temp_file={folder}/nagios.tmp
temp_path={folder}
check_result_path={folder}/results
state_retention_file={folder}/retention.dat
query_socket={folder}/nagios.qh
command_file={folder}/nagios.cmd
check_external_commands=0
enable_notifications=0
check_for_updates=0
use_syslog=0
interval_length=1
service_inter_check_delay_method=n
host_inter_check_delay_method=n
nagios_user={user}
nagios_group={group}
cfg_file={folder}/objects.cfg
"""
NAGIOS_OBJECTS = """
define timeperiod {
    timeperiod_name  always
    alias            always
    sunday           00:00-24:00
    monday           00:00-24:00
    tuesday          00:00-24:00
    wednesday        00:00-24:00
    thursday         00:00-24:00
    friday           00:00-24:00
    saturday         00:00-24:00
}
define contact {
    contact_name                   operator
    host_notification_commands     check_gpu
    service_notification_commands  check_gpu
    host_notification_period       always
    service_notification_period    always
}
define host {
    host_name           node7
    address             127.0.0.1
    max_check_attempts  1
    check_period        always
    contacts            operator
}
"""


def nagios_status(folder: Path) -> dict[str, str] | None:
    """What Nagios has found out about the service, once it has checked it."""
    try:
        text = (folder / "status.dat").read_text()
    except FileNotFoundError:
        return None
    service = re.search(r"servicestatus \{(.*?)\n\s*\}", text, re.DOTALL)
    if service is None:
        return None
    status = dict(line.strip().split("=", 1) for line in service[1].splitlines() if "=" in line)
    return status if status["has_been_checked"] == "1" else None


@pytest.mark.parametrize(
    ("make", "state", "line"),
    [
        (lambda nodes: None, "0", "OK node7 "),
        (lambda nodes: nodes.plant("trained_down", "node7"), "2", "BAD node7 "),
        (lambda nodes: nodes.lose("node7"), "3", "UNKNOWN node7 "),
    ],
    ids=["good", "bad", "lost"],
)
def test_nagios_gets_state_and_finding(
    make: Callable[[Nodes], object], state: str, line: str, nodes: Nodes, daemons: Daemons, tmp_path: Path
) -> None:
    make(nodes)
    (tmp_path / "results").mkdir()
    user = pwd.getpwuid(os.getuid())
    (tmp_path / "nagios.cfg").write_text(NAGIOS.format(folder=tmp_path, user=user.pw_name, group=user.pw_gid))
    (tmp_path / "objects.cfg").write_text(nodes.installed(recipe("nagios")) + NAGIOS_OBJECTS)
    nagios = program("nagios4")
    checked = nodes.run(f"{nagios} --verify-config {tmp_path}/nagios.cfg")
    assert checked.returncode == 0 and "Total Errors:   0" in checked.stdout, checked.stdout
    daemons.start("nagios", [nagios, tmp_path / "nagios.cfg"], nodes.environment("node7"))
    try:
        wait_for(lambda: nagios_status(tmp_path) is not None, "Nagios has checked the service")
    except AssertionError as error:
        raise AssertionError(f"{error}\n{daemons.log('nagios')}") from error
    status = nagios_status(tmp_path)
    assert status is not None
    assert status["current_state"] == state
    assert status["plugin_output"].startswith(line)


# --- Prometheus


def textfile(recipe_text: str, folder: Path) -> str:
    """A recipe with another folder for node_exporter."""
    return recipe_text.replace("/var/lib/prometheus/node-exporter", str(folder))


def test_node_exporter_serves_the_metrics(nodes: Nodes, daemons: Daemons, tmp_path: Path) -> None:
    nodes.plant("far_socket", "node7")
    folder = tmp_path / "textfile"
    folder.mkdir()
    assert nodes.run(textfile(recipe("prometheus"), folder), "node7").returncode == 2
    (port,) = free_ports(1)
    exporter = [program("prometheus-node-exporter"), "--collector.disable-defaults", "--collector.textfile"]
    options = [f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{port}"]
    daemons.start("node_exporter", exporter + options, nodes.environment())

    def served() -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    wait_for(lambda: served() != "", "node_exporter answers")
    metrics = {family.name: family.samples for family in text_string_to_metric_families(served())}
    assert metrics["node_textfile_scrape_error"][0].value == 0
    verdicts = {sample.labels["verdict"]: sample.value for sample in metrics["shiplap_check_verdict"]}
    assert verdicts["bad"] == 1 and sum(verdicts.values()) == 1
    assert {sample.labels["node"] for sample in metrics["shiplap_check_verdict"]} == {"node7"}
    assert metrics["shiplap_check_timestamp_seconds"][0].value > 1.7e9


# --- systemd


def test_systemd_finds_no_mistake_in_the_units(nodes: Nodes, tmp_path: Path) -> None:
    folder = tmp_path / "units"
    folder.mkdir()
    for kind, text in (("service", recipe("systemd-service")), ("timer", recipe("systemd-timer"))):
        (folder / f"shiplap-check@.{kind}").write_text(nodes.installed(text))
    units = [str(folder / f"shiplap-check@0.{kind}") for kind in ("service", "timer")]
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units],
        env={**nodes.environment(), "SYSTEMD_UNIT_PATH": f"{folder}:/lib/systemd/system"},
        capture_output=True,
        text=True,
        check=False,
    )
    mine = [line for line in found.stderr.splitlines() if "shiplap" in line]
    assert mine == [] and found.returncode == 0, found.stderr


def test_the_command_of_the_service_writes_metrics_and_its_failure_is_a_bad_gpu(nodes: Nodes, tmp_path: Path) -> None:
    service = textfile(nodes.installed(recipe("systemd-service")), tmp_path)
    command = re.search(r"^ExecStart=(.*)$", service, re.M)[1].replace("%i", "1")
    success = {0, *map(int, re.search(r"^SuccessExitStatus=(.*)$", service, re.M)[1].split())}
    budget, limit = (int(re.search(pattern, service)[1]) for pattern in (r"--budget (\d+)s", r"TimeoutStartSec=(\d+)"))
    assert budget < limit
    nodes.plant("iommu", "node2", 1)
    codes = []
    for node in ("node1", "node2"):
        # systemd runs no shell.
        done = subprocess.run(shlex.split(command), env=nodes.environment(node), capture_output=True, check=False)
        codes.append(done.returncode)
        assert f'node="{node}"' in (tmp_path / "shiplap-1.prom").read_text()
    assert codes == [0, 2] and set(codes) <= success


# --- Kubernetes


@pytest.fixture
def job() -> dict:
    return yaml.safe_load(recipe("kubernetes"))


def test_the_manifest_keeps_the_schema_of_kubernetes(job: dict) -> None:
    kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)
    job["spec"]["template"]["spec"]["containers"][0]["livenessProbe"]["timeout"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)


def test_init_container_and_probe_fail_for_a_bad_gpu_alone(job: dict, nodes: Nodes) -> None:
    pod = job["spec"]["template"]["spec"]
    probe = pod["containers"][0]["livenessProbe"]
    assert probe["timeoutSeconds"] > int(re.search(r"--budget (\d+)s", probe["exec"]["command"][-1])[1])
    nodes.plant("clocks", "node2")
    nodes.lose("node3")
    nodes.use("node4")
    for command in (pod["initContainers"][0]["command"], probe["exec"]["command"]):
        codes = {}
        for node in ("node1", "node2", "node3", "node4"):
            done = subprocess.run(command, env=nodes.environment(node), capture_output=True, check=False)
            codes[node] = done.returncode != 0
        assert codes == {"node1": False, "node2": True, "node3": False, "node4": False}


def test_the_init_container_checks_every_gpu(job: dict, nodes: Nodes) -> None:
    nodes.plant("clocks", "node2", 1)
    command = job["spec"]["template"]["spec"]["initContainers"][0]["command"]
    assert subprocess.run(command, env=nodes.environment("node2"), capture_output=True, check=False).returncode == 2

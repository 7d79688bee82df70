"""A browser, and reports that the program under test has made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from reports import CHROMIUM, ROOT, Opened, opened, shiplap


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # In a container root has no sandbox of its own, and shared memory is small.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One file of each kind, of the built-in profiles and of a virtual device."""
    folder = tmp_path_factory.mktemp("files")
    h200 = ROOT / "profiles/h200.json"
    # The same node on a day when copies to the host take a fifth longer.
    now = json.loads(h200.read_text())
    for measurement in now["measurements"]:
        if measurement["primitive"].startswith("copy.pinned.d2h"):
            measurement["samples_us"] = [sample * 1.2 for sample in measurement["samples_us"]]
    slower = folder / "slower.json"
    slower.write_text(json.dumps(now))
    commands = {
        "check": ("check", "--profile", "h200"),
        "comparison": ("compare", h200, slower),
        "plan": ("plan", "saxpy:n=16Mi", "--profile", "h200"),
        "run": ("run", "saxpy:n=4Mi", "--device", "virtual:h200", "--strategy", "streams", "--chunks", "16", "--gantt"),
        "movers": ("movers", "--profile", "h100"),
        "advice": ("advise", ROOT / "tests/advise/recordings/saxpy.jsonl", "--profile", "h100"),
        "evaluation": (
            *("evaluate", "scalar-add", "--device", "virtual:h200", "--sizes", "1MiB", "--no-transfers"),
            *("--strategies", "explicit,streams", "--chunks", "1,2,4,8", "--duel-repeat", "1"),
        ),
    }
    made = {"profile": h200, "second_profile": ROOT / "profiles/h100.json"}
    for name, command in commands.items():
        made[name] = folder / f"{name}.json"
        made[name].write_text(shiplap(*command, "--json"))
    made["adaptation"] = folder / "adaptation.jsonl"
    batch = ("run", "histogram:frames=16", "--device", "virtual:h200", "--adaptive", "--frames", "1600")
    shiplap(*batch, "--vary", "1,4:50", "--log", made["adaptation"])
    return made


@pytest.fixture(scope="session")
def report(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of all files."""
    output = tmp_path_factory.mktemp("report") / "report.html"
    shiplap("report", *files.values(), "-o", output)
    return output


@pytest.fixture
def whole(browser: Browser, report: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield opened(context, report)
    context.close()

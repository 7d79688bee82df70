"""The program under test, and the reports that it makes, opened in a browser."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("SHIPLAP", ROOT / "build/shiplap"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def shiplap(*arguments: str | Path) -> str:
    """Run the program and return what it prints. `compare` and `check` exit with 2 when they have found something."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode in (0, 2), result.stderr
    return result.stdout


def until_drawn(figure: Locator) -> None:
    """Wait by a selector: the policy of a report lets no condition given as text be evaluated again and again."""
    figure.and_(figure.page.locator("[data-drawn]")).wait_for(state="attached")


@dataclasses.dataclass
class Opened:
    """A report in a browser, with what it complained about and asked for."""

    page: Page
    complaints: list[str]
    requests: list[str]

    def draw_all(self) -> list[int]:
        """Bring every chart into sight and return how much each has drawn."""
        figures = self.page.locator("figure[data-figure]")
        for number in range(figures.count()):
            figures.nth(number).scroll_into_view_if_needed()
            until_drawn(figures.nth(number))
        return [int(figures.nth(n).get_attribute("data-drawn") or 0) for n in range(figures.count())]

    def data(self) -> list[dict]:
        """The figures as the page has them."""
        return json.loads(self.page.locator("#figures").text_content() or "[]")


def opened(context: BrowserContext, file: Path) -> Opened:
    page = context.new_page()
    found = Opened(page, [], [])
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(file.as_uri())
    return found

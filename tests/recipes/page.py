"""The recipes as the page for readers has them, so that what is tested and what is read cannot differ."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/check-in-a-cluster.md"

#: A block without one of these marks on the line before it is a mistake.
RECIPE = re.compile(r"<!-- recipe: ([a-z0-9-]+) -->$")
OUTPUT = re.compile(r"<!-- output -->$")
#: What a reader sees on the line before a block that no test executes as it would be in a cluster.
NOT_EXECUTED = re.compile(r"\*\*Not executed.*\*\*")


@dataclasses.dataclass(frozen=True)
class Block:
    """A code block of the page."""

    line: int
    text: str
    recipe: str | None  # name of the recipe that a test executes
    is_output: bool
    not_executed: bool


def blocks(text: str) -> list[Block]:
    """All code blocks of a page. Both marks may stand in the paragraph and on the line before a block."""
    found: list[Block] = []
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        if not lines[number].startswith("```"):
            number += 1
            continue
        end = lines.index("```", number + 1)
        before = []
        for line in reversed(lines[:number]):
            if before and (not line or line.startswith("```")):
                break
            if line:
                before.append(line)
        recipe = RECIPE.match(before[0]) if before else None
        found.append(
            Block(
                line=number + 1,
                text="\n".join(lines[number + 1 : end]) + "\n",
                recipe=recipe[1] if recipe else None,
                is_output=bool(before) and OUTPUT.match(before[0]) is not None,
                not_executed=any(NOT_EXECUTED.search(line) for line in before),
            )
        )
        number = end + 1
    return found


def recipe(name: str) -> str:
    """The text of a recipe."""
    found = [block.text for block in blocks(PAGE.read_text()) if block.recipe == name]
    assert len(found) == 1, f"{PAGE.name} has {len(found)} recipes that are called {name}"
    return found[0]

"""Every recipe on the page is executed by a test, or its reader is told that it is not."""

from __future__ import annotations

import re
from pathlib import Path

from page import PAGE, blocks


def executed() -> set[str]:
    """Recipes that tests of this folder ask for."""
    sources = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    return {name for source in sources for name in re.findall(r"\brecipe\(\"([a-z0-9-]+)\"\)", source)}


def test_every_block_is_executed_or_marked() -> None:
    assert [
        f"{PAGE.name}:{block.line}: neither a recipe nor an output nor marked as not executed"
        for block in blocks(PAGE.read_text())
        if not (block.recipe or block.is_output or block.not_executed)
    ] == []


def test_every_recipe_has_a_test_and_every_test_has_a_recipe() -> None:
    names = [block.recipe for block in blocks(PAGE.read_text()) if block.recipe]
    assert len(names) == len(set(names))
    assert set(names) == executed()


def test_a_block_without_a_mark_is_found() -> None:
    page = "\n".join(
        [
            *("Text.", "", "```", "one", "```", ""),
            *("**Not executed:** no such program.", "", "```", "two", "```", ""),
            *("<!-- recipe: three -->", "```sh", "3", "```", ""),
        ]
    )
    one, two, three = blocks(page)
    assert not (one.recipe or one.is_output or one.not_executed)
    assert two.not_executed and two.text == "two\n"
    assert three.recipe == "three" and three.line == 14 and not three.not_executed

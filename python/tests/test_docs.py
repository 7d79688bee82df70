import itertools
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["docs/how-to/python.md", "python/README.md"]


def blocks_of(page: str) -> list[str]:
    text = (ROOT / page).read_text()
    text = re.sub(r"<!-- not run: [^>]*-->\n```python\n.*?```", "", text, flags=re.DOTALL)
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # which the code writes files into
    blocks = blocks_of(page)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert capsys.readouterr().out


def kinds_of(cells: list[Any]) -> list[list[set[str]]]:
    """Return the kinds of the outputs of each cell of code: MIME types, or the name of a stream."""
    found = [
        [set(output.get("data", {})) or {output.get("name", output["output_type"])} for output in cell["outputs"]]
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    # What a cell prints comes in one output or in several, as the time goes.
    return [[kinds for kinds, _ in itertools.groupby(of_cell)] for of_cell in found]


def texts_of(cells: list[Any]) -> list[str]:
    """Return what each cell prints. All times are simulated, so that they are the same in every run."""
    return [
        "".join(output["text"] for output in cell["outputs"] if output.get("name") == "stdout")
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def test_the_notebook_runs_and_shows_what_it_shows_on_the_page():
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "docs/tutorial.ipynb", as_version=4)
    shown = kinds_of(notebook.cells)
    answers = texts_of(notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client.NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
    assert kinds_of(notebook.cells) == shown
    assert texts_of(notebook.cells) == answers
    assert sum("image/svg+xml" in kinds for cell in shown for kinds in cell) >= 2

"""Programs of users, written by reading the documentation alone (tests/users), as a new version must run them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from program import PROGRAM

USERS = Path(__file__).parents[2] / "tests" / "users"


def run(*command: object, folder: Path | None = None, **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("program", sorted(USERS.glob("python/*.py")), ids=lambda path: path.name)
def test_a_program_in_python(program, tmp_path):
    assert run(sys.executable, program, "virtual:h200", folder=tmp_path)


def test_a_prolog_of_slurm():
    assert "prolog.sh is right" in run("sh", USERS / "slurm" / "test_prolog.sh", "virtual:h200", PROGRAM)


def test_a_notebook():
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(USERS / "python" / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120).execute()
    assert all(cell.outputs for cell in notebook.cells[2:] if cell.cell_type == "code" and "print" in cell.source)

"""The program that the package holds, as its entry point starts it."""

import subprocess

import shiplap
from program import PROGRAM


def test_the_entry_point_is_the_program_of_this_version():
    printed = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    assert shiplap.__version__ in printed.splitlines()[0]


def test_a_reader_that_stops_early_is_no_error():
    # More than a pipe holds, so that the program must see that nobody reads.
    command = f"'{PROGRAM}' profiles show h200 --json | head -c 10; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert ended.stdout.endswith("141\n")  # 128 + SIGPIPE
    assert ended.stderr == ""

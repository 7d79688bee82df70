"""Runs the program shiplap, which is a file of this package."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replace this process by the program, with the same arguments."""
    program = Path(__file__).parent / "bin" / "shiplap"
    os.execv(program, ["shiplap", *sys.argv[1:]])


if __name__ == "__main__":
    main()

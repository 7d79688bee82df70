"""Runs the program shiplap, which is a file of this package."""

import os
import signal
import sys
from pathlib import Path


def main() -> None:
    """Replace this process by the program, with the same arguments."""
    # Python ignores these signals, and a program that is started would too: `shiplap … | head` would end with an error.
    for inherited in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(inherited, signal.SIG_DFL)
    program = Path(__file__).parent / "bin" / "shiplap"
    os.execv(program, ["shiplap", *sys.argv[1:]])


if __name__ == "__main__":
    main()

"""Where the program is that the package holds."""

import sys
from pathlib import Path

import shiplap

# Beside the interpreter, or where `pip install --target` puts it.
_PLACES = (Path(sys.executable).parent, Path(shiplap.__file__).parents[1] / "bin")
PROGRAM = next((place / "shiplap" for place in _PLACES if (place / "shiplap").exists()), _PLACES[0] / "shiplap")

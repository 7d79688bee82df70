"""How results print in notebooks, and how they become data frames."""

from __future__ import annotations

import html
import json
from typing import Any

# Seconds of the units in JSON.
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def object_of(text: str) -> dict[str, Any]:
    """Return the object that a JSON text holds."""
    found: dict[str, Any] = json.loads(text)
    return found


def preformatted(text: str) -> str:
    """Return the text for a notebook, with its columns aligned."""
    return f'<pre style="line-height: 1.25">{html.escape(text)}</pre>'


class Table:
    """A result with rows and a picture."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame. pandas must be installed."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(self.rows())

    def _repr_svg_(self) -> str:
        """Return the picture."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        # Notebooks show one of the forms of a result, and HTML before SVG.
        return preformatted(str(self)) + self._repr_svg_()

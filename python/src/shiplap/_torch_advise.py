"""Advice for a program that PyTorch's profiler has seen."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from shiplap import _core
from shiplap._arguments import flag, text
from shiplap._core import UsageError
from shiplap._show import SECONDS, Table, object_of


class Advice(Table):
    """What would make a recorded program faster. Times are in seconds."""

    def __init__(self, core: _core.Advice) -> None:
        self._core = core

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each piece of advice: its name, what to change, and the seconds of a step afterwards."""
        found = []
        for advice in self.to_dict()["advice"]:
            after = advice["with_before"]
            seconds = after["value"] * SECONDS[after["unit"]]
            found.append({"advice": advice["rule"], "what": advice["what"], "step": seconds, "bound": advice["bound"]})
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as ``shiplap advise --json`` prints it."""
        return object_of(self._core.to_json())

    def explain(self, all: bool = False) -> str:
        """What to change and what it saves; with `all` also how each change is made, and when it is allowed."""
        return self._core.text(flag("all", all))

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"Advice({self._core.line()})"

    def _repr_svg_(self) -> str:
        return self._core.picture()


def advise(profiler: Any, *, step: str = "") -> Advice:
    """Say what would make a program faster that PyTorch's profiler has seen.

    >>> with torch.profiler.profile() as profiler:
    ...     for batch in loader:
    ...         train(batch)
    ...         profiler.step()
    >>> print(shiplap.torch.advise(profiler))

    Parameters
    ----------
    profiler
        A ``torch.profiler.profile`` that has ended, or whose trace is ready
        (``on_trace_ready=lambda profiler: print(shiplap.torch.advise(profiler))``);
        or the path of a trace that it has written (``export_chrome_trace``, also ``.json.gz``), of a recording of
        ``shiplap advise``, or of an SQLite export of Nsight Systems.
    step
        Name of the range that is a step, as ``"ProfilerStep"``. Without it, what repeats is a step.

    Raises
    ------
    UsageError
        For anything else.
    Error
        When the trace has no work of a GPU.
    """
    step = text("step", step)
    if isinstance(profiler, (str, os.PathLike)):
        return Advice(_core.advise_file(os.fsdecode(profiler), step))
    export = getattr(profiler, "export_chrome_trace", None)
    if not callable(export):
        raise UsageError(
            f"`profiler` {profiler!r}: give a torch.profiler.profile that has ended, or the path of a trace"
        )
    with tempfile.TemporaryDirectory(prefix="shiplap-") as folder:
        trace = Path(folder) / "trace.json"
        export(str(trace))
        return Advice(_core.advise_file(str(trace), step))

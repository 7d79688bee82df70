"""What callers give: numbers, texts and functions, checked before the library gets them."""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from shiplap._core import UsageError

MOST = (1 << 63) - 1  # of bytes and items
MOST_SMALL = (1 << 32) - 1  # of chunks, runs, GPUs


def whole(name: str, value: Any, least: int = 0, most: int = MOST) -> int:
    """Return a whole number from ``least`` to ``most``; raise UsageError for anything else."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        raise UsageError(f"`{name}` {value!r}: give a whole number") from None
    if not least <= found <= most:
        raise UsageError(f"`{name}` {found}: give a whole number from {least} to {most}")
    return found


def real(name: str, value: Any, least: float = 0.0, most: float = math.inf) -> float:
    """Return a finite number from ``least`` to ``most``; raise UsageError for anything else."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)):
            raise TypeError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"`{name}` {value!r}: give a number") from None
    if not math.isfinite(found) or not least <= found <= most:
        limits = (
            f"a finite number of at least {least:g}" if math.isinf(most) else f"a number from {least:g} to {most:g}"
        )
        raise UsageError(f"`{name}` {found:g}: give {limits}")
    return found


def optional_real(name: str, value: Any, least: float = 0.0, most: float = math.inf) -> float | None:
    """Return None or a number as `real` does."""
    return None if value is None else real(name, value, least, most)


def flag(name: str, value: Any) -> bool:
    """Return True or False; raise UsageError for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise UsageError(f"`{name}` {value!r}: give True or False")
    return bool(value)


def text(name: str, value: Any) -> str:
    """Return a text; raise UsageError for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"`{name}` {value!r}: give a text")
    return value


def file_name(name: str, value: Any) -> str:
    """Return a text or a path as a text; raise UsageError for anything else."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise UsageError(f"`{name}` {value!r}: give a text or a path") from None


def function(name: str, value: Any) -> Callable[..., Any]:
    """Return a function that can be called and ends; raise UsageError for anything else."""
    if not callable(value):
        raise UsageError(f"{name} is a function, not {value!r}")
    called = value if inspect.isroutine(value) else getattr(value, "__call__", value)  # noqa: B004
    if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
        raise UsageError(f"{name} is an async function, which only begins when it is called: give a plain one")
    if inspect.isgeneratorfunction(called):
        raise UsageError(f"{name} is a generator, which only begins when it is called: give a function without yield")
    return value  # type: ignore[no-any-return]


def ended(name: str, returned: Any) -> Any:
    """Return what a function returned; raise UsageError when the function has not done its work yet."""
    if returned is None or not (
        inspect.isgenerator(returned) or inspect.isawaitable(returned) or inspect.isasyncgen(returned)
    ):
        return returned
    if inspect.iscoroutine(returned):
        returned.close()
    raise UsageError(
        f"{name} returned a {type(returned).__name__}, so it has only begun: give a function that does its work before "
        "it returns, without yield and async"
    )


def several(name: str, value: Any, one: Callable[[str, Any], Any]) -> list[Any]:
    """Return a list of what ``one`` accepts, from one value or from several."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) != 0:
        return [one(name, item) for item in value]
    return [one(name, value)]


def shape_of(shape: Any) -> tuple[int, ...]:
    """Return the shape of an array from a whole number or several; raise UsageError for anything else."""
    return tuple(several("shape", shape, whole))

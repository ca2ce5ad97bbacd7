"""Checks of options, and suggestions for misspelled names."""

from __future__ import annotations

import difflib
import inspect
import operator
import os
from collections.abc import Callable, Iterable


def whole_number(name: str, value: object, least: int) -> int:
    """Checks an integer option. Raises TypeError or ValueError with the name of the option."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return number


def seconds(name: str, value: float | None) -> float | None:
    """Checks a number of seconds; None means no limit. Raises TypeError or ValueError with the name of the option."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {value!r}")
    if not value >= 0:
        raise ValueError(f"{name} must be at least 0, not {value}")
    return float(value)


def folder(name: str, value: str | os.PathLike[str] | None) -> str:
    """Checks a folder; None becomes an empty text. Raises TypeError with the name of the option."""
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a folder, not {value!r}")
    return "" if value is None else os.fspath(value)


def options_of(function: Callable[..., object]) -> list[str]:
    """Returns the names of the keyword arguments of a function."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]


def did_you_mean(name: str, names: Iterable[str], prefix: str = "") -> str:
    """Returns ", did you mean 'x'?" for a similar name, or an empty text."""
    found = difflib.get_close_matches(name, list(names), 1)
    return f", did you mean {prefix}'{found[0]}'?" if found else ""

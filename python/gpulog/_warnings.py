"""Warnings at the line of the caller."""

from __future__ import annotations

import sys
import warnings


class ProgramWarning(UserWarning):
    """A warning about a program's text or about its results, issued through the warnings module."""


def warn(text: str) -> None:
    """Issues a ProgramWarning at the innermost line outside of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gpulog":
        level, frame = level + 1, frame.f_back
    warnings.warn(text.rstrip("\n"), ProgramWarning, stacklevel=level)

"""Time spent in a run."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RuleProfile:
    """A rule of a run, with all its versions."""

    rule: str
    """As in the program."""
    location: str
    """File and place."""
    seconds: float
    """Time of the joins, without the time of a stratum that belongs to no single rule."""
    candidates: int
    """Derived tuples, including duplicates."""
    tuples: int
    """New tuples; 0 if only counted per relation (storage "hisa")."""
    runs: int
    """Number of runs of all versions with input."""


@dataclass(frozen=True)
class Profile:
    """Time spent in a run. Displays as text, and as a table in notebooks."""

    phases: dict[str, float]
    """Seconds of compile, load, evaluate and write."""
    rules: tuple[RuleProfile, ...]
    """Sorted by time, longest first."""

    @classmethod
    def of_statistics(cls, figures: Mapping[str, Any]) -> Profile:
        sums: dict[tuple[str, str], list[Any]] = {}
        for stratum in figures["strata"]:
            for version in stratum["rules"]:
                sum_ = sums.setdefault((version["rule"], version["location"]), [0.0, 0, 0, 0])
                for place, name in enumerate(("seconds", "candidates", "tuples", "runs")):
                    sum_[place] += version[name]
        rules = [RuleProfile(rule, location, *sum_) for (rule, location), sum_ in sums.items()]
        rules.sort(key=lambda one: -one.seconds)
        phases = {name: figures[f"{name}_seconds"] for name in ("compile", "load", "evaluate", "write")}
        return cls(phases, tuple(rules))

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        return [
            (f"{one.seconds:.6f}", f"{one.candidates:,}", f"{one.tuples:,}", one.rule, one.location) for one in self.rules
        ]

    def __str__(self) -> str:
        lines = [", ".join(f"{name} {seconds:.6f} s" for name, seconds in self.phases.items())]
        rows = [_HEADS, *self._rows()]
        widths = [max(len(row[place]) for row in rows) for place in range(3)]
        for row in rows:
            numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
            lines.append("  ".join((*numbers, f"{row[3]}  {row[4]}")))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{head}</th>" for head in _HEADS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        phases = html.escape(str(self).partition("\n")[0])
        return f"<p>{phases}</p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


_HEADS = ("seconds", "candidates", "tuples", "rule", "place")

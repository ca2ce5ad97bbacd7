"""Tables for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

SHOWN_ROWS = 10
_WIDEST = 40


def _cell(value: Any) -> str:
    text = str(value).replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def text_table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Returns the lines of a table with numbers on the right."""
    lines = [list(heads), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    on_right = [bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(heads))]
    return ["  ".join(_aligned(line, widths, on_right)).rstrip() for line in lines]


def _aligned(line: Sequence[str], widths: Sequence[int], on_right: Sequence[bool]) -> Iterable[str]:
    for cell, width, is_right in zip(line, widths, on_right, strict=True):
        yield cell.rjust(width) if is_right else cell.ljust(width)


def html_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

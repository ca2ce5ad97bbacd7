"""Types and values of records and branches."""

from __future__ import annotations

import collections
import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Branch:
    """A value of an algebraic data type: `Branch("Node", Branch("Leaf"), 3)` is `$Node($Leaf, 3)` in a program."""

    __slots__ = ("fields", "name")
    __match_args__ = ("name", "fields")

    name: str
    fields: tuple[Any, ...]

    def __init__(self, name: str, *fields: Any) -> None:
        self.name = name
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Branch):
            return NotImplemented
        return self.name == other.name and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((self.name, self.fields))

    def __repr__(self) -> str:
        return f"Branch({', '.join(repr(one) for one in (self.name, *self.fields))})"


@dataclass(frozen=True)
class Field:
    """A field of a record or a branch."""

    name: str
    type: str
    """number, unsigned, float, symbol, record or adt."""
    structure: str
    """For records and branches: a key of `Program.types`."""


@dataclass(frozen=True)
class StructuredType:
    """A record type or an algebraic data type of a program."""

    name: str
    kind: str
    """Either record or adt."""
    fields: tuple[Field, ...]
    """For a record type."""
    branches: dict[str, tuple[Field, ...]]
    """For an algebraic data type: fields by branch."""
    record: Callable[..., Any] | None
    """For a record type: the class of the values, a named tuple."""

    @classmethod
    def of_core(
        cls,
        name: str,
        kind: str,
        fields: list[tuple[str, str, str]],
        branches: dict[str, list[tuple[str, str, str]]],
    ) -> StructuredType:
        declared = tuple(Field(*one) for one in fields)
        record = _named_tuple(name, [one.name for one in declared]) if kind == "record" else None
        return cls(name, kind, declared, {key: tuple(Field(*one) for one in of) for key, of in branches.items()}, record)


def _named_tuple(name: str, fields: list[str]) -> Callable[..., Any]:
    """Replaces names that Python does not allow."""
    allowed = re.sub(r"\W", "_", name)
    if keyword.iskeyword(allowed) or not allowed.isidentifier():
        allowed = f"_{allowed}"
    made: Callable[..., Any] = collections.namedtuple(allowed, fields, rename=True)  # type: ignore[misc]
    return made

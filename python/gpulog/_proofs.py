"""Why tuples are there, and why they are not."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any

from gpulog import _core


@dataclass(frozen=True)
class Proof:
    """Why a tuple is there, as a tree. As a text it is drawn with the conclusion at the bottom."""

    kind: str
    """"fact": it was given. "derived": by `rule` from `premises`. "cut": derived, too, but deeper than was asked for:
    `Engine.why` of its `text` goes on. "condition": no tuple, but a negation, a constraint, an aggregate or a range of
    the rule that holds. "unknown": it is there, and no proof is shown; `note` says why."""
    text: str
    """As in a program: `reach(1, "b")`, `!cut(2)`, `3 < 5`."""
    relation: str
    """Of a tuple."""
    height: int
    """Of a tuple: 0 of a fact, else one more than that of its highest premise."""
    is_least: bool
    """Whether no proof of it has less height."""
    rule: str
    """As the program has it."""
    rule_number: int
    """Among the rules of the relation, from 1; 0: the closure of an equivalence relation."""
    location: str
    """Of the rule: file and place in it."""
    note: str
    """For people, where there is more to say."""
    premises: tuple[Proof, ...]
    """In the order of the rule's body."""
    _shown: _core.Proof = field(repr=False, compare=False)

    @classmethod
    def of_core(cls, core: _core.Proof) -> Proof:
        premises = tuple(cls.of_core(premise) for premise in core.premises)
        return cls(
            core.kind,
            core.text,
            core.relation,
            core.height,
            core.is_least,
            core.rule,
            core.rule_number,
            core.location,
            core.note,
            premises,
            core,
        )

    def json(self) -> dict[str, Any]:
        """As the command's `format json` prints it."""
        made: dict[str, Any] = json.loads(self._shown.json())
        return made

    def __str__(self) -> str:
        return self._shown.drawing().rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class FailedRule:
    """A rule that does not derive a tuple, and what of its body holds."""

    conclusion: str
    """The tuple, as it was asked for."""
    rule_number: int
    """Among the rules of the relation, from 1."""
    rule: str
    """As the program has it."""
    location: str
    """File and place in it."""
    fits_head: bool
    """False: its head can never be this tuple; then there are no parts."""
    free_variables: list[str]
    """Those that neither the head nor the caller gives a value."""
    parts: list[tuple[str, bool | None]]
    """The literals of the body with the values that are known, and whether each holds; None: that depends on variables
    without a value."""
    _shown: _core.FailedRule = field(repr=False, compare=False)

    @classmethod
    def of_core(cls, asked: str, core: _core.FailedRule) -> FailedRule:
        return cls(
            asked, core.number, core.rule, core.location, core.fits_head, core.free_variables, core.parts, core
        )

    def __str__(self) -> str:
        return self._shown.drawing(self.conclusion).rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

"""Proofs: why tuples exist, and why not."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any

from gpulog import _core


@dataclass(frozen=True)
class Proof:
    """A proof tree: why a tuple exists. As text, the tree is drawn with the conclusion at the bottom."""

    kind: str
    """The kind of the node. "fact": a given fact. "derived": derived by `rule` from `premises`. "cut": derived, but
    below the depth limit: continue with `Engine.why` of `text`. "condition": not a tuple, but a negation, constraint,
    aggregate or range of the rule, which holds. "unknown": exists, but no proof is available; `note` says why.
    """
    text: str
    """As in a program: `reach(1, "b")`, `!cut(2)`, `3 < 5`."""
    relation: str
    """For a tuple."""
    height: int
    """For a tuple: 0 for a fact, otherwise one more than its highest premise."""
    is_least: bool
    """Whether the height is minimal."""
    rule: str
    """As in the program."""
    rule_number: int
    """1-based number among the rules of the relation; 0: closure of an equivalence relation."""
    location: str
    """Of the rule: file and place."""
    note: str
    """Additional explanation."""
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
        """Returns the proof as printed by the command's `format json`."""
        made: dict[str, Any] = json.loads(self._shown.json())
        return made

    def __str__(self) -> str:
        return self._shown.drawing().rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class FailedRule:
    """A rule that does not derive a tuple, and which literals of its body hold."""

    conclusion: str
    """The tuple, as given by the caller."""
    rule_number: int
    """1-based number among the rules of the relation."""
    rule: str
    """As in the program."""
    location: str
    """File and place."""
    fits_head: bool
    """False: the head can never equal this tuple, and `parts` is empty."""
    free_variables: list[str]
    """Variables with a value neither from the head nor from the caller."""
    parts: list[tuple[str, bool | None]]
    """The literals of the body with their known values, and whether each literal holds; None: depends on variables
    without a value.
    """
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

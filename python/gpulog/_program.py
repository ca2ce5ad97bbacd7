"""Programs: their text, what is wrong with it, and what they declare."""

import html
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gpulog import _core
from gpulog._structures import Branch, StructuredType


@dataclass(frozen=True)
class Diagnostic:
    """One remark on a program's text."""

    level: str
    """"error" or "warning"."""
    message: str
    """Without place."""
    file: str
    """Empty where the remark has no place."""
    line: int
    """From 1; 0 where the remark has no place."""
    column: int
    """From 1, in bytes."""
    text: str
    """The whole remark: message, place, source line, caret."""


class ProgramError(_core.Error):
    """A program was rejected. `diagnostics` has every remark; `file`, `line`, `column`, `message` are the first error's."""

    def __init__(self, report: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(report)
        self.diagnostics = diagnostics
        first = next(one for one in diagnostics if one.level == "error")
        self.message, self.file, self.line, self.column = first.message, first.file, first.line, first.column
        self.text = first.text


class ProgramWarning(UserWarning):
    """A warning of a program's text, given by the warnings module."""


@dataclass(frozen=True)
class Attribute:
    """Name and type of a column."""

    name: str
    type: str
    """One of number, unsigned, float, symbol, record, adt."""
    declared_type: str
    """Its name in the text."""
    structure: str = ""
    """Of records and branches: the name of one of `Program.types`."""


@dataclass(frozen=True)
class Declaration:
    """A relation as the text declares it."""

    name: str
    attributes: tuple[Attribute, ...]
    is_input: bool
    """There is an .input directive."""
    is_output: bool
    """There is an .output directive."""


class Plan(str):
    """A stage of the way from text to plan. A notebook shows it as it is."""

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


def attributes_of(columns: Iterable[tuple[str, str, str, str]]) -> tuple[Attribute, ...]:
    return tuple(Attribute(*column) for column in columns)


def _is_path(source: str | os.PathLike[str]) -> bool:
    if not isinstance(source, str):
        return True
    return "\n" not in source and (source.endswith(".dl") or os.path.isfile(source))


class Program:
    """A program that was read, checked and planned; any number of engines may run it.

    source: the text, or the path of a file: a pathlib.Path, or a str of one line that ends in ".dl" or names a file.
    filled: relations that the caller inserts into; no file is read for them.
    Raises ProgramError for a program with errors, and InputError for a file that cannot be read.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        filled: Iterable[str] = (),
        include: Iterable[str | os.PathLike[str]] = (),
        macros: Mapping[str, object] | None = None,
        pragmas: Mapping[str, str] | None = None,
        word_size: int = 32,
        name: str = "program.dl",
        warn: bool = True,
    ) -> None:
        self.core = _core.compile(
            text=os.fspath(source),
            is_file=_is_path(source),
            name=name,
            include=[os.fspath(folder) for folder in include],
            macros=[f"{key}={value}" for key, value in (macros or {}).items()],
            pragmas=list((pragmas or {}).items()),
            word_size=word_size,
            filled=list(filled),
        )
        self.diagnostics = [Diagnostic(*remark) for remark in self.core.diagnostics()]
        if not self.core.ok:
            raise ProgramError(self.core.report, self.diagnostics)
        if warn:
            for remark in self.diagnostics:
                warnings.warn(remark.text.rstrip("\n"), ProgramWarning, stacklevel=2)

    @property
    def relations(self) -> list[Declaration]:
        """All declared relations, in the order of the text."""
        return [
            Declaration(name, attributes_of(columns), is_input, is_output)
            for name, columns, is_input, is_output in self.core.relations()
        ]

    @cached_property
    def types(self) -> dict[str, StructuredType]:
        """Record types and algebraic data types by their names, in the order of the text."""
        return {one[0]: StructuredType.of_core(*one) for one in self.core.types()}

    @cached_property
    def structures(self) -> _core.Structures:
        """What makes values of Python of records and branches, and the other way round."""
        records = {name: one.record for name, one in self.types.items() if one.record is not None}
        return _core.Structures(self.core, records, Branch)

    @property
    def word_size(self) -> int:
        """Bits of numbers, unsigned numbers and floats."""
        return self.core.word_size

    def show(self, stage: str = "transformed-ram") -> Plan:
        """A stage of the way from text to plan, as the command's --show prints it."""
        return Plan(self.core.show(stage))

    def __repr__(self) -> str:
        return f"<gpulog.Program of {len(self.relations)} relations>"

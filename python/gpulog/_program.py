"""Programs: text, diagnostics and declarations."""

import html
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gpulog import _core
from gpulog._structures import Branch, StructuredType
from gpulog._warnings import warn as _warn


@dataclass(frozen=True)
class Diagnostic:
    """An error or a warning about a program's text."""

    level: str
    """Either "error" or "warning"."""
    message: str
    """Without the place."""
    file: str
    """Empty if the diagnostic has no place."""
    line: int
    """1-based; 0 if the diagnostic has no place."""
    column: int
    """1-based, in bytes."""
    text: str
    """The whole diagnostic: message, place, source line, caret."""


class ProgramError(_core.Error):
    """A program has errors. `diagnostics` has all diagnostics; `file`, `line`, `column`, `message` describe the first
    error.
    """

    def __init__(self, report: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(report)
        self.diagnostics = diagnostics
        first = next(one for one in diagnostics if one.level == "error")
        self.message, self.file, self.line, self.column = first.message, first.file, first.line, first.column
        self.text = first.text


@dataclass(frozen=True)
class Attribute:
    """Name and type of a column."""

    name: str
    type: str
    """number, unsigned, float, symbol, record or adt."""
    declared_type: str
    """The type's name in the text."""
    structure: str = ""
    """For records and branches: a key of `Program.types`."""


def signature(name: str, attributes: Iterable[Attribute]) -> str:
    """Returns a declaration such as `edge(x:symbol, y:symbol)`."""
    return f"{name}({', '.join(f'{one.name}:{one.declared_type or one.type}' for one in attributes)})"


@dataclass(frozen=True)
class Declaration:
    """A declared relation."""

    name: str
    attributes: tuple[Attribute, ...]
    is_input: bool
    """Whether the relation has an .input directive."""
    is_output: bool
    """Whether the relation has an .output directive."""

    def __str__(self) -> str:
        return signature(self.name, self.attributes)


class Plan(str):
    """A stage between text and plan. Notebooks show the text unchanged."""

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

    source: the text, or the path of a file: a pathlib.Path, or a single-line str that ends in ".dl" or names a file.
    filled: relations that the caller fills; gpulog reads no files for these relations.
    word_size: bits of numbers, 32 or 64. warn: whether to issue ProgramWarnings.
    portable: whether to warn about each extension that Soufflé does not have.
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
        portable: bool = False,
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
            portable=portable,
        )
        self.diagnostics = [Diagnostic(*remark) for remark in self.core.diagnostics()]
        if not self.core.ok:
            raise ProgramError(self.core.report, self.diagnostics)
        if warn:
            for remark in self.diagnostics:
                _warn(remark.text)

    @property
    def relations(self) -> list[Declaration]:
        """All declared relations, in the order of the text."""
        return [
            Declaration(name, attributes_of(columns), is_input, is_output)
            for name, columns, is_input, is_output in self.core.relations()
        ]

    @property
    def inputs(self) -> list[Declaration]:
        """The relations with an .input directive."""
        return [one for one in self.relations if one.is_input]

    @property
    def outputs(self) -> list[Declaration]:
        """The relations with an .output directive."""
        return [one for one in self.relations if one.is_output]

    @cached_property
    def types(self) -> dict[str, StructuredType]:
        """Record types and algebraic data types by name, in the order of the text."""
        return {one[0]: StructuredType.of_core(*one) for one in self.core.types()}

    @cached_property
    def structures(self) -> _core.Structures:
        """Converts records and branches between program values and Python objects."""
        records = {name: one.record for name, one in self.types.items() if one.record is not None}
        return _core.Structures(self.core, records, Branch)

    @property
    def word_size(self) -> int:
        """Bits of numbers, unsigned numbers and floats."""
        return self.core.word_size

    def show(self, stage: str = "transformed-ram") -> Plan:
        """Returns a stage between text and plan, as printed by --show."""
        return Plan(self.core.show(stage))

    def __repr__(self) -> str:
        return f"<gpulog.Program of {len(self.relations)} relations>"

"""Engines and their relations."""

from __future__ import annotations

import html
import inspect
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gpulog import _core, _functors, _inputs
from gpulog._program import Attribute, Program, attributes_of
from gpulog._profile import Profile
from gpulog._proofs import FailedRule, Proof

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

Progress = Callable[[int, int, int, int, float], object]

_ROWS_AT_A_TIME = 4096
_ROWS_IN_NOTEBOOKS = 10


class Relation:
    """A relation of an engine: the inserted facts, and after an evaluation all derived tuples.

    The order of tuples is unspecified. Libraries with Arrow support accept a relation directly:
    `polars.DataFrame(relation)`, `pyarrow.table(relation)`, and DuckDB by the name of a variable.
    """

    def __init__(self, engine: _core.Engine, name: str) -> None:
        self._engine = engine
        self.name = name
        self.attributes: tuple[Attribute, ...] = attributes_of(engine.attributes(name))

    @property
    def columns(self) -> list[str]:
        """The names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    def insert(self, facts: Any) -> None:
        """Adds facts (all or none): rows, columns by name, a data frame, an array, or any Arrow data."""
        _inputs.insert(self._engine, self.name, facts)

    def erase(self, rows: Iterable[Any]) -> None:
        """Removes rows from the facts; tuples that rules derive stay.

        A relation with one attribute also accepts plain values as rows.
        """
        self._engine.erase(self.name, [row if isinstance(row, tuple) else (row,) for row in rows])

    def __len__(self) -> int:
        return self._engine.size(self.name)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        table = self._engine.rows(self.name)
        for first in range(0, table.rows, _ROWS_AT_A_TIME):
            yield from table.fetch(first, _ROWS_AT_A_TIME)

    def __contains__(self, row: object) -> bool:
        """Returns whether the relation contains a tuple; a relation with one attribute also accepts a plain value."""
        return self._engine.contains(self.name, row if isinstance(row, tuple) else (row,))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Returns all tuples. Texts with invalid UTF-8 use Python's surrogate escapes; records are named tuples, `nil`
        is None, and branches are instances of `Branch`.
        """
        table = self._engine.rows(self.name)
        return table.fetch(0, table.rows)

    def stream(self, *, dictionaries: bool = False, binary: bool = False) -> ArrowRows:
        """Returns an Arrow source, optionally with symbols as dictionary arrays or texts as bytes."""
        return ArrowRows(self, dictionaries, binary)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._engine.stream(self.name, False, False)

    def arrow(self, *, dictionaries: bool = False) -> pyarrow.Table:
        """Returns a pyarrow table; numbers are not copied."""
        import pyarrow

        return pyarrow.table(self.stream(dictionaries=dictionaries))

    def pl(self, *, dictionaries: bool = False) -> polars.DataFrame:
        """Returns a polars data frame."""
        import polars

        return polars.DataFrame(self.stream(dictionaries=dictionaries))

    def df(self) -> pandas.DataFrame:
        """Returns a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.numpy())

    def numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns NumPy arrays by attribute. Numbers are read-only and not copied; symbols are objects."""
        import numpy

        table = self._engine.rows(self.name)
        result: dict[str, numpy.ndarray[Any, Any]] = {}
        for place, attribute in enumerate(self.attributes):
            if attribute.type in ("number", "unsigned", "float"):
                result[attribute.name] = numpy.asarray(table.numbers(place))
            elif attribute.type == "symbol" and table.pieces <= 1:
                texts = numpy.array(table.texts(place), dtype=object)
                result[attribute.name] = texts[numpy.asarray(table.numbers(place))]
            else:
                result[attribute.name] = numpy.array(table.objects(place), dtype=object)
        return result

    def column(self, name: str) -> Any:
        """Returns a column of numbers without a copy: a read-only array with `__dlpack__` and the buffer protocol."""
        return self._engine.rows(self.name).numbers(self._place_of_numbers(name))

    def device_column(self, name: str) -> Any:
        """Returns a column in device memory, with `__dlpack__`, or None if the column is in host memory.

        For libraries that use the device, such as CuPy and PyTorch. Read-only; only for 32-bit columns.
        """
        return self._engine.on_device(self.name, self._place_of_numbers(name))

    def _place_of_numbers(self, name: str) -> int:
        place = self.columns.index(name) if name in self.columns else -1
        if place < 0 or self.attributes[place].type not in ("number", "unsigned", "float"):
            raise _core.InputError(f"relation {self.name} has no column of numbers that is named {name}")
        return place

    def __repr__(self) -> str:
        columns = ", ".join(f"{one.name}:{one.declared_type}" for one in self.attributes)
        return f"<gpulog.Relation {self.name}({columns}) of {len(self)} tuples>"

    def _repr_html_(self) -> str:
        cell = "<td>{}</td>".format
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>" + "".join(cell(html.escape(str(value))) for value in row) + "</tr>"
            for row in itertools.islice(self, _ROWS_IN_NOTEBOOKS)
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table><p>{len(self):,} tuples</p>"


class ArrowRows:
    """A relation as an Arrow source in a given form."""

    def __init__(self, relation: Relation, dictionaries: bool, binary: bool) -> None:
        self._relation, self._dictionaries, self._binary = relation, dictionaries, binary

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation._engine.stream(self._relation.name, self._dictionaries, self._binary)


class Engine:
    """Runs a program and holds its relations, by name.

    A program given as text or path may have relations that are filled later, without a warning.
    facts, output: folders of .input and .output files. jobs: threads, 0 for all processors. memory_limit: in bytes.
    proofs: enables `why` and `why_not`.
    functors: functions by the names in .functor declarations; several threads of the engine may call a function, but
    one at a time. Functions marked with `batched` receive NumPy arrays, all other functions the values of one row.
    Several engines may run in several threads; calling an engine during a running call raises InputError.
    """

    def __init__(
        self,
        program: Program | str | os.PathLike[str],
        *,
        facts: str | os.PathLike[str] = ".",
        output: str | os.PathLike[str] | None = None,
        jobs: int = 0,
        backend: str = "auto",
        device: int = 0,
        storage: str = "auto",
        memory_limit: int = 0,
        proofs: bool = False,
        functor_libraries: Iterable[str] = (),
        functor_directories: Iterable[str] = (),
        functors: Mapping[str, _functors.Functor] | None = None,
        tuning: Mapping[str, str] | None = None,
    ) -> None:
        self.program = program if isinstance(program, Program) else Program(program, warn=False)
        self._functors = _functors.for_core(functors or {})
        self._core = _core.Engine(
            source=self.program.core,
            structures=self.program.structures,
            facts=os.fspath(facts),
            output="" if output is None else os.fspath(output),
            jobs=jobs,
            backend=backend,
            device=device,
            storage=storage,
            memory_limit=memory_limit,
            proofs=proofs,
            functor_libraries=list(functor_libraries),
            functor_directories=list(functor_directories),
            functors=list(self._functors),
            tuning=dict(tuning or {}),
        )
        self._names = [name for name, _ in self._core.relations()]

    def __getitem__(self, name: str) -> Relation:
        """Returns the relation with this name. Raises InputError, with a suggestion, if no such relation exists."""
        return Relation(self._core, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names)

    @property
    def relations(self) -> list[Relation]:
        """All declared relations, in the order of the text."""
        return [self[name] for name in self._names]

    def load(self) -> None:
        """Reads the files of all .input directives, except for filled relations of the program."""
        self._core.load()

    def evaluate(self, progress: Progress | bool | None = None) -> None:
        """Evaluates the program. Further Python threads keep running, and KeyboardInterrupt stops the evaluation.

        After inserting or erasing facts, evaluates again and updates the dependent relations. After an exception, the
        engine supports only reset(). Exceptions from a functor propagate to the caller.

        progress: called regularly with stratum, number of strata, iteration, tuples and seconds; True shows a tqdm
        progress line.
        """
        if progress is True:
            with _tqdm() as show:
                self._core.evaluate(show, self._functors)
        else:
            self._core.evaluate(progress or None, self._functors)

    def why(self, tuple: str, depth: int = 4) -> Proof | None:
        """Explains why a tuple exists, by a proof of minimal height; returns None if the tuple does not exist.

        tuple: as in a program: `reach(1, "b")`. depth: levels of tuples in the tree, at least 2; deeper tuples are cut.
        Requires `proofs=True` and an evaluation. The first calls build indexes of the relations that they read.
        """
        found = self._core.why(tuple, depth, self._functors)
        return None if found is None else Proof.of_core(found)

    def why_not(self, tuple: str, **values: object) -> list[FailedRule]:
        """Explains, for a tuple that does not exist, which literals of each rule's body hold.

        values: values of variables that the tuple does not bind, as in a program; a text is `'"b"'`.
        """
        given = {name: str(value) for name, value in values.items()}
        return [FailedRule.of_core(tuple, one) for one in self._core.why_not(tuple, given, self._functors)]

    def write(self) -> None:
        """Writes the files of all .output directives (all or nothing)."""
        self._core.write()

    def reset(self) -> None:
        """Discards all facts and results. Existing arrays and data frames stay valid."""
        self._core.reset()

    def cancel(self) -> None:
        """Cancels the running call of a different thread, which raises Cancelled."""
        self._core.cancel()

    @property
    def statistics(self) -> dict[str, Any]:
        """Figures up to now: times, tuples, bytes and the plan of each rule."""
        figures: dict[str, Any] = json.loads(self._core.statistics())
        return figures

    def profile(self) -> Profile:
        """Returns the time spent: seconds per phase and per rule, with the tuples derived."""
        return Profile.of_statistics(self.statistics)

    def __repr__(self) -> str:
        return f"<gpulog.Engine of {len(self)} relations>"


class _tqdm:
    """A tqdm line as a progress callback."""

    def __enter__(self) -> _tqdm:
        from tqdm.auto import tqdm

        self._line = tqdm(unit=" tuples", unit_scale=True)
        return self

    def __call__(self, stratum: int, strata: int, iteration: int, tuples: int, seconds: float) -> None:
        self._line.set_description(f"stratum {stratum + 1} of {strata}, iteration {iteration}", refresh=False)
        self._line.n = tuples
        self._line.refresh()

    def __exit__(self, *_: object) -> None:
        self._line.close()


def _options_of(function: Callable[..., object]) -> frozenset[str]:
    parameters = inspect.signature(function).parameters.values()
    return frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


_OPTIONS_OF_PROGRAMS = _options_of(Program) - {"filled", "name", "pragmas"}
_OPTIONS_OF_ENGINES = _options_of(Engine)


def run(
    program: Program | str | os.PathLike[str],
    inputs: Mapping[str, Any] | None = None,
    *,
    progress: Progress | bool | None = None,
    **options_and_facts: Any,
) -> Engine:
    """Runs a program on facts, and returns the engine with the results.

    program: a text, a path, or a Program. options: `include`, `macros`, `word_size` and `warn` of Program, and all
    options of Engine. All further keyword arguments are facts by relation name; use `inputs` if a relation has the name
    of an option. Relations without given facts are read from the files of their .input directives. Files of .output
    directives are written if `output` names a folder.
    """
    others = dict(options_and_facts)
    reading = {name: others.pop(name) for name in _OPTIONS_OF_PROGRAMS & others.keys()}
    running = {name: others.pop(name) for name in _OPTIONS_OF_ENGINES & others.keys()}
    given = {**(inputs or {}), **others}
    if not isinstance(program, Program):
        program = Program(program, filled=given, **reading)
    engine = Engine(program, **running)
    for name, facts in given.items():
        engine[name].insert(facts)
    engine.load()
    engine.evaluate(progress)
    if running.get("output") is not None:
        engine.write()
    return engine

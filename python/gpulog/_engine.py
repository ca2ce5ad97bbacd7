"""Engines, and the relations that they have."""

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

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

Progress = Callable[[int, int, int, int, float], object]

_ROWS_AT_A_TIME = 4096
_ROWS_IN_NOTEBOOKS = 10


class Relation:
    """A relation of an engine: what was inserted, and after an evaluation all that follows.

    It has no order to rely on. Libraries that know Arrow take it as it is: `polars.DataFrame(relation)`,
    `pyarrow.table(relation)`, and DuckDB by the name of a variable.
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
        """Adds facts: rows, columns by name, a data frame, an array, or whatever gives Arrow data. All or none."""
        _inputs.insert(self._engine, self.name, facts)

    def erase(self, rows: Iterable[Any]) -> None:
        """Takes rows away from the facts; tuples that rules derive stay.

        Of a relation with one attribute, values alone are rows, too.
        """
        self._engine.erase(self.name, [row if isinstance(row, tuple) else (row,) for row in rows])

    def __len__(self) -> int:
        return self._engine.size(self.name)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        table = self._engine.rows(self.name)
        for first in range(0, table.rows, _ROWS_AT_A_TIME):
            yield from table.fetch(first, _ROWS_AT_A_TIME)

    def __contains__(self, row: object) -> bool:
        """Whether it has the tuple; of a relation with one attribute, the value alone is a tuple, too."""
        return self._engine.contains(self.name, row if isinstance(row, tuple) else (row,))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All tuples. Texts that are no UTF-8 come as Python's surrogate escapes; records are texts."""
        table = self._engine.rows(self.name)
        return table.fetch(0, table.rows)

    def stream(self, *, dictionaries: bool = False, binary: bool = False) -> ArrowRows:
        """What gives Arrow data, with symbols as dictionary arrays, or texts as bytes, if asked for."""
        return ArrowRows(self, dictionaries, binary)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._engine.stream(self.name, False, False)

    def arrow(self, *, dictionaries: bool = False) -> pyarrow.Table:
        """As a table of pyarrow; numbers are not copied."""
        import pyarrow

        return pyarrow.table(self.stream(dictionaries=dictionaries))

    def pl(self, *, dictionaries: bool = False) -> polars.DataFrame:
        """As a data frame of polars."""
        import polars

        return polars.DataFrame(self.stream(dictionaries=dictionaries))

    def df(self) -> pandas.DataFrame:
        """As a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.numpy())

    def numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """As arrays of NumPy by attribute. Numbers are not copied and cannot be written; symbols are objects."""
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
        """The numbers of a column, not copied: an array with `__dlpack__` and the buffer protocol, read only."""
        place = self.columns.index(name) if name in self.columns else -1
        if place < 0 or self.attributes[place].type not in ("number", "unsigned", "float"):
            raise _core.InputError(f"relation {self.name} has no column of numbers that is named {name}")
        return self._engine.rows(self.name).numbers(place)

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
    """A relation that gives Arrow data in a certain form."""

    def __init__(self, relation: Relation, dictionaries: bool, binary: bool) -> None:
        self._relation, self._dictionaries, self._binary = relation, dictionaries, binary

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._relation._engine.stream(self._relation.name, self._dictionaries, self._binary)


class Engine:
    """A program that runs: its relations, by name.

    A program that is given as text or path may have relations that are filled later: of those nothing is warned.
    facts, output: folders of .input and .output files. jobs: threads, 0 for all processors. memory_limit: in bytes.
    functors: functions by the names that .functor declares; several threads of the engine may call them, but only one
    at a time. Those that `batched` marks get arrays of NumPy, the others the values of one row.
    Several engines may work in several threads; a call that comes while an engine works is an InputError.
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
        functor_libraries: Iterable[str] = (),
        functor_directories: Iterable[str] = (),
        functors: Mapping[str, _functors.Functor] | None = None,
        tuning: Mapping[str, str] | None = None,
    ) -> None:
        self.program = program if isinstance(program, Program) else Program(program, warn=False)
        self._functors = _functors.for_core(functors or {})
        self._core = _core.Engine(
            source=self.program.core,
            facts=os.fspath(facts),
            output="" if output is None else os.fspath(output),
            jobs=jobs,
            backend=backend,
            device=device,
            storage=storage,
            memory_limit=memory_limit,
            functor_libraries=list(functor_libraries),
            functor_directories=list(functor_directories),
            functors=list(self._functors),
            tuning=dict(tuning or {}),
        )
        self._names = [name for name, _ in self._core.relations()]

    def __getitem__(self, name: str) -> Relation:
        """The relation of that name. Raises InputError where there is none, with one that is close."""
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
        """Reads the files of all .input directives, but for relations that the program has as filled."""
        self._core.load()

    def evaluate(self, progress: Progress | bool | None = None) -> None:
        """Evaluates the program. Other threads of Python go on meanwhile, and KeyboardInterrupt ends it.

        It may be called again when facts were inserted or erased: what depends on them is brought up to date. Where it
        raises an exception, the engine can only be reset. What a functor raises comes out of it.

        progress: called now and then with stratum, number of strata, iteration, tuples and seconds; True shows a line of
        tqdm.
        """
        if progress is True:
            with _tqdm() as show:
                self._core.evaluate(show, self._functors)
        else:
            self._core.evaluate(progress or None, self._functors)

    def write(self) -> None:
        """Writes the files of all .output directives, or none of them."""
        self._core.write()

    def reset(self) -> None:
        """Forgets all facts and results. Arrays and frames that were made of them stay as they are."""
        self._core.reset()

    def cancel(self) -> None:
        """Ends what the engine does in another thread, which raises Cancelled."""
        self._core.cancel()

    @property
    def statistics(self) -> dict[str, Any]:
        """What was done up to now: times, tuples, bytes and the plan of each rule."""
        figures: dict[str, Any] = json.loads(self._core.statistics())
        return figures

    def __repr__(self) -> str:
        return f"<gpulog.Engine of {len(self)} relations>"


class _tqdm:
    """A line of tqdm, as a function that is told the progress."""

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
    """Runs a program on facts, and gives the engine with its results.

    program: a text, a path, or a Program. options: `include`, `macros`, `word_size` and `warn` of Program, all of Engine.
    Facts by the names of their relations are the other keyword arguments, or in `inputs` where the name is one of an
    option. Files of .input directives are read for the other relations, and those of .output directives are written where
    `output` names a folder.
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

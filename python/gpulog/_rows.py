"""Relations and answers: rows that convert to the types of other libraries."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from gpulog import _core, _inputs, _views
from gpulog._program import Attribute, attributes_of, signature

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

_ROWS_AT_A_TIME = 4096


class Rows:
    """Rows with named and typed columns; their order is unspecified.

    Libraries with Arrow support accept rows directly: `polars.DataFrame(rows)`, `pyarrow.table(rows)`, and DuckDB by the
    name of a variable.
    """

    name: str
    """The name of the relation, or the text of the query."""
    attributes: tuple[Attribute, ...]

    def _table(self) -> _core.Table:
        raise NotImplementedError

    def _stream(self, dictionaries: bool, binary: bool) -> object:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def columns(self) -> list[str]:
        """The names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        table = self._table()
        for first in range(0, table.rows, _ROWS_AT_A_TIME):
            yield from table.fetch(first, _ROWS_AT_A_TIME)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Returns all tuples. Texts with invalid UTF-8 use Python's surrogate escapes; records are named tuples, `nil`
        is None, and branches are instances of `Branch`.
        """
        table = self._table()
        return table.fetch(0, table.rows)

    def rows(self, *, named: bool = False) -> list[Any]:
        """Returns all tuples like `fetchall`, or with `named` a dictionary per tuple."""
        if not named:
            return self.fetchall()
        return [dict(zip(self.columns, row, strict=True)) for row in self.fetchall()]

    def stream(self, *, dictionaries: bool = False, binary: bool = False) -> ArrowRows:
        """Returns an Arrow source, optionally with symbols as dictionary arrays or texts as bytes."""
        return ArrowRows(self, dictionaries, binary)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream(False, False)

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

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a Parquet file, with pyarrow or else with polars."""
        try:
            from pyarrow import parquet
        except ImportError:
            self.pl().write_parquet(os.fspath(path))
        else:
            parquet.write_table(self.arrow(), os.fspath(path))

    def numpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns NumPy arrays by attribute. Numbers are read-only and not copied; symbols are objects."""
        import numpy

        table = self._table()
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
        return self._table().numbers(self._place_of_numbers(name))

    def _place_of_numbers(self, name: str) -> int:
        place = self.columns.index(name) if name in self.columns else -1
        if place < 0 or self.attributes[place].type not in ("number", "unsigned", "float"):
            raise _core.InputError(f"relation {self.name} has no column of numbers that is named {name}")
        return place

    def _title(self) -> str:
        return signature(self.name, self.attributes)

    def _size(self) -> str:
        return f"{len(self):,} tuple{'' if len(self) == 1 else 's'}"

    def __repr__(self) -> str:
        return f"<gpulog.{type(self).__name__} {self._title()} of {self._size()}>"

    def __str__(self) -> str:
        """Returns name, size and the first ten rows as a table."""
        table = self._table()
        lines = [f"{self._title()}: {self._size()}"]
        if self.attributes:
            lines += _views.text_table(self.columns, table.fetch(0, _views.SHOWN_ROWS))
        if table.rows > _views.SHOWN_ROWS:
            lines.append(f"... {table.rows - _views.SHOWN_ROWS:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = self._table()
        shown = _views.html_table(self.columns, table.fetch(0, _views.SHOWN_ROWS))
        return f"<p>{html.escape(self._title())}</p>{shown}<p>{self._size()}</p>"


class Relation(Rows):
    """A relation of an engine: the inserted facts, and after an evaluation all derived tuples."""

    def __init__(self, engine: _core.Engine, name: str) -> None:
        self._engine = engine
        self.name = name
        self.attributes = attributes_of(engine.attributes(name))

    def insert(self, facts: Any) -> None:
        """Adds facts (all or none): rows, dictionaries, columns by name, a data frame, an array, or any Arrow data."""
        _inputs.insert(self._engine, self.name, facts)

    def erase(self, facts: Any) -> None:
        """Removes tuples from the facts, in any form that `insert` takes; tuples that rules derive stay."""
        _inputs.erase(self._engine, self.name, facts)

    def __len__(self) -> int:
        return self._engine.size(self.name)

    def __contains__(self, row: object) -> bool:
        """Returns whether the relation contains a tuple; a relation with one attribute also accepts a plain value."""
        return self._engine.contains(self.name, row if isinstance(row, tuple) else (row,))

    def device_column(self, name: str) -> Any:
        """Returns a column in device memory, with `__dlpack__`, or None if the column is in host memory.

        For libraries that use the device, such as CuPy and PyTorch. Read-only; only for 32-bit columns.
        """
        return self._engine.on_device(self.name, self._place_of_numbers(name))

    def _table(self) -> _core.Table:
        return self._engine.rows(self.name)

    def _stream(self, dictionaries: bool, binary: bool) -> object:
        return self._engine.stream(self.name, dictionaries, binary)


class Answer(Rows):
    """The rows of a query, with a column per variable, or tuples of `Changes`, with the columns of the relation. An answer
    does not change when the engine changes.

    A query without variables has one row, the empty tuple, if it holds.
    """

    def __init__(self, core: _core.Answer, query: str) -> None:
        self._core = core
        self.name = query
        self.attributes = attributes_of(core.attributes())

    def __len__(self) -> int:
        return self._core.size()

    def __contains__(self, row: object) -> bool:
        """Returns whether the answer contains a tuple; an answer with one column also accepts a plain value."""
        return (row if isinstance(row, tuple) else (row,)) in self._set

    @cached_property
    def _set(self) -> frozenset[tuple[Any, ...]]:
        return frozenset(self.fetchall())

    def _table(self) -> _core.Table:
        return self._core.rows()

    def _stream(self, dictionaries: bool, binary: bool) -> object:
        return self._core.stream(dictionaries, binary)

    def _title(self) -> str:
        return self.name


class Changes(NamedTuple):
    """The tuples that an evaluation added to a relation and removed; they do not change when the engine changes."""

    added: Answer
    removed: Answer

    def __bool__(self) -> bool:
        """Returns whether the relation changed."""
        return len(self.added) + len(self.removed) != 0


class ArrowRows:
    """Rows as an Arrow source in a given form."""

    def __init__(self, rows: Rows, dictionaries: bool, binary: bool) -> None:
        self._rows, self._dictionaries, self._binary = rows, dictionaries, binary

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows._stream(self._dictionaries, self._binary)

"""Converts facts in rows or columns to streams of Arrow arrays."""

from collections.abc import Mapping
from typing import Any

from gpulog import _core
from gpulog._program import Attribute, attributes_of


def insert(engine: _core.Engine, name: str, facts: Any) -> None:
    """Adds all facts to a relation or, on an error, no fact."""
    _change(engine, name, facts, erases=False)


def erase(engine: _core.Engine, name: str, facts: Any) -> None:
    """Removes all facts from a relation or, on an error, no fact."""
    _change(engine, name, facts, erases=True)


def _change(engine: _core.Engine, name: str, facts: Any, *, erases: bool) -> None:
    arity = len(engine.attributes(name))
    if _is_of(facts, "polars") and hasattr(facts, "collect"):  # a LazyFrame
        facts = facts.collect()
    columns = _columns_of(facts)
    if columns is None and _is_on_device(facts):
        columns = [facts]
    if columns is not None:
        engine.change_columns(name, _streams(engine, name, columns), erases)
    elif hasattr(facts, "__arrow_c_stream__"):
        engine.change_stream(name, facts.__arrow_c_stream__(), erases)
    elif hasattr(facts, "__arrow_c_array__"):
        engine.change_stream(name, _core.stream_of_capsules(*facts.__arrow_c_array__()), erases)
    elif arity == 0:
        for _ in range(int(facts) if isinstance(facts, bool) else len(list(facts))):
            engine.change_nothing(name, erases)
    elif isinstance(facts, (str, bytes)) or not hasattr(facts, "__iter__"):
        raise _core.InputError(f"relation {name} cannot be filled from {type(facts).__name__}")
    else:
        engine.change_columns(name, engine.streams_of_rows(name, list(facts)), erases)


def _columns_of(facts: Any) -> Mapping[str, Any] | list[Any] | None:
    """Returns columns by name or by position, or None if the facts are not columns."""
    if isinstance(facts, Mapping):
        return {str(name): column for name, column in facts.items()}
    # pandas: by column, because the stream of a data frame needs pyarrow and includes the index.
    if _is_of(facts, "pandas") and hasattr(facts, "columns"):
        return {str(name): facts.iloc[:, place] for place, name in enumerate(facts.columns)}
    if _is_of(facts, "pandas"):
        return [facts]
    if not _is_array(facts):
        return None
    if facts.dtype.names is not None:
        return {field: facts[field] for field in facts.dtype.names}
    if facts.ndim == 2:
        return [facts[:, place] for place in range(facts.shape[1])]
    return [facts]


def _is_of(facts: Any, library: str) -> bool:
    return type(facts).__module__.partition(".")[0] == library


def _is_array(facts: Any) -> bool:
    return _is_of(facts, "numpy") and hasattr(facts, "__array_interface__") and facts.ndim > 0


def _is_on_device(array: Any) -> bool:
    on_host = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost
    if hasattr(array, "__dlpack_device__"):
        return array.__dlpack_device__()[0] not in on_host
    return hasattr(array, "__cuda_array_interface__")


def _streams(engine: _core.Engine, name: str, columns: Mapping[str, Any] | list[Any]) -> list[object]:
    attributes = attributes_of(engine.attributes(name))
    if len(columns) != len(attributes):
        raise _core.InputError(
            f"relation {name} has {len(attributes)} attributes, but {len(columns)} columns were given"
        )
    if isinstance(columns, Mapping):
        missing = [attribute.name for attribute in attributes if attribute.name not in columns]
        if 0 < len(missing) < len(attributes):
            raise _core.InputError(
                f"no column is named {missing[0]}, as an attribute of relation {name} is; others are"
            )
        by_place = list(columns.values())
        columns = by_place if missing else [columns[attribute.name] for attribute in attributes]
    return [_stream(engine, name, place, column) for place, column in enumerate(columns)]


def _stream(engine: _core.Engine, name: str, place: int, column: Any) -> object:
    if _is_of(column, "pandas"):
        _refuse_missing_integers(engine, name, place, column)
        column = _values_of_series(column)
    if _is_array(column):
        return _stream_of_array(engine, name, place, column)
    if hasattr(column, "__arrow_c_stream__"):
        return column.__arrow_c_stream__()
    if hasattr(column, "__arrow_c_array__"):
        return _core.stream_of_capsules(*column.__arrow_c_array__())
    if hasattr(column, "__dlpack__") or hasattr(column, "__cuda_array_interface__"):
        try:
            return _stream_of_foreign_array(column)
        except (TypeError, _core.InputError) as problem:
            attribute = engine.attributes(name)[place][0]
            raise _core.InputError(f"attribute {attribute} of relation {name}: {problem}") from problem
    return engine.stream_of_values(name, place, column)


def _stream_of_foreign_array(column: Any) -> object:
    """For arrays with DLPack or CUDA's array interface. Copies device memory to the host."""
    if not hasattr(column, "__dlpack__"):
        return _stream_of_cuda_array(column.__cuda_array_interface__)
    try:
        return _core.stream_of_device_array(column) if _is_on_device(column) else _core.stream_of_array(column)
    except TypeError as problem:
        raise TypeError("an array is not contiguous, or has several dimensions") from problem


def _stream_of_cuda_array(described: Mapping[str, Any]) -> object:
    typestr: str = described["typestr"]
    code, size = typestr[1], int(typestr[2:])
    (rows,) = described["shape"] if len(described["shape"]) == 1 else (None,)
    if rows is None or described.get("strides") not in (None, (size,)):
        raise TypeError("an array is not contiguous, or has several dimensions")
    if described.get("mask") is not None:
        raise TypeError("an array has a mask")
    if typestr[0] == ">" and size > 1:
        raise TypeError("the bytes of numbers are in another order than this machine's")
    return _core.stream_of_cuda_memory(described["data"][0], rows, code, size, described.get("stream") or 0)


def _refuse_missing_integers(engine: _core.Engine, name: str, place: int, series: Any) -> None:
    """Raises InputError for integers that pandas stores as floats, because some of them are missing."""
    attribute = Attribute(*engine.attributes(name)[place])
    is_float = _is_of(series.dtype, "numpy") and series.dtype.kind == "f"
    if is_float and attribute.type in ("number", "unsigned") and series.isna().any():
        row = series.isna().to_numpy().argmax()
        raise _core.InputError(
            f"row {row} of attribute {attribute.name} of relation {name} is missing, so pandas stores the column as"
            f" floats: drop or fill missing values and convert the column, as in .dropna().astype({{{series.name!r}: int}})"
        )


def _values_of_series(series: Any) -> Any:
    """Returns the NumPy array of a Series, or the Series if it can be a stream, or the list of its values."""
    if hasattr(series.dtype, "kind") and series.dtype.kind in "iufb" and _is_of(series.dtype, "numpy"):
        return series.to_numpy()
    try:
        series.__arrow_c_stream__()
    except (AttributeError, ImportError, TypeError, ValueError):
        missing = series.isna()
        return [None if is_missing else value for value, is_missing in zip(series, missing, strict=True)]
    return series


def _stream_of_array(engine: _core.Engine, name: str, place: int, column: Any) -> object:
    import numpy

    if column.ndim != 1:
        raise _core.InputError(f"a column for relation {name} has {column.ndim} dimensions")
    if isinstance(column, numpy.ma.MaskedArray):
        missing = numpy.flatnonzero(numpy.ma.getmaskarray(column))
        if len(missing) > 0:
            attribute = engine.attributes(name)[place][0]
            raise _core.InputError(f"row {missing[0]} of attribute {attribute} of relation {name} is null")
        column = column.data
    if column.dtype.kind in "iub" or column.dtype.kind == "f":
        if column.dtype.itemsize == 2 and column.dtype.kind == "f":
            column = column.astype(numpy.float32)
        return _core.stream_of_array(numpy.ascontiguousarray(column, column.dtype.newbyteorder("=")))
    return engine.stream_of_values(name, place, column.tolist())

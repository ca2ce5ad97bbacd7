"""Functors written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gpulog import _core

if TYPE_CHECKING:
    import numpy

Functor = Callable[..., Any]


class batched:
    """Marks a function that processes many rows per call: it receives a NumPy array per parameter and returns an array.

    Symbols are arrays of objects. NumPy functions qualify: `functors={"hypot": gpulog.batched(numpy.hypot)}`.
    """

    def __init__(self, function: Functor) -> None:
        self.function = function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def for_core(functors: Mapping[str, Functor]) -> dict[str, tuple[_core.Functor, bool]]:
    """Returns the functors as the engine calls them, each with a flag whether to pass arrays."""
    return {
        name: (functools.partial(_call_batched, name, one.function), True)
        if isinstance(one, batched)
        else (functools.partial(_call_each, one), False)
        for name, one in functors.items()
    }


def _call_each(function: Functor, dtype: str, rows: int, columns: list[Any]) -> list[Any]:
    if not columns:
        return [function() for _ in range(rows)]
    return [function(*row) for row in zip(*columns, strict=True)]


def _call_batched(name: str, function: Functor, dtype: str, rows: int, columns: list[Any]) -> Any:
    import numpy

    if not columns:  # without arguments, the function does not know the number of rows
        return [function() for _ in range(rows)]
    result = function(*(numpy.array(one, dtype=object) if isinstance(one, list) else one for one in columns))
    values = numpy.asarray(result)
    if values.shape != (rows,):
        raise _core.EvaluationError(f"functor @{name} gave an array of shape {values.shape} for {rows} rows")
    return values.tolist() if not dtype else _as_type(name, values, numpy.dtype(dtype))


def _as_type(
    name: str, values: numpy.ndarray[Any, Any], dtype: numpy.dtype[Any]
) -> numpy.ndarray[Any, Any] | list[Any]:
    import numpy

    if values.dtype.kind not in "iubf":
        result: list[Any] = values.tolist()  # object arrays: the engine checks each value
        return result
    if dtype.kind != "f" and values.dtype.kind == "f":
        raise _core.EvaluationError(f"functor @{name} gave floats for integers")
    fitting = numpy.ascontiguousarray(values, dtype=dtype)
    if dtype.kind != "f" and not numpy.array_equal(fitting, values):
        wrong = values[fitting != values][0]
        raise _core.EvaluationError(f"functor @{name} gave a number that {dtype} cannot hold: {wrong}")
    return fitting

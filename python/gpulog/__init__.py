"""Datalog in the dialect of Soufflé, on CPUs and GPUs.

>>> import gpulog
>>> result = gpulog.run('''
...     .decl edge(x:symbol, y:symbol)
...     .decl reach(x:symbol, y:symbol)
...     reach(x, y) :- edge(x, y).
...     reach(x, z) :- reach(x, y), edge(y, z).
... ''', edge=[("Vienna", "Linz"), ("Linz", "Salzburg")])
>>> sorted(result["reach"])
[('Linz', 'Salzburg'), ('Vienna', 'Linz'), ('Vienna', 'Salzburg')]
"""

import atexit as _atexit

from gpulog import _core
from gpulog._core import Cancelled, Error, EvaluationError, InputError, MemoryLimitError, OutputError
from gpulog._engine import Engine, Relation, run
from gpulog._functors import batched
from gpulog._program import Attribute, Declaration, Diagnostic, Plan, Program, ProgramError, ProgramWarning

__version__ = _core.version()

__all__ = [
    "Attribute",
    "Cancelled",
    "Declaration",
    "Diagnostic",
    "Engine",
    "Error",
    "EvaluationError",
    "InputError",
    "MemoryLimitError",
    "OutputError",
    "Plan",
    "Program",
    "ProgramError",
    "ProgramWarning",
    "Relation",
    "backends",
    "batched",
    "run",
]


def backends() -> list[str]:
    """The backends of this build, "cpu" first."""
    return _core.backends()


for _type in (Cancelled, Error, EvaluationError, InputError, MemoryLimitError, OutputError):
    _type.__module__ = "gpulog"  # where users find them
batched.__module__ = "gpulog"

# A run in another thread must not come back to an interpreter that is gone.
_atexit.register(_core.end_all_runs)

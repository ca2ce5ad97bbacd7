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
from gpulog._engine import Engine, load, run
from gpulog._functors import batched
from gpulog._program import Attribute, Declaration, Diagnostic, Plan, Program, ProgramError
from gpulog._profile import Profile, RuleProfile
from gpulog._proofs import FailedRule, Proof
from gpulog._rows import Answer, Changes, Relation, Rows
from gpulog._structures import Branch, Field, StructuredType
from gpulog._warnings import ProgramWarning

__version__ = _core.version()

__all__ = [
    "Answer",
    "Attribute",
    "Branch",
    "Cancelled",
    "Changes",
    "Declaration",
    "Diagnostic",
    "Engine",
    "Error",
    "EvaluationError",
    "FailedRule",
    "Field",
    "InputError",
    "MemoryLimitError",
    "OutputError",
    "Plan",
    "Profile",
    "Program",
    "ProgramError",
    "ProgramWarning",
    "Proof",
    "Relation",
    "Rows",
    "RuleProfile",
    "StructuredType",
    "backends",
    "batched",
    "load",
    "run",
]


def backends() -> list[str]:
    """Returns the backends of this build, "cpu" first."""
    return _core.backends()


for _type in (
    Cancelled, Error, EvaluationError, InputError, MemoryLimitError, OutputError, ProgramError, ProgramWarning,
):  # fmt: skip
    _type.__module__ = "gpulog"  # the public place
batched.__module__ = "gpulog"

# A run in a different thread must not return to a finalized interpreter.
_atexit.register(_core.end_all_runs)

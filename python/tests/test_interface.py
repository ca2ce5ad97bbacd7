"""The package's interface: the stub of the C++ module is complete, and everything has a docstring."""

import ast
import inspect
import pathlib
import typing
from dataclasses import is_dataclass
from typing import Any

import gpulog
from gpulog import _core

STUB = pathlib.Path(inspect.getfile(gpulog)).with_name("_core.pyi")


def names_in(body: list[ast.stmt]) -> set[str]:
    """Returns the names of functions, classes and variables, without names of Python itself."""
    found = {one.name for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    found |= {one.target.id for one in body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def shown_by(thing: Any) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_stub_has_what_the_module_has() -> None:
    stub = ast.parse(STUB.read_text(encoding="utf-8"))
    assert names_in(stub.body) == shown_by(_core)
    classes = [one for one in stub.body if isinstance(one, ast.ClassDef)]
    assert len(classes) > 5
    for one in classes:
        assert names_in(one.body) == shown_by(getattr(_core, one.name)), one.name


def test_all_that_is_public_is_described() -> None:
    missing = []
    for name in gpulog.__all__:
        thing = getattr(gpulog, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            continue  # docs/python.md has a table of these
        if not inspect.getdoc(thing) or (is_dataclass(thing) and thing.__doc__ == inspect.signature(thing).__str__()):
            missing.append(name)
        if not isinstance(thing, type):
            continue
        for member, value in vars(thing).items():
            is_plain = member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property))
            if not is_plain and not inspect.getdoc(value):
                missing.append(f"{name}.{member}")
    assert missing == []


def test_types_are_known_to_checkers() -> None:
    assert STUB.with_name("py.typed").exists()
    for name in ("run", "Engine", "Program", "Relation"):
        thing = getattr(gpulog, name)
        function = thing.__init__ if isinstance(thing, type) else thing
        hints = inspect.get_annotations(function)
        assert set(inspect.signature(function).parameters) - {"self"} <= hints.keys(), name
    assert typing.get_origin(gpulog._engine.Progress) is not None

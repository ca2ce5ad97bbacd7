"""Results in files, and the tuples that evaluations add and remove."""

import asyncio
import pathlib
from typing import Any

import pandas
import polars
import pytest

import gpulog

PATHS = """
.decl edge(x:symbol, y:symbol)
.decl path(x:symbol, y:symbol)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl total(n:number)
total(n) :- n = count : { path(_, _) }.
.decl any()
any() :- path(_, _).
"""


def both(changes: gpulog.Changes) -> tuple[list[Any], list[Any]]:
    return sorted(changes.added), sorted(changes.removed)


def test_changes_of_an_evaluation() -> None:
    engine = gpulog.Engine(PATHS, changes=True)
    engine.edge.insert([("a", "b"), ("b", "c")])
    engine.evaluate()
    assert both(engine.changes("path")) == ([("a", "b"), ("a", "c"), ("b", "c")], [])
    assert both(engine.changes("any")) == ([()], [])
    engine.edge.erase([("b", "c")])
    engine.edge.insert([("a", "d")])
    engine.evaluate()
    first = engine.changes("path")
    assert both(first) == ([("a", "d")], [("a", "c"), ("b", "c")])
    assert both(engine.changes("edge")) == ([("a", "d")], [("b", "c")])
    assert both(engine.changes("total")) == ([(2,)], [(3,)])
    assert not engine.changes("any")
    assert repr(first.added) == "<gpulog.Answer path of 1 tuple>"
    assert first.added.pl().rows() == [("a", "d")]
    assert first.removed.df().sort_values("x").values.tolist() == [["a", "c"], ["b", "c"]]
    assert first.removed.columns == ["x", "y"]
    engine.evaluate()
    assert not engine.changes("path")
    assert both(first) == ([("a", "d")], [("a", "c"), ("b", "c")])
    engine.reset()
    with pytest.raises(gpulog.InputError, match="^changes are there after an evaluation$"):
        engine.changes("path")


def test_a_query_is_no_evaluation_unless_facts_have_changed() -> None:
    engine = gpulog.run(PATHS, edge=[("a", "b")], changes=True)
    assert len(engine.query('path("a", x)')) == 1
    assert both(engine.changes("path")) == ([("a", "b")], [])
    engine.edge.insert([("b", "c")])
    assert len(engine.query('path("a", x)')) == 2
    assert both(engine.changes("path")) == ([("a", "c"), ("b", "c")], [])


def test_changes_need_the_option() -> None:
    engine = gpulog.run(PATHS, edge=[("a", "b")])
    with pytest.raises(gpulog.InputError, match="^changes need an engine with the option changes$"):
        engine.changes("path")
    with pytest.raises(gpulog.InputError, match="There is no relation paht, did you mean 'path'"):
        engine.changes("paht")


def test_subscriptions() -> None:
    engine = gpulog.Engine(PATHS)
    seen: list[Any] = []
    engine.on_change("path", lambda changes: seen.append(both(changes)))
    engine.edge.insert([("a", "b")])
    engine.evaluate()
    engine.evaluate()
    engine.edge.erase([("a", "b")])
    engine.edge.insert([("a", "c")])
    asyncio.run(engine.evaluate_async())
    assert seen == [([("a", "b")], []), ([("a", "c")], [("a", "b")])]
    engine.edge.insert([("a", "d")])
    engine.query("path(x, y)")
    assert seen[2:] == [([("a", "d")], [])]
    engine.on_change("path", None)
    engine.edge.insert([("a", "e")])
    engine.evaluate()
    assert len(seen) == 3
    with pytest.raises(gpulog.InputError, match="There is no relation paht, did you mean 'path'"):
        engine.on_change("paht", print)


def test_a_subscription_may_fail_and_may_evaluate() -> None:
    engine = gpulog.Engine(PATHS)

    def fail(changes: gpulog.Changes) -> None:
        raise KeyError("edge")

    def close(changes: gpulog.Changes) -> None:
        if ("c", "a") not in changes.added:
            engine.edge.insert([("c", "a")])
            engine.evaluate()

    engine.on_change("path", fail)
    engine.edge.insert([("a", "b")])
    with pytest.raises(KeyError):
        engine.evaluate()
    engine.on_change("path", close)
    engine.edge.insert([("b", "c")])
    engine.evaluate()
    assert len(engine.path) == 9


def test_a_stored_state_continues(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state"
    first = gpulog.Engine(PATHS)
    first.edge.insert(pandas.DataFrame({"x": ["a", "b"], "y": ["b", "c"]}))
    first.evaluate()
    first.save(path)
    second = gpulog.load(path, PATHS, changes=True)
    assert sorted(second.path) == [("a", "b"), ("a", "c"), ("b", "c")]
    second.edge.erase(polars.DataFrame({"x": ["a"], "y": ["b"]}))
    second.edge.insert([("c", "d")])
    second.evaluate()
    assert both(second.changes("path")) == ([("b", "d"), ("c", "d")], [("a", "b"), ("a", "c")])
    second.save(str(path))
    del second
    third = gpulog.Engine(PATHS)
    third.restore(path)
    assert sorted(third.path) == [("b", "c"), ("b", "d"), ("c", "d")]


def test_states_that_cannot_be_used(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "state"
    engine = gpulog.Engine(PATHS)
    with pytest.raises(gpulog.InputError, match="^nothing can be stored before the program is evaluated$"):
        engine.save(path)
    engine.evaluate()
    engine.save(path)
    with pytest.raises(gpulog.InputError) as raised:
        gpulog.load(path, PATHS + "path(x, x) :- edge(x, _).\n")
    assert str(raised.value) == f"The state {path} cannot be used: the program of the run changed"
    with pytest.raises(gpulog.OutputError):
        engine.save(tmp_path / "none" / "state")

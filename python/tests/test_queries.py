"""Queries to an engine, whose answers stay as they are."""

import gc
from typing import Any

import numpy
import pytest

import gpulog

REACH = """
.decl edge(x:symbol, y:symbol)
.decl reach(x:symbol, y:symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
.output reach
"""
EDGES = [("Vienna", "Linz"), ("Linz", "Salzburg")]


@pytest.mark.parametrize("options", [{}, {"word_size": 64}, {"jobs": 1}, {"tuning": {"unneeded-relations": "on"}}])
def test_an_answer_has_a_column_per_variable(options: dict[str, Any]) -> None:
    result = gpulog.run(REACH, edge=EDGES, **options)
    answer = result.query('reach("Linz", x)')
    assert answer.columns == ["x"] and len(answer) == 1
    assert answer.fetchall() == list(answer) == [("Salzburg",)]
    assert "Salzburg" in answer and ("Salzburg",) in answer and "Linz" not in answer
    assert answer.pl().rows() == [("Salzburg",)]
    assert answer.df().to_dict("list") == answer.arrow().to_pydict() == {"x": ["Salzburg"]}
    assert repr(answer) == '<gpulog.Answer reach("Linz", x) of 1 tuple>'
    assert str(answer) == 'reach("Linz", x): 1 tuple\nx\nSalzburg'
    counted = result.query("n = count : { reach(_, _) }, m = 2 * n")
    assert counted.rows(named=True) == [{"n": 3, "m": 6}]
    assert numpy.asarray(counted.column("m")).tolist() == [6]
    assert len(result.query('reach("Vienna", "Salzburg")')) == 1
    assert result.query('reach("Salzburg", "Vienna")').fetchall() == []
    assert list(result) == ["edge", "reach"]


def test_answers_stay_as_they_are() -> None:
    engine = gpulog.run(REACH, edge=EDGES)
    first = engine.query('reach("Linz", x)')
    stream = engine.query("edge(x, y)").__arrow_c_stream__()
    engine.edge.insert([("Salzburg", "Graz")])
    second = engine.query('reach("Linz", x)')
    other = engine.query("n = count : { edge(_, _) }")
    assert sorted(second) == [("Graz",), ("Salzburg",)]
    assert len(engine.reach) == 6  # the facts since the last evaluation were evaluated
    engine.edge.erase([("Salzburg", "Graz")])
    engine.evaluate()
    assert len(engine.reach) == 3
    engine.reset()
    del engine
    gc.collect()
    assert first.fetchall() == [("Salzburg",)] and sorted(second) == [("Graz",), ("Salzburg",)]
    assert other.pl().rows() == [(3,)]
    assert first.columns == ["x"] and other.attributes[0].type == "number"
    del stream


def test_an_engine_without_an_evaluation_is_evaluated() -> None:
    engine = gpulog.Engine(REACH)
    engine.edge.insert(EDGES)
    assert sorted(engine.query("reach(x, _)")) == [("Linz",), ("Vienna",)]
    assert len(engine.reach) == 3


def test_queries_write_nothing(tmp_path: Any, capfd: Any) -> None:
    engine = gpulog.run(REACH, edge=EDGES, output=tmp_path)
    engine.query("edge(x, _)")
    engine.write()
    assert [path.name for path in tmp_path.iterdir()] == ["reach.csv"]
    assert capfd.readouterr() == ("", "")


def test_queries_read_records_functors_and_files(tmp_path: Any) -> None:
    (tmp_path / "place.facts").write_text("[Linz, 3]\n", encoding="utf-8")
    (tmp_path / "program.dl").write_text(
        '.include "types.dl"\n.functor twice(n:number):number\n.decl place(p:Place)\n.input place\n', encoding="utf-8"
    )
    types = tmp_path / "types.dl"
    types.write_text(".type Place = [town:symbol, km:number]\n", encoding="utf-8")
    engine = gpulog.run(tmp_path / "program.dl", facts=tmp_path, functors={"twice": lambda number: 2 * number})
    types.unlink()  # the text is not read again
    place = engine.program.types["Place"].record
    assert place is not None
    assert engine.query("place(p)").fetchall() == [(place("Linz", 3),)]
    assert engine.query("place([_, n]), m = @twice(n)").fetchall() == [(3, 6)]


def test_wrong_queries_change_nothing() -> None:
    engine = gpulog.run(REACH, edge=EDGES)
    with pytest.raises(gpulog.ProgramError) as raised:
        engine.query('raech("Linz", x)')
    error = raised.value
    assert (error.file, error.line, error.column) == ("query", 1, 1)
    assert error.message == "Undefined relation raech, did you mean 'reach'?"
    with pytest.raises(gpulog.ProgramError, match="^Error: syntax error, unexpected end of file in file query at line 1"):
        engine.query("reach(x, ")
    assert len(engine.query("reach(x, y)")) == 3
    with pytest.raises(gpulog.EvaluationError):
        engine.query("x = 1 / (n - n), n = count : { edge(_, _) }")
    engine.reset()
    engine.edge.insert(EDGES)
    engine.evaluate()
    assert len(engine.reach) == 3


def test_later_evaluations_skip_the_query() -> None:
    calls: list[int] = []

    def noted(number: int) -> int:
        calls.append(number)
        return number

    text = ".functor noted(x:number):number\n.decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x).\n"
    engine = gpulog.run(text, a=[1], functors={"noted": noted}, jobs=1)
    assert engine.query("a(x), y = @noted(x)").fetchall() == [(1, 1)]
    seen = len(calls)
    engine.a.insert([2])
    engine.evaluate()
    assert len(calls) == seen and len(engine.b) == 2

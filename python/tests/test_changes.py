"""Facts in further forms, and facts that are taken away in each of them; evaluations in other threads."""

import asyncio
import decimal
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import gpulog

TYPES = ".decl n(x:number)\n.decl u(x:unsigned)\n.decl f(x:float)\n.decl s(x:symbol)\n.decl two(x:number, y:number)\n"
PAIRS = [(1, 2), (3, 4), (5, 6)]
LONG = """
.decl n(x:number)
n(x) :- x = range(0, 60000).
.decl q(x:number, y:number)
q(x, y) :- n(x), n(y).
q(x, z) :- q(x, y), q(y, z).
"""
LARGEST = 2**127 - 1

FORMS = {
    "hugeint": ("n", duckdb.sql("select sum(x) as x from range(10) t(x)"), [(45,)]),
    "a negative hugeint": ("n", duckdb.sql("select -5::hugeint as x"), [(-5,)]),
    "uhugeint": ("u", duckdb.sql("select 7::uhugeint as x"), [(7,)]),
    "decimal": ("f", duckdb.sql("select 5.25::decimal(18, 3) as x union all select -0.5"), [(-0.5,), (5.25,)]),
    "small decimal": ("f", duckdb.sql("select 2.5::decimal(4, 1) as x"), [(2.5,)]),
    "hugeint as float": ("f", duckdb.sql(f"select {LARGEST}::hugeint as x"), [(float(2**127),)]),
    "decimal without places": ("n", pyarrow.table({"x": [decimal.Decimal("3")]}), [(3,)]),
    "a part of decimals": ("n", pyarrow.table({"x": [decimal.Decimal(n) for n in range(9)]}).slice(2, 2), [(2,), (3,)]),
    "decimals of polars": ("f", polars.DataFrame({"x": [decimal.Decimal("1.5")]}), [(1.5,)]),
    "int128 of polars": ("n", polars.DataFrame({"x": polars.Series([-7], dtype=polars.Int128)}), [(-7,)]),
    "a column of decimals": ("n", {"x": pyarrow.array([decimal.Decimal("3")])}, [(3,)]),
    "lazy": ("two", polars.LazyFrame({"y": [2], "x": [1]}).filter(polars.col("x") > 0), [(1, 2)]),
    "dictionaries": ("two", [{"y": 2, "x": 1}, (3, 4)], [(1, 2), (3, 4)]),
    "dictionaries of one": ("s", [{"x": "a"}], [("a",)]),
}


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("word_size", [32, 64])
def test_facts(form: str, word_size: int) -> None:
    name, facts, wanted = FORMS[form]
    engine = gpulog.Engine(gpulog.Program(TYPES, word_size=word_size, warn=False))
    engine[name].insert(facts)
    assert sorted(engine[name]) == wanted


FLOATS = "and not for {}: convert the column to integers, or declare the attribute as float"
WRONG = [
    ("n", duckdb.sql("select 5.5::decimal(4, 1) as x"),
     "attribute x of relation n is of type number, " + FLOATS.format("decimals")),
    ("n", duckdb.sql(f"select 1::hugeint as x union all select {LARGEST}"),
     "row 1 of attribute x of relation n is no number of 64 bits: 1.7014118346046923e+38"),
    ("u", duckdb.sql("select -5::hugeint as x"), "row 0 of attribute x of relation u is no unsigned of 64 bits: -5"),
    ("n", duckdb.sql("select 5000000000::hugeint as x"),
     "row 0 of attribute x of relation n is no number of 32 bits: 5000000000; with word_size=64 it fits"),
    ("s", duckdb.sql("select 5::hugeint as x"), "attribute x of relation s is of type symbol, and not for decimals"),
    ("two", pandas.DataFrame({"a": [1, None], "b": [1, 2]}),
     "row 1 of attribute x of relation two is missing, so pandas stores the column as floats: drop or fill missing values"
     " and convert the column, as in .dropna().astype({'a': int})"),
    ("n", pandas.DataFrame({"x": [1.0, 2.0]}), "attribute x of relation n is of type number, " + FLOATS.format("floats")),
    ("two", [{"x": 1}], "row 0 for relation two has no key y"),
    ("two", [(1, 2), {"x": 1, "y": 2, "z": 3}], "row 1 for relation two has a key that is no attribute: 'z'"),
    ("two", [{1, 2}], "row 0 for relation two is no sequence: {1, 2}"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "facts", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_facts(name: str, facts: Any, message: str) -> None:
    engine = gpulog.Engine(gpulog.Program(TYPES, warn=False))
    for change in (engine[name].insert, engine[name].erase):
        with pytest.raises(gpulog.InputError) as raised:
            change(facts)
        assert str(raised.value) == message
    assert len(engine[name]) == 0


def test_a_record_may_be_a_dictionary_in_a_relation_of_one() -> None:
    text = ".type Place = [town:symbol, km:number]\n.decl place(p:Place)\n"
    linz = {"town": "Linz", "km": 3}
    for facts in ([linz], [{"p": linz}], [(("Linz", 3),)], ["[Linz, 3]"]):
        assert gpulog.run(text, place=facts).place.fetchall() == [(("Linz", 3),)]


def erased_forms() -> dict[str, Any]:
    columns = {"x": [3, 9], "y": [4, 9]}
    return {
        "tuples": [(3, 4), (9, 9)],
        "dictionaries": [{"x": 3, "y": 4}, {"x": 9, "y": 9}],
        "columns": columns,
        "an array": numpy.array([[3, 4], [9, 9]]),
        "pandas": pandas.DataFrame(columns),
        "polars": polars.DataFrame(columns),
        "lazy": polars.LazyFrame(columns),
        "pyarrow": pyarrow.table(columns),
        "a batch": pyarrow.table(columns).to_batches()[0],
        "duckdb": duckdb.sql("select * from (values (3, 4), (9, 9)) t(x, y)"),
        "gpulog": gpulog.run(".decl two(x:number, y:number)", two=[(3, 4), (9, 9)]).two,
    }


@pytest.mark.parametrize("form", list(erased_forms()))
def test_erase_takes_what_insert_takes(form: str) -> None:
    text = ".decl two(x:number, y:number)\n.decl copy(x:number, y:number)\ncopy(x, y) :- two(x, y).\n"
    engine = gpulog.run(text, two=PAIRS)
    engine.two.erase(erased_forms()[form])
    engine.evaluate()
    assert sorted(engine.copy) == sorted(engine.two) == [(1, 2), (5, 6)]
    before = gpulog.Engine(text)  # erased before the first evaluation
    before.two.insert(PAIRS)
    before.two.erase(erased_forms()[form])
    assert sorted(before.two) == [(1, 2), (5, 6)]


def test_erase_in_relations_of_one_attribute_and_none() -> None:
    engine = gpulog.run(".decl a(x:number)\n.decl yes()\n.decl b(x:number)\nb(x) :- a(x), yes().", a=[1, 2, 3], yes=True)
    engine.a.erase([2])
    engine.a.erase(polars.Series([3]))
    engine.evaluate()
    assert engine.b.fetchall() == [(1,)]
    engine.yes.erase([()])
    engine.evaluate()
    assert len(engine.b) == 0


def test_programs_name_inputs_and_outputs() -> None:
    program = gpulog.Program(TYPES + ".input two\n.output f\n.output s\n", warn=False)
    assert [str(one) for one in program.inputs] == ["two(x:number, y:number)"]
    assert [str(one) for one in program.outputs] == ["f(x:float)", "s(x:symbol)"]
    assert [one.type for one in program.inputs[0].attributes] == ["number", "number"]
    assert len(program.relations) == 5


def test_timeouts() -> None:
    engine = gpulog.Engine(gpulog.Program(LONG, warn=False))
    with pytest.raises(TimeoutError, match="^The evaluation was cancelled after its timeout; the engine needs a reset"):
        engine.evaluate(timeout=0.2)
    with pytest.raises(gpulog.InputError, match="has to be reset"):
        engine.evaluate()
    engine.reset()
    with pytest.raises(TimeoutError):
        gpulog.run(LONG, warn=False, timeout=0.2)
    assert len(gpulog.run(TYPES, n=[1], timeout=600, warn=False).n) == 1


def test_evaluations_beside_other_tasks() -> None:
    async def work() -> list[Any]:
        engines = [gpulog.Engine(TYPES + ".decl m(x:number)\nm(x) :- n(x).\n") for _ in range(3)]
        for number, engine in enumerate(engines):
            engine.n.insert(range(number))
        await asyncio.gather(*(engine.evaluate_async(timeout=600) for engine in engines))
        long = gpulog.Engine(gpulog.Program(LONG, warn=False))
        task = asyncio.create_task(long.evaluate_async())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        long.reset()  # the evaluation has ended
        with pytest.raises(TimeoutError):
            await long.evaluate_async(timeout=0.1)
        return [len(engine.m) for engine in engines]

    assert asyncio.run(work()) == [0, 1, 2]


def test_a_cancelled_call_is_the_running_one() -> None:
    engine = gpulog.Engine(TYPES)
    engine.cancel()  # no effect
    engine.evaluate()
    assert len(engine.n) == 0

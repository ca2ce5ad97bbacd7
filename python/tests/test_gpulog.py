"""The package as users see it: facts from each library, results for each library, and errors."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import gpulog

REACH = """
.decl edge(x:symbol, y:symbol)
.decl reach(x:symbol, y:symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""
EDGES = [("Vienna", "Linz"), ("Linz", "Salzburg"), ("Linz", "Grüß Gott")]
REACHED = sorted([*EDGES, ("Vienna", "Salzburg"), ("Vienna", "Grüß Gott")])

ALL_TYPES = """
.type Pair = [x:number, s:symbol]
.decl a(n:number, u:unsigned, f:float, s:symbol)
.decl b(n:number, u:unsigned, f:float, s:symbol)
b(n, u, f, s) :- a(n, u, f, s).
"""
ROWS = [(-5, 7, 0.5, "one"), (2, 4000000000, -1.25, ""), (3, 0, 1e9, 'a "quoted", text')]
COLUMNS: dict[str, list[Any]] = {name: list(values) for name, values in zip("nufs", zip(*ROWS))}
# More work than any test waits for.
TIMEOUT_SECONDS = 600

LONG = """
.decl n(x:number)
n(x) :- x = range(0, 60000).
.decl p(x:number, y:number, z:number)
p(x, y, z) :- n(x), n(y), n(z), (x * 7 + y * 13 + z) % 1000003 = 999999, x + y + z = 77.
.decl q(x:number, y:number)
q(x, y) :- n(x), n(y).
q(x, z) :- q(x, y), q(y, z).
"""


def forms() -> dict[str, Any]:
    """Returns the same facts in every supported form."""
    table = pyarrow.table(COLUMNS)
    frame = polars.DataFrame(COLUMNS)
    types = {"n": "i4", "u": "u4", "f": "f4", "s": "U20"}
    return {
        "tuples": ROWS,
        "lists": [list(row) for row in ROWS],
        "a generator": (row for row in ROWS),
        "columns": COLUMNS,
        "columns in another order": dict(reversed(COLUMNS.items())),
        "columns with other names": {name * 2: column for name, column in COLUMNS.items()},
        "arrays": {name: numpy.array(column) for name, column in COLUMNS.items()},
        "columns of several libraries": {
            "n": numpy.array(COLUMNS["n"], ">i2"),
            "u": polars.Series(COLUMNS["u"]),
            "f": pandas.Series(COLUMNS["f"]),
            "s": pyarrow.chunked_array([COLUMNS["s"][:1], COLUMNS["s"][1:]]),
        },
        "a structured array": numpy.array(ROWS, dtype=list(types.items())),
        "pyarrow": table,
        "pyarrow, a batch": table.to_batches()[0],
        "pyarrow, in pieces": pyarrow.concat_tables([table.slice(0, 1), table.slice(1)]),
        "pyarrow, a dictionary": table.set_column(3, "s", table["s"].dictionary_encode()),
        "pyarrow, a part": pyarrow.concat_tables([table, table]).slice(2, 3),
        "polars": frame,
        "polars, categories": frame.with_columns(polars.col("s").cast(polars.Categorical)),
        "pandas": pandas.DataFrame(COLUMNS, index=[7, 8, 9]),
        "pandas, objects": pandas.DataFrame(COLUMNS).astype({"s": object}),
        "pandas, categories": pandas.DataFrame(COLUMNS).astype({"s": "category"}),
        "pandas, nullable": pandas.DataFrame(COLUMNS).astype({"n": "Int64"}),
        "duckdb": duckdb.sql("select * from frame"),
        "gpulog": gpulog.run(ALL_TYPES, a=ROWS)["b"],
    }


@pytest.mark.parametrize("form", list(forms()))
@pytest.mark.parametrize("word_size", [32, 64])
def test_facts_come_from_every_library(form: str, word_size: int) -> None:
    result = gpulog.run(ALL_TYPES, a=forms()[form], word_size=word_size)
    assert sorted(result["b"]) == sorted(ROWS)


@pytest.mark.parametrize("word_size", [32, 64])
def test_results_go_to_every_library(word_size: int) -> None:
    relation = gpulog.run(ALL_TYPES, a=ROWS, word_size=word_size)["b"]
    assert len(relation) == 3
    assert sorted(relation.fetchall()) == sorted(relation) == sorted(ROWS)
    assert all(row in relation for row in ROWS)
    assert (1, 1, 1.0, "one") not in relation
    tables = [
        relation.arrow(),
        relation.arrow(dictionaries=True),
        pyarrow.table(relation),
        relation.pl().to_arrow(),
        relation.pl(dictionaries=True).to_arrow(),
        pyarrow.Table.from_pandas(relation.df()),
        duckdb.sql("select * from relation").to_arrow_table(),
    ]
    for table in tables:
        assert table.column_names == ["n", "u", "f", "s"]
        assert sorted(zip(*(column.to_pylist() for column in table.columns), strict=True)) == sorted(ROWS)
    assert pyarrow.types.is_dictionary(tables[1].schema.field("s").type)
    arrays = relation.numpy()
    assert sorted(zip(*(array.tolist() for array in arrays.values()), strict=True)) == sorted(ROWS)
    assert arrays["n"].dtype == (numpy.int32 if word_size == 32 else numpy.int64)
    column = relation.column("f")
    assert numpy.from_dlpack(column).tolist() == numpy.asarray(column).tolist() == arrays["f"].tolist()


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 10000])
def test_sizes(size: int) -> None:
    numbers = numpy.arange(size)
    for facts in (numpy.column_stack([numbers, numbers + 1]), list(zip(numbers, numbers + 1)), {"x": numbers, "y": numbers + 1}):
        result = gpulog.run(".decl a(x:number, y:number)\n.decl b(x:number)\nb(y) :- a(_, y).", a=facts)
        assert sorted(result["b"]) == [(number + 1,) for number in range(size)]
        assert len(result["b"].pl()) == len(result["b"].df()) == result["b"].arrow().num_rows == size


def test_a_relation_of_one_attribute_or_none() -> None:
    text = ".decl a(x:number)\n.decl s(x:symbol)\n.decl yes()\n.decl b(x:number)\nb(x) :- a(x), yes()."
    for facts in ([1, 2], [(1,), (2,)], numpy.array([1, 2]), pandas.Series([1, 2]), polars.Series([1, 2]), range(1, 3)):
        result = gpulog.run(text, a=facts, s=["x", "yz"], yes=[()])
        assert sorted(result["b"]) == [(1,), (2,)]
        assert 2 in result["b"] and "yz" in result["s"] and len(result["yes"]) == 1


def test_records_and_branches_may_be_texts() -> None:
    text = """.type Pair = [x:number, s:symbol]
    .type Tree = Leaf {} | Node {left:Tree, right:Tree}
    .decl a(p:Pair, t:Tree)
    .decl b(p:Pair, t:Tree)
    b(p, t) :- a(p, t)."""
    rows = [('[1, "a, b"]', "$Leaf"), ("nil", "$Node($Leaf, $Leaf)")]
    first = gpulog.run(text, a=rows)["b"]
    second = gpulog.run(text, a=first.pl())["b"]
    assert set(first) == set(second)
    assert len(second) == 2
    with pytest.raises(gpulog.InputError, match="row 1 of attribute p of relation a is no Pair: 5"):
        gpulog.run(text, a=[rows[0], ("5", "$Leaf")])


def test_an_equivalence_relation_of_symbols() -> None:
    pairs = [(str(number), str(number + 1)) for number in range(1024)]
    relation = gpulog.run(".decl e(x:symbol, y:symbol) eqrel\n.decl a(x:symbol, y:symbol)\ne(x, y) :- a(x, y).", a=pairs)["e"]
    assert len(relation) == 1025 * 1025
    wanted = {(str(x), str(y)) for x in range(1025) for y in range(1025)}
    assert set(zip(*(column.tolist() for column in relation.numpy().values()), strict=True)) == wanted
    assert len(set(relation.arrow()['y'].to_pylist())) == 1025


def test_texts_that_are_no_utf8() -> None:
    result = gpulog.run(".decl a(x:symbol)\n.decl b(x:symbol)\nb(x) :- a(x).", a=[b"caf\xe9"])["b"]
    assert result.fetchall() == [("caf\udce9",)]
    assert gpulog.run(".decl a(x:symbol)", a=result.fetchall())["a"].fetchall() == [("caf\udce9",)]
    with pytest.raises(Exception, match="no UTF-8"):
        result.arrow()
    assert pyarrow.table(result.stream(binary=True))["x"].to_pylist() == [b"caf\xe9"]


def test_columns_live_longer_than_their_engine() -> None:
    numbers = numpy.arange(100000)
    result = gpulog.run(".decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x).", a=numbers)
    kept = [result["b"].numpy()["x"], result["b"].arrow(), result["b"].pl(), result["b"].column("x")]
    again = result["b"].numpy()["x"]
    assert again.ctypes.data == kept[0].ctypes.data  # not copied
    assert not again.flags.writeable
    del result, numbers
    gc.collect()
    total = 100000 * 99999 // 2
    assert int(kept[0].sum(dtype=numpy.int64)) == total
    assert kept[1]["x"].to_numpy().sum() == total
    assert kept[2]["x"].cast(polars.Int64).sum() == total
    assert int(numpy.asarray(kept[3]).sum(dtype=numpy.int64)) == total


WRONG_FACTS = [
    ([(1, "a")], "row 0 of attribute x of relation edge is no symbol: 1"),
    ([("a", None)], "row 0 of attribute y of relation edge is null"),
    ([("a", "b"), ("a",)], "relation edge has 2 attributes, but row 1 has 1 values"),
    (["ab"], "row 0 for relation edge is no sequence: 'ab'"),
    ("ab", "relation edge cannot be filled from str"),
    (5, "relation edge cannot be filled from int"),
    ({"x": ["a"], "y": ["b", "c"]}, "attribute y of relation edge has 2 values, but attribute x has 1"),
    ({"x": ["a"], "z": ["b"]}, "no column is named y, as an attribute of relation edge is; others are"),
    ({"x": ["a"]}, "relation edge has 2 attributes, but 1 columns were given"),
    ({"x": ["a"], "y": 5}, "attribute y of relation edge was given no column: 5"),
    (polars.DataFrame({"x": ["a", None], "y": ["b", "c"]}), "row 1 of attribute x of relation edge is null"),
    (pandas.DataFrame({"x": ["a", None], "y": ["b", "c"]}), "row 1 of attribute x of relation edge is null"),
    (polars.DataFrame({"x": [1], "y": [2]}), "attribute x of relation edge is of type symbol, and not for integers"),
    (numpy.zeros((2, 2)), "attribute x of relation edge is of type symbol, and not for floats"),
    (numpy.zeros((2, 3)), "relation edge has 2 attributes, but 3 columns were given"),
    (numpy.zeros((2, 2, 2)), "cannot|dimensions|relation edge"),
]


@pytest.mark.parametrize(("facts", "message"), WRONG_FACTS, ids=range(len(WRONG_FACTS)))
def test_wrong_facts(facts: Any, message: str) -> None:
    engine = gpulog.Engine(REACH)
    with pytest.raises(gpulog.InputError, match=message):
        engine["edge"].insert(facts)
    assert len(engine["edge"]) == 0


def test_numbers_that_do_not_fit() -> None:
    engine = gpulog.Engine(".decl n(x:number)\n.decl u(x:unsigned)\n.decl f(x:float)")
    for name, facts, message in [
        ("n", [2**31], "row 0 of attribute x of relation n is no number of 32 bits: 2147483648"),
        ("n", [1, 2**70], "row 1 of attribute x of relation n is no number of 64 bits"),
        ("n", [1.5], "row 0 of attribute x of relation n is no number: 1.5"),
        ("n", [True], "row 0 of attribute x of relation n is no number: True"),
        ("u", [-1], "row 0 of attribute x of relation u is no unsigned of 64 bits: -1"),
        ("u", numpy.array([1, -1]), "row 1 of attribute x of relation u is no unsigned of 32 bits: -1"),
        ("n", numpy.array([1.0]), "attribute x of relation n is of type number, and not for floats"),
        ("n", numpy.array([True]), "attribute x of relation n is of type number, and not for booleans"),
        ("f", ["1"], "row 0 of attribute x of relation f is no float: '1'"),
        ("n", numpy.array(["2020-01-01"], "datetime64[D]"), "is no number"),
    ]:
        with pytest.raises(gpulog.InputError, match=message):
            engine[name].insert(facts)
        assert len(engine[name]) == 0
    engine["f"].insert([1, 0.1])
    assert 0.1 in engine["f"]


def test_a_relation_that_does_not_exist() -> None:
    with pytest.raises(gpulog.InputError, match="There is no relation edgs.*edge"):
        gpulog.run(REACH, edgs=EDGES)
    engine = gpulog.Engine(REACH)
    with pytest.raises(gpulog.InputError, match="There is no relation raech.*reach"):
        engine["raech"]
    assert "raech" not in engine and list(engine) == ["edge", "reach"]
    with pytest.raises(gpulog.InputError, match="no tuple of such types"):
        (1, "a") in engine["edge"]
    with pytest.raises(gpulog.InputError, match="no column of numbers that is named x"):
        engine["edge"].column("x")


def test_what_is_wrong_with_a_program() -> None:
    with pytest.raises(gpulog.ProgramError) as raised:
        gpulog.Program(".decl a(x:number)\na(1).\nb(2).\n", name="rules.dl")
    error = raised.value
    assert (error.file, error.line, error.column) == ("rules.dl", 3, 1)
    assert "b" in error.message and "^" in error.text
    assert [remark.level for remark in error.diagnostics].count("error") == 1
    assert isinstance(error, gpulog.Error)
    with pytest.raises(gpulog.InputError):
        gpulog.Program("missing.dl")
    with pytest.warns(gpulog.ProgramWarning, match="No rules"):
        gpulog.Program(".decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x).\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpulog.run(".decl a(x:number)\n.decl b(x:number)\nb(x) :- a(x).\n", a=[1])


def test_a_rule_that_fails() -> None:
    with pytest.raises(gpulog.EvaluationError):
        gpulog.run(".decl a(x:number)\n.decl b(x:number)\nb(1 / x) :- a(x).", a=[0])
    with pytest.raises(gpulog.MemoryLimitError):
        gpulog.run(".decl n(x:number)\n.decl q(x:number, y:number)\nq(x, y) :- n(x), n(y).", n=range(5000), memory_limit=10**7)
    for options in ({"backend": "abacus"}, {"storage": "shelf"}, {"tuning": {"magic-sets": "maybe"}}):
        with pytest.raises(gpulog.InputError):
            gpulog.run(REACH, edge=EDGES, **options)


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.dl"
    path.write_text(REACH + ".input edge\n.output reach\n.decl more(x:number)\n.input more\n", encoding="utf-8")
    (tmp_path / "edge.facts").write_text("a\tb\n", encoding="utf-8")
    (tmp_path / "more.facts").write_text("1\n", encoding="utf-8")
    result = gpulog.run(path, facts=tmp_path, output=tmp_path)
    assert result["reach"].fetchall() == [("a", "b")]
    assert (tmp_path / "reach.csv").read_text(encoding="utf-8") == "a\tb\n"
    # A given relation's file is not read.
    result = gpulog.run(str(path), facts=tmp_path, edge=EDGES)
    assert sorted(result["reach"]) == REACHED
    assert result["more"].fetchall() == [(1,)]
    assert [one.name for one in gpulog.Program(path).relations if one.is_output] == ["reach"]


def test_engines_in_threads() -> None:
    results: list[list[Any]] = [[] for _ in range(4)]

    def work(place: int) -> None:
        for _ in range(5):
            results[place].append(sorted(gpulog.run(REACH, edge=EDGES, jobs=2)["reach"]))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[REACHED] * 5] * 4


def test_an_engine_that_is_at_work() -> None:
    engine = gpulog.Engine(gpulog.Program(LONG, warn=False))
    outcome: list[BaseException] = []

    def work() -> None:
        try:
            engine.evaluate()
        except gpulog.Cancelled as problem:
            outcome.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(gpulog.InputError, match="at work in another thread"):
        while True:  # until the evaluation has started; further threads keep running
            assert len(engine["n"]) == 0
            time.sleep(0.01)
    for call in (lambda: engine["n"].insert([1]), lambda: len(engine["n"]), engine.evaluate, lambda: list(engine["n"])):
        with pytest.raises(gpulog.InputError, match="at work in another thread"):
            call()
    engine.cancel()
    thread.join()
    assert len(outcome) == 1


def test_insertion_after_the_evaluation() -> None:
    engine = gpulog.run(REACH, edge=EDGES)
    engine["edge"].insert([("Salzburg", "Graz")])
    assert sorted(engine["reach"]) == REACHED
    engine.evaluate()
    assert len(engine["reach"]) == len(REACHED) + 3 and ("Vienna", "Graz") in engine["reach"]
    engine["edge"].erase([("Salzburg", "Graz"), ("nowhere", "Graz")])
    engine.evaluate()
    assert sorted(engine["reach"]) == REACHED
    with pytest.raises(gpulog.InputError, match="^row 0 for relation edge is no sequence: 'Vienna'$"):
        engine["edge"].erase(["Vienna"])
    with pytest.raises(gpulog.InputError, match="^row 0 of attribute x of relation edge is no symbol: 1$"):
        engine["edge"].erase([(1, 2)])


def test_arrays_stay_when_the_engine_is_evaluated_again() -> None:
    text = ".decl a(x:number)\n.decl b(x:number, y:number)\nb(x, y) :- a(x), a(y)."
    engine = gpulog.run(text, a=range(100))
    shown = engine["b"].numpy()
    table = engine["b"].arrow()
    wanted = shown["x"].tolist()
    for change in (lambda: engine["a"].erase(range(50)), engine.reset):
        change()
        engine["a"].insert(range(200, 220))
        engine.evaluate()
        gc.collect()
        assert shown["x"].tolist() == wanted == table["x"].to_pylist()
    assert len(engine["b"]) == 400
    del engine
    gc.collect()
    assert shown["x"].tolist() == wanted == table["x"].to_pylist()


def test_arrays_that_are_freed_early() -> None:
    """Inputs may be freed immediately; outputs stay valid, whatever is freed first."""
    engine = gpulog.Engine(".decl a(x:number, s:symbol)\n.decl b(x:number, s:symbol)\nb(x, s) :- a(x, s).")
    for _ in range(50):
        numbers = numpy.arange(20000)
        table = pyarrow.table({"x": numbers, "s": numbers.astype(str)})
        engine["a"].insert(table)
        engine["a"].insert({"x": numbers.astype("int16"), "s": polars.Series(numbers.astype(str))})
        del numbers, table
        numpy.full(20000, -1)
    gc.collect()
    engine.evaluate()
    assert len(engine["b"]) == 20000
    array = numpy.from_dlpack(engine["b"].column("x"))
    stream = engine["b"].__arrow_c_stream__()
    view = array[5:10]
    wanted = view.tolist()
    rows = iter(engine["b"])
    first = next(rows)
    engine.reset()
    del engine, array
    gc.collect()
    assert view.tolist() == wanted
    assert len(list(rows)) == 19999 and first[1] == str(first[0])
    del stream


def test_wrong_arrays() -> None:
    engine = gpulog.Engine(".decl a(x:number, y:number)")
    numbers = numpy.arange(4)
    for facts, message in [
        ({"x": numbers, "y": numbers[:3]}, "attribute y of relation a has 3 values, but attribute x has 4"),
        ({"x": numbers, "y": numbers.reshape(2, 2)}, "2 dimensions"),
        ({"x": numbers, "y": numbers.astype(complex)}, "is no number"),
        ({"x": numbers, "y": numbers.astype(object)[:-1].tolist() + [None]}, "row 3 of attribute y of relation a is null"),
        ({"x": numbers, "y": pyarrow.array([1, None, 3, 4])}, "row 1 of attribute y of relation a is null"),
        ({"x": numbers, "y": pandas.array([1, None, 3, 4], dtype="Int64")}, "null"),
        (pyarrow.table({"x": numbers, "y": pyarrow.array([1, 2, 3, None])}), "row 3 of attribute y of relation a is null"),
        (pyarrow.table({"x": numbers, "y": ["a"] * 4}), "attribute y of relation a is of type number"),
        (pyarrow.table({"x": numbers}), "attribute|column"),
        (numpy.ma.masked_array([[1, 2]], [[False, True]]), "row 0 of attribute y of relation a is null"),
    ]:
        with pytest.raises(gpulog.InputError, match=message):
            engine["a"].insert(facts)
        assert len(engine["a"]) == 0
    engine["a"].insert({"x": numbers[::2], "y": numpy.ma.masked_array([1, 3], [False, False])})
    engine["a"].insert({"x": numbers[::2], "y": numpy.asfortranarray(numpy.arange(4).reshape(2, 2))[:, 1]})
    assert set(engine["a"]) == {(0, 1), (2, 3)}


def test_different_engines_in_threads() -> None:
    """Each engine has its own program, texts and results; one engine is interrupted by its own function."""
    failures: list[BaseException] = []

    def work(place: int) -> None:
        try:
            for turn in range(10):
                if place == 0:
                    with pytest.raises(ValueError, match="mine"):
                        gpulog.run(".decl n(x:number)\nn(0).\nn(x + 1) :- n(x), x < 10000000.", progress=fail)
                else:
                    names = [(f"{place}-{turn}-{number}", f"{place}-{turn}-{number + 1}") for number in range(50)]
                    reached = gpulog.run(REACH, edge=names, jobs=place)["reach"]
                    assert len(reached) == 50 * 51 // 2 and all(row[0].startswith(f"{place}-") for row in reached)
        except BaseException as problem:
            failures.append(problem)

    def fail(*_: Any) -> None:
        raise ValueError("mine")

    threads = [threading.Thread(target=work, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_an_engine_that_failed_is_reset() -> None:
    engine = gpulog.Engine(".decl a(x:number)\n.decl b(x:number)\nb(1 / x) :- a(x).")
    engine["a"].insert([0])
    with pytest.raises(gpulog.EvaluationError):
        engine.evaluate()
    with pytest.raises(gpulog.InputError, match="has to be reset"):
        engine.evaluate()
    engine.reset()
    engine["a"].insert([1])
    engine.evaluate()
    assert engine["b"].fetchall() == [(1,)]


def test_a_keyboard_interrupt_ends_a_run() -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        gpulog.run(LONG, warn=False, backend="cpu")
    timer.join()


def test_progress() -> None:
    seen: list[tuple[Any, ...]] = []

    def stop(*state: Any) -> None:
        seen.append(state)
        raise ValueError("enough")

    text = ".decl n(x:number)\nn(0).\nn(x + 1) :- n(x), x < 1000000.\n"
    with pytest.raises(ValueError, match="enough"):
        gpulog.run(text, progress=stop)
    assert len(seen[0]) == 5
    result = gpulog.run(text.replace("1000000", "50000"), progress=True)
    assert len(result["n"]) == 50001


def test_forks() -> None:
    code = f"""
import os, sys, gpulog
engine = gpulog.Engine({REACH!r})
gpulog.run({REACH!r}, edge={EDGES!r}, jobs=2)
child = os.fork()
if child == 0:
    try:
        engine.evaluate()
    except gpulog.InputError as problem:
        assert "before a fork" in str(problem)
        os._exit(0 if len(gpulog.run({REACH!r}, edge={EDGES!r}, jobs=2)["reach"]) == 5 else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=TIMEOUT_SECONDS)


def test_a_stream_that_is_read_behind_a_fork() -> None:
    code = f"""
import os, sys, gpulog, pyarrow
class Given:
    def __init__(self, capsule):
        self.capsule = capsule
    def __arrow_c_stream__(self, requested_schema=None):
        return self.capsule
rows = [(str(x % 1000), str(x)) for x in range(400000)]
result = gpulog.run({REACH!r}.split("reach(x, z)")[0], edge=rows, jobs=2)["reach"]
stream = Given(result.__arrow_c_stream__())
child = os.fork()
if child == 0:
    os._exit(0 if len(pyarrow.table(stream)) == len(rows) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=TIMEOUT_SECONDS)


def test_an_interpreter_that_ends_during_a_run() -> None:
    code = f"""
import threading, time, gpulog
engine = gpulog.Engine(gpulog.Program({LONG!r}, warn=False))
threading.Thread(target=engine.evaluate, daemon=True).start()
time.sleep(0.3)
"""
    process = subprocess.run([sys.executable, "-c", code], check=False, timeout=TIMEOUT_SECONDS, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("form", ["functor", "progress", "arrays that are left"])
def test_an_interpreter_that_ends_with(form: str) -> None:
    code = {
        "functor": f"""
text = ".functor f(x:number):number\\n" + {LONG!r} + ".decl r(x:number)\\nr(@f(x)) :- n(x).\\n"
engine = gpulog.Engine(gpulog.Program(text, warn=False), functors={{"f": lambda x: x}})
threading.Thread(target=engine.evaluate, daemon=True).start()
time.sleep(0.3)
""",
        "progress": f"""
engine = gpulog.Engine(gpulog.Program({LONG!r}, warn=False))
threading.Thread(target=engine.evaluate, args=(lambda *state: None,), daemon=True).start()
time.sleep(0.3)
""",
        "arrays that are left": f"""
result = gpulog.run({REACH!r}, edge={EDGES!r})
kept = [result["reach"].numpy(), result["reach"].__arrow_c_stream__(), iter(result["reach"]), result]
kept.append(kept)
next(kept[2])
""",
    }[form]
    process = subprocess.run(
        [sys.executable, "-c", "import threading, time, gpulog\n" + code],
        check=False, timeout=TIMEOUT_SECONDS, capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert "Fatal" not in process.stderr and "leak" not in process.stderr, process.stderr


def test_profiles() -> None:
    engine = gpulog.run(REACH, edge=[("<a>", "b"), ("b", "c"), ("a", "b")])
    shown = engine.profile()
    assert set(shown.phases) == {"compile", "load", "evaluate", "write"} and shown.phases["evaluate"] > 0
    assert {one.rule: one.candidates for one in shown.rules} == {
        "reach(x,y) :- edge(x,y).": 3,
        "reach(x,z) :- reach(x,y), edge(y,z).": 2,
    }
    assert [one.seconds for one in shown.rules] == sorted((one.seconds for one in shown.rules), reverse=True)
    assert all(one.location.startswith("program.dl [") and one.runs > 0 for one in shown.rules)
    lines = str(shown).splitlines()
    assert lines[0].startswith("compile 0.") and len(lines) == 4 and "reach(x,y) :- edge(x,y)." in "".join(lines[2:])
    assert shown._repr_html_().count("<tr>") == 3 and "reach(x,y) :- edge(x,y)." in shown._repr_html_()
    assert gpulog.Engine(REACH).profile().rules == ()


def test_capsules_are_used_once() -> None:
    relation = gpulog.run(REACH, edge=EDGES)["reach"]

    class Once:
        def __init__(self) -> None:
            self.capsule = relation.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.capsule

    once = Once()
    pyarrow.table(once)
    engine = gpulog.Engine(REACH)
    with pytest.raises(gpulog.InputError, match="used already"):
        engine["edge"].insert(once)
    for _ in range(3):
        relation.__arrow_c_stream__()  # released with the capsule

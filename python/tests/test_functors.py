"""Functors written in Python."""

import threading
from typing import Any

import numpy
import pytest

import gpulog

ALL_TYPES = """
.functor all(n:number, u:unsigned, f:float, s:symbol):symbol
.functor next(n:number):number
.functor top():unsigned
.functor half(f:float):float
.decl in(n:number, u:unsigned, f:float, s:symbol)
.decl out(s:symbol, n:number, u:unsigned, f:float)
out(@all(n, u, f, s), @next(n), @top(), @half(f)) :- in(n, u, f, s).
"""
ROWS = [(-1, 4000000000, 0.5, "one"), (7, 0, -2.5, "Grüß"), (8, 1, 0.0, "")]
MANY = """
.functor f(x:number):number
.decl a(x:number)
a(x) :- x = range(0, 10000).
.decl b(x:number, y:number)
b(x, @f(x)) :- a(x).
"""


def texts(n: int, u: int, f: float, s: str) -> str:
    return f"{n},{u},{f},{s}"


def by_row(word_size: int) -> dict[str, Any]:
    return {"all": texts, "next": lambda n: n + 1, "top": lambda: 2**word_size - 1, "half": lambda f: f / 2}


def by_batch(word_size: int) -> dict[str, Any]:
    functors = by_row(word_size)
    functors["all"] = lambda *columns: numpy.array([texts(*row) for row in zip(*columns)], dtype=object)
    return {name: gpulog.batched(function) for name, function in functors.items()}


@pytest.mark.parametrize("functors", [by_row, by_batch])
@pytest.mark.parametrize("word_size", [32, 64])
@pytest.mark.parametrize("backend", gpulog.backends())
def test_values_of_all_types(functors: Any, word_size: int, backend: str) -> None:
    result = gpulog.run(ALL_TYPES, {"in": ROWS}, functors=functors(word_size), word_size=word_size, backend=backend)
    assert sorted(result["out"]) == sorted(
        (texts(n, u, f, s), n + 1, 2**word_size - 1, f / 2) for n, u, f, s in ROWS
    )


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("storage", ["auto", "hisa"])
@pytest.mark.parametrize("backend", gpulog.backends())
def test_arrays_have_many_rows(jobs: int, storage: str, backend: str) -> None:
    most = 0

    def doubled(x: Any) -> Any:
        nonlocal most
        most = max(most, len(x))
        assert x.dtype == numpy.int32
        return 2 * x

    result = gpulog.run(MANY, functors={"f": gpulog.batched(doubled)}, jobs=jobs, storage=storage, backend=backend)
    assert sorted(result["b"]) == [(x, 2 * x) for x in range(10000)]
    assert most > 100


def test_an_engine_calls_them_again() -> None:
    text = ".functor f(x:symbol):symbol\n.decl a(x:symbol)\n.decl b(x:symbol)\nb(@f(x)) :- a(x)."
    engine = gpulog.Engine(text, functors={"f": str.upper})
    for word in ("one", "two"):
        engine["a"].insert([word])
        engine.evaluate()
    assert sorted(engine["b"]) == [("ONE",), ("TWO",)]


@pytest.mark.parametrize("continuation", ["on", "auto", "off"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_what_goes_on_calls_them_with_what_is_new(continuation: str, jobs: int) -> None:
    """Also in a recursion, after erased facts, and after a failure."""
    text = """
    .functor next(n:number):number
    .functor name(n:number):symbol
    .decl a(x:number)
    .decl b(x:number)
    b(x) :- a(x).
    b(@next(x)) :- b(x), x % 10 != 9.
    .decl c(s:symbol)
    c(@name(x)) :- b(x).
    """
    calls: list[int] = []

    def next_number(n: int) -> int:
        if n == 1005:
            raise ValueError("not this one")
        calls.append(n)
        return n + 1

    engine = gpulog.Engine(
        text,
        functors={"next": next_number, "name": gpulog.batched(lambda numbers: [str(one) for one in numbers])},
        tuning={"continuation": continuation},
        jobs=jobs,
    )

    def expect(first: set[int]) -> None:
        engine.evaluate()
        wanted = {x for one in first for x in range(one, one // 10 * 10 + 10)}
        assert set(engine["b"]) == {(x,) for x in wanted}
        assert set(engine["c"]) == {(str(x),) for x in wanted}

    engine["a"].insert(range(0, 500, 10))
    expect(set(range(0, 500, 10)))
    for turn in range(6):
        calls.clear()
        engine["a"].insert([600 + 10 * turn])
        expect({*range(0, 500, 10), *range(600, 610 + 10 * turn, 10)})
        if continuation == "on":
            assert sorted(calls) == [*range(600 + 10 * turn, 609 + 10 * turn)]
    engine["a"].erase([600, 610])
    expect({*range(0, 500, 10), *range(620, 660, 10)})
    engine["a"].insert([1000])
    with pytest.raises(ValueError, match="not this one"):
        engine.evaluate()
    with pytest.raises(gpulog.InputError, match="has to be reset"):
        engine.evaluate()
    engine.reset()
    engine["a"].insert([5, 703])
    expect({5, 703})


def test_results_of_numpy_are_taken() -> None:
    for given in (numpy.int64, numpy.uint8, lambda x: numpy.array([x])[0]):
        assert len(gpulog.run(MANY, functors={"f": lambda x: given(x % 100)})["b"]) == 10000
    for dtype in ("i1", "u8", ">i2", "?", object):
        functor = gpulog.batched(lambda x: (x % 2).astype(dtype))
        assert sorted(gpulog.run(MANY, functors={"f": functor})["b"])[:3] == [(0, 0), (1, 1), (2, 0)]
    whole = gpulog.run(MANY, functors={"f": gpulog.batched(numpy.negative)})
    assert (17, -17) in whole["b"]


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("backend", gpulog.backends())
def test_what_a_functor_raises_ends_the_run(jobs: int, backend: str, tmp_path: Any) -> None:
    class Problem(Exception):
        pass

    fails = True

    def f(x: int) -> int:
        if fails and x > 5000:
            raise Problem(x)
        return x

    text = MANY + ".output b\n"
    engine = gpulog.Engine(text, functors={"f": f}, jobs=jobs, backend=backend, output=tmp_path)
    with pytest.raises(Problem):
        engine.evaluate()
    with pytest.raises(gpulog.InputError, match="reset"):
        engine.evaluate()
    with pytest.raises(Problem):
        gpulog.run(text, functors={"f": f}, jobs=jobs, backend=backend, output=tmp_path)
    assert not list(tmp_path.iterdir())
    fails = False
    engine.reset()
    engine.evaluate()
    assert len(engine["b"]) == 10000


@pytest.mark.parametrize(
    ("functor", "message"),
    [
        (lambda x: None, "functor @f gave no number: None"),
        (lambda x: x * 0.5, "functor @f gave no number: 0.0"),
        (lambda x: x > 5, "functor @f gave no number: False"),
        (lambda x: 2**31, "functor @f gave no number of 32 bits: 2147483648"),
        (lambda x: -(2**80), "functor @f gave no number of 32 bits: -1208925819614629174706176"),
        (gpulog.batched(lambda x: x * 0.5), "functor @f gave floats for integers"),
        (gpulog.batched(lambda x: x.astype("i8") + 2**40), "functor @f gave a number that int32 cannot hold: 1099511627776"),
        (gpulog.batched(lambda x: 5), r"functor @f gave an array of shape \(\) for 1 rows"),
        (gpulog.batched(lambda x: [5, 5]), r"functor @f gave an array of shape \(2,\) for 1 rows"),
        (gpulog.batched(lambda x: x.astype(str)), "functor @f gave no number: '0'"),
    ],
)
def test_results_that_do_not_fit(functor: Any, message: str) -> None:
    text = ".functor f(x:number):number\n.decl a(x:number)\na(0).\n.decl b(x:number)\nb(@f(x)) :- a(x)."
    with pytest.raises(gpulog.EvaluationError, match=f"^{message}$"):
        gpulog.run(text, functors={"f": functor})


def test_functors_have_to_be_declared() -> None:
    with pytest.raises(gpulog.InputError, match="There is no functor ff, did you mean 'f'?"):
        gpulog.Engine(MANY, functors={"ff": abs})
    stateful = ".functor f(x:number):number stateful\n"
    with pytest.raises(gpulog.InputError, match="User-defined functor @f cannot be called: it is stateful"):
        gpulog.Engine(stateful, functors={"f": abs})


def test_texts_that_are_no_utf8() -> None:
    text = ".functor f(x:symbol):symbol\n.decl a(x:symbol)\n.decl b(x:symbol)\nb(@f(x)) :- a(x)."
    seen: list[str] = []
    result = gpulog.run(text, a=[b"\xff"], functors={"f": lambda x: seen.append(x) or x})
    assert seen == ["\udcff"] and seen[0] in result["b"]


def test_a_functor_cannot_use_its_engine() -> None:
    engine: Any = None
    engine = gpulog.Engine(MANY, functors={"f": lambda x: len(engine["a"])})
    with pytest.raises(gpulog.InputError, match="at work"):
        engine.evaluate()


def test_a_functor_can_use_another_engine() -> None:
    inner = ".decl a(x:number)\n.decl b(x:number)\nb(x + 1) :- a(x)."
    text = ".functor f(x:number):number\n.decl a(x:number)\na(1). a(2).\n.decl b(x:number)\nb(@f(x)) :- a(x)."
    result = gpulog.run(text, functors={"f": lambda x: gpulog.run(inner, a=[x])["b"].fetchall()[0][0]}, jobs=4)
    assert sorted(result["b"]) == [(2,), (3,)]


def test_engines_in_several_threads() -> None:
    results: list[int] = []

    def work(factor: int) -> None:
        result = gpulog.run(MANY, functors={"f": lambda x: factor * x})
        results.append(sum(y for _, y in result["b"]) // sum(range(10000)))

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 1, 2, 3]

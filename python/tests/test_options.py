"""Options, wrong options, warnings, and messages that speak Python."""

import inspect
import pathlib
import warnings
from typing import Any

import numpy
import pytest

import gpulog

REACH = ".decl edge(x:symbol, y:symbol)\n.decl reach(x:symbol, y:symbol)\nreach(x, y) :- edge(x, y).\n"
SUM = ".decl n(x:number)\n.decl s(x:number)\ns(t) :- t = sum x : { n(x) }.\n"
COUNT = ".decl n(x:number)\nn(x) :- x = range(0, 46341).\n.decl s(x:number)\ns(t) :- t = count : { n(_x), n(_y) }.\n"
OVERFLOW = (
    "Warning: A count or sum needs more than 32 bits and wraps around in rule:\n{}\nin file program.dl [{}]\n"
    "Numbers have 32 bits here; with word_size=64 they have 64 bits"
)

WRONG = [
    ({"job": 2}, gpulog.InputError, "There is no relation or option job, did you mean the option 'jobs'?"),
    ({"edgs": []}, gpulog.InputError, "There is no relation edgs, did you mean 'edge'?"),
    ({"zebra": []}, gpulog.InputError, "There is no relation zebra"),
    ({"jobs": -1}, ValueError, "jobs must be at least 0, not -1"),
    ({"jobs": "2"}, TypeError, "jobs must be an integer, not '2'"),
    ({"jobs": True}, TypeError, "jobs must be an integer, not True"),
    ({"device": -1}, ValueError, "device must be at least 0, not -1"),
    ({"memory_limit": 1.5}, TypeError, "memory_limit must be an integer, not 1.5"),
    ({"word_size": 16}, ValueError, "words have 32 or 64 bits, not 16"),
    ({"backend": "abacus"}, ValueError, "there is no backend abacus: auto, cpu or gpu"),
    ({"storage": "shelf"}, ValueError, "there is no storage shelf: auto, hisa, hash, bits or words"),
    ({"output": ["reach"]}, TypeError, "output must be a folder, not ['reach']"),
    ({"facts": 5}, TypeError, "facts must be a folder, not 5"),
    ({"timeout": "1"}, TypeError, "timeout must be a number of seconds, not '1'"),
    ({"timeout": -1}, ValueError, "timeout must be at least 0, not -1"),
    ({"tuning": {"joins": "nested"}}, ValueError, 'the tuning choice joins=nested needs storage="hisa"'),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG, ids=[str(one[0]) for one in WRONG])
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        gpulog.run(REACH, {"edge": []}, **options)
    assert str(raised.value) == message


def test_run_has_all_options() -> None:
    def options(function: Any) -> dict[str, Any]:
        parameters = inspect.signature(function).parameters.values()
        return {one.name: (one.default, one.annotation) for one in parameters if one.kind is one.KEYWORD_ONLY}

    of_run = options(gpulog.run)
    of_programs = {name: one for name, one in options(gpulog.Program).items() if name not in ("filled", "name", "pragmas")}
    of_evaluations = {"progress": of_run["progress"], "timeout": of_run["timeout"]}
    assert of_run == {name: (one[0], of_run[name][1]) for name, one in {
        **of_evaluations, **of_programs, **options(gpulog.Engine)}.items()}  # fmt: skip
    assert of_run["jobs"] == (0, "int")
    assert len(gpulog.run(REACH, edge=[("a", "b")], jobs=numpy.int64(1)).reach) == 1


def test_messages_name_options_of_python() -> None:
    for text, message in [
        (".decl n(x:number)\nn(5000000000).\n", "Numbers have 32 bits here; with word_size=64 they have 64 bits"),
        (".decl n(x:number)\nn(1).\n?- n(x).\n", "A query is not part of a program: ask it with query('p(x)')"),
    ]:
        with pytest.raises(gpulog.ProgramError) as raised:
            gpulog.Program(text)
        assert message in str(raised.value).splitlines()
    with pytest.raises(gpulog.InputError) as wide:
        gpulog.run(".decl n(x:number)", n=numpy.array([1, 2**40]))
    assert str(wide.value) == (
        "row 1 of attribute x of relation n is no number of 32 bits: 1099511627776; with word_size=64 it fits"
    )
    with pytest.raises(gpulog.MemoryLimitError, match="\\(raise it with memory_limit, or name a folder with spill\\)"):
        gpulog.run(".decl n(x:number)", n=range(100000), memory_limit=10000)
    with pytest.raises(gpulog.InputError, match="^proofs need an engine with the option proofs$"):
        gpulog.run(REACH, edge=[]).why('reach("a", "b")')
    if "gpu" not in gpulog.backends():
        with pytest.raises(gpulog.InputError, match='^backend="gpu": this gpulog was built without a GPU backend$'):
            gpulog.run(REACH, edge=[], backend="gpu")


def recorded(call: Any) -> list[tuple[str, str]]:
    """Returns texts and files of the warnings of a call."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    assert all(one.category is gpulog.ProgramWarning for one in seen)
    return [(str(one.message), one.filename) for one in seen]


def test_uses_unknown_to_souffle_are_warnings() -> None:
    text = '.decl a(s:symbol)\na(to_upper("x")).\n.output a\n'
    assert recorded(lambda: gpulog.Program(text)) == []
    [(message, _)] = recorded(lambda: gpulog.Program(text, portable=True))
    assert message.startswith("Warning: Soufflé has no functor to_upper in file program.dl at line 2\n"), message
    assert recorded(lambda: gpulog.run(text, portable=True)) == [(message, __file__)]


def test_overflows_are_warnings() -> None:
    of_sum = OVERFLOW.format("s(t) :- t = sum x : { n(x) }.", "3:1-3:30")
    of_count = OVERFLOW.format("s(t) :- t = count : { n(_x), n(_y) }.", "4:1-4:38")
    for options in ({"jobs": 1}, {"jobs": 4}, {"storage": "hisa"}):
        assert recorded(lambda: gpulog.run(SUM, n=[2**31 - 1, 1], **options)) == [(of_sum, __file__)]
        assert recorded(lambda: gpulog.run(COUNT, **options)) == [(of_count, __file__)]
    assert recorded(lambda: gpulog.run(SUM, n=[2**31 - 1, 1], word_size=64)) == []
    assert recorded(lambda: gpulog.run(SUM, n=[2**31 - 2, 1])) == []
    assert recorded(lambda: gpulog.run(SUM, n=[2**31 - 1, 1], warn=False)) == []
    engine = gpulog.run(SUM, n=[1])
    assert recorded(lambda: engine.query("t = sum x : { n(x) }")) == []
    engine.n.insert([2**31 - 1])
    assert recorded(engine.evaluate) == [(of_sum, __file__)]
    said = recorded(lambda: engine.query("t = sum y : { n(y) }"))
    assert len(said) == 1 and "wraps around in rule:\n" in said[0][0] and "in file query [1:1-1:" in said[0][0]


def test_warnings_are_at_the_line_of_the_caller(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program.dl"
    path.write_text(REACH, encoding="utf-8")
    for call in (lambda: gpulog.Program(REACH), lambda: gpulog.run(REACH), lambda: gpulog.run(path)):
        files = [file for _, file in recorded(call)]
        assert files == [__file__]

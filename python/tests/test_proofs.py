"""Proofs: why tuples exist, and why not."""

import gc
from typing import Any

import pytest

import gpulog

REACH = """
.decl edge(x:symbol, y:symbol)
.decl cut(x:symbol)
.decl reach(x:symbol, y:symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z), !cut(y).
"""
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "<e>"), ("<e>", "f")]


def engine_of(**options: Any) -> gpulog.Engine:
    return gpulog.run(REACH, {"edge": EDGES, "cut": []}, proofs=True, **options)


def premises(proof: gpulog.Proof, *path: int) -> gpulog.Proof:
    for place in path:
        proof = proof.premises[place]
    return proof


@pytest.mark.parametrize("options", [{}, {"backend": "gpu"}, {"storage": "hisa"}, {"jobs": 1}, {"word_size": 64}])
def test_a_proof_is_a_tree(options: dict[str, Any]) -> None:
    if options.get("backend") == "gpu" and "gpu" not in gpulog.backends():
        pytest.skip("no GPU in this build")
    proof = engine_of(**options).why('reach("a", "c")')
    assert proof is not None
    assert (proof.kind, proof.text, proof.relation, proof.height) == ("derived", 'reach("a", "c")', "reach", 2)
    assert (proof.rule_number, proof.location, proof.is_least, proof.note) == (2, "program.dl [6:1-6:49]", True, "")
    assert proof.rule == "reach(x,z) :- reach(x,y), edge(y,z), !cut(y)."
    assert [(one.kind, one.text) for one in proof.premises] == [
        ("derived", 'reach("a", "b")'),
        ("fact", 'edge("b", "c")'),
        ("condition", '!cut("b")'),
    ]
    assert proof.premises[1].premises == ()
    assert proof.json()["premises"][0]["rule_number"] == 1
    lines = str(proof).splitlines()
    assert lines[-1].strip() == 'reach("a", "c")' and "(R2)" in lines[-2]


def test_deep_proofs_are_cut() -> None:
    engine = engine_of()
    proof = engine.why('reach("a", "f")', depth=2)
    assert proof is not None and proof.premises[0].kind == "cut"
    rest = engine.why(proof.premises[0].text)
    assert rest is not None and rest.kind == "derived" and rest.height == proof.height - 1
    whole = engine.why('reach("a", "f")', depth=9)
    assert whole is not None and premises(whole, 0, 0, 0, 0, 0).kind == "fact"


def test_a_proof_is_shown_in_notebooks() -> None:
    proof = engine_of().why('reach("d", "<e>")')
    assert proof is not None
    assert proof._repr_html_().startswith("<pre>") and "&lt;e&gt;" in proof._repr_html_()


def test_parts_outlive_their_proof_and_engine() -> None:
    proof = engine_of().why('reach("a", "d")')
    assert proof is not None
    part = proof.premises[0]
    drawn = str(part)
    del proof
    gc.collect()
    assert str(part) == drawn and drawn.endswith('reach("a", "c")')


def test_a_tuple_that_is_not_there() -> None:
    engine = engine_of()
    assert engine.why('reach("b", "a")') is None
    first, second = engine.why_not('reach("b", "a")', y='"c"')
    assert (first.rule_number, first.parts) == (1, [('edge("b", "a")', False)])
    assert second.parts == [('reach("b", "c")', True), ('edge("c", "a")', False), ('!cut("c")', True)]
    assert second.fits_head and second.free_variables == []
    assert 'reach("b", "a")' in str(second) and second._repr_html_().startswith("<pre>")
    unbound = engine.why_not('reach("b", "a")')[1]
    assert unbound.free_variables == ["y"] and (None in [holds for _, holds in unbound.parts])


def test_proofs_of_the_last_evaluation() -> None:
    engine = engine_of()
    engine["edge"].erase([("a", "b")])
    engine.evaluate()
    assert engine.why('reach("a", "c")') is None
    assert engine.why('reach("b", "d")') is not None


def test_functors_of_python_are_called() -> None:
    text = ".functor twice(x:number):number\n.decl a(x:number)\n.decl b(x:number)\nb(@twice(x)) :- a(x)."
    engine = gpulog.run(text, a=[3, 5], functors={"twice": lambda x: 2 * x}, proofs=True)
    proof = engine.why("b(10)")
    assert proof is not None and proof.premises[0].text == "a(5)"


@pytest.mark.parametrize("question", ["raech(1)", 'reach("a")', "reach(", "", "reach"])
def test_questions_that_make_no_sense(question: str) -> None:
    engine = engine_of()
    with pytest.raises(gpulog.InputError):
        engine.why(question)
    with pytest.raises(gpulog.InputError):
        engine.why_not(question)


def test_engines_without_proofs() -> None:
    with pytest.raises(gpulog.InputError, match="proofs"):
        gpulog.run(REACH, edge=EDGES, cut=[]).why('reach("a", "b")')
    with pytest.raises(gpulog.InputError, match="after the evaluation"):
        gpulog.Engine(REACH, proofs=True).why('reach("a", "b")')

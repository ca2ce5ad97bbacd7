"""Records and branches as Python values."""

import copy
import pickle
from typing import Any

import numpy
import polars
import pytest

import gpulog
from gpulog import Branch

TEXT = """
.type List = [head:number, tail:List]
.type All = [n:number, u:unsigned, f:float, s:symbol, l:List, t:Tree]
.type Tree = Leaf {} | Node {left:Tree, right:Tree} | Value {x:All}
.type Color = Red {} | Green {}
.decl given(t:Tree, l:List, c:Color)
.decl out(t:Tree, l:List, c:Color)
out(t, l, c) :- given(t, l, c).
"""
LEAF, RED, GREEN = Branch("Leaf"), Branch("Red"), Branch("Green")
ALL = (-5, 4000000000, 0.1, 'a "quoted", \\ text] ) \n', (1, (-2, None)), LEAF)
ROWS: list[tuple[Any, ...]] = [
    (LEAF, None, RED),
    (Branch("Node", LEAF, Branch("Value", ALL)), (1, (2, None)), GREEN),
    (Branch("Value", None), (3, None), RED),
]


def as_word(row: tuple[Any, ...], word_size: int) -> tuple[Any, ...]:
    """0.1 differs in 32 bits."""
    if word_size == 64 or row[0].name != "Node":
        return row
    fields = (*ALL[:2], float(numpy.float32(ALL[2])), *ALL[3:])
    return (Branch("Node", LEAF, Branch("Value", fields)), *row[1:])


@pytest.mark.parametrize("word_size", [32, 64])
def test_they_come_out_as_they_went_in(word_size: int) -> None:
    result = gpulog.run(TEXT, given=ROWS, word_size=word_size)["out"]
    wanted = {as_word(row, word_size) for row in ROWS}
    assert set(result) == set(result.fetchall()) == wanted
    assert all(row in result for row in ROWS)
    assert set(gpulog.run(TEXT, given=result.fetchall(), word_size=word_size)["out"]) == wanted
    assert set(gpulog.run(TEXT, given=result.pl(), word_size=word_size)["out"]) == wanted


def test_records_are_named_tuples() -> None:
    engine = gpulog.run(TEXT, given=ROWS)
    record = next(row[1] for row in engine["out"] if row[2] == GREEN)
    assert (record.head, record.tail.head, record.tail.tail) == (1, 2, None)
    make = engine.program.types["List"].record
    assert make is not None and isinstance(record, make) and make(1, make(2, None)) == record
    strange = gpulog.run(".type A = [class:number, _x:number]\n.decl a(x:A)", a=[((1, 2),)])
    assert strange["a"].fetchall() == [((1, 2),)]


@pytest.mark.parametrize("record", [(3, None), [3, None], {"tail": None, "head": numpy.int64(3)}, "[3, nil]", b"[3,nil]"])
def test_forms_of_records(record: Any) -> None:
    row = (LEAF, record, RED)
    assert gpulog.run(TEXT, given=[row])["out"].fetchall() == [(LEAF, (3, None), RED)]
    columns = {"t": ["$Leaf"], "l": [record], "c": polars.Series(["$Red"])}
    engine = gpulog.run(TEXT, given=columns)
    assert row in engine["out"]
    engine["given"].erase([row])
    engine.evaluate()
    assert len(engine["out"]) == 0


def test_of_one_attribute_a_branch_alone_is_a_row() -> None:
    text = ".type Color = Red {} | Green {}\n.decl a(c:Color)"
    relation = gpulog.run(text, a=[RED])["a"]
    assert relation.fetchall() == [(RED,)] and RED in relation and (GREEN,) not in relation


def test_frames_have_texts() -> None:
    relation = gpulog.run(TEXT, given=ROWS)["out"]
    wanted = {"nil", "[1, [2, nil]]", "[3, nil]"}
    assert set(relation.pl()["l"]) == set(relation.df()["l"]) == set(relation.numpy()["l"]) == wanted


def test_branches_are_values() -> None:
    node = Branch("Node", LEAF, LEAF)
    assert node == Branch("Node", LEAF, LEAF) != Branch("Node", LEAF, RED)
    assert node != ("Node", (LEAF, LEAF)) and len({node, Branch("Node", LEAF, LEAF), LEAF}) == 2
    assert repr(node) == "Branch('Node', Branch('Leaf'), Branch('Leaf'))"
    assert eval(repr(node)) == copy.deepcopy(node) == pickle.loads(pickle.dumps(node)) == node
    match node:
        case Branch("Node", (left, _)):
            assert left == LEAF
        case _:
            pytest.fail("no match")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((LEAF, (1,), RED), "row 0 of attribute l of relation given is no List: .1,."),
        ((LEAF, (1, 2), RED), "is no List"),
        ((LEAF, ("a", None), RED), "is no List"),
        ((LEAF, (1, "nil"), RED), "is no List"),
        ((LEAF, (2**31, None), RED), r"is no List: \[2147483648, nil\]"),
        ((LEAF, {"head": 1}, RED), "is no List"),
        ((LEAF, {"head": 1, "tail": None, "more": 1}, RED), "is no List"),
        ((LEAF, 5, RED), "is no List: 5"),
        ((LEAF, LEAF, RED), "is no List"),
        ((LEAF, "[1", RED), r"is no List: \[1"),
        ((None, None, RED), "row 0 of attribute t of relation given is null"),
        ((("Leaf",), None, RED), "is no Tree"),
        ((Branch("Nod"), None, RED), "is no Tree"),
        ((Branch("Node", LEAF), None, RED), "is no Tree"),
        ((Branch("Leaf", 1), None, RED), "is no Tree"),
        ((Branch("Value", (1, 2)), None, RED), "is no Tree"),
        ((Branch(5), None, RED), "is no Tree"),  # type: ignore[arg-type]
    ],
)
def test_misfits(row: tuple[Any, ...], message: str) -> None:
    engine = gpulog.Engine(TEXT)
    with pytest.raises(gpulog.InputError, match=message):
        engine["given"].insert([row])
    assert len(engine["given"]) == 0
    with pytest.raises(gpulog.InputError):
        row in engine["given"]
    with pytest.raises(gpulog.InputError):
        engine["given"].erase([row])


def test_lists_of_any_length() -> None:
    text = ".type List = [head:number, tail:List]\n.decl a(l:List)\n.decl b(l:List)\nb(t) :- a([_, t])."
    numbers: Any = None
    for number in range(100000):
        numbers = (number, numbers)
    relation = gpulog.run(text, a=[(numbers,)])["b"]
    ((found,),) = relation.fetchall()
    for number in reversed(range(99999)):
        assert found.head == number
        found = found.tail
    assert found is None


def test_types_are_described() -> None:
    types = gpulog.Program(TEXT, warn=False).types
    assert list(types) == ["List", "All", "Tree", "Color"]
    assert [(field.name, field.type, field.structure) for field in types["List"].fields] == [
        ("head", "number", ""),
        ("tail", "record", "List"),
    ]
    assert types["Tree"].kind == "adt" and list(types["Tree"].branches) == ["Leaf", "Node", "Value"]
    assert [field.structure for field in types["Tree"].branches["Node"]] == ["Tree", "Tree"]
    assert gpulog.Program(TEXT, warn=False).relations[0].attributes[1].structure == "List"

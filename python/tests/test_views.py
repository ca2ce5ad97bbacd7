"""What users see of engines, relations and answers, and the forms of their rows."""

import pathlib
import sys

import polars
import pyarrow.parquet
import pytest

import gpulog

REACH = """
.decl edge(x:symbol, y:symbol)
.decl reach(x:symbol, y:symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""
EDGES = [("Vienna", "Linz"), ("Linz", "Salzburg")]


def test_printed_relations_have_names_sizes_and_ten_rows() -> None:
    numbers = gpulog.run(".decl n(x:number, t:symbol)", n=[(number, f"t{number}") for number in range(1, 1013)])["n"]
    assert str(numbers) == (
        "n(x:number, t:symbol): 1,012 tuples\n"
        " x  t\n 1  t1\n 2  t2\n 3  t3\n 4  t4\n 5  t5\n 6  t6\n 7  t7\n 8  t8\n 9  t9\n10  t10\n... 1,002 more"
    )
    assert repr(numbers) == "<gpulog.Relation n(x:number, t:symbol) of 1,012 tuples>"
    reach = gpulog.run(REACH, edge=EDGES[:1])["reach"]
    assert str(reach) == "reach(x:symbol, y:symbol): 1 tuple\nx       y\nVienna  Linz"
    assert str(gpulog.Engine(".decl yes()")["yes"]) == "yes(): 0 tuples"
    wide = gpulog.run(".decl n(x:symbol)", n=["a\tb\nc", "x" * 50])["n"]
    assert str(wide) == f"n(x:symbol): 2 tuples\nx\na\\tb\\nc\n{'x' * 37}..."


def test_printed_engines_have_their_relations() -> None:
    result = gpulog.run(REACH, edge=EDGES)
    assert str(result) == (
        "relation                   tuples\nedge(x:symbol, y:symbol)        2\nreach(x:symbol, y:symbol)       3"
    )
    assert repr(result) == "<gpulog.Engine of 2 relations>"


def test_notebooks() -> None:
    result = gpulog.run(REACH, edge=[("<a>", "b")])
    assert result["reach"]._repr_html_() == (
        "<p>reach(x:symbol, y:symbol)</p><table><thead><tr><th>x</th><th>y</th></tr></thead>"
        "<tbody><tr><td>&lt;a&gt;</td><td>b</td></tr></tbody></table><p>1 tuple</p>"
    )
    assert result.query('reach(x, y), x != "b"')._repr_html_().startswith("<p>reach(x, y), x != &quot;b&quot;</p><table>")
    assert result._repr_html_() == (
        "<table><thead><tr><th>relation</th><th>tuples</th></tr></thead><tbody>"
        "<tr><td>edge(x:symbol, y:symbol)</td><td>1</td></tr><tr><td>reach(x:symbol, y:symbol)</td><td>1</td></tr>"
        "</tbody></table>"
    )
    assert result.program.show()._repr_html_().startswith("<pre>")
    assert result.statistics["backend"] == "cpu"


def test_relations_are_attributes() -> None:
    result = gpulog.run(REACH + ".comp C { .decl r(x:number) }\n.init c = C\n.decl load(x:number)\n", edge=EDGES, warn=False)
    assert sorted(result.reach) == sorted(result["reach"])
    assert {"edge", "reach", "evaluate"} <= set(dir(result)) and "c.r" not in dir(result)
    assert result._ipython_key_completions_() == ["edge", "reach", "c.r", "load"]
    assert callable(result.load) and result["load"].name == "load"
    with pytest.raises(AttributeError, match="^no relation or method is named raech, did you mean 'reach'\\?$"):
        result.raech
    with pytest.raises(AttributeError, match="^no relation or method is named evalute, did you mean 'evaluate'\\?$"):
        result.evalute
    assert not hasattr(result, "_ipython_display_")


def test_rows_by_name() -> None:
    reach = gpulog.run(REACH, edge=EDGES).reach
    assert sorted(reach.rows()) == sorted(reach.fetchall())
    assert reach.rows(named=True) == [{"x": x, "y": y} for x, y in reach]


def test_parquet_files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reach = gpulog.run(REACH, edge=EDGES).reach
    wanted = sorted(reach)
    reach.to_parquet(tmp_path / "reach.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "reach.parquet")
    assert sorted(zip(*(column.to_pylist() for column in table.columns), strict=True)) == wanted
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # polars writes instead
    reach.to_parquet(str(tmp_path / "other.parquet"))
    assert sorted(polars.read_parquet(tmp_path / "other.parquet").rows()) == wanted

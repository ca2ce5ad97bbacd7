"""Runs the Python blocks of each document in order, like doctest."""

import doctest
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(os.environ.get("GPULOG_ROOT", pathlib.Path(__file__).parents[2]))
DOCUMENTS = ["README.md", "docs/index.md", "docs/python.md", "docs/python-points-to.md", "docs/recipes.md",
             "docs/when-facts-change.md"]  # fmt: skip
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_all_documents_with_python_are_run() -> None:
    found = [path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(pattern)]
    with_python = {str(path.relative_to(ROOT)) for path in found if BLOCK.search(path.read_text(encoding="utf-8"))}
    assert with_python == set(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_document(document: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = "\n".join(BLOCK.findall((ROOT / document).read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(text, {}, document, document, 0)
    assert test.examples
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)


def test_docstrings() -> None:
    import gpulog

    failed, tried = doctest.testmod(gpulog)
    assert tried > 0 and failed == 0

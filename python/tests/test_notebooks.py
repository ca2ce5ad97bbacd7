"""Executes the example notebooks and compares their outputs.

  python python/tests/test_notebooks.py --update    writes the outputs into the notebooks
"""

import os
import pathlib
import sys

import nbclient
import nbformat
import pytest

ROOT = pathlib.Path(os.environ.get("GPULOG_ROOT", pathlib.Path(__file__).parents[2]))
NOTEBOOKS = sorted(ROOT.glob("examples/*/*.ipynb"))
TIMEOUT_SECONDS = 120


def executed(path: pathlib.Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=TIMEOUT_SECONDS, resources={"metadata": {"path": str(path.parent)}}, record_timing=False
    )
    client.execute()
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.text if output.output_type == "stream" else output.data["text/plain"] for output in outputs]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: pathlib.Path) -> None:
    assert shown(executed(path)) == shown(nbformat.read(path, as_version=4))


def update(path: pathlib.Path) -> None:
    notebook = executed(path)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                output["data"] = {"text/plain": output["data"]["text/plain"]}
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__" and "--update" in sys.argv:
    for each in NOTEBOOKS:
        update(each)

#!/usr/bin/env python3
"""Rates of transferring 10^7 rows between Python and gpulog: minimum of four times, in seconds and GB/s (bytes in
Arrow's layout). Texts have 10^5 distinct values, in random order.

  PYTHONPATH=build/emulated/python build/python/bin/python bench/python/rates.py
"""

import time

import gpulog
import numpy
import polars
import pyarrow

ROWS = 10**7
TEXTS = 10**5


def least(work):
    seconds = []
    for _ in range(4):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def report(name, size, seconds):
    print("%-32s %8.4f s %8.2f GB/s" % (name, seconds, size / seconds / 1e9))


def insert(text, facts):
    engine = gpulog.Engine(text)
    engine["a"].insert(facts)
    return engine


def main():
    text = ".decl a(x:number, y:number)\n"
    random = numpy.random.default_rng(1)
    for dtype in ("int32", "int64"):
        columns = {"x": numpy.arange(ROWS, dtype=dtype), "y": random.integers(0, ROWS, ROWS).astype(dtype)}
        size = sum(column.nbytes for column in columns.values())
        for name, facts in (("numpy", columns), ("pyarrow", pyarrow.table(columns)), ("polars", polars.DataFrame(columns))):
            report("in, %s, %s" % (name, dtype), size, least(lambda: insert(text, facts)))
    engine = insert(text, columns)
    engine.evaluate()
    relation = engine["a"]
    for name in ("numpy", "arrow", "pl", "df"):
        report("out, " + name, 8 * ROWS, least(getattr(relation, name)))
    text = ".decl a(x:symbol, y:symbol)\n"
    names = pyarrow.array(["com.example.Class%d" % number for number in range(TEXTS)])
    for coded in (False, True):
        columns = [pyarrow.DictionaryArray.from_arrays(random.integers(0, TEXTS, ROWS).astype("int32"), names) for _ in "xy"]
        table = pyarrow.table(columns if coded else [column.cast(pyarrow.string()) for column in columns], names=["x", "y"])
        for name, facts in (("pyarrow", table), ("polars", polars.from_arrow(table))):
            report("in, %s, %s" % (name, "dictionaries" if coded else "texts"), table.nbytes, least(lambda: insert(text, facts)))
    engine = insert(text, table)
    engine.evaluate()
    relation = engine["a"]
    for name, work in (
        ("out, arrow, dictionaries", lambda: relation.arrow(dictionaries=True)),
        ("out, pl, dictionaries", lambda: relation.pl(dictionaries=True)),
        ("out, arrow, texts", relation.arrow),
        ("out, pl, texts", relation.pl),
    ):
        report(name, (table if "dict" in name else relation.arrow()).nbytes, least(work))


if __name__ == "__main__":
    main()

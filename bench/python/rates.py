#!/usr/bin/env python3
"""How fast 10^7 rows go into gpulog from Python and come out: least of four times, in seconds and GB/s.

  PYTHONPATH=build/emulated/python build/python/bin/python bench/python/rates.py
"""

import time

import gpulog
import numpy
import polars
import pyarrow

ROWS = 10**7
TEXTS = 10**6


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
    symbols = pyarrow.array(["com.example.Class%d" % (row % 100000) for row in range(TEXTS)])
    table = pyarrow.table({"x": symbols, "y": symbols})
    coded = pyarrow.table({"x": symbols.dictionary_encode(), "y": symbols.dictionary_encode()})
    report("in, texts", table.nbytes, least(lambda: insert(text, table)))
    report("in, texts as dictionaries", coded.nbytes, least(lambda: insert(text, coded)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares what golden programs expect with what their derive.py computes, by plain loops over sets, from the same facts.

  tests/check_derived.py CASE...            compares
  tests/check_derived.py --write CASE...    writes expected/ anew

A derive.py has a function results(facts) -> {file name under expected/: set of rows}. facts(NAME) are the rows of
NAME.facts as tuples of texts; facts(NAME, int, str, ..) converts columns. A row is a tuple, or a line.
"""
import argparse
import importlib.util
import os
import sys


def reader(folder):
    def facts(name, *kinds, file_name=None, delimiter='\t'):
        path = os.path.join(folder, 'facts', file_name or name + '.facts')
        with open(path, encoding='utf-8') as file:
            rows = [line.rstrip('\n').split(delimiter) for line in file]
        if not kinds:
            return {tuple(row) for row in rows}
        return {tuple(kind(value) for kind, value in zip(kinds, row)) for row in rows}
    return facts


def lines(rows):
    return sorted(row if isinstance(row, str) else '\t'.join(map(str, row)) for row in rows)


def derived(case):
    spec = importlib.util.spec_from_file_location('derive', os.path.join(case, 'derive.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: lines(rows) for name, rows in module.results(reader(case)).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--write', action='store_true', help='write what is expected')
    parser.add_argument('cases', nargs='+')
    options = parser.parse_args()
    failed = 0
    for case in options.cases:
        expected = os.path.join(case, 'expected')
        found = derived(case)
        if options.write:
            os.makedirs(expected, exist_ok=True)
            for name, rows in found.items():
                with open(os.path.join(expected, name), 'w', encoding='utf-8') as file:
                    file.writelines(row + '\n' for row in rows)
            continue
        names = set(os.listdir(expected))
        if names != set(found):
            print('%s: other files: %s' % (case, sorted(names ^ set(found))))
            failed += 1
        for name in sorted(names & set(found)):
            with open(os.path.join(expected, name), encoding='utf-8') as file:
                if sorted(file.read().splitlines()) != found[name]:
                    print('%s: %s differs' % (case, name))
                    failed += 1
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Runs an example and compares its results with what a program in Python computes from the same facts (derived/NAME.py).

  tests/docs/test_examples.py NAME...            runs them; the environment variable GPULOG names the command
  tests/docs/test_examples.py --write NAME...    writes expected/ anew, by the programs in Python

An example is a folder of examples/: NAME.dl, fact files in facts/ (or beside the program), expected/ (as in golden programs,
tests/run_programs.py) and README.md, whose commands test_documents.py runs.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
EXAMPLES = os.path.join(os.path.dirname(TESTS), 'examples')
sys.path.insert(0, TESTS)
import check_derived  # noqa: E402
import run_programs  # noqa: E402

CONFIGURATIONS = [('auto', 1), ('hash', 2), ('hisa', 2)]


def derived(name):
    """File name under expected/ -> lines."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, 'derived', name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = os.path.join(EXAMPLES, name)
    found = module.results(check_derived.reader(folder), folder)
    return {file: check_derived.lines(rows) for file, rows in found.items()}


def write(name):
    expected = os.path.join(EXAMPLES, name, 'expected')
    os.makedirs(expected, exist_ok=True)
    for file_name, lines in derived(name).items():
        with open(os.path.join(expected, file_name), 'w', encoding='utf-8') as file:
            file.writelines(line + '\n' for line in lines)


def run(name, storage, jobs):
    folder = os.path.join(EXAMPLES, name)
    facts = os.path.join(folder, 'facts')
    with tempfile.TemporaryDirectory(prefix='gpulog-') as output:
        command = [os.path.abspath(os.environ['GPULOG']), os.path.join(folder, name + '.dl'), '-D', output, '-F',
                   facts if os.path.isdir(facts) else folder, '-j', str(jobs), '--storage', storage, '--backend', 'cpu']
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                 timeout=run_programs.TIMEOUT_SECONDS)
        problems = run_programs.check_success(os.path.join(folder, 'expected'), process, output)
    if process.stderr:
        problems.append('standard error: %s' % process.stderr.decode('utf-8', 'replace')[:300])
    return problems


def check_expected(name):
    expected = os.path.join(EXAMPLES, name, 'expected')
    found = derived(name)
    problems = []
    if set(os.listdir(expected)) != set(found):
        problems.append('expected/ has %s, computed is %s' % (sorted(os.listdir(expected)), sorted(found)))
    for file_name in sorted(set(found) & set(os.listdir(expected))):
        with open(os.path.join(expected, file_name), encoding='utf-8') as file:
            if sorted(file.read().splitlines()) != found[file_name]:
                problems.append('expected/%s is not what is computed' % file_name)
    return problems


def main():
    names = [name for name in sys.argv[1:] if name != '--write']
    if '--write' in sys.argv:
        for name in names:
            write(name)
        return 0
    failed = 0
    for name in names:
        problems = check_expected(name)
        for storage, jobs in CONFIGURATIONS:
            problems += ['--storage %s -j %d: %s' % (storage, jobs, one) for one in run(name, storage, jobs)]
        for problem in problems:
            print('FAIL %s: %s' % (name, problem))
        failed += bool(problems)
    print('%d of %d examples failed' % (failed, len(names)))
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main())

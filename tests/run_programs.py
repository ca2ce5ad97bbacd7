#!/usr/bin/env python3
"""Runs golden programs: each in half of the storage modes with 1 to 4 threads, and the other half in the next turn
(GPULOG_TEST_TURN); with --backend gpu, with one thread; with another word size in all modes with 2 threads, except
programs that a list names.

A program is a folder:
  program.dl            its first lines say what it is for
  facts/                fact files, if any
  options               further command line options, one a line, if any
  expected/NAME         what output file NAME has to hold; lines, or rows of JSON, in any order
  expected/stdout       what standard output has to hold; without it, nothing
  expected/error.json   the program has to fail: {"line": L, "contains": [texts]}; "line" may be left out. Exit status 1,
                        the line and the texts (in any case of letters) on standard error, no output file
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

# Programs take turns with these lists. On a device, each list has two configurations with one thread.
TURNS = [[('hash', 1), ('hash', 4), ('hisa', 2), ('bits', 1), ('words', 3)],
         [('hash', 2), ('hisa', 1), ('hisa', 4), ('bits', 3), ('words', 1)]]
# Configurations that compute all possible relations row by row.
BY_ROWS = [('hash', 2), ('words', 1)]
# Configurations with dense numbers instead of values.
ENCODED = [('bits', 1), ('hisa', 2)]
# Configurations that order joins again even if they read few rows.
REOPTIMIZED = [('hash', 4), ('words', 3), ('hisa', 1), ('bits', 1)]
# Configurations that compute all possible recursions row by row.
RECURSIONS_BY_ROWS = [('hash', 1), ('bits', 4), ('words', 3)]
# The lists of builds with sanitizers, on a CPU and on a device. A program without a configuration in this turn is skipped.
FEW = [[('hash', 2)], [('hisa', 4)], [('hisa', 2)], [('bits', 1)], [('hash', 4)], [('words', 3)]]
FEW_ON_DEVICE = [[('hisa', 1)], [], [('words', 1)], []]
TIMEOUT_SECONDS = 120


def lines_of(path):
    """With how often each is there; of a .json file its rows, however they are laid out."""
    if path.endswith('.json'):
        with open(path, encoding='utf-8') as file:
            return collections.Counter(json.dumps(row, sort_keys=True) for row in json.load(file))
    with open(path, 'rb') as file:
        return collections.Counter(file.read().splitlines())


def difference(wanted, found):
    if wanted == found:
        return None
    return '%d lines wanted, %d found; missing %s, unexpected %s' % (
        sum(wanted.values()), sum(found.values()), sorted((wanted - found).elements())[:3],
        sorted((found - wanted).elements())[:3])


def names_line(text, line):
    return re.search(r'\bline %d\b|\.\w+:%d\b' % (line, line), text)


def check_failure(expected, process, output):
    problems = []
    text = process.stderr.decode('utf-8', 'replace')
    if process.returncode != 1:
        problems.append('exit status %d instead of 1: %s' % (process.returncode, text[:300]))
    if 'line' in expected and not names_line(text, expected['line']):
        problems.append('standard error does not name line %d: %s' % (expected['line'], text[:300]))
    for wanted in expected.get('contains', []):
        if wanted.lower() not in text.lower():
            problems.append('standard error lacks %r: %s' % (wanted, text[:300]))
    if os.listdir(output):
        problems.append('left %s' % sorted(os.listdir(output)))
    if process.stdout:
        problems.append('printed %r' % process.stdout[:100])
    return problems


def check_success(folder, process, output):
    if process.returncode != 0:
        return ['exit status %d: %s' % (process.returncode, process.stderr.decode('utf-8', 'replace')[:300])]
    problems = []
    names = set(os.listdir(folder))
    for name in sorted(names - {'stdout'}):
        path = os.path.join(output, name)
        if not os.path.exists(path):
            problems.append('%s was not written' % name)
            continue
        found = difference(lines_of(os.path.join(folder, name)), lines_of(path))
        if found:
            problems.append('%s: %s' % (name, found))
    for name in sorted(set(os.listdir(output)) - names):
        problems.append('%s was written but is not expected' % name)
    wanted = lines_of(os.path.join(folder, 'stdout')) if 'stdout' in names else collections.Counter()
    found = difference(wanted, collections.Counter(process.stdout.splitlines()))
    if found:
        problems.append('standard output: %s' % found)
    return problems


def check_figures(path):
    """What was counted of the steps of each rule fits to its candidates, and the time of indexes belongs to rules."""
    problems = []
    with open(path, encoding='utf-8') as file:
        strata = json.load(file)['strata']
    for stratum in strata:
        for rule in stratum['rules']:
            made = rule['operators'][-1].get('rows', rule['candidates']) if rule['operators'] else rule['candidates']
            if rule['counted_runs'] == rule['runs'] and made != rule['candidates']:
                problems.append('%d rows and %d candidates of %s' % (made, rule['candidates'], rule['rule']))
        # Some devices measure indexes together, and what sets have of them too.
        if any(index['seconds'] is None for index in stratum['indexes']) or (
                stratum['backend'] != 'cpu' and not stratum['indexes']):
            continue
        indexing = sum(phase['seconds'] for phase in stratum['phases'] if phase['name'] == 'index')
        charged = sum(rule['index_seconds'] for rule in stratum['rules'])
        if abs(indexing - charged) > 1e-6:
            problems.append('%f s of indexes, of which %f s belong to rules' % (indexing, charged))
    return problems


def run(gpulog, case, storage, jobs, backend, more_options=()):
    expected = os.path.join(case, 'expected')
    with tempfile.TemporaryDirectory(prefix='gpulog-') as scratch:
        output = os.path.join(scratch, 'out')
        os.mkdir(output)
        facts = os.path.join(case, 'facts')
        if not os.path.isdir(facts):
            facts = os.path.join(scratch, 'facts')
            os.mkdir(facts)
        command = [gpulog, 'program.dl', '-F', facts, '-D', output, '-j', str(jobs), '--storage', storage, '--backend', backend]
        figures = os.path.join(scratch, 'figures.json')
        command += ['--stats', figures]
        command += ['--tune', 'rows=on'] if (storage, jobs) in BY_ROWS else []
        command += ['--tune', 'dense-domain-encoding=on'] if (storage, jobs) in ENCODED else []
        command += ['--tune', 'rows=recursions'] if (storage, jobs) in RECURSIONS_BY_ROWS else []
        command += ['--tune', 'reoptimization=on'] if (storage, jobs) in REOPTIMIZED else []
        options = os.path.join(case, 'options')
        if os.path.exists(options):
            with open(options, encoding='utf-8') as file:
                command += file.read().split()
        if '--word-size' not in command:
            command += more_options
        process = subprocess.run(command, cwd=case, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                 timeout=TIMEOUT_SECONDS)
        # A device that only this program does not get is an error.
        if backend == 'gpu' and b'Error: --backend gpu' in process.stderr and not has_device(gpulog):
            raise NoDevice
        error = os.path.join(expected, 'error.json')
        if os.path.exists(error):
            with open(error, encoding='utf-8') as file:
                return check_failure(json.load(file), process, output)
        return check_success(expected, process, output) or check_figures(figures)


class NoDevice(Exception):
    pass


def has_device(gpulog):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'empty.dl')
        with open(program, 'w', encoding='utf-8') as file:
            file.write('.decl a(x:number)\na(1).\n')
        process = subprocess.run([gpulog, program, '--backend', 'gpu'], capture_output=True, text=True, check=False)
        return 'Error: --backend gpu' not in process.stderr


def turn_of(case, turns):
    """Selects by the case and GPULOG_TEST_TURN, which scripts/test derives from the commit."""
    number = zlib.crc32(os.path.basename(case).encode()) + int(os.environ.get('GPULOG_TEST_TURN', 0))
    return turns[number % len(turns)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--gpulog', required=True, help='the program to test')
    parser.add_argument('--backend', default='auto')
    parser.add_argument('cases', nargs='+', help='folders of golden programs')
    parser.add_argument('--few', action='store_true', help='only some of the configurations, for builds that are slow')
    parser.add_argument('--ranks', help='run a share of them, which turns, with so many ranks that divide all strata')
    parser.add_argument('--word-size', help='run them with this --word-size')
    parser.add_argument('--except', dest='exceptions', help='file with a case a line that is not run; # begins a comment')
    options = parser.parse_args()
    gpulog = os.path.abspath(options.gpulog)
    turns = TURNS
    if options.backend == 'gpu':
        turns = [[configuration for configuration in turn if configuration[1] == 1] for turn in TURNS]
    if options.few:
        turns = FEW_ON_DEVICE if options.backend == 'gpu' else FEW
    failed = run_count = 0
    more_options = []
    if options.word_size:
        if options.backend != 'gpu':
            turns = [[('hash', 2), ('hisa', 2), ('bits', 2)]]
        more_options = ['--word-size', options.word_size]
    if options.ranks:
        turns = [[('hash', 1)], [('bits', 2)]] + 4 * [[]]
        if options.backend == 'gpu':
            turns = [[('hash', 1)]] + 11 * [[]]
        more_options = ['--ranks', options.ranks, '--tune', 'divided-strata=on']
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    cases = options.cases
    if options.exceptions:
        with open(options.exceptions, encoding='utf-8') as file:
            exceptions = {line.split('#')[0].strip() for line in file}
        cases = [case for case in cases if os.path.basename(os.path.normpath(case)) not in exceptions]
    for case in cases:
        for storage, jobs in turn_of(os.path.normpath(case), turns):
            try:
                problems = run(gpulog, os.path.abspath(case), storage, jobs, options.backend, more_options)
            except NoDevice:
                print('skipped: no GPU')
                return 77
            run_count += 1
            failed += bool(problems)
            for problem in problems:
                print('FAIL %s, --storage %s -j %d: %s' % (os.path.basename(os.path.normpath(case)), storage, jobs, problem), flush=True)
    print('%d of %d runs failed' % (failed, run_count))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

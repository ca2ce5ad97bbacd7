#!/usr/bin/env python3
"""Runs one of the paper's queries on one real input and compares result sizes and iterations with the known ones.

Small road networks are carried by the repository. The others are looked for in the folder that the environment variable
GPULOG_DATA names (graphs/NAME/edge.facts.gz, cspa/NAME/{assign,dereference}.facts.gz); without it the test is skipped,
exit status 77.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
CARRIED = {
    'OL.cedge': os.path.join(ROOT, 'examples', 'reach'),
    'TG.cedge': os.path.join(TESTS, 'data', 'TG.cedge'),
    'cal.cedge': os.path.join(TESTS, 'data', 'cal.cedge'),
}
CSPA = ('ValueFlow', 'ValueAlias', 'MemoryAlias')
# query -> input -> sizes of the results
SIZES = {
    'reach': {
        'OL.cedge': {'reach': 146120}, 'TG.cedge': {'reach': 481121}, 'cal.cedge': {'reach': 501755},
        'ego-Facebook': {'reach': 2508102}, 'CA-HepTh': {'reach': 74619885}, 'fe_sphere': {'reach': 78557912},
        'SF.cedge': {'reach': 80498014}, 'fe_body': {'reach': 156120489},
    },
    'sg': {
        'ego-Facebook': {'sg': 15015116}, 'CA-HepTh': {'sg': 74609340}, 'fe_sphere': {'sg': 205797714},
        'loc-Brightkite': {'sg': 92386346},
    },
    'cspa': {
        'leela': dict(zip(CSPA, (65000, 4288965, 17971))), 'cactus': dict(zip(CSPA, (48375, 8295164, 42944))),
        'parest': dict(zip(CSPA, (176526, 2622562, 27086))), 'x264': dict(zip(CSPA, (80697, 2550761, 7676))),
        'psql': dict(zip(CSPA, (26652, 2196554, 9129))),
    },
}
# Iterations of REACH until nothing new was found, that last one included.
ITERATIONS = {'OL.cedge': 64, 'TG.cedge': 58, 'cal.cedge': 195}


def facts_of(query, name):
    if name in CARRIED:
        return CARRIED[name]
    data = os.environ.get('GPULOG_DATA')
    if not data:
        return None
    folder = os.path.join(data, 'cspa' if query == 'cspa' else 'graphs', name)
    return folder if os.path.isdir(folder) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--gpulog', required=True, help='the program to test')
    parser.add_argument('--storage', default='hash', choices=('auto', 'hash', 'bits', 'words', 'hisa'))
    parser.add_argument('--jobs', default='2')
    parser.add_argument('query', choices=sorted(SIZES))
    parser.add_argument('input')
    options = parser.parse_args()
    facts = facts_of(options.query, options.input)
    if facts is None:
        print('skipped: GPULOG_DATA names no folder with %s' % options.input)
        return SKIPPED

    with tempfile.TemporaryDirectory(prefix='gpulog-') as scratch:
        report = os.path.join(scratch, 'stats.json')
        program = os.path.join(ROOT, 'bench', 'paper', options.query + '.dl')
        process = subprocess.run([options.gpulog, program, '-F', facts, '-D', scratch, '-j', options.jobs, '--storage',
                                  options.storage, '--stats', report], capture_output=True, text=True, check=False)
        sys.stderr.write(process.stderr)
        if process.returncode != 0:
            print('exit status %d' % process.returncode)
            return 1
        found = {name: int(size) for name, size in (line.split('\t') for line in process.stdout.splitlines())}
        with open(report, encoding='utf-8') as file:
            figures = json.load(file)
    wanted = SIZES[options.query][options.input]
    print('found  %s in %.3f s' % (found, figures['evaluate_seconds']))
    if found != wanted:
        print('wanted %s' % wanted)
        return 1
    if options.query == 'reach' and options.input in ITERATIONS:
        iterations = max(stratum['iterations'] for stratum in figures['strata'])
        if iterations != ITERATIONS[options.input]:
            print('%d iterations, wanted %d' % (iterations, ITERATIONS[options.input]))
            return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())

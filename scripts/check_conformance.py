#!/usr/bin/env python3
"""Runs a conformance suite and compares with the list of cases that pass.

A listed case that fails is a failure. An unlisted case that passes is reported, to be added to the list; an unlisted
case that fails is only counted. The last line is "N passed, N failed", over the listed cases.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def part(text):
    number, parts = map(int, text.split('/'))
    return number, parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--suite', required=True, help='folder with run.py')
    parser.add_argument('--gpulog', required=True, help='the program to test')
    parser.add_argument('--expected', required=True, help='file with one case a line; # begins a comment')
    parser.add_argument('--update', action='store_true', help='write the cases that pass into the file')
    parser.add_argument('--options', default='', help='further options of the program, as "--word-size 64"')
    parser.add_argument('--except', dest='exceptions', help='file with cases that are not looked at; # begins a comment')
    parser.add_argument('--part', type=part, default=(0, 1), metavar='K/N', help='only the features with number K modulo N')
    options = parser.parse_args()

    number, parts = options.part
    features = sorted(name for name in os.listdir(options.suite) if name[0].isdigit())[number % parts::parts]
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        engine = '%s {program} -F {facts} -D {out} %s' % (os.path.abspath(options.gpulog), options.options)
        chosen = [argument for feature in features for argument in ('--feature', feature)]
        subprocess.run([sys.executable, os.path.join(options.suite, 'run.py'), '--engine', engine, '--jobs',
                        str(os.cpu_count() or 1), '--timeout', '300', '--json', report.name, *chosen], stdout=subprocess.DEVNULL,
                       check=False)
        results = {case['case']: case for case in json.load(report)['cases']}

    passing = sorted(name for name, case in results.items() if case['ok'])
    if options.update:
        with open(options.expected, 'w', encoding='utf-8') as listing:
            listing.write('# Cases of the conformance suite that pass; scripts/check_conformance.py --update rewrites this.\n')
            listing.writelines(name + '\n' for name in passing)
    with open(options.expected, encoding='utf-8') as listing:
        expected = [line.strip() for line in listing if line.strip() and not line.startswith('#')]
    expected = [name for name in expected if name.split('/')[0] in features]
    if options.exceptions:
        with open(options.exceptions, encoding='utf-8') as listing:
            exceptions = {line.split('#')[0].strip() for line in listing}
        expected = [name for name in expected if name not in exceptions]

    failed = [name for name in expected if name not in results or not results[name]['ok']]
    for name in failed:
        print('FAIL %s: %s' % (name, results[name]['why'] if name in results else 'there is no such case'))
    fresh = [name for name in passing if name not in set(expected)]
    for name in fresh:
        print('newly passing, not in the list: %s' % name)
    print('%d of all %d cases pass' % (len(passing), len(results)))
    print('%d passed, %d failed' % (len(expected) - len(failed), len(failed)))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

"""The expected results of program.dl with the macro STRICT: its macros are written out here as a table."""
import json
import re

SOURCES = (('user', '(http|cli)_(get|read)_.*'), ('file', 'f(ile)?_read.*'), ('secret', '.*(password|token)'))
SINKS = (('user', '(sql|shell)_(exec|query)', 1), ('file', 'eval[0-9]*', 1), ('secret', 'log_.*', 1),
         ('secret', 'log_.*', 2))
SANITIZERS = (('user', '.*escape.*'), ('secret', '(mask|hash)_[^_]+'), ('file', 'check_(?:type|mode)'))
LABELS = ('user', 'file', 'secret')


def grow(found, step):
    while True:
        more = step(found) - found
        if not more:
            return found
        found |= more


def results(facts):
    functions = [f for f, in facts('function')]
    assign = {(source, to) for to, source in facts('assign')}
    calls = {c: (f, inside, int(line)) for c, f, inside, line in facts('call')}
    assert len(calls) == len(facts('call'))
    arguments = facts('argument', str, int, str)
    parameters = facts('parameter', str, int, str)
    known = {f for f, _, _ in parameters}
    returned = {(c, v) for c, n, v in arguments if n == 0}

    # Pairs (from, to) and functions' summaries grow together.
    summaries, flows, before = set(), set(), None
    while before != (len(summaries), len(flows)):
        before = len(summaries), len(flows)
        through = {(v, r) for c, n, v in arguments if n > 0 and (calls[c][0], n) in summaries
                   for d, r in returned if d == c}
        steps = assign | through
        flows = grow(set(steps), lambda now: {(x, z) for x, y in now for a, z in steps if a == y})
        summaries = {(f, n) for f, n, p in parameters if n > 0 for g, m, r in parameters
                     if (g, m) == (f, 0) and (p == r or (p, r) in flows)}

    def clean(label, f):
        return any(label == of and re.fullmatch(pattern, f) for of, pattern in SANITIZERS)

    def taint(label):
        begin = {v for c, v in returned for of, pattern in SOURCES if of == label and re.fullmatch(pattern, calls[c][0])}

        def step(now):
            new = {to for source, to in assign if source in now}
            for c, n, v in arguments:
                f = calls[c][0]
                if clean(label, f):
                    continue
                if n > 0 and v in now:
                    new |= {p for g, m, p in parameters if (g, m) == (f, n)}
                    if f not in known:
                        new |= {r for d, r in returned if d == c}
                if n == 0 and any(r in now for g, m, r in parameters if (g, m) == (f, 0)):
                    new.add(v)
            return new
        return grow(begin, step)
    tainted = {label: taint(label) for label in LABELS}
    branches = facts('branch')
    implicit = {label: grow(set(), lambda now, label=label:
                            {v for _, c, v in branches if c in tainted[label] or c in now}
                            | {to for source, to in assign if source in now}) for label in LABELS}

    found = {(label, calls[c][1], calls[c][0], calls[c][2]) for label, pattern, position in SINKS
             for c, n, v in arguments if n == position and re.fullmatch(pattern, calls[c][0])
             and (v in tainted[label] or v in implicit[label])}
    per_function = {f: len([1 for row in found if row[1] == f]) for _, f, _, _ in found}
    return {
        'report.csv': {'%s reaches %s in %s:%d' % (label, g, f, line) for label, f, g, line in found},
        'counted.csv': {(label, len({f for of, f, _, _ in found if of == label}),
                         len([1 for row in found if row[0] == label])) for label in LABELS},
        'worst.csv': {(f, n) for f, n in per_function.items() if n == max(per_function.values())},
        'where_am_i.csv': {('/taint/program.dl', 66)},
        'summary.csv': summaries,
        'module.csv': {(f, f[:f.find('_')] if '_' in f else '') for f in functions},
        'implicit.csv': {(label, v) for label in LABELS for v in implicit[label]},
        'findings.json': [json.dumps([dict(zip(('label', 'f', 'sink', 'line'), row)) for row in sorted(found)])],
        'stdout': {('tainted', sum(map(len, tainted.values()))), ('flows', len(flows))},
    }

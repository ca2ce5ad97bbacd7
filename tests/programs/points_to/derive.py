"""The expected results of program.dl: one round after another over everything that is known, until nothing is new."""


def hierarchy(facts):
    supers = facts('DirectSuper')
    declares = {(t, sig): m for t, sig, m in facts('DeclaresMethod')}
    interfaces = {t for t, in facts('IsInterface')}
    types = {t for pair in supers for t in pair} | {t for t, _ in declares} | {row[2] for row in facts('AllocIn')}

    def above(t):
        found, waiting = set(), [t]
        while waiting:
            at = waiting.pop()
            if at not in found:
                found.add(at)
                waiting += [s for u, s in supers if u == at]
        return found

    def dispatch(t, sig):
        if (t, sig) in declares:
            return set() if t in interfaces else {declares[t, sig]}
        result = set()
        for u, s in supers:
            if u == t and s not in interfaces:
                result |= dispatch(s, sig)
        return result
    return {t: above(t) for t in types}, dispatch


def analyse(facts, above, dispatch, initial, next_context):
    alloc, move, cast = facts('AllocIn'), facts('MoveIn'), facts('CastIn')
    store, load = facts('StoreIn'), facts('LoadIn')
    virtual, static = facts('VirtualCall'), facts('StaticCall')
    actual, formal = facts('Actual'), facts('Formal')
    this, returns, assigned = facts('This'), facts('Return'), facts('Assigned')
    type_of = {h: t for _, h, t, _ in alloc}
    statics = {i for i, _, _ in static}
    reachable = {(initial, m) for m, in facts('Entry')}
    points, fields, calls = set(), set(), set()

    def values(c, v):
        return {(hc, h) for d, w, hc, h in points if (d, w) == (c, v)}

    while True:
        before = len(reachable), len(points), len(fields), len(calls)
        for c, m in list(reachable):
            points |= {(c, v, c, h) for v, h, _, n in alloc if n == m}
            for to, source, n in move:
                if n == m:
                    points |= {(c, to, hc, h) for hc, h in values(c, source)}
            for to, source, t, n in cast:
                if n == m:
                    points |= {(c, to, hc, h) for hc, h in values(c, source) if t in above[type_of[h]]}
            for base, f, source, n in store:
                if n == m:
                    fields |= {(bc, b, f, hc, h) for bc, b in values(c, base) for hc, h in values(c, source)}
            for to, base, f, n in load:
                if n == m:
                    objects = values(c, base)
                    points |= {(c, to, hc, h) for bc, b, g, hc, h in fields if g == f and (bc, b) in objects}
            targets = set()
            for i, base, sig, n in virtual:
                if n != m:
                    continue
                for hc, h in values(c, base):
                    for callee in dispatch(type_of[h], sig):
                        to = next_context(c, i, i in statics)
                        targets.add((i, to, callee))
                        points |= {(to, v, hc, h) for n2, v in this if n2 == callee}
            for i, callee, n in static:
                if n == m:
                    targets.add((i, next_context(c, i, True), callee))
            for i, to, callee in targets:
                calls.add((c, i, to, callee))
                reachable.add((to, callee))
                for n2, k, v in formal:
                    if n2 == callee:
                        for j, l, a in actual:
                            if (j, l) == (i, k):
                                points |= {(to, v, hc, h) for hc, h in values(c, a)}
                for j, v in assigned:
                    if j == i:
                        for n2, returned in returns:
                            if n2 == callee:
                                points |= {(c, v, hc, h) for hc, h in values(to, returned)}
        if before == (len(reachable), len(points), len(fields), len(calls)):
            break

    edges = {(i, m) for _, i, _, m in calls}
    return {
        'VarPointsTo': {(v, h) for _, v, _, h in points},
        'CallEdge': edges,
        'MayFail': {(source, t) for _, source, t, m in cast for c, n in reachable if n == m
                    for _, h in values(c, source) if t not in above[type_of[h]]},
        'Polymorphic': {(i, n) for i, _, _, _ in virtual for n in [len({m for j, m in edges if j == i})] if n > 1},
        'Sizes': {('contexts', len(reachable)), ('points-to', len(points)), ('fields', len(fields))},
    }


def results(facts):
    above, dispatch = hierarchy(facts)
    runs = {
        'plain': analyse(facts, above, dispatch, 0, lambda c, i, is_static: c),
        'sites': analyse(facts, above, dispatch, ('<none>',) * 2, lambda c, i, is_static: (i, c[0])),
        'mixed': analyse(facts, above, dispatch, ('<none>',) * 2,
                         lambda c, i, is_static: c if is_static else (i, c[0])),
    }
    files = {'%s.%s.csv' % (run, name): rows for run, found in runs.items() for name, rows in found.items()}
    plain, sites = runs['plain']['VarPointsTo'], runs['sites']['VarPointsTo']
    count = {v: len([1 for w, _ in plain if w == v]) for v, _ in plain}
    less = {v: len([1 for w, _ in sites if w == v]) for v in count}
    files['Unsound.csv'] = (sites | runs['mixed']['VarPointsTo']) - plain
    files['Gained.csv'] = {(v, count[v] - less[v]) for v in count if count[v] > less[v]}
    files['Unrepresented.csv'] = set()
    files['stdout'] = {('Representative', len(count))}
    return files

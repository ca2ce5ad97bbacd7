"""By a worklist of methods and loops over their statements."""


def results(facts, _):
    supers = dict(facts('extends'))
    methods = {(c, s): m for c, s, m in facts('declares')}
    classes = {o: c for _, o, c, _ in facts('new_object')}

    def chain(c):
        while c is not None:
            yield c
            c = supers.get(c)

    def dispatch(c, signature):
        return next((methods[d, signature] for d in chain(c) if (d, signature) in methods), None)

    this, returned = dict(facts('this')), dict(facts('returns'))
    reachable, calls = {m for m, in facts('main')}, set()
    points, fields, failing = set(), set(), set()

    def of(v):
        return [o for w, o in points if w == v]

    while True:
        before = len(reachable), len(calls), len(points), len(fields)
        for v, o, _, m in facts('new_object'):
            if m in reachable:
                points.add((v, o))
        for v, w, m in facts('assign'):
            if m in reachable:
                points.update((v, o) for o in of(w))
        for v, w, c, m in facts('cast'):
            if m in reachable:
                points.update((v, o) for o in of(w) if c in chain(classes[o]))
                failing.update((v, c, o) for o in of(w) if c not in chain(classes[o]))
        for v, f, w, m in facts('store'):
            if m in reachable:
                fields.update((o, f, p) for o in of(v) for p in of(w))
        for v, w, f, m in facts('load'):
            if m in reachable:
                points.update((v, p) for o in of(w) for base, g, p in fields if (base, g) == (o, f))
        for i, m, inside in facts('static_call'):
            if inside in reachable:
                calls.add((i, m))
        for i, v, s, inside in facts('virtual_call'):
            for o in of(v) if inside in reachable else ():
                m = dispatch(classes[o], s)
                calls.add((i, m))
                points.add((this[m], o))
        for i, m in calls:
            reachable.add(m)
            for called, n, v in facts('parameter'):
                if called == m:
                    points.update((v, o) for j, k, w in facts('argument') if (j, k) == (i, n) for o in of(w))
            points.update((v, o) for j, v in facts('result') if j == i for o in of(returned.get(m)))
        if before == (len(reachable), len(calls), len(points), len(fields)):
            break
    virtual = {i for i, _, _, _ in facts('virtual_call')}
    targets = {i: {m for j, m in calls if j == i} for i in virtual}
    return {
        'points_to.csv': points,
        'field_points_to.csv': fields,
        'calls.csv': calls,
        'one_target.csv': {(i, *found) for i, found in targets.items() if len(found) == 1},
        'may_fail.csv': failing,
        'never_called.csv': {(m,) for m in methods.values() if m not in reachable},
    }

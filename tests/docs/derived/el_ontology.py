"""The completion of EL over dictionaries of sets, until nothing changes."""


def results(facts, _):
    names = {x for name, places in (('subclass', (0, 1)), ('both', (0, 1, 2)), ('has_some', (0, 2)), ('from_some', (1, 2)),
                                    ('disjoint', (0, 1))) for row in facts(name) for x in (row[p] for p in places)}
    supers = {c: {c} for c in names}
    links = {}
    for r, s in facts('subrole'):
        links.setdefault(r, set())
        links.setdefault(s, set())
    for _, r, _ in facts('has_some'):
        links.setdefault(r, set())
    for rows in facts('chain'):
        for r in rows:
            links.setdefault(r, set())
    while True:
        before = sum(map(len, supers.values())), sum(map(len, links.values()))
        for c, found in supers.items():
            found.update(d for b, d in facts('subclass') if b in found)
            found.update(e for d, b, e in facts('both') if d in found and b in found)
            for b, r, d in facts('has_some'):
                if b in found:
                    links[r].add((c, d))
        for r, s in facts('subrole'):
            links[s] |= links[r]
        for r, s, t in facts('chain'):
            links[t] |= {(c, e) for c, d in links[r] for f, e in links[s] if d == f}
        for r, d, e in facts('from_some'):
            for c, f in links.get(r, ()):
                if d in supers[f]:
                    supers[c].add(e)
        if before == (sum(map(len, supers.values())), sum(map(len, links.values()))):
            break
    empty = {c for c in names if any(d in supers[c] and e in supers[c] for d, e in facts('disjoint'))}
    while True:
        more = {c for c in names if supers[c] & empty} | {c for pairs in links.values() for c, d in pairs if d in empty}
        if more <= empty:
            break
        empty |= more
    named = {c for c in names if not c.startswith('_') and c not in empty}
    below = {(c, d) for c in named for d in supers[c] & named if c != d}
    return {
        'directly_below.csv': {(c, d) for c, d in below if not any((c, e) in below and (e, d) in below for e in named)},
        'empty.csv': {(c,) for c in empty},
        'stdout': {('below', len(below))},
    }

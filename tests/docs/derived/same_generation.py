"""By the distances to common ancestors."""
import itertools


def results(facts, _):
    parents = {}
    for child, parent in facts('parent'):
        parents.setdefault(child, set()).add(parent)
        parents.setdefault(parent, set())

    def ancestors(person, distance=0):
        yield person, distance
        for parent in parents[person]:
            yield from ancestors(parent, distance + 1)

    above = {person: set(ancestors(person)) for person in parents}
    same = {(x, y): {n for _, n in above[x] & above[y]} for x, y in itertools.product(parents, repeat=2)
            if above[x] & above[y]}
    return {
        'siblings.csv': {(x, y) for x, y in same if x < y and parents[x] & parents[y]},
        'cousins.csv': {(x, y, min(n) - 1) for (x, y), n in same.items() if x < y and min(n) > 1},
        'size_of_generation.csv': {(x, sum(pair[0] == x for pair in same)) for x in parents if not parents[x]},
        'stdout': {('same_generation', len(same))},
    }

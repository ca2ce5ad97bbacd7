"""The expected results of program.dl, by rounds over all tuples."""


def results(facts):
    created = facts('created', str, int, float)
    moved = facts('moved', float, float)
    stored = facts('stored', float, str, float)
    loaded = facts('loaded', str, float, float)
    reaches, holds = set(created), set()
    while True:
        before = len(reaches), len(holds)
        reaches |= {(o, c, w) for o, c, v in reaches for of, w in moved if of == v and w != 7.5}
        holds |= {(c, b, o, f) for o, c, v in reaches for of, f, b in stored if of == v}
        reaches |= {(o, c, v) for c, b, o, f in holds for field, of, v in loaded if (field, of) == (f, b)}
        if before == (len(reaches), len(holds)):
            break
    return {
        'reaches.csv': reaches,
        'holds.csv': holds,
        'stays.csv': {(o, c) for o, c, v in created if (c, v, o, 'next') not in holds},
    }

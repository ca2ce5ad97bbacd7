"""The expected results of program.dl, by products of sets."""


def results(_):
    points = {((i * 7919 + 13) % 1009 - 500, (i * 31) % 64 + 2147483616) for i in range(300)}
    blocks = {(b, b + (i * 5) % 9) for i in range(60) for b in [(i * 37) % 997 - 490]}
    places = {x for x, _ in points}
    grown = {x for x in places if x < -400}
    while more := {y for x in grown for y in places if x < y < x + 6} - grown:
        grown |= more
    after = {x: min((z for z in places if x < z < x + 20), default=None) for x in places}
    return {
        'inside.csv': {(b, x) for b, e in blocks for x in places if b <= x < e},
        'near.csv': {(x, y) for x in places for y in places if x - 3 < y <= x + 2 and x != y and -400 <= y < 400},
        'above.csv': {(t, sum(u > t for _, u in points)) for _, t in points},
        'next.csv': {(x, y) for x, y in after.items() if y is not None},
        'stdout': {'none\t0'},
        'grown.csv': {(x,) for x in grown},
        'gaps.csv': {(x,) for x in grown if not any(x < y < x + 5 for y in grown)},
    }

"""The expected results of program.dl, by products of sets."""


def results(_):
    points = {((i * 7919 + 13) % 1009 - 500, (i * 31) % 64 + 2147483616) for i in range(300)}
    blocks = {(b, b + (i * 5) % 9) for i in range(60) for b in [(i * 37) % 997 - 490]}
    places = {x for x, _ in points}
    grown = {x for x in places if x < -400}
    while more := {y for x in grown for y in places if x < y < x + 6} - grown:
        grown |= more
    after = {x: min((z for z in places if x < z < x + 20), default=None) for x in places}
    word = 1 << 32
    member = {((i * 7) % 4, x, (x * 8123 + 2147483000) % word) for i in range(2000) for x in [(i * 6151) % 4001 - 2000]}
    asked = {(i % 5, (i * 211) % 4200 - 2100) for i in range(400)}
    of = {g: [(x, t) for h, x, t in member if h == g] for g in range(5)}
    ends = {(g, x) for g, x in asked if any(y <= x for y, _ in of[g]) and any(y > x for y, _ in of[g])}
    tags = {(g, x) for g, x in asked if any(t < (x * 9001 + 2147483000) % word for _, t in of[g])}
    close = {(g, x, y) for g, x in asked for y, _ in of[g] if x < y < x + 7}
    around = {(x, sum(2 * x - 3 <= y <= 2 * x + 40 for y, _ in points), max((y for y in places if x - 90 < y < x - 1), default=None))
              for x in places if x % 7 == 0}
    return {
        'around.csv': {row for row in around if row[2] is not None},
        'inside.csv': {(b, x) for b, e in blocks for x in places if b <= x < e},
        'near.csv': {(x, y) for x in places for y in places if x - 3 < y <= x + 2 and x != y and -400 <= y < 400},
        'above.csv': {(t, sum(u > t for _, u in points)) for _, t in points},
        'next.csv': {(x, y) for x, y in after.items() if y is not None},
        'stdout': {'none\t0', 'ranks\t%d' % len(asked), 'ends\t%d' % len(ends), 'tags\t%d' % len(tags), 'close\t%d' % len(close),
                   'differ\t0'},
        'grown.csv': {(x,) for x in grown},
        'gaps.csv': {(x,) for x in grown if not any(x < y < x + 5 for y in grown)},
    }

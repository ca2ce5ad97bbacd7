"""The expected results of program.dl, by products of sets."""


def number(value):
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def results(_):
    items = {i - 60 for i in range(120)} | {number(2147483600 + i) for i in range(96)} | {number(i * 35791394) for i in range(60)}
    pairs = [(x, y) for x in items for y in items]
    marks = {x * 3 % (1 << 32) for x in items}
    members = {(i % 3, number(2147483000 + i)) for i in range(1500)}
    of = {g: [x for h, x in members if h == g] for g in range(3)}
    rest = lambda x: abs(x) % 10
    return {
        'near.csv': {(x, y) for x, y in pairs if number(x - y) < 3 and number(y - x) < 3},
        'below.csv': {(x, sum(number(x + y) < 5 for y in items)) for x in items},
        'opposite.csv': {(x, y) for x, y in pairs if number(x - y + 7) > 2147483640 and x != y},
        'ends.csv': {(x, 0, 0, sum(number(x - 1 - y) < 2147483647 for y in items)) for x in items},
        'close.csv': {(t, u) for t in marks for u in marks if (t - u) % (1 << 32) <= 4 and t != u},
        'around.csv': {(g, x, sum(number(y - x) < 20 and number(x - y) < 20 for y in of[g])) for g, x in members if rest(x) == 0},
        'first.csv': {(x,) for x in items if any(number(y - x) > 2147483000 for y in items)},
    }

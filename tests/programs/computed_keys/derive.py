def divided(x, y):
    """Truncated, as in C."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def closed(found, step):
    """found with all that step gives for any of it, again and again."""
    waiting = list(found)
    while waiting:
        for row in step(waiting.pop()):
            if row not in found:
                found.add(row)
                waiting.append(row)
    return found


def results(facts):
    node = range(-40, 2000)
    depth = closed({(0, 0)}, lambda row: [(x, row[1] + 1) for x in node if x != 0 and divided(x, 2) == row[0]])

    need = set(range(1, 30))
    steps = {(1, 0)}
    while True:
        sizes = len(need), len(steps)
        known = list(need)
        need |= {n // 2 for n in known if n > 1 and n % 2 == 0} | {3 * n + 1 for n in known if n > 1 and n % 2}
        lengths = dict(steps)
        after = {n: n // 2 if n % 2 == 0 else 3 * n + 1 for n in need if n > 1}
        steps |= {(n, lengths[m] + 1) for n, m in after.items() if m in lengths}
        if sizes == (len(need), len(steps)):
            break

    power = closed({(b, 0, 1) for b in range(2, 5)},
                   lambda row: [(row[0], e, row[2] * row[2]) for e in range(2, 13, 2) if e // 2 == row[1]] +
                   [(row[0], e, row[0] * row[2]) for e in range(1, 13, 2) if e & -2 == row[1]])
    pair = closed({(0, 0)}, lambda row: [(x, y) for x in range(60) for y in range(60)
                                         if x + y < 60 and x // 3 == row[0] and y >> 1 == row[1]])
    half = closed({1000}, lambda x: [y // 2 for y in node if y > 3 and y & 2046 == x])

    sums = closed({0}, lambda s: [x + d for x in node for d in range(4)
                                  if x + d > 0 and x < 400 and divided(x + d, 2) == s])
    quotient = closed({(0, 0)}, lambda row: [(x, row[1] + d) for x in node for d in (2, 3)
                                             if x > 0 and x // d == row[0]])
    value = closed({7}, lambda n: [2 * n + 1] if n < 1000 else [])
    text = [x for x in node if x >= 0]
    digits = closed({7}, lambda t: [n for n in text if n in value and n // 2 == t])
    prefix = closed({('', 0)}, lambda row: [(str(x), row[1] + 1) for x in text if str(x)[:-1] == row[0]])
    return {'depth.csv': depth, 'named.csv': depth, 'need.csv': {(n,) for n in need}, 'steps.csv': steps,
            'power.csv': power, 'pair.csv': pair, 'half.csv': {(h,) for h in half}, 'sums.csv': {(s,) for s in sums},
            'quotient.csv': quotient, 'value.csv': {(n,) for n in value}, 'digits.csv': {(n,) for n in digits},
            'prefix.csv': prefix}

def results(facts):
    a = {(x, x % 3000 * 3) for x in range(30001)}
    b = {(x % 2 * 3, x) for x in range(10)}
    firsts = {y for y, _ in b}
    p = {(x, y, z) for x, y in a if y in firsts for v, z in b if v == y}
    o = {(x, y) for x, y in a if y in firsts}
    r = set(o)
    while True:
        more = {(x, y) for x, z in r for v, y in b if v == z and z < y}
        if more <= r:
            break
        r |= more
    return {'p.csv': p, 'o.csv': o, 'r.csv': r, 'q.csv': {(x, y, z) for x, y, z in p if x != z}}

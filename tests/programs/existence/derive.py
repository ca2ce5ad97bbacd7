def results(facts):
    p = {x * 37 % 201 - 100 for x in range(150)}
    q = {(x * 11 % 97 + 200, x) for x in range(60)}
    smaller = {v for v in p if any(w > v for w in p)}
    event = {3 * x for x in range(300)}
    return {'smaller.csv': {(v,) for v in smaller},
            'greatest.csv': {(v,) for v in p - smaller},
            'between.csv': {(v,) for v in p if any(v + 3 < w <= v + 5 for w in p)},
            'both.csv': {(v, w) for v in p for w in p if v < w < -90 and any(u < v for u in p) and
                         any(z >= 2 * w for z in p)},
            'far.csv': {(u,) for u, _ in q if any(v > u + 40 for v, _ in q)},
            'constant.csv': {(v,) for v in p if v > 95 and any(y > 58 for _, y in q)},
            'flag.csv': {'()'} if any(w < v for v in p for _, w in q) else set(),
            'unequal.csv': {(v,) for v in p if any(v < w < v + 3 for w in p)},
            'next.csv': {(3 * i, i) for i in range(300)},
            'step.csv': {(i,) for i in range(300)}}

def results(facts):
    rows = ({(0, x) for x in range(60)} | {(x, x * 7 % 60) for x in range(1, 60)} |
            {(x, x * 11 % 60) for x in range(1, 60, 3)} | {(x, 5) for x in range(1, 60, 4)})
    of = {x: sorted(k for y, k in rows if y == x) for x in range(60)}
    products = {y * j for y, j in rows}
    reached = {(x, y) for x, y in rows if 0 < x < 4}
    while True:
        more = {(x, y) for x, z in reached if z != 0 for y in of[z] if any(v != z and v > 30 for v in of[y])}
        if more <= reached:
            break
        reached |= more
    return {'two.csv': {(x,) for x in of if len(of[x]) > 1},
            'three.csv': {(x,) for x in of if len(of[x]) > 2},
            'path.csv': {(x, y) for x, y in rows if any(z != x and any(w > x + 20 for w in of[z]) for z in of[y])},
            'triangle.csv': {(x, y) for x, y in rows if any(z != y and x in of[z] for z in of[y])},
            'next.csv': {(x + 1,) for x, k in rows if x < 30 and any(40 < j < k and of[j] for j in of[x])},
            'apart.csv': {(x,) for x, k in rows if x > 50 and k + 200 in products},
            'inner.csv': {(x,) for x, y in rows if any(z > 3 * x and any(w != y and of[z][0] < w for w in of[z])
                                                       for z in of[y])},
            'reached.csv': reached}

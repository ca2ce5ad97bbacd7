"""The expected results of program.dl. Types and objects are tuples (branch, fields..), lists are tuples of their elements."""
import re


def parsed(text):
    """'$A(1, [x, nil])' as ('A', 1, ('x',)): lists of two-field records are written as what they list."""
    position = 0

    def value():
        nonlocal position
        if text.startswith('nil', position):
            position += 3
            return ()
        if text[position] == '[':
            position += 1
            first = value()
            position += len(', ')
            rest = value()
            position += 1
            return (first,) + rest
        if text[position] == '$':
            name = re.compile(r'\$(\w+)').match(text, position)
            position = name.end()
            fields = []
            if text[position:position + 1] == '(':
                position += 1
                while text[position] != ')':
                    fields.append(value())
                    if text[position] == ',':
                        position += len(', ')
                position += 1
            return (name.group(1), *fields)
        token = re.compile(r'[^,()\[\]]+').match(text, position)
        position = token.end()
        return int(token.group()) if token.group().isdigit() else token.group()
    return value()


def listed(elements):
    return 'nil' if not elements else '[%s, %s]' % (elements[0], listed(elements[1:]))


def shown(t):
    """A type or object as output files have it."""
    if t[0] == 'Function':
        return '$Function(%s, %s)' % (shown(t[1]), listed([shown(p) for p in t[2]]))
    if t[0] == 'Sub':
        return '$Sub(%s, %s)' % (shown(t[1]), listed(t[2]))
    fields = [shown(f) if isinstance(f, tuple) else str(f) for f in t[1:]]
    return '$' + t[0] + ('(%s)' % ', '.join(fields) if fields else '')


def read(facts, name, *columns):
    return {tuple(parsed(v) if kind == 'p' else int(v) if kind == 'n' else v for kind, v in zip(columns, row))
            for row in facts(name)}


def results(facts):
    fields = {(s, i): t for s, i, t in read(facts, 'struct_field', 's', 'n', 'p')}
    globals_ = {g: (t, linkage) for g, t, linkage in read(facts, 'global', 's', 'p', 'p')}
    functions = {f: t for f, t, _ in read(facts, 'function', 's', 'p', 'p')}
    allocas = dict(read(facts, 'alloca', 's', 'p'))
    mallocs = read(facts, 'malloc', 's', 's', 'p')
    geps = read(facts, 'gep', 's', 's', 'p')
    initializers = read(facts, 'initializer', 's', 'p', 's')
    copies, loads, stores = facts('copy'), facts('load'), facts('store')
    structs = {s for s, _ in fields}
    count = {s: 1 + max(i for u, i in fields if u == s) for s in structs}

    types = set()

    def add(t):
        if t in types:
            return
        types.add(t)
        for inner in {'Pointer': t[1:2], 'Array': t[2:3], 'Function': t[1:2] + (t[2] if len(t) > 2 else ())}.get(t[0], ()):
            add(inner)
    for t in [*fields.values(), *(t for t, _ in globals_.values()), *functions.values(), *allocas.values(),
              *(t for _, _, t in mallocs), *(('Struct', s) for s in structs)]:
        add(t)

    def alignment(t):
        if t[0] == 'Int':
            return max(1, t[1] // 8)
        return alignment(t[2]) if t[0] == 'Array' else 8

    def offsets(s, inside):
        """Of the fields as far as sizes are known, and one behind the last."""
        found = [0]
        while len(found) <= count[s]:
            t = fields.get((s, len(found) - 1))
            size = t and size_of(t, inside)
            if size is None:
                break
            found.append(-(-found[-1] // alignment(t)) * alignment(t) + size)
        return found

    def size_of(t, inside=()):
        if t[0] == 'Int':
            return (t[1] + 7) // 8
        if t[0] in ('Double', 'Pointer'):
            return 8
        if t[0] == 'Array':
            size = size_of(t[2], inside)
            return None if size is None else t[1] * size
        if t[0] != 'Struct' or t[1] in inside:
            return None
        found = offsets(t[1], inside + (t[1],))
        return (found[-1] + 7) // 8 * 8 if len(found) > count[t[1]] else None

    def printed(t):
        return {'Int': lambda: 'i%d' % t[1], 'Double': lambda: 'double', 'Void': lambda: 'void',
                'Pointer': lambda: printed(t[1]) + '*', 'Array': lambda: '[%d x %s]' % (t[1], printed(t[2])),
                'Struct': lambda: '%' + t[1],
                'Function': lambda: '%s(%s)' % (printed(t[1]), ', '.join(map(printed, t[2])))}[t[0]]()

    def step(t, i):
        if t[0] == 'Struct':
            return fields.get((t[1], i))
        return t[2] if t[0] == 'Array' and 0 <= i < t[1] else None

    def at(t, path):
        for i in path:
            t = t and step(t, i)
        return t

    def type_of(o):
        return {'Stack': lambda: allocas[o[1]], 'Heap': lambda: next(t for c, _, t in mallocs if c == o[1]),
                'Global': lambda: globals_[o[1]][0], 'Code': lambda: functions[o[1]]}[o[0]]()

    points = {(r, ('Stack', r)) for r in allocas} | {(r, ('Heap', c)) for c, r, _ in mallocs}
    for r, name in facts('take_global'):
        points |= {(r, ('Global', name))} if name in globals_ else set()
        points |= {(r, ('Code', name))} if name in functions else set()
    holds = set()
    asked = set()

    def ask(t, path):
        while (t, path) not in asked:
            asked.add((t, path))
            if not path or step(t, path[0]) is None:
                return
            t, path = step(t, path[0]), path[1:]
    for g, path, _ in initializers:
        ask(globals_[g][0], path)
    extensible = {path[i:] for path in [p for _, _, p in geps] + [p for _, p, _ in initializers]
                  for i in range(len(path) + 1)}
    before = None
    while before != (len(points), len(holds), len(asked)):
        before = len(points), len(holds), len(asked)
        new = {(r, o) for r, s in copies for v, o in points if v == s}
        new |= {(r, o) for r, a in loads for v, cell in points if v == a for c, o in holds if c == cell}
        for r, base, path in geps:
            for o in {o for v, o in points if v == base}:
                if o[0] != 'Sub':
                    ask(type_of(o), path)
                    joined = path
                elif o[2] in extensible or len(o[2]) < 4:
                    joined = o[2] + path
                    o, inner = o[1], o[2]
                    if inner and path:
                        ask(type_of(o), joined)
                else:
                    continue
                if (type_of(o), joined) in asked and at(type_of(o), joined):
                    new.add((r, ('Sub', o, joined)))
        points |= new
        holds |= {(cell, o) for v, a in stores for w, cell in points if w == a for u, o in points if u == v}
        holds |= {(('Sub', ('Global', g), path), o) for g, path, v in initializers if at(globals_[g][0], path)
                  for u, o in points if u == v}

    def pointee(o):
        return at(type_of(o[1]), o[2]) if o[0] == 'Sub' else type_of(o)
    registers = {r for r, _ in points}
    depths = {}
    for r, o in points:
        if o[0] == 'Sub':
            depths[r] = max(depths.get(r, 0), len(o[2]))
    order = {'External': 0, 'Internal': 1, 'Weak': 2}
    return {
        'points_to.csv': {(r, shown(o)) for r, o in points},
        'holds.csv': {(shown(cell), shown(o)) for cell, o in holds},
        'printed.csv': {(shown(t), printed(t)) for t in types},
        'sizes.csv': {(printed(t), size_of(t)) for t in types if size_of(t) is not None},
        'without_size.csv': {(shown(t),) for t in types if size_of(t) is None},
        'recursive_struct.csv': {(s,) for s in structs if size_of(('Struct', s)) is None},
        'layout.csv': {(s, i, offset) for s in structs for i, offset in enumerate(offsets(s, (s,)))},
        'pointee_type.csv': {(r, printed(pointee(o))) for r, o in points},
        'ambiguous.csv': {(r, n) for r in registers for n in [len([1 for v, _ in points if v == r])] if n > 1},
        'depth.csv': set(depths.items()),
        'unused.csv': {(g,) for g, (_, linkage) in globals_.items()
                       if linkage[0] != 'External' and all(o != ('Global', g) for _, o in points)},
        'linkage_order.csv': {(order[linkage[0]],) for _, linkage in globals_.values()},
    }

"""Terms and literals of random programs (random_programs.py), as texts and as a naive evaluator sees them."""
import itertools

NUMBER, SYMBOL, PAIR, LIST, TREE, UNSIGNED, FLOAT = 'number', 'symbol', 'Pair', 'List', 'Tree', 'unsigned', 'float'
TYPES = [NUMBER, SYMBOL, PAIR, LIST, TREE, UNSIGNED, FLOAT]
WEIGHTS = [6, 4, 1.5, 1.5, 1.5, 1.5, 1.5]
ORDERED = (NUMBER, SYMBOL, UNSIGNED, FLOAT)
TYPE_DECLARATIONS = ('.type Pair = [a:number, b:symbol]\n'
                     '.type List = [head:number, tail:List]\n'
                     '.type Tree = Leaf {v:number} | Node {l:Tree, r:Tree} | Empty {}\n')
FIELDS = {PAIR: [NUMBER, SYMBOL], LIST: [NUMBER, LIST]}
BRANCHES = {'Leaf': [NUMBER], 'Node': [TREE, TREE], 'Empty': []}
TEXTS = ['', 'a', 'b', 'ab', 'ba', 'x y', ' Aab ']
MOST_TUPLES = 4000

# Terms: ('constant', v) ('variable', name) ('any',) ('nil',) ('record', terms) ('branch', name, terms)
#        ('functor', name, terms) ('aggregate', name, target or None, body, variables from outside)
# Literals: ('atom', relation, terms, positive) ('test', operator, left, right) ('either', bodies)
#           ('part', pattern of the part, text, separator, pattern of its number)
# Values: int, str, float (of few bits), None for nil, ('record', ..), ('branch', name, ..)
# Functors of unsigned numbers and floats have names that begin with u and f: 'u+', 'f+'.
ANY, NIL = ('any',), ('nil',)


class Unsigned(int):
    """A constant of that type, which shows it."""


def constant(value):
    return ('constant', value)


def variable(name):
    return ('variable', name)


def signed(number):
    number &= 0xffffffff
    return number - (1 << 32) if number >> 31 else number


def order(value):
    return value.encode() if isinstance(value, str) else value


# ---- the text of a program

def show(term):
    kind = term[0]
    if kind == 'constant':
        value = term[1]
        if isinstance(value, str):
            return '"%s"' % value
        if isinstance(value, Unsigned):
            return '%du' % value
        return str(value) if value >= 0 else '(%s)' % value
    if kind == 'variable':
        return term[1]
    if kind == 'any':
        return '_'
    if kind == 'nil':
        return 'nil'
    if kind == 'record':
        return '[' + ', '.join(map(show, term[1])) + ']'
    if kind == 'aggregate':
        target = ' ' + show(term[2]) if term[2] else ''
        return '%s%s : { %s }' % (term[1], target, ', '.join(map(show_literal, term[3])))
    if kind == 'functor':
        name = term[1][1:] if term[1] in OF_KINDS else term[1]
        if name in ('+', '-', '*', '%', 'band', 'bor'):
            return '(%s %s %s)' % (show(term[2][0]), name, show(term[2][1]))
        return '%s(%s)' % (name, ', '.join(map(show, term[2])))
    return '%s%s(%s)' % ('$' if kind == 'branch' else '', term[1], ', '.join(map(show, term[2])))


def show_literal(literal):
    kind = literal[0]
    if kind == 'atom':
        return '%s%s(%s)' % ('' if literal[3] else '!', literal[1], ', '.join(map(show, literal[2])))
    if kind == 'test':
        return '%s %s %s' % (show(literal[2]), literal[1], show(literal[3]))
    if kind == 'part':
        return '%s = split(%s)' % (show(literal[1]), ', '.join(map(show, literal[2:])))
    return '(' + ' ; '.join(', '.join(map(show_literal, body)) for body in literal[1]) + ')'


def show_value(value, quoted):
    """As a fact has it in a program (quoted), or as an output file has it."""
    if value is None:
        return 'nil'
    if isinstance(value, str):
        return '"%s"' % value if quoted else value
    if isinstance(value, float):
        return repr(value) if quoted else '%g' % value
    if isinstance(value, int):
        return str(value)
    inner = ', '.join(show_value(part, quoted) for part in value[1 if value[0] == 'record' else 2:])
    if value[0] == 'record':
        return '[' + inner + ']'
    return '$' + value[1] + ('(' + inner + ')' if inner else '')


# ---- the naive evaluator

def variables(term, found):
    """Those a pattern binds or a value needs; an aggregate's are its own."""
    if term[0] == 'variable':
        found.append(term[1])
    elif term[0] == 'record':
        for part in term[1]:
            variables(part, found)
    elif term[0] in ('branch', 'functor'):
        for part in term[2]:
            variables(part, found)
    return found


def remainder(left, right):
    size = abs(left) % abs(right)
    return -size if left < 0 else size


def part_of(text, start, length):
    return text[start:start + length] if start <= len(text) else ''


def replaced(text, part, replacement):
    return text.replace(part, replacement) if part else text


def parts_of(text, separator):
    return text.split(separator) if separator else [text]


FUNCTORS = {
    '+': lambda a, b: signed(a + b),
    '-': lambda a, b: signed(a - b),
    '*': lambda a, b: signed(a * b),
    '%': remainder,
    'band': lambda a, b: signed(a & b),
    'bor': lambda a, b: signed(a | b),
    'max': lambda a, b: max(a, b, key=order),
    'min': lambda a, b: min(a, b, key=order),
    'cat': lambda a, b: a + b,
    'strlen': len,
    'to_string': str,
    'substr': part_of,
    'to_unsigned': lambda a: a & 0xffffffff,
    'to_float': float,
    'starts_with': lambda a, b: int(a.startswith(b)),
    'ends_with': lambda a, b: int(a.endswith(b)),
    'index_of': lambda a, b, c: a.find(b, max(c, 0)),
    'replace': replaced,
    'to_lower': str.lower,
    'to_upper': str.upper,
    'trim': lambda a: a.strip(' \t\n\v\f\r'),
    'format': lambda a, *values: a.format(*values),
}
OF_KINDS = {
    'u+': lambda a, b: (a + b) & 0xffffffff,
    'u-': lambda a, b: (a - b) & 0xffffffff,
    'u*': lambda a, b: (a * b) & 0xffffffff,
    'u%': lambda a, b: a % b,
    'umax': max,
    'umin': min,
    'uband': lambda a, b: a & b,
    'f+': lambda a, b: a + b,
    'f-': lambda a, b: a - b,
    'fmax': max,
    'fmin': min,
    'uto_number': signed,
    'fto_number': int,
}
FUNCTORS.update(OF_KINDS)
TESTS = {
    '=': lambda a, b: a == b,
    '!=': lambda a, b: a != b,
    '<': lambda a, b: order(a) < order(b),
    '<=': lambda a, b: order(a) <= order(b),
    '>': lambda a, b: order(a) > order(b),
    '>=': lambda a, b: order(a) >= order(b),
}


def evaluate(term, values):
    kind = term[0]
    if kind == 'constant':
        return term[1]
    if kind == 'variable':
        return values[term[1]]
    if kind == 'nil':
        return None
    if kind == 'record':
        return ('record', *(evaluate(part, values) for part in term[1]))
    if kind == 'branch':
        return ('branch', term[1], *(evaluate(part, values) for part in term[2]))
    return FUNCTORS[term[1]](*(evaluate(part, values) for part in term[2]))


def matches(pattern, value, values):
    """Whether they agree; gives values to the pattern's free variables."""
    kind = pattern[0]
    if kind == 'any':
        return True
    if kind == 'variable':
        return values.setdefault(pattern[1], value) == value
    if kind == 'record':
        return value is not None and all(matches(p, v, values) for p, v in zip(pattern[1], value[1:]))
    if kind == 'branch':
        return value[1] == pattern[1] and all(matches(p, v, values) for p, v in zip(pattern[2], value[2:]))
    return evaluate(pattern, values) == value


def matches_row(terms, row, values):
    return all(matches(term, value, values) for term, value in zip(terms, row))


def known(term, values):
    return all(name in values for name in variables(term, []))


def can_match(term, values):
    if term[0] == 'functor':
        return known(term, values)
    parts = {'record': 1, 'branch': 2}.get(term[0])
    return parts is None or all(can_match(part, values) for part in term[parts])


def solutions(body, relations, values):
    """The values of variables for which a body holds: what can be told first, then the first atom whose terms can match."""
    if not body:
        yield values
        return
    for i, literal in enumerate(body):
        rest = body[:i] + body[i + 1:]
        if literal[0] == 'either':
            for branch in literal[1]:
                yield from solutions(branch + rest, relations, values)
            return
        if literal[0] == 'atom' and not literal[3]:
            if all(known(term, values) for term in literal[2]):
                if not any(matches_row(literal[2], row, dict(values)) for row in relations[literal[1]]):
                    yield from solutions(rest, relations, values)
                return
        if literal[0] == 'part':
            _, pattern, text, separator, number = literal
            if known(text, values) and known(separator, values):
                for i, part in enumerate(parts_of(evaluate(text, values), evaluate(separator, values))):
                    extended = dict(values)
                    if matches(number, i, extended) and matches(pattern, part, extended):
                        yield from solutions(rest, relations, extended)
                return
        if literal[0] == 'test':
            operator, left, right = literal[1:]
            if right[0] == 'aggregate':
                if not all(name in values for name in right[4]):
                    continue
                value = aggregate(right, relations, values)
                extended = dict(values)
                if value is not None and matches(left, value, extended):
                    yield from solutions(rest, relations, extended)
                return
            if operator == '=' and known(left, values) and not known(right, values):
                left, right = right, left
            if known(right, values) and (known(left, values) or operator == '=' and can_match(left, values)):
                value = evaluate(right, values)
                extended = dict(values)
                if matches(left, value, extended) if operator == '=' else TESTS[operator](evaluate(left, values), value):
                    yield from solutions(rest, relations, extended)
                return
    for i, literal in enumerate(body):
        if literal[0] == 'atom' and literal[3] and all(can_match(term, values) for term in literal[2]):
            for row in list(relations[literal[1]]):
                extended = dict(values)
                if matches_row(literal[2], row, extended):
                    yield from solutions(body[:i] + body[i + 1:], relations, extended)
            return
    raise AssertionError('nothing can be evaluated: ' + ', '.join(map(show_literal, body)))


def repeats(atom):
    names = [name for term in atom[2] for name in variables(term, [])]
    return len(names) > len(set(names))


def has_aggregate(literal):
    return literal[0] == 'test' and any(side[0] == 'aggregate' for side in literal[2:4])


def aggregate(term, relations, values):
    name, target, body = term[1:4]
    # One atom: its tuples count. Several, or a variable twice, or an aggregate inside: the values of their variables.
    atoms = [literal for literal in body if literal[0] == 'atom']
    found = []
    if len(atoms) == 1 and not repeats(atoms[0]) and not any(has_aggregate(literal) for literal in body):
        tests = [literal for literal in body if literal is not atoms[0]]
        for row in relations[atoms[0][1]]:
            extended = dict(values)
            if matches_row(atoms[0][2], row, extended):
                found += itertools.islice(solutions(tests, relations, extended), 1)
    else:
        found = list({repr(sorted(s.items())): s for s in solutions(body, relations, values)}.values())
    if name == 'count':
        return len(found)
    found = [evaluate(target, solution) for solution in found]
    if name == 'sum':
        return {NUMBER: signed, UNSIGNED: lambda a: a & 0xffffffff, FLOAT: float}[term[5]](sum(found))
    return {'min': min, 'max': max}[name](found) if found else None


def close(rows):
    """Makes an equivalence of pairs."""
    classes = {}
    for left, right in rows:
        both = classes.get(left, {left}) | classes.get(right, {right})
        for value in both:
            classes[value] = both
    return {(left, right) for left, members in classes.items() for right in members}


def subsumed(row, other, orders):
    """Whether other subsumes row: orders has for each column =, <= or >=, and which constant other may not have there."""
    return row != other and all(TESTS[operator](left, right) and (excluded is None or right != excluded)
                                for left, right, (operator, excluded) in zip(row, other, orders))


def keys(rows, columns):
    return sorted(repr([row[column] for column in columns]) for row in rows)

"""By recursive functions over parsed expressions."""
import re

DANGERS = {'query': 'runs SQL', 'shell': 'runs a command', 'print': 'shows it'}
KINDS = {'request': '$Request(%s)', 'read_file': '$File(%s)', 'environment': '$Environment'}


def parse(text):
    """A branch as (name, field...); fields of texts may hold anything but commas and parentheses."""
    def branch(at):
        name = re.compile(r'\$(\w+)\(').match(text, at)
        if not name:
            end = re.compile('[^,()]*').match(text, at).end()
            return text[at:end], end
        fields, at = [], name.end()
        while True:
            field, at = branch(at)
            fields.append(field)
            at += 1
            if text[at - 1] == ')':
                return (name.group(1), *fields), at
            while text[at] == ' ':
                at += 1
    return branch(0)[0]


def results(facts, _):
    lines = [(int(number), x, parse(e)) for number, x, e in facts('line')]

    def origins(e, sink, visited=frozenset()):
        """What the value may come from that is dangerous for the sink."""
        kind, *fields = e
        if kind == 'Text' or e in visited:
            return set()
        visited |= {e}
        if kind == 'Read':
            return set().union(*(origins(d, sink, visited) for _, x, d in lines if x == fields[0]))
        if kind == 'Join':
            return origins(fields[0], sink, visited) | origins(fields[1], sink, visited)
        function, argument = fields
        if function in KINDS:
            return {KINDS[function].replace('%s', argument[1])}
        found = origins(argument, sink, visited)
        if (function, sink) == ('escape', 'query'):
            return {one for one in found if not one.startswith('$Request')}
        return set() if (function, sink) == ('quote', 'shell') else found

    def inside(e):
        yield e
        for field in e[1:]:
            if isinstance(field, tuple):
                yield from inside(field)

    findings = {(number, origin, DANGERS[part[1]]) for number, _, e in lines for part in inside(e)
                if part[0] == 'Call' and part[1] in DANGERS for origin in origins(part[2], part[1])}
    return {
        'finding.csv': findings,
        'findings_of.csv': {(danger, len({n for n, _, d in findings if d == danger})) for danger in DANGERS.values()},
    }

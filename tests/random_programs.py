#!/usr/bin/env python3
"""Runs random programs and compares every relation with what a naive evaluator finds for them.

  tests/random_programs.py --gpulog build/gpulog [--seed 1] [--count 20] [--keep FOLDER]

The programs have numbers of each kind, records, lists, branches, texts, aggregates (nested ones too), disjunctions that bind,
negation, eqrel, recursion, clauses with several heads, subsumptive rules (partial orders over relations that are not recursive)
and choice-domains (of relations that no rule reads: which row of a key stays is not looked at). Each is run plainly, with threads and each storage, with its bodies in another
order, with relations inlined, as a component, and with other qualifiers. Then some of its facts change a few times, and runs that
keep their results (--state) are compared with runs from scratch. A program that differs is kept in FOLDER.
(tests/oracle is for unit tests: it has no records, texts or components, and looks at more of a run than its results.)
"""
import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

from naive_evaluation import (ANY, BRANCHES, FIELDS, FLOAT, LIST, MOST_TUPLES, NIL, NUMBER, ORDERED, SYMBOL, TEXTS, TREE, TYPES,
                              TYPE_DECLARATIONS, UNSIGNED, Unsigned, WEIGHTS, aggregate, close,
                              constant, evaluate, keys, order, show, show_literal, show_value,
                              solutions, subsumed, variable, variables)

# ---- the generator

class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.types = {}                   # of columns, by relation
        self.level = {}
        self.levels = []                  # relations of each level; those of level 0 have facts
        self.facts = defaultdict(list)
        self.rules = []                   # (heads [(relation, terms)], body)
        self.equivalences = set()
        self.orders = {}                  # of relations with a subsumptive rule
        self.choices = {}                 # the columns of choice-domains
        self.names = itertools.count()
        for _ in range(self.random.randint(2, 3)):
            name = self.declare(0)
            rows = [tuple(evaluate(self.literal(kind), {}) for kind in self.types[name])
                    for _ in range(self.random.choice([0, 3, 6, 9]))]
            self.facts[name] = list(dict.fromkeys(rows))
            self.levels.append([name])
        last = self.random.randint(2, 5)
        for level in range(1, last + 1):
            names = [self.declare(level) for _ in range(self.random.choice([1, 1, 2]))]
            recursive = self.random.random() < 0.5
            for name in names:
                for i in range(self.random.choice([1, 2, 2, 3])):
                    self.rules.append(self.rule(name, names, level, recursive and i > 0))
                if not recursive and name not in self.equivalences:
                    if self.chance(0.2):
                        self.order(name)
                    elif level == last and self.chance(0.3):
                        columns = range(len(self.types[name]))
                        self.choices[name] = self.random.sample(columns, self.random.randint(1, len(columns)))
            self.levels.append(names)

    def chance(self, probability):
        return self.random.random() < probability

    def declare(self, level):
        name = ('derived' if level else 'base') + str(next(self.names))
        columns = self.random.choices(TYPES, WEIGHTS, k=self.random.choice([1, 2, 2, 2, 3]))
        if level and self.chance(0.12):
            columns = 2 * [self.random.choice([NUMBER, NUMBER, SYMBOL, SYMBOL, TREE])]
            self.equivalences.add(name)
        self.types[name] = columns
        self.level[name] = level
        return name

    def order(self, name):
        """A partial order of a relation's rows, of which the greatest ones stay."""
        orders = []
        for kind in self.types[name]:
            operator = self.random.choice(['=', '<=', '>=']) if kind in ORDERED else '='
            orders.append((operator, self.literal(kind)[1] if operator != '=' and self.chance(0.2) else None))
        self.orders[name] = orders

    def literal(self, kind, depth=0):
        """A constant of a type."""
        if kind == NUMBER:
            return constant(self.random.randint(-2, 4))
        if kind == SYMBOL:
            return constant(self.random.choice(TEXTS))
        if kind == UNSIGNED:
            return constant(Unsigned(self.random.choice([0, 1, 2, 3, 4, 0x80000000, 0xffffffff])))
        if kind == FLOAT:
            return constant(self.random.randint(-3, 5) / 2)
        if kind == LIST and (depth > 2 or self.chance(0.4)):
            return NIL
        if kind == TREE:
            branch = 'Leaf' if depth > 2 else self.random.choice(['Leaf', 'Leaf', 'Node', 'Empty'])
            return ('branch', branch, [self.literal(field, depth + 1) for field in BRANCHES[branch]])
        return ('record', [self.literal(field, depth + 1) for field in FIELDS[kind]])

    def one_of(self, kind, scope):
        names = [name for name, other in scope.items() if other == kind]
        return variable(self.random.choice(names)) if names else None

    def fresh(self, kind, scope):
        name = 'v%d' % len(scope)
        scope[name] = kind
        return variable(name)

    def pattern(self, kind, scope, depth=0):
        """What an atom may have in a column; its new variables join the scope."""
        draw = self.random.random()
        bound = self.one_of(kind, scope)
        if bound and draw < 0.45:
            return bound
        if draw < 0.12:
            return self.literal(kind)
        if draw < 0.2:
            return ANY
        if depth < 2 and draw < 0.5:
            if kind in FIELDS:
                return ('record', [self.pattern(field, scope, depth + 1) for field in FIELDS[kind]])
            if kind == TREE:
                branch = self.random.choice(sorted(BRANCHES))
                return ('branch', branch, [self.pattern(field, scope, depth + 1) for field in BRANCHES[branch]])
        return self.fresh(kind, scope)

    def term(self, kind, scope, depth=0):
        """What can be computed in a scope."""
        bound = self.one_of(kind, scope)
        if bound and (depth > 1 or self.chance(0.6)):
            return bound
        if depth > 1 or self.chance(0.25):
            return self.literal(kind)

        def inner(other):
            return self.term(other, scope, depth + 1)
        draw = self.random.random()
        if kind == NUMBER:
            if draw < 0.05:
                return ('functor', 'index_of', [inner(SYMBOL), inner(SYMBOL), constant(self.random.randint(-1, 2))])
            if draw < 0.1:
                return ('functor', self.random.choice(['starts_with', 'ends_with']), [inner(SYMBOL), inner(SYMBOL)])
            if draw < 0.2:
                return ('functor', 'strlen', [inner(SYMBOL)])
            if draw < 0.3:
                return ('functor', '%', [inner(NUMBER), constant(self.random.choice([3, 5, -4, 7]))])
            if draw < 0.4:
                return self.random.choice([('functor', 'uto_number', [inner(UNSIGNED)]), ('functor', 'fto_number', [inner(FLOAT)])])
            return ('functor', self.random.choice(['+', '-', '*', 'max', 'min', 'band', 'bor']), [inner(NUMBER), inner(NUMBER)])
        if kind == SYMBOL:
            if draw < 0.2:
                return ('functor', 'to_string', [inner(NUMBER)])
            if draw < 0.4:
                bounds = [constant(self.random.randint(0, 2)), constant(self.random.randint(0, 3))]
                return ('functor', 'substr', [inner(SYMBOL)] + bounds)
            if draw < 0.5:
                return ('functor', self.random.choice(['to_lower', 'to_upper', 'trim']), [inner(SYMBOL)])
            if draw < 0.55:
                return ('functor', 'replace', [inner(SYMBOL), self.literal(SYMBOL), self.literal(SYMBOL)])
            if draw < 0.65:
                return ('functor', 'format', [constant('{}-{{{}}}'), inner(SYMBOL), inner(NUMBER)])
            return ('functor', self.random.choice(['cat', 'cat', 'max', 'min']), [inner(SYMBOL), inner(SYMBOL)])
        if kind == UNSIGNED:
            if draw < 0.2:
                return ('functor', 'to_unsigned', [inner(NUMBER)])
            if draw < 0.35:
                return ('functor', 'u%', [inner(UNSIGNED), constant(Unsigned(self.random.choice([3, 5, 0x80000001])))])
            return ('functor', self.random.choice(['u+', 'u-', 'u*', 'umax', 'umin', 'uband']), [inner(UNSIGNED), inner(UNSIGNED)])
        if kind == FLOAT:
            if draw < 0.2:
                return ('functor', 'to_float', [('functor', 'u%', [inner(UNSIGNED), constant(Unsigned(7))])])
            return ('functor', self.random.choice(['f+', 'f-', 'fmax', 'fmin']), [inner(FLOAT), inner(FLOAT)])
        if kind in FIELDS:
            return ('record', [inner(field) for field in FIELDS[kind]])
        branch = self.random.choice(sorted(BRANCHES))
        return ('branch', branch, [inner(field) for field in BRANCHES[branch]])

    def below(self, level):
        return [name for name in self.types if self.level[name] < level]

    def atom(self, names, scope):
        name = self.random.choice(names)
        return ('atom', name, [self.pattern(kind, scope) for kind in self.types[name]], True)

    def bound_arguments(self, name, scope, unbound):
        """Arguments that bind nothing: of the columns in unbound, ANY or a constant."""
        arguments = []
        for kind in self.types[name]:
            bound = self.one_of(kind, scope)
            arguments.append(bound if bound and self.chance(0.65) else ANY if self.chance(unbound) else self.literal(kind))
        return arguments

    def tests(self, scope, level, aggregates=True):
        body = []
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            draw = self.random.random()
            if draw < 0.35:
                kind = self.random.choice(list(scope.values()) or [NUMBER])
                plain = kind in ORDERED
                operator = self.random.choice(['<', '<=', '!=', '>', '>=', '='] if plain else ['!=', '!=', '='])
                depth = 1 if plain else 2
                body.append(('test', operator, self.term(kind, scope, depth), self.term(kind, scope, depth)))
            elif draw < 0.6:
                name = self.random.choice(self.below(level))
                body.append(('atom', name, self.bound_arguments(name, scope, 0.6), False))
            elif draw < 0.75:
                kind = self.random.choice([NUMBER, SYMBOL, TREE, UNSIGNED, FLOAT])
                value = self.term(kind, scope)
                body.append(('test', '=', self.fresh(kind, scope), value))
            elif draw < 0.8:
                text, separator = self.term(SYMBOL, scope, 1), self.literal(SYMBOL)
                number = self.one_of(NUMBER, scope) if self.chance(0.2) else self.literal(NUMBER) if self.chance(0.2) else None
                part = self.literal(SYMBOL) if self.chance(0.2) else self.fresh(SYMBOL, scope)
                body.append(('part', part, text, separator, number or self.fresh(NUMBER, scope)))
            elif aggregates:
                value = self.aggregate(scope, level)
                body.append(('test', '=', self.fresh(value[5], scope), value))
        return body

    def opened(self, term, kind, scope):
        """The term, or a record with some of its fields."""
        if kind not in FIELDS or self.chance(0.4):
            return term
        return ('record', [ANY if self.chance(0.5) else self.fresh(field, scope) for field in FIELDS[kind]])

    def aggregate(self, outer, level):
        scope = dict(outer)
        names = self.below(level)
        body = [self.atom(names, scope) for _ in range(self.random.choice([1, 1, 2]))]
        body = [('atom', name, [self.opened(term, kind, scope) for term, kind in zip(terms, self.types[name])], True)
                for _, name, terms, _ in body]
        nests = self.chance(0.3)
        used = list(dict.fromkeys(name for literal in body for term in literal[2] for name in variables(term, [])))
        numbers = [name for name in used if scope[name] == NUMBER]
        if numbers and self.chance(0.4):
            body.append(('test', self.random.choice(['<', '!=', '>=']), variable(self.random.choice(numbers)),
                         constant(self.random.randint(-1, 3))))
        nested = self.random.choice(names)
        if NUMBER in self.types[nested] and numbers and nests:
            column = self.types[nested].index(NUMBER)
            item, value = variable('item%d' % next(self.names)), variable('value%d' % next(self.names))
            atom = ('atom', nested, [item if i == column else ANY for i in range(len(self.types[nested]))], True)
            body.append(('test', '=', value, ('aggregate', self.random.choice(['min', 'max', 'sum']), item, [atom], [], NUMBER)))
            body.append(('test', self.random.choice(['<', '!=', '>=']), variable(self.random.choice(numbers)), value))
        targets = [name for name in used if name not in outer and scope[name] in (NUMBER, UNSIGNED, FLOAT)]
        operation = self.random.choice(['count', 'sum', 'min', 'max']) if targets else 'count'
        target, result = None, NUMBER
        if operation != 'count':
            target = variable(self.random.choice(targets))
            result = scope[target[1]]
            if result == NUMBER and self.chance(0.4):
                target = ('functor', '+', [target, constant(1)])
        # Its own variables get names that nothing outside has.
        scope_number = next(self.names)
        own = {name: 'own%d_%d' % (scope_number, i) for i, name in enumerate(n for n in used if n not in outer)}

        def renamed(term):
            if term[0] == 'variable':
                return variable(own.get(term[1], term[1]))
            if term[0] == 'record':
                return ('record', [renamed(part) for part in term[1]])
            if term[0] in ('branch', 'functor'):
                return (term[0], term[1], [renamed(part) for part in term[2]])
            return term
        body = [('atom', b[1], [renamed(t) for t in b[2]], True) if b[0] == 'atom' else
                ('test', b[1], renamed(b[2]), renamed(b[3])) for b in body]
        return ('aggregate', operation, renamed(target) if target else None, body, [name for name in used if name in outer], result)

    def rule(self, head, names, level, recursive):
        scope = {}
        below = self.below(level)
        positive = [self.atom(below + names if recursive and i == 0 else below, scope)
                    for i in range(self.random.choice([1, 1, 2, 2, 3]))]
        body = list(positive)
        if self.chance(0.3):
            # Alternatives that bind the same variable.
            kind = self.random.choice([NUMBER, NUMBER, SYMBOL, TREE])
            before = dict(scope)
            bound = self.fresh(kind, scope)
            sources = [name for name in below if kind in self.types[name]]
            alternatives = []
            for _ in range(self.random.choice([2, 2, 3])):
                if not sources or self.chance(0.2):
                    alternatives.append([('test', '=', bound, self.literal(kind))])
                    continue
                name = self.random.choice(sources)
                arguments = self.bound_arguments(name, before, 0.5)
                arguments[self.types[name].index(kind)] = bound
                alternatives.append([('atom', name, arguments, True)])
            body.append(('either', alternatives))
        bound_by_atoms = dict(scope)
        body += self.tests(scope, level)
        if self.chance(0.25):
            branches = [self.tests(dict(scope), level, aggregates=False) for _ in range(2)]
            if all(branches):
                body.append(('either', branches))
        grows = any(self.level[literal[1]] == level for literal in positive)

        def head_term(kind):
            # What recursion computes stays within some numbers, so that it ends.
            if not grows:
                return self.term(kind, scope)
            if kind == NUMBER and self.chance(0.5):
                return ('functor', '%', [self.term(NUMBER, scope, 1), constant(5)])
            return self.one_of(kind, bound_by_atoms) or self.literal(kind)
        heads = [(head, [head_term(kind) for kind in self.types[head]])]
        if self.chance(0.2):
            other = self.random.choice(names)
            heads.append((other, [self.one_of(kind, bound_by_atoms) or self.literal(kind) for kind in self.types[other]]))
        return heads, body

    def results(self):
        """The rows of each relation, or None when there are too many."""
        relations = {name: set(self.facts[name]) for name in self.types}
        for names in self.levels:
            rules = [rule for rule in self.rules if rule[0][0][0] in names]
            before = -1
            while before != (before := sum(map(len, relations.values()))):
                if before > MOST_TUPLES:
                    return None
                for heads, body in rules:
                    for values in list(solutions(body, relations, {})):
                        for name, terms in heads:
                            relations[name].add(tuple(evaluate(term, values) for term in terms))
                for name in self.equivalences.intersection(names):
                    relations[name] = close(relations[name])
            for name in self.orders.keys() & set(names):
                rows = relations[name]
                relations[name] = {row for row in rows if not any(subsumed(row, other, self.orders[name]) for other in rows)}
        return relations

    # ---- its texts

    def can_be_inlined(self):
        """Derived relations that are not recursive, and neither negated nor in aggregates."""
        kept = self.equivalences | set(self.orders) | set(self.choices)

        def look(body, level, inside):
            for literal in body:
                if literal[0] == 'atom' and (inside or not literal[3] or self.level[literal[1]] == level):
                    kept.add(literal[1])
                elif literal[0] == 'either':
                    for branch in literal[1]:
                        look(branch, level, inside)
                elif literal[0] == 'test' and literal[3][0] == 'aggregate':
                    look(literal[3][3], level, True)
        for heads, body in self.rules:
            look(body, self.level[heads[0][0]], False)
        defined = dict.fromkeys(name for heads, _ in self.rules for name, _ in heads)
        return [name for name in defined if name not in kept]

    def text(self, variant, seed):
        draw = random.Random(seed)
        # Two at most: chains of them with disjunctions make thousands of rules.
        choices = self.can_be_inlined() if variant == 'inline' else []
        inlined = draw.sample(choices, min(len(choices), 2))
        lines = []
        for name, kinds in self.types.items():
            qualifier = 'eqrel' if name in self.equivalences else 'inline' if name in inlined else ''
            if name in self.choices:
                qualifier = 'choice-domain (%s)' % ', '.join('c%d' % column for column in self.choices[name])
            elif variant == 'qualifiers' and name in self.orders:
                qualifier = draw.choice(['btree_delete', 'no_magic', 'no_inline'])
            elif variant == 'qualifiers' and not qualifier:
                qualifier = draw.choice(['', 'brie', 'btree', 'magic', 'no_magic', 'no_inline'])
            columns = ', '.join('c%d:%s' % (i, kind) for i, kind in enumerate(kinds))
            lines.append('.decl %s(%s) %s' % (name, columns, qualifier))
            if name not in inlined:
                lines.append('.output ' + name)
        if variant == 'files':
            lines += ['.input ' + name for name in self.facts]
        for name, rows in () if variant == 'files' else self.facts.items():
            lines += ['%s(%s).' % (name, ', '.join(show_value(value, True) for value in row)) for row in rows]
        rules = []
        for heads, body in self.rules:
            # Inlined relations may not share a clause with others.
            rules += [([head], list(body)) for head in heads] if variant == 'inline' else [(heads, list(body))]
        if variant == 'shuffle':
            draw.shuffle(rules)
            for _, body in rules:
                draw.shuffle(body)
            lines.insert(0, '.pragma "supplementary" "off"')
        for heads, body in rules:
            lines.append('%s :- %s.' % (', '.join('%s(%s)' % (name, ', '.join(map(show, terms))) for name, terms in heads),
                                        ', '.join(map(show_literal, body))))
        for name, orders in self.orders.items():
            columns = range(len(orders))
            tests = ['x%d %s y%d' % (i, orders[i][0], i) for i in columns]
            tests += ['y%d != %s' % (i, show(constant(orders[i][1]))) for i in columns if orders[i][1] is not None]
            lines.append('%s(%s) <= %s(%s) :- %s.' % (name, ', '.join('x%d' % i for i in columns),
                                                      name, ', '.join('y%d' % i for i in columns), ', '.join(tests)))
        text = '\n'.join(lines) + '\n'
        if variant == 'component':
            text = text.replace(':number', ':N').replace(':symbol', ':S').replace(':float', ':F')
            text = '.comp C<N, S, F> {\n' + text + '}\n.init c = C<number, symbol, float>\n'
        return TYPE_DECLARATIONS + text


RUNS = [('plain', [], ''), ('plain', ['-j', '3', '--storage', 'hisa'], ''), ('plain', ['--storage', 'hash', '--tune', 'rows=on'], ''),
        ('plain', ['--tune', 'rows=recursions'], ''), ('plain', ['--storage', 'bits'], ''), ('shuffle', ['-j', '2'], ''), ('inline', [], ''), ('component', [], 'c.'), ('qualifiers', ['-m', '*'], '')]


def differences(gpulog, more_options, program, expected, folder, seed):
    """The first run that differs: (text, what is wrong)."""
    for variant, arguments, prefix in RUNS:
        text = program.text(variant, seed)
        output = os.path.join(folder, 'output')
        shutil.rmtree(output, ignore_errors=True)
        os.makedirs(output)
        path = os.path.join(folder, 'program.dl')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        command = [gpulog, path, '-D', output, '-w'] + arguments + more_options
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if 'expand to too many rules' in done.stderr:
            continue  # inlined disjunctions of disjunctions, refused on purpose
        if done.returncode:
            return text, '%s\n%s' % (' '.join(arguments), done.stderr)
        for name in expected:
            written = os.path.join(output, prefix + name + '.csv')
            if not os.path.exists(written):
                continue  # inlined
            with open(written, encoding='utf-8') as file:
                rows = sorted(file.read().split('\n')[:-1])
            if name in program.choices and len(chosen := set(rows)) == len(rows) and chosen <= expected[name].keys():
                # Rows that may be chosen: one of each key.
                values = expected[name]
                columns = program.choices[name]
                if keys([values[row] for row in rows], columns) == sorted(set(keys(values.values(), columns))):
                    continue
            if rows != sorted(expected[name]):
                return text, '%s\n%s: expected %s\nfound %s' % (' '.join(arguments), name, sorted(expected[name]), rows)
    return None


STATE_RUNS = [[], ['-j', '3', '--storage', 'hisa'], ['--storage', 'hash', '--tune', 'continuation=on'], ['--storage', 'bits'],
              ['--storage', 'words', '-j', '2'], ['--tune', 'magic-sets=on']] + \
    [options + ['--tune', 'continuation=on'] for options in (
        ['-j', '3'], ['--storage', 'hisa'], ['--storage', 'bits'], ['--storage', 'words', '--word-size', '64'], ['--word-size', '64'])]


def run_with_rows(command, output):
    """The exit status of a run, and its rows by relation."""
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    status = subprocess.run(command + ['-D', output], capture_output=True, timeout=120, check=False).returncode
    rows = {}
    for name in os.listdir(output):
        with open(os.path.join(output, name), encoding='utf-8') as file:
            rows[name] = sorted(file)
    return status, rows


def changed_rows(before, after):
    return sorted(set(after) - set(before)), sorted(set(before) - set(after))


def state_differences(gpulog, more_options, program, folder, seed):
    """The first run with --state that differs from one from scratch, as in differences()."""
    draw = random.Random(seed)
    text = program.text('files', seed)
    facts, output, changes, state, path = (os.path.join(folder, name)
                                           for name in ('facts', 'output', 'changes', 'state', 'program.dl'))
    for name in (facts, changes):
        os.makedirs(name, exist_ok=True)
    if os.path.exists(state):
        os.remove(state)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    command = [gpulog, path, '-F', facts, '-w'] + draw.choice(STATE_RUNS) + more_options
    before = {}
    for step in range(5):
        for name, rows in program.facts.items():
            if step and draw.random() < 0.4:
                continue
            chosen = [row for row in rows if not step or draw.random() < 0.8]
            with open(os.path.join(facts, name + '.facts'), 'w', encoding='utf-8') as file:
                file.writelines('\t'.join(show_value(value, False) for value in row) + '\n' for row in chosen)
        stored = command + ['--state', state]
        if draw.random() < 0.3:  # a run that is killed at any time
            process = subprocess.Popen(stored + ['-D', output], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(draw.random() * 0.05)
            process.kill()
            process.wait()
            before = None  # it may have stored its results
        expected = run_with_rows(command, output)
        found = run_with_rows(stored + ['--changes', changes], output)
        if found != expected:
            return text, 'step %d of %s\nexpected %s\nfound %s' % (step, ' '.join(stored), expected, found)
        for name, rows in (found[1] if before is not None and not found[0] else {}).items():
            seen = []
            for what in ('added', 'removed'):
                with open(os.path.join(changes, name[:-len('csv')] + what + '.csv'), encoding='utf-8') as file:
                    seen.append(sorted(set(file)))
            wanted = changed_rows(before.get(name, []), rows)
            # Without a state that can be used, all rows are new.
            if tuple(seen) not in (wanted, changed_rows([], rows)):
                return text, 'step %d of %s\nchanges of %s: expected %s\nfound %s' % (step, ' '.join(stored), name, wanted, seen)
        if not found[0]:
            before = found[1]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--gpulog', required=True)
    turn = int(os.environ.get('GPULOG_TEST_TURN', 0))
    parser.add_argument('--seed', type=int, default=1 + 1000000 * turn,
                        help='of the first program; the next ones have the next seeds (GPULOG_TEST_TURN changes the default)')
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--options', default='', help='for all runs, such as "--backend gpu"')
    parser.add_argument('--keep', help='folder for the programs that differ')
    options = parser.parse_args()
    ran = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            program = Program(seed)
            relations = program.results()
            if relations is None:
                continue
            # By relation, the rows by their texts.
            expected = {name: {'\t'.join(show_value(value, False) for value in row): row for row in rows}
                        for name, rows in relations.items()}
            ran += 1
            found = differences(options.gpulog, options.options.split(), program, expected, folder, seed) or \
                state_differences(options.gpulog, options.options.split(), program, folder, seed)
            if not found:
                continue
            failed += 1
            print('seed %d: %s' % (seed, found[1]))
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, 'seed%d.dl' % seed), 'w', encoding='utf-8') as file:
                    file.write(found[0])
    print('%d programs, %d differ' % (ran, failed))
    return 1 if failed or not ran else 0


if __name__ == '__main__':
    sys.exit(main())

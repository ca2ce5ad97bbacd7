#!/usr/bin/env python3
"""Writes a random program with skewed facts: FOLDER/program.dl and FOLDER/facts.

  bench/regret_programs/random_program.py SEED FOLDER

Two recursive relations p and q join three relations of facts and one derived relation. The facts mislead a planner that
knows sizes and numbers of values: a key with half of all rows, values with frequencies that fall steeply, chains, trees,
columns that agree. The derived relation grows late in the recursion, or is restricted by a comparison that nearly all or
nearly no rows pass, so that estimates are wrong by 1,000. The same seed gives the same program.
"""
import os
import random
import sys

RELATIONS = ('e', 'f', 'g')
DERIVED = {
    'late': ('.decl tick(i:number)\ntick(0).\ntick(i + 1) :- tick(i), i < 40.\n'
             'd(x, y) :- tick(i), i >= 30, {source}(x, y), x % 11 = i - 30.\n'),
    'few': 'd(x, y) :- {source}(x, y), x * 7919 % 1000 = 1.\n',
    'most': 'd(x, y) :- {source}(x, y), x + 1 != y + 1 + {far}, x - y < {far}, y - x < {far}.\n',
    'agreeing': 'd(x, y) :- {source}(x, z), y = x - z % 2.\n',
}


def rows_of(choose):
    """Returns the rows of a relation, without duplicates and in a fixed order."""
    rows = choose.choice((2000, 6000))
    values = choose.choice((rows // 10, rows // 3, rows))
    shape = choose.choice(('hub', 'steep', 'uniform', 'chain', 'tree', 'agreeing', 'wide'))
    is_reversed = choose.random() < 0.5
    result = {}
    for i in range(rows):
        if shape == 'hub':
            row = (0, i) if choose.random() < 0.5 else (choose.randrange(values), choose.randrange(values))
        elif shape == 'steep':
            row = (int(values * choose.random() ** 6), int(values * choose.random() ** 6))
        elif shape == 'uniform':
            row = (choose.randrange(values), choose.randrange(values))
        elif shape == 'chain':
            row = (i, i + 1)
        elif shape == 'tree':
            row = (i // 3, i + 1)
        elif shape == 'agreeing':
            row = (i * 7 % values, i * 7 % values + choose.randrange(3))
        else:
            row = (i % 7, i)
        result[row[::-1] if is_reversed else row] = None
    return list(result)


def rule(choose, binary):
    """Returns a recursive rule: a path of 2 to 4 atoms in either direction."""
    atoms = choose.randrange(2, 5)
    recursive = choose.randrange(atoms)
    body = []
    for i in range(atoms):
        others = binary + (('p', 'q') if choose.random() < 0.3 else ())
        relation = choose.choice(('p', 'q') if i == recursive else others)
        ends = ['v%d' % i, 'v%d' % (i + 1)]
        body.append('%s(%s)' % (relation, ', '.join(ends[::-1] if choose.random() < 0.3 else ends)))
    if choose.random() < 0.3:
        body.append('s(v%d)' % choose.randrange(atoms + 1))
    if choose.random() < 0.2:
        body.append('v0 < v%d' % atoms)
    return '%s(v0, v%d) :- %s.\n' % (choose.choice('pq'), atoms, ', '.join(body))


def program_of(choose):
    text = ''.join('.decl %s(x:number, y:number)\n.input %s\n' % (name, name) for name in RELATIONS)
    text += '.decl d(x:number, y:number)\n'
    text += DERIVED[choose.choice(sorted(DERIVED))].format(source=choose.choice(RELATIONS), far=1000000)
    text += '.decl s(x:number)\ns(x) :- e(x, _), x < %d.\n' % choose.choice((5, 50, 1000000))
    text += '.decl p(x:number, y:number)\n.decl q(x:number, y:number)\n'
    binary = RELATIONS + ('d',)
    text += 'p(x, y) :- s(x), %s(x, y).\n' % choose.choice(binary)
    text += 'q(x, y) :- %s(x, y), s(%s).\n' % (choose.choice(binary), choose.choice('xy'))
    text += ''.join(rule(choose, binary) for _ in range(choose.randrange(1, 4)))
    return text + '.printsize p\n.printsize q\n'


def write_program(seed, folder):
    choose = random.Random(seed)
    os.makedirs(os.path.join(folder, 'facts'))
    for name in RELATIONS:
        with open(os.path.join(folder, 'facts', name + '.facts'), 'w', encoding='utf-8') as file:
            file.writelines('%d\t%d\n' % row for row in rows_of(choose))
    with open(os.path.join(folder, 'program.dl'), 'w', encoding='utf-8') as file:
        file.write(program_of(choose))


if __name__ == '__main__':
    if len(sys.argv) != 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    write_program(int(sys.argv[1]), sys.argv[2])

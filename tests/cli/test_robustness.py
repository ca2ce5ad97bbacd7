"""Extreme inputs: each ends soon, with a result or with one error; never a crash."""
import os
import unittest

from command import IS_SANITIZED, CommandTest, scaled

SYMBOLS = '.decl s(x:symbol)\n.input s\n.output s\n'
LENGTHS = '.decl s(x:symbol)\n.input s\n.decl n(x:number)\n.output n\n'
LIST = '.type L = [h:number, t:L]\n.decl a(x:L)\n.input a%s\n.output a\n'
EDGES = '.decl e(x:number, y:number)\ne(1,2). e(2,3). e(3,1).\n'


class RobustnessTest(CommandTest):
    def accepted(self, text, *arguments, **options):
        process = self.run_program(text, *arguments, **options)
        self.assertEqual(process.returncode, 0, process.errors[:500])
        return process

    def rejected(self, text, wanted, **options):
        process = self.run_program(text, **options)
        self.assertEqual(process.returncode, 1, process.errors[:500])
        self.assertIn(wanted, process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])

    def bytes_of(self, name):
        with open(self.path('out', name), 'rb') as file:
            return file.read()


class Texts(RobustnessTest):
    def test_bytes_that_are_no_unicode(self):
        content = b'\xff\xfe\x80abc\n\xc3\n\xc3\xa9\n'
        self.accepted(SYMBOLS, facts={'s.facts': content})
        self.assertEqual(sorted(self.bytes_of('s.csv').splitlines()), sorted(content.splitlines()))

    def test_zero_bytes(self):
        self.accepted(SYMBOLS, facts={'s.facts': b'a\0b\n\0\n'})
        self.assertEqual(sorted(self.bytes_of('s.csv').splitlines()), [b'\0', b'a\0b'])
        self.accepted(b'.decl s(x:symbol)\ns("a\0b").\n.decl n(x:number)\nn(strlen(x)) :- s(x).\n.output n\n')
        self.assertEqual(self.bytes_of('n.csv'), b'3\n')
        self.run_program(b'.decl s(x:symbol)\n\0s("ab").\n.output s\n')

    def test_long_lines(self):
        length = scaled(10_000_000)
        long = 'x' * length
        self.accepted(LENGTHS + 'n(strlen(x)) :- s(x).\n', facts={'s.facts': long + '\n'})
        self.assertEqual(self.rows('out', 'n.csv'), [str(length)])
        self.accepted(LENGTHS + 'n(strlen(x)) :- s(x), contains("xy", x).\n', facts={'s.facts': long + '\n'})
        self.accepted('.decl s(x:symbol)\ns("%s").\n.decl n(x:number)\nn(strlen(x)) :- s(x).\n.output n\n' % long)
        self.assertEqual(self.rows('out', 'n.csv'), [str(length)])

    def test_patterns(self):
        long = 'x' * scaled(10_000_000)
        for pattern, text, rows in (('.*', long, 1), ('(x|y)*', long, 1), ('(x+x+)+y', long, 0), ('((x*)*)*y', long, 0),
                                    ('(x+x+)+y', 'x' * 60, 0), ('(.*)*y', 'x' * 60, 0), ('(x|xx)*y', 'x' * 60, 0)):
            with self.subTest(pattern=pattern, length=len(text)):
                program = LENGTHS + 'n(strlen(x)) :- s(x), match("%s", x).\n' % pattern
                self.accepted(program, facts={'s.facts': text + '\n'})
                self.assertEqual(len(self.rows('out', 'n.csv')), rows)
        os.remove(self.path('out', 'n.csv'))
        if not IS_SANITIZED:
            for pattern, text in (('(x+x+)+\\\\1y', 'x' * 60), ('(.+)\\\\1', 'x' * 2001)):
                for operator in ('', '!'):
                    program = LENGTHS + 'n(1) :- s(x), %smatch("%s", x).\n' % (operator, pattern)
                    self.rejected(program, 'match("%s", ...) is too complex for a text of' % pattern.replace('\\\\', '\\'),
                                  facts={'s.facts': text + '\n'})
        patterns = ['(' * 1000000, 'a' * 1000000, '(' * 100000 + ')' * 100000, 'a{1000}{1000}{1000}', '[', '((a{99}){99}){99}']
        self.accepted(LENGTHS + 'n(strlen(x)) :- s(x), match(x, "abc").\n', facts={'s.facts': '\n'.join(patterns) + '\n'})
        self.assertEqual(self.rows('out', 'n.csv'), [])


class Sizes(RobustnessTest):
    def test_a_thousand_columns(self):
        count = scaled(1000)
        columns = ', '.join('c%d:number' % i for i in range(count))
        forward = ', '.join('x%d' % i for i in range(count))
        backward = ', '.join('x%d' % (count - 1 - i) for i in range(count))
        text = ('.decl a({0})\n.input a\n.decl b({0})\nb({2}) :- a({1}).\n.output b\n.decl c(x:number)\n'
                'c(x0) :- a({1}), a({2}), !b({3}).\n.output c\n').format(columns, forward, backward,
                                                                     ', '.join(['1'] * count))
        rows = ['\t'.join(map(str, range(count))), '\t'.join(['5'] * count)]
        for storage in ('hash', 'hisa'):
            self.accepted(text, '--storage', storage, facts={'a.facts': '\n'.join(rows) + '\n'})
            self.assertEqual(self.rows('out', 'b.csv'), sorted(['\t'.join(map(str, range(count - 1, -1, -1))), rows[1]]))
            self.assertEqual(self.rows('out', 'c.csv'), ['5'])

    def test_rules_of_five_hundred_atoms(self):
        most = scaled(500, 50)
        chain = ', '.join('e(x%d, x%d)' % (i, i + 1) for i in range(most))
        self.accepted(EDGES + '.decl r(x:number, y:number)\nr(x0, x%d) :- %s.\n.output r\n' % (most, chain))
        self.assertEqual(self.rows('out', 'r.csv'), sorted('%d\t%d' % (i + 1, (i + most) % 3 + 1) for i in range(3)))
        fewer = scaled(200, 20)
        chain = ', '.join('e(x%d, x%d)' % (i, i + 1) for i in range(fewer))
        self.accepted(EDGES + 'e(x0, x%d) :- %s.\n.output e\n' % (fewer, chain))
        self.assertEqual(len(self.rows('out', 'e.csv')), 9)
        equal = ', '.join('x%d = x%d + 1' % (i + 1, i) for i in range(most))
        self.accepted('.decl a(x:number)\na(0).\n.decl r(x:number)\nr(x%d) :- a(x0), %s.\n.output r\n' % (most, equal))
        self.assertEqual(self.rows('out', 'r.csv'), [str(most)])
        heads = ', '.join('r(x + %d)' % i for i in range(most))
        self.accepted('.decl a(x:number)\na(0).\n.decl r(x:number)\n%s :- a(x).\n.output r\n' % heads)
        self.assertEqual(len(self.rows('out', 'r.csv')), most)

    def test_many_relations_facts_and_strings(self):
        relations = scaled(5000)
        text = ''.join('.decl r{0}(x:number)\nr{0}(x) :- r{1}(x).\n'.format(i, max(i - 1, 0)) for i in range(relations))
        self.accepted(text + 'r0(1).\n.output r%d\n' % (relations - 1), '-w')
        self.assertEqual(self.rows('out', 'r%d.csv' % (relations - 1)), ['1'])
        rows = scaled(100000)
        facts = ''.join('r(%d, "s%d").\n' % (i, i % 1000) for i in range(rows))
        self.assertIn(str(rows), self.accepted('.decl r(x:number, s:symbol)\n%s.printsize r\n' % facts).output)

    def test_disjunctions_that_multiply(self):
        body = ', '.join('(x = %d ; x = 1)' % i for i in range(40))
        self.rejected('.decl e(x:number)\ne(1).\n.decl r(x:number)\nr(x) :- e(x), %s.\n' % body, 'too many rules')

    def test_records_without_a_type_that_multiply(self):
        rules = '.decl r(x:number)\nr(x) :- e(x, y), %s.\n.output r\n'
        too_large = 'The comparisons of records without a type make this rule too large'
        twice = ['a0 = [x, y]'] + ['a{0} = [a{1}, a{1}]'.format(i + 1, i) for i in range(30)] + ['a30 = [_, _]']
        if not IS_SANITIZED:
            self.rejected(EDGES + rules % ', '.join(['[x, y, 0] != [y, 0, x]'] * 24), too_large)
            self.rejected(EDGES + rules % ', '.join(twice), too_large)
        self.accepted(EDGES + rules % ', '.join('[x, y] != [%d, 2]' % i for i in range(6)))
        self.assertEqual(self.rows('out', 'r.csv'), ['2', '3'])


class Depths(RobustnessTest):
    def test_nesting_of_programs(self):
        many = 250000
        parts = (('(', ')'), ('[', ']'), ('-', ''), ('1+', ''), ('bnot ', ''), ('cat(', ')'), ('$A(', ')'))
        for part, ending in () if IS_SANITIZED else parts:  # instrumented, it would take gigabytes of stack
            with self.subTest(part=part):
                self.rejected('.decl a(x:number)\na(%s1%s).\n' % (part * many, ending * many),
                              'nested too deeply: the limit is 200000 levels')
        many = scaled(100000)
        for part, ending in (('as(', ', number)'), ('sum ', ': a(_)'), ('min(1,', ')')):
            with self.subTest(part=part):
                self.rejected('.decl a(x:number)\na(%s1%s).\n' % (part * many, ending * many),
                              'nested too deeply: the limit is 1000 levels')
        for part, ending in (('(', ')'), ('!', ''), ('!(', ')'), ('1 = count : {', '}')):
            with self.subTest(part=part):
                body = part * many + 'a(1)' + ending * many
                self.rejected('.decl a(x:number)\na(1).\na(x) :- a(x), %s.\n' % body, 'nested too deeply')

    def test_long_expressions(self):
        many = scaled(100000)
        few = scaled(4000)  # a definition by a sum takes time with the square of its terms
        start = '.decl e(x:number)\ne(1).\n.decl a(n:number, x:number)\n.output a\n'
        text = start + 'a(2, %s) :- e(x).\na(4, %s).\na(5, %s) :- e(x).\n' % (
            ' - '.join(['x'] * many), '(' * many + '7' + ')' * many, 'bnot ' * many + 'x')
        self.accepted(text + 'a(1, %s).\na(3, x) :- e(y), x = %s.\n' % (' + '.join(['1'] * many), ' + '.join(['y'] * few)))
        self.assertEqual(self.rows('out', 'a.csv'),
                         ['1\t%d' % many, '2\t%d' % (2 - many), '3\t%d' % few, '4\t7', '5\t1'])
        for options in (('--show', 'initial-ast'), ('--show', 'transformed-ast'), ('--show', 'transformed-ram'),
                        ('--show', 'type-analysis'), ('--show', 'scc-graph-text'), ('-p', 'p.json', '-v')):
            with self.subTest(options=options):
                self.accepted(text, *options)

    def test_long_lists(self):
        many = scaled(100000)
        texts = ['[%d, ' % number for number in range(many)]
        value = ''.join(texts) + 'nil' + ']' * many
        self.accepted('.type L = [h:number, t:L]\n.decl a(x:L)\n.output a\na(%s).\n' % value)
        self.assertEqual(self.read('out', 'a.csv'), value + '\n')
        levels = 400 if IS_SANITIZED else 2000
        pattern = '[_, ' * levels + '_' + ']' * levels
        self.accepted('.type L = [h:number, t:L]\n.decl a(x:L)\na(%s). a(nil).\n.decl b(x:number)\nb(1) :- a(%s).\n.output b\n'
                      % (pattern.replace('_', '1', levels).replace('_', 'nil'), pattern))
        self.assertEqual(self.rows('out', 'b.csv'), ['1'])
        many = scaled(4000)  # branches inside each other take time with the square of their levels
        tower = '.type T = Z {} | S {p:T}\n.decl a(x:T)\n.output a\na(%s).\n' % ('$S(' * many + '$Z' + ')' * many)
        self.accepted(tower)
        self.assertEqual(self.read('out', 'a.csv'), '$S(' * many + '$Z' + ')' * many + '\n')

    def test_long_bodies(self):
        many = scaled(100000)
        self.accepted('.decl e(x:number)\ne(1). e(-2).\n.decl a(x:number)\n.output a\na(x) :- e(x), %s.\n' %
                      ', '.join('x != %d' % (number - 1 - many) for number in range(many)))
        self.assertEqual(self.rows('out', 'a.csv'), ['1'])
        many = scaled(20000)
        self.accepted('.decl e(x:number)\ne(1).\n.decl a(x:number)\n.output a\na(x%d) :- e(x0), %s.\n' %
                      (many, ', '.join('x%d = x%d + 1' % (number, number - 1) for number in range(1, many + 1))))
        self.assertEqual(self.rows('out', 'a.csv'), [str(many + 1)])

    def test_nesting_of_facts(self):
        deep = scaled(100000)
        self.accepted(LIST % '', facts={'a.facts': '[1, ' * deep + 'nil' + ']' * deep + '\n'})
        self.assertEqual(self.read('out', 'a.csv'), '[1, ' * deep + 'nil' + ']' * deep + '\n')
        os.remove(self.path('out', 'a.csv'))
        self.rejected(LIST % '', 'a.facts', facts={'a.facts': '[1, ' * deep + '\n'})
        self.rejected(LIST % '(IO=jsonfile)', 'nested too deeply',
                      facts={'a.json': '[[' + '[1, ' * deep + 'null' + ']' * deep + ']]\n'})
        tower = '.type T = Z {} | S {p:T}\n.decl a(x:T)\n.input a\n.output a\n'
        self.accepted(tower, facts={'a.facts': '$S(' * deep + '$Z' + ')' * deep + '\n'})
        self.assertEqual(self.read('out', 'a.csv'), '$S(' * deep + '$Z' + ')' * deep + '\n')

    def test_records_that_grow(self):
        length = scaled(30000)
        self.accepted('.type L = [h:number, t:L]\n.decl a(x:L, n:number)\na(nil, 0). a([n, x], n + 1) :- a(x, n), n < %d.\n'
                      '.decl b(x:L)\nb(x) :- a(x, %d).\n.output b\n' % (length, length))
        self.assertTrue(self.read('out', 'b.csv').endswith(']' * length + '\n'))


class Cycles(RobustnessTest):
    def test_includes(self):
        self.write('other.dl', '.include "program.dl"\n')
        self.rejected('.include "program.dl"\n', 'includes itself')
        self.rejected('.include "other.dl"\n', 'includes itself')
        self.write('other.dl', '#include "program.dl"\n')
        self.rejected('#include "program.dl"\n', 'include')
        self.rejected('#include "other.dl"\n', 'include')

    def test_macros(self):
        doubling = ''.join('#define A%d A%d A%d\n' % (i, i - 1, i - 1) for i in range(1, 64))
        if not IS_SANITIZED:
            self.rejected('#define A0 a(1).\n%s.decl a(x:number)\nA63\n' % doubling, 'grows too large')
        nested = ''.join('#define A%d(x) A%d(A%d(x))\n' % (i, i - 1, i - 1) for i in range(1, 40))
        if not IS_SANITIZED:
            self.rejected('#define A0(x) x x\n%s.decl a(x:number)\nA39(a(1).)\n' % nested, 'grows too large')
        self.accepted('#define A A\n#define B(x) B(x)\n.decl A(x:number)\nA(1).\n.output A\n')
        self.assertEqual(self.rows('out', 'A.csv'), ['1'])

    def test_components(self):
        self.rejected('.comp A { .init a = A .decl r(x:number) }\n.init x = A\n', 'instantiates itself')
        self.rejected('.comp A { .init b = B }\n.comp B { .init a = A .init c = A }\n.init x = A\n', 'instantiates itself')
        self.rejected('.comp A : A { }\n.init x = A\n', 'inheritance cycle')
        doubling = ''.join('.comp A%d { .init a = A%d .init b = A%d }\n' % (i, i - 1, i - 1) for i in range(1, 40))
        self.rejected('.comp A0 { .decl r(x:number) r(1). }\n%s.init x = A39\n' % doubling, 'too large')
        grown = '.comp A<T> { .init a = A<T> }\n.init x = A<number>\n'
        self.rejected(grown, 'instantiates itself')

    def test_instances_without_end_are_reported_once(self):
        process = self.run_program('.comp A { .init a = A .decl r(x:number) }\n.init x = A\n')
        self.assertLess(len(process.errors.splitlines()), 10, process.errors[:2000])

    def test_types(self):
        self.rejected('.type A = A\n.type B <: C\n.type C <: B\n.type U = U | V\n.type V = U\n.decl a(x:A, y:B, z:U)\n',
                      'Infinite descent')


if __name__ == '__main__':
    unittest.main()

"""Functors of libraries. GPULOG_FUNCTORS names the folder of libfunctors.so, made of tests/functors."""
import os
import shutil
import unittest

from command import CommandTest

LENGTHS = '''
.functor add_length(x:number, text:symbol):number
.decl word(w:symbol)
word("a"). word("abc"). word("").
.decl length(w:symbol, n:number)
length(w, @add_length(100, w)) :- word(w).
.output length
'''


class Functors(CommandTest):
    def setUp(self):
        super().setUp()
        self.library = os.environ['GPULOG_FUNCTORS']

    def results(self, text, *arguments, **options):
        self.assert_runs(self.run_program(text, '-L', self.library, *arguments, **options))
        return {name: self.rows('out', name + '.csv') for name in
                (os.path.splitext(file)[0] for file in os.listdir(self.path('out')))}

    def test_numbers_and_texts(self):
        for storage in ('hash', 'hisa'):
            for jobs in ('1', '4'):
                with self.subTest(storage=storage, jobs=jobs):
                    found = self.results(LENGTHS, '--storage', storage, '-j', jobs)
                    self.assertEqual(found['length'], ['\t100', 'a\t101', 'abc\t103'])

    def test_every_kind_of_value(self):
        found = self.results('''
.functor top_bit(unsigned):unsigned
.functor scaled(x:number, factor:float, shift:unsigned):float
.functor repeated(text:symbol, times:number):symbol
.functor answer():number
.decl u(x:unsigned)   u(@top_bit(5)).   .output u
.decl f(x:float)      f(@scaled(-3, 0.5, 2u)). f(@scaled(x, 1.5, 1u)) :- x = range(1, 4).   .output f
.decl s(x:symbol)     s(@repeated("ab", n)) :- n = range(0, 4).   .output s
.decl n(x:number)     n(@answer() + 1).   n(x) :- x = @answer().   .output n
''')
        self.assertEqual(found['u'], ['2147483653'])
        self.assertEqual(found['f'], ['0.5', '2.5', '4', '5.5'])
        self.assertEqual(found['s'], ['', 'ab', 'abab', 'ababab'])
        self.assertEqual(found['n'], ['42', '43'])

    def test_words_of_64_bits(self):
        found = self.results('''
.functor add_length(x:number, text:symbol):number
.functor top_bit(unsigned):unsigned
.functor scaled(x:number, factor:float, shift:unsigned):float
.functor swapped(p:pair):pair stateful
.type pair = [a:number, b:number]
.decl n(x:number)     n(@add_length(y * 2, "abc")) :- y = 5000000000.   .output n
.decl u(x:unsigned)   u(@top_bit(5)).   .output u
.decl f(x:float)      f(@scaled(-5000000000, 0.1, 4294967296)).   .output f
.decl p(x:pair)       p([-5000000000, 9223372036854775807]). p([1, 2]). p(nil).
.decl q(x:pair)       q(@swapped(x)) :- p(x).   .output q
''', '--word-size', '64', '-l', 'functors64')
        self.assertEqual(found['n'], ['10000000003'])
        self.assertEqual(found['u'], ['9223372036854775813'])
        self.assertEqual(found['f'], ['3794967296'])
        self.assertEqual(found['q'], ['[2, 1]', '[9223372036854775807, -5000000000]', 'nil'])

    def test_more_parameters_than_registers(self):
        for word_size in ('32', '64'):
            with self.subTest(word_size=word_size):
                self.check_many_parameters(word_size)

    def check_many_parameters(self, word_size):
        kinds = 'nfsnfnfsfnffffnfsfn'
        names = {'n': 'number', 'f': 'float', 's': 'symbol'}
        declared = ', '.join('p%d:%s' % (i, names[kind]) for i, kind in enumerate(kinds))
        values = {'n': '-%d', 'f': '%d.5', 's': '"t%d"'}
        given = ', '.join(values[kind] % i for i, kind in enumerate(kinds))
        found = self.results('.functor many(%s):symbol\n.decl r(x:symbol)\nr(@many(%s)).\n.output r\n'
                             % (declared, given), '--word-size', word_size,
                             '-l', 'functors64' if word_size == '64' else 'functors')
        self.assertEqual(found['r'], ['-0,-3,-5,-9,-14,-18,15,45,65,85,105,115,125,135,155,175,t2,t7,t16,'
                                      .replace('-0,', '0,')])

    def test_in_every_place_of_a_rule(self):
        found = self.results('''
.functor add_length(x:number, text:symbol):number
.functor repeated(text:symbol, times:number):symbol
.decl a(x:number, w:symbol)
a(1, "x"). a(2, "yy"). a(3, "zzz"). a(4, "xx").
.decl equal(x:number)     equal(x) :- a(x, w), x + x = @add_length(x, w).   .output equal
.decl argument(w:symbol)  argument(w) :- a(x, w), a(_, @repeated("x", x)).   .output argument
.decl absent(w:symbol)    absent(w) :- a(x, w), !a(_, @repeated("x", x)).   .output absent
.decl folded(n:number)    folded(n) :- n = sum @add_length(x, w) : a(x, w).   .output folded
.decl nested(n:number)    nested(@add_length(@add_length(0, w), w)) :- a(_, w).   .output nested
.decl grown(w:symbol)     grown("x"). grown(@repeated(w, 2)) :- grown(w), @add_length(0, w) < 5.   .output grown
''')
        self.assertEqual(found['equal'], ['1', '2', '3'])
        self.assertEqual(found['argument'], ['x', 'yy'])
        self.assertEqual(found['absent'], ['xx', 'zzz'])
        self.assertEqual(found['folded'], ['18'])
        self.assertEqual(found['nested'], ['2', '4', '6'])
        self.assertEqual(found['grown'], ['x', 'xx', 'xxxx', 'xxxxxxxx'])

    def test_beside_subsumption_and_choice(self):
        found = self.results('''
.functor add_length(x:number, text:symbol):number
.decl a(x:number, s:symbol)
a(1, "x"). a(2, "yy"). a(5, "z").
a(x, s) <= a(y, t) :- @add_length(x, s) < @add_length(y, t).
.output a
.decl b(x:number, y:number) choice-domain x
b(@add_length(0, s), @add_length(1, s)) :- a(_, s).
.output b
''')
        self.assertEqual(found['a'], ['5\tz'])
        self.assertEqual(found['b'], ['1\t2'])

    def test_stateful_ones_see_symbols_and_records(self):
        found = self.results('''
.type pair = [a:number, b:number]
.type list = [head:symbol, tail:list]
.functor swapped(p:pair):pair stateful
.functor upper(s:symbol):symbol stateful
.functor joined(l:list):symbol stateful
.functor known_symbols():number stateful
.decl p(x:pair)   p([1, 2]). p([5, 5]). p(nil).
.decl q(x:pair)   q(@swapped(x)) :- p(x).   .output q
.decl b(x:number)   b(x) :- p(y), [x, _] = @swapped(y).   .output b
.decl u(x:symbol)   u(@upper("Mixed")). u(@upper(x)) :- x = "abc".   .output u
.decl j(x:symbol)   j(@joined(["a", ["b", ["c", nil]]])). j(@joined(nil)).   .output j
.decl k(x:number)   k(1) :- @known_symbols() > 3.   .output k
''')
        self.assertEqual(found['q'], ['[2, 1]', '[5, 5]', 'nil'])
        self.assertEqual(found['b'], ['2', '5'])
        self.assertEqual(found['u'], ['ABC', 'MIXED'])
        self.assertEqual(found['j'], ['', 'abc'])
        self.assertEqual(found['k'], ['1'])

    def test_where_libraries_are_looked_for(self):
        elsewhere = self.path('elsewhere')
        os.mkdir(elsewhere)
        shutil.copy(os.path.join(self.library, 'libfunctors.so'), os.path.join(elsewhere, 'libmine.so'))
        self.assert_runs(self.run_program(LENGTHS, '-L', 'missing', '-L', 'elsewhere', '-l', 'mine'))
        self.assert_runs(self.run_program(LENGTHS, '-lnone', '-lmine', '-Lelsewhere'))
        self.assert_runs(self.run_program(LENGTHS, '-l', elsewhere + '/libmine.so'))
        self.assert_runs(self.run_program('.pragma "libraries" "mine"\n.pragma "library-dir" "elsewhere"\n' + LENGTHS))
        shutil.copy(os.path.join(self.library, 'libfunctors.so'), self.path('libfunctors.so'))
        self.assert_runs(self.run_program(LENGTHS))

    def test_library_or_functor_missing(self):
        process = self.run_program(LENGTHS, '-l', 'nowhere')
        self.assertEqual(process.returncode, 1)
        for text in ('@add_length', 'nowhere', 'libnowhere.so'):
            self.assertIn(text, process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])
        self.assert_fails(self.run_program('.functor missing():number\n.decl a(x:number)\na(@missing()).\n.output a\n',
                                           '-L', self.library), '@missing')
        with open(self.path('libbroken.so'), 'wb') as file:
            file.write(b'no library')
        process = self.run_program(LENGTHS, '-l', 'broken')
        self.assertEqual(process.returncode, 1)
        self.assertIn('libbroken.so', process.errors)

    def test_declared_but_not_called(self):
        text = '.functor missing(x:number):number\n.decl a(x:number)\na(1).\n.output a\n'
        self.assert_runs(self.run_program(text))

    def test_faults(self):
        for text, wanted in (
                ('.functor nothing():symbol\n.decl a(x:symbol)\na(@nothing()).\n.output a\n', 'returned no text'),
                ('.functor lost(x:number):number stateful\n.decl a(x:number)\na(@lost(7)).\n.output a\n',
                 'the number 1000000, of no symbol'),
                ('.functor thrown(x:number):number\n.decl a(x:number)\na(@thrown(7)).\n.output a\n',
                 "the functor's own exception")):
            with self.subTest(text=text):
                process = self.run_program(text, '-L', self.library)
                self.assertEqual(process.returncode, 1, process.errors)
                self.assertIn(wanted, process.errors)
                self.assertEqual(os.listdir(self.path('out')), [])

    def test_wrong_declarations_and_calls(self):
        for text, line, wanted in (
                ('.functor f(x:number):number\n.decl a(x:number)\na(@f(1, 2)).\n', 3, 'arity of functor f'),
                ('.functor f(x:number):number\n.decl a(x:number)\na(@f("x")).\n', 3, 'type mismatch'),
                ('.functor f(x:number):number\n.decl a(x:symbol)\na(@f(1)).\n', 3, 'type mismatch'),
                ('.functor f(x:number):number\n.decl a(x:number)\na(@g(1)).\n', 3, '@g'),
                ('.functor f(x:nonsense):number\n.decl a(x:number)\na(@f(1)).\n', 1, 'nonsense'),
                ('.type r = [x:number]\n.functor f(x:r):number\n.decl a(x:number)\na(@f([1])).\n', 2, 'stateful'),
                ('.functor f(x:number):number\n.functor f(x:symbol):number\n.decl a(x:number)\na(1).\n', 2,
                 'Redefinition of functor f'),
                ('.functor f(%s):number\n.decl a(x:number)\na(@f(%s)).\n.output a\n'
                 % (', '.join(['number'] * 40), ', '.join(['1'] * 40)), None, 'too many parameters')):
            with self.subTest(text=text):
                process = self.run_program(text, '-L', self.library)
                self.assertEqual(process.returncode, 1, process.errors)
                self.assertIn(wanted, process.errors)
                if line is not None:
                    self.assertIn('at line %d' % line, process.errors)


if __name__ == '__main__':
    unittest.main()

"""Functors of libraries. GPULOG_FUNCTORS names the folder of libfunctors.so, made of tests/functors."""
import os
import shutil
import unittest

from command import IS_SANITIZED, CommandTest

LENGTHS = '''
.functor add_length(x:number, text:symbol):number
.decl word(w:symbol)
word("a"). word("abc"). word("").
.decl length(w:symbol, n:number)
length(w, @add_length(100, w)) :- word(w).
.output length
'''


INTERVALS = '''
.type Interval = [low:number, high:number]
.functor hull(a:Interval, b:Interval):Interval stateful
.functor overlap(a:Interval, b:Interval):Interval stateful
.lattice Interval<> { Bottom -> [0, -1], Lub -> @hull(_, _), Glb -> @overlap(_, _) }
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

    def test_branches_without_fields(self):
        text = '''
.type t = Other { x:number } | Plain {}
.functor second_branch():t stateful
.functor payload(t):number stateful
.decl one(x:t)   one($Plain()). one(@second_branch()).   .output one
.decl read(x:t)   .input read   .input read(IO=jsonfile, filename="read.json")
read(@second_branch()).   .output read
.decl matched(n:number)
matched(1) :- one($Plain).
matched(2) :- x = @second_branch(), x = $Plain().
matched(3) :- @second_branch() != $Plain.
matched(4) :- read(x), !one(x).
.output matched
.decl inside(n:number)   inside(@payload($Plain)). inside(@payload(x)) :- read(x).   .output inside
'''
        wanted = {'one': ['$Plain'], 'read': ['$Plain'], 'matched': ['1', '2'], 'inside': ['1']}
        for options in ([], ['-j', '4'], ['--storage', 'hisa'], ['--word-size', '64', '-l', 'functors64']):
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options, facts={'read.facts': '$Plain\n$Plain()\n',
                                                                     'read.json': '[["$Plain"]]'}), wanted)

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
        self.assertNotIn('The run failed', process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])
        process = self.run_program('.functor missing():number\n.decl a(x:number)\na(@missing()).\n.output a\n',
                                   '-L', self.library)
        self.assertEqual(process.returncode, 1)
        for text in ('Error: User-defined functor @missing is in none of the libraries', 'in rule:\na(@missing()).',
                     'in file program.dl [3:1-3:15]'):
            self.assertIn(text, process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])
        # A call that no rule reaches, and facts that are missing, come after the functor.
        text = ('.functor missing():number\n.decl e(x:number)\n.input e\n.decl a(x:number)\na(@missing()) :- e(x), x < 0.\n'
                '.output a\n')
        process = self.run_program(text, '-L', self.library)
        self.assertEqual(process.returncode, 1)
        self.assertIn('User-defined functor @missing is in none of the libraries', process.errors)
        self.assertIn('in file program.dl [5:1-5:30]', process.errors)
        # A rule that is not needed calls nothing.
        text = text.replace('.output a\n', '') + '.output e\n'
        self.assert_runs(self.run_program(text, '-L', self.library, facts={'e.facts': '1\n'}))
        with open(self.path('libbroken.so'), 'wb') as file:
            file.write(b'no library')
        process = self.run_program(LENGTHS, '-l', 'broken')
        self.assertEqual(process.returncode, 1)
        self.assertIn('libbroken.so', process.errors)

    def test_lattices(self):
        text = INTERVALS + '''
.decl seen(x:number, i:Interval<>)
seen(1, [3, 5]). seen(1, [4, 9]). seen(2, [0, 0]). seen(3, [20, 30]). seen(4, [1, 1]).
seen(x, [y, y]) :- x = 5, y = range(0, 3000).
seen(x, i) :- x = 6, i = [2, 1 + x].
// The bottom is no value that a rule passes on.
seen(x, i) :- x = 7, i = [0, -1].
.output seen
.decl other(x:number, i:Interval<>)
other(1, [8, 12]). other(2, [1, 5]). other(3, [0, 100]).
.decl both(x:number, i:Interval<>)
both(x, i) :- seen(x, i), other(x, i).
.output both
.decl has_four(x:number)
has_four(x) :- seen(x, [4, 4]).
.output has_four
// Values reach nodes along a cycle and a chain; a relation that is made of values on the way.
.decl edge(x:number, y:number)
edge(x, (x + 1) % 50) :- x = range(0, 50).
edge(x, x + 1) :- x = range(49, 400).
.decl flow(x:number, i:Interval<>)
flow(x, [x, x]) :- edge(x, _).
flow(y, i) :- flow(x, i), edge(x, y).
.decl widest(x:number, y:number)
widest(x, y) :- flow(x, [x, y]), x < 0.
widest(x, z) :- (x = 0 ; x = 30 ; x = 49 ; x = 50 ; x = 399), flow(x, j), j = [_, z].
.output widest
.decl flows(n:number)
flows(n) :- n = count : flow(_, _).
.output flows
// One clause with alternatives and several heads.
.decl left(x:number, i:Interval<>)
.decl right(x:number, i:Interval<>)
left(x, i), right(x, i) :- (seen(x, i) ; other(x, i)), x < 3.
.output left
.output right
'''
        wanted = {'seen': ['1\t[3, 9]', '2\t[0, 0]', '3\t[20, 30]', '4\t[1, 1]', '5\t[0, 2999]', '6\t[2, 7]'],
                  'both': ['1\t[8, 9]', '3\t[20, 30]'],
                  'has_four': ['1', '5', '6'],
                  'widest': ['0\t49', '30\t49', '399\t399', '49\t49', '50\t50'],
                  'flows': ['401'],
                  'left': ['1\t[3, 12]', '2\t[0, 5]'],
                  'right': ['1\t[3, 12]', '2\t[0, 5]']}
        several = ([], ['-j', '4'], ['--storage', 'hisa'], ['--storage', 'hisa', '-j', '3'], ['--backend', 'cpu'])
        for options in several[1:3] if IS_SANITIZED else several:
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options), wanted)
        self.assertEqual(self.results(text, '--word-size', '64', '-l', 'functors64', '-j', '2'), wanted)

    def test_a_bottom_without_fields(self):
        text = '''
.type value = Any {} | Is { n:number } | Nothing {}
.functor common(a:value, b:value):value stateful
.functor either(a:value, b:value):value stateful
.lattice value<> { Bottom -> $Nothing(), Top -> $Any(), Lub -> @either(_, _), Glb -> @common(_, _) }
.decl a(k:number, v:value<>)
a(1, $Is(1)). a(2, $Is(2)). a(3, $Any). a(4, $Is(4)). a(4, $Is(5)).
.decl b(k:number, v:value<>)
b(1, $Is(7)). b(2, $Is(2)). b(3, $Is(3)). b(4, $Any).
.decl both(k:number, v:value<>)
both(k, v) :- a(k, v), b(k, v).
.output both
'''
        wanted = {'both': ['2\t$Is(2)', '3\t$Is(3)', '4\t$Any']}
        for options in ([], ['-j', '4'], ['--storage', 'hisa'], ['--word-size', '64', '-l', 'functors64']):
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options), wanted)

    def test_lattices_in_components(self):
        text = '''
.type bounds = [low:number, high:number]
.functor hull(a:bounds, b:bounds):bounds stateful
.functor overlap(a:bounds, b:bounds):bounds stateful
.comp Own {
  .type Interval = bounds
  .lattice Interval<> { Bottom -> [0, -1], Lub -> @hull(_, _), Glb -> @overlap(_, _) }
  .decl r(x:number, i:Interval<>)
  r(1, [2, 3]). r(1, [5, 6]).
  .decl met(x:number, i:Interval<>)
  met(x, i) :- r(x, i), r(_, i), i = [_, 6].
  .output met
}
.init own1 = Own
.init own2 = Own
.comp Shared<T> {
  .lattice T<> { Bottom -> [0, -1], Lub -> @hull(_, _), Glb -> @overlap(_, _) }
  .decl r(x:number, i:T<>)
  r(1, [2, 3]). r(1, [8, 9]).
  .output r
}
.comp Below : Shared<bounds> {
  .decl s(x:number)
  s(x) :- r(x, [3, 3]).
  .output s
}
.init shared1 = Below
.init shared2 = Below
.init shared3 = Shared<bounds>
'''
        wanted = {'own1.met': ['1\t[2, 6]'], 'own2.met': ['1\t[2, 6]'], 'shared1.s': ['1'], 'shared2.s': ['1']}
        wanted.update({'shared%d.r' % i: ['1\t[2, 9]'] for i in (1, 2, 3)})
        for options in ([], ['-j', '4'], ['--storage', 'hisa']):
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options), wanted)

    def test_a_lattice_of_one_operation_and_facts_of_files(self):
        text = '''
.functor either_bit(number, number):number
.lattice number<> { Lub -> @either_bit(_, _) }
.decl bits(name:symbol, b:number<>)
.input bits
bits("z", b) :- bits("a", b), b > 4.
.output bits
'''
        found = self.results(text, facts={'bits.facts': 'a\t1\nb\t6\na\t4\na\t2\n'})
        self.assertEqual(found['bits'], ['a\t7', 'b\t6', 'z\t7'])

    def test_several_lattice_attributes(self):
        text = INTERVALS + '''
.functor either_bit(number, number):number
.functor common_bits(number, number):number
.lattice number<> { Bottom -> 0, Lub -> @either_bit(_, _), Glb -> @common_bits(_, _) }
.decl seen(b:number<>, x:symbol, i:Interval<>, y:number)
.input seen
seen(1, "p", [3, 5], 1). seen(6, "p", [4, 9], 1). seen(8, "q", [0, 0], 1).
// Each value of its own attribute: [3, 9] and 7, which no tuple had together.
.output seen
.decl all_of(b:number<>, c:number<>)
all_of(b, c) :- seen(b, _, _, c).
.output all_of
// Greatest lower bounds, of each attribute by itself; the bottom of one is enough for none.
.decl other(i:Interval<>, b:number<>)
other([5, 8], 12). other([6, 20], 2).
.decl both(x:symbol, i:Interval<>, b:number<>)
both(x, i, b) :- seen(b, x, i, 1), other(i, b).
.output both
// One variable in two attributes of the same atom.
.decl same(x:number<>)
same(b) :- all_of(b, b).
.output same
.decl four(x:symbol)
four(x) :- seen(4, x, [4, 4], _).
.output four
// In a recursion, along a cycle and a chain, from two sources.
.decl edge(x:number, y:number)
edge(x, (x + 1) % 50) :- x = range(0, 50).
edge(x, x + 1) :- x = range(49, 400).
.decl flow(x:number, i:Interval<>, b:number<>)
flow(x, [x, x], 1) :- edge(x, _).
flow(x, [x, x], 2) :- x = 30.
flow(200, [-5, -5], 4).
flow(y, i, b) :- flow(x, i, b), edge(x, y).
.decl flows(n:number, x:number, y:number, b:number)
flows(n, x, y, b) :- flow(_, [x, y], b), n = count : flow(_, [x, y], b).
.output flows
'''
        many = [(i % 3, i) for i in range(3000)]
        facts = ''.join('%d\tr%d\t[%d, %d]\t2\n' % (1 << i % 5, k, i, i + 1) for k, i in many)
        wanted = {'seen': sorted(['7\tp\t[3, 9]\t1', '8\tq\t[0, 0]\t1'] +
                                 ['31\tr%d\t[%d, %d]\t2' % (k, k, 2998 + k) for k in range(3)]),
                  'all_of': ['31\t3'], 'both': ['p\t[5, 9]\t6'], 'same': ['3'], 'four': ['p', 'r0', 'r1', 'r2']}
        wanted['flows'] = sorted(['50\t0\t49\t3', '2\t-5\t399\t7'] + ['1\t0\t%d\t3' % n for n in range(50, 200)] +
                                 ['1\t-5\t%d\t7' % n for n in range(200, 399)])
        several = ([], ['-j', '4'], ['--storage', 'hisa'], ['--storage', 'hisa', '-j', '3'], ['--storage', 'bits'],
                   ['--storage', 'words'], ['--tune', 'priority-delta=off'], ['--word-size', '64', '-l', 'functors64', '-j', '2'])
        for options in several[3:4] + several[7:] if IS_SANITIZED else several:
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options, facts={'seen.facts': facts}), wanted)

    def test_wrong_lattices(self):
        for text, wanted in (
                ('.decl a(x:number<>)\na(1).\n', 'type number has none'),
                ('.lattice number<> { Bottom -> 0 }\n.decl a(x:number<>)\na(1).\n', 'has no Lub'),
                ('.lattice number<> { Lub -> @f(_, _) }\n.decl a(x:number<>)\na(1).\n',
                 'Lattice operation Lub of number must be a declared functor with two parameters and a result of this type'),
                ('.functor f(x:number):number\n.lattice number<> { Lub -> @f(_, _) }\n',
                 'Lattice operation Lub of number must be a declared functor with two parameters and a result of this type'),
                ('.functor f(number, number):number\n.lattice number<> { Lub -> @f(_, _), Best -> 1 }\n', 
                 'Unknown lattice operation Best; a lattice has Bottom, Top, Lub, Glb and Leq'),
                ('.functor f(number, number):number\n.lattice number<> { Lub -> @f(_, _) }\n'
                 '.lattice number<> { Lub -> @f(_, _) }\n', 'Redefinition of lattice number'),
                # Of two components, and of one that means another thing in each instance.
                ('.functor f(number, number):number\n.comp A { .lattice number<> { Lub -> @f(_, _) } }\n'
                 '.comp B { .lattice number<> { Lub -> @f(_, _) } }\n.init a = A\n.init b = B\n',
                 'Redefinition of lattice number'),
                ('.functor f(r, r):r stateful\n.type r = [x:number]\n.comp A { .type t = E { x:number }\n'
                 '.lattice r<> { Bottom -> as($E(1), r), Lub -> @f(_, _) } }\n.init a = A\n.init b = A\n',
                 'Redefinition of lattice r'),
                ('.functor f(number, number):number\n.lattice number<> { Lub -> @f(_, _) }\n'
                 '.decl a(x:number, y:number<>)\n.decl a(x:number<>)\na(1).\n', 'Redefinition of relation a'),
                ('.functor f(number, number):number\n.lattice number<> { Lub -> @f(_, _) }\n'
                 '.decl a(x:number, y:number<>)\na(1, 2).\na(x, y) <= a(x, z) :- y < z.\n', 'cannot have subsumptive rules'),
                ('.lattice nonsense<> { Lub -> @f(_, _) }\n', 'nonsense')):
            with self.subTest(text=text):
                process = self.run_program(text)
                self.assertEqual(process.returncode, 1, process.errors)
                self.assertIn(wanted, process.errors)

    def test_aggregates_by_functors(self):
        text = '''
.functor either_bit(number, number):number
.functor longer(symbol, symbol):symbol
.functor decayed(float, number):float
.decl n(k:number, x:number)
n(x % 3, x) :- x = range(0, 2000).
n(7, 8).
.decl bits(k:number, b:number)
bits(k, b) :- n(k, _), b = @@either_bit y : 4096, { n(k, y), y > 1990 }.
.output bits
.decl all_bits(b:number)
all_bits(b) :- b = @@either_bit y * 2 : 0, { n(7, y) }.
.output all_bits
.decl word(w:symbol)
word("a"). word("bcd"). word("abc"). word("zz").
.decl longest(w:symbol)
longest(w) :- w = @@longer x : "", { word(x) }.
.output longest
.decl decay(f:float)
decay(f) :- f = @@decayed x : 1.0, { n(7, x) }.
.output decay
'''
        wanted = {'bits': ['0\t6095', '1\t6095', '2\t6095'], 'all_bits': ['16'], 'longest': ['abc'], 'decay': ['8.5']}
        for options in ([], ['-j', '4'], ['--storage', 'hisa']):
            with self.subTest(options=options):
                self.assertEqual(self.results(text, *options), wanted)
        self.assertEqual(self.results(text, '--word-size', '64', '-l', 'functors64'), wanted)
        for call, line in (('@@nowhere x : 0, { n(x, _) }', "hasn't been declared: @nowhere"),
                           ('@@either_bit x : k, { n(x, _) }', 'Initial value of @@either_bit'),
                           ('@@longer x : 0, { n(x, _) }', 'type mismatch')):
            wrong = self.run_program(text + '.decl r(x:number)\nr(y) :- n(k, _), k < y, y = %s.\n' % call)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn(line, wrong.errors)

    def test_declared_but_not_called(self):
        text = '.functor missing(x:number):number\n.decl a(x:number)\na(1).\n.output a\n'
        self.assert_runs(self.run_program(text))
        # A needed rule that calls the functor is an error before the run, even if it reads nothing.
        text += '.decl e(x:number)\n.input e\na(@missing(x)) :- e(x).\na(x) :- e(x), @missing(x) = 1.\n'
        for arguments in ([], ['-L', 'nowhere'], ['-j', '2']):
            process = self.run_program(text, *arguments, facts={'e.facts': ''})
            self.assertEqual(process.returncode, 1)
            self.assertIn('User-defined functor @missing is in none of the libraries', process.errors)

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

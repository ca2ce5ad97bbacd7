"""The command line: Soufflé's options, gpulog's own, and what is printed."""
import json
import os
import re
import time
import unittest

from command import REACH, CommandTest

EDGES = {'edge.facts': '1\t2\n2\t3\n'}
CLOSURE = ['1\t2', '1\t3', '2\t3']


class CommandLine(CommandTest):
    def test_without_a_file(self):
        process = self.run_gpulog()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(process.errors, 'No datalog file specified.\n')

    def test_help(self):
        process = self.run_gpulog('--help')
        self.assert_runs(process)
        for option in ('--fact-dir', '--storage', '--memory-limit', '--show'):
            self.assertIn(option, process.output)
        self.assertIn('Usage: gpulog [OPTIONS] [program]\n       gpulog fmt [OPTIONS] FILE...\n       gpulog lint [OPTIONS] FILE...\n'
                      '       gpulog lsp [OPTIONS]\n       gpulog profile [OPTIONS] RECORD [RECORD]\n'
                      '       gpulog test [OPTIONS] [PATH...] [-- OPTION...]\n', process.output)
        for arguments in ([], ['fmt'], ['lint'], ['lsp'], ['profile'], ['test']):
            lines = self.run_gpulog(*arguments, '--help').output.splitlines()
            self.assertLessEqual(max(map(len, lines)), 100)

    def test_unknown_commands(self):
        for words in (['profil', 'run.json'], ['Profile'], ['profiel', 'a', 'b']):
            self.assert_fails(self.run_gpulog(*words), 'Error: there is no file or command %s; did you mean gpulog profile?\n' % words[0])
        self.write('profil', '.decl a(x:number)\na(1).\n.printsize a\n')
        self.assertEqual(self.run_gpulog('profil').output, 'a\t1\n')

    def test_version(self):
        process = self.run_gpulog('--version')
        self.assert_runs(process)
        self.assertRegex(process.output, r'gpulog \d+\.\d+\.\d+')
        self.assertIn('cpu', process.output)
        self.assertIn('32 bits', process.output)

    def test_runs(self):
        for options in ([], ['-j2'], ['-j', 'auto'], ['--jobs=3'], ['--storage', 'hisa'], ['--backend', 'cpu'],
                        ['--storage', 'bits'], ['--storage', 'words'], ['--place', 'reach=cpu', '--place', 'edge=cpu'], ['--tune', 'joins=materialized'], ['--tune', 'magic-sets=on'],
                        ['--storage', 'hisa', '--tune', 'buffer-factor=0'],
                        ['--storage', 'hisa', '--tune', 'buffer-factor=2.5'],
                        ['--memory-limit', '1G'], ['-w'], ['--magic-transform=*'], ['-z', 'x'], ['--legacy'],
                        ['-P', 'a:b'], ['-WA'], ['--wno', 'all'], ['-M', 'A B=1'], ['-I', '.']):
            with self.subTest(options=options):
                process = self.run_program(REACH, *options, facts=EDGES)
                self.assert_runs(process)
                self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)
                self.assertEqual(process.output, '')

    def test_legacy_types(self):
        text = ('.type Name <: symbol\n.decl a(x:symbol)\na("s").\n.decl b(x:Name)\nb(x) :- a(x).\n.output b\n')
        refused = self.run_program(text)
        self.assertEqual(refused.returncode, 1)
        self.assertIn('is not a subtype of its declared type', refused.errors)
        for wanted in ((text, '--legacy'), ('.pragma "legacy"\n' + text,)):
            self.assert_runs(self.run_program(*wanted))
            self.assertEqual(self.rows('out', 'b.csv'), ['s'])
        numbers = self.run_program(text.replace('<: symbol', '<: number'), '--legacy')
        self.assertEqual(numbers.returncode, 1)

    def test_legacy_syntax_is_not_deprecated(self):
        text = ('.type Foo\n.number_type N\n.symbol_type S\n'
                '.decl b(x:Foo, n:number) output\nb(s, $) :- s = "q".\n.decl alone(x:S, n:N)\n')
        self.assertEqual(self.run_program(text).errors.count('Deprecated'), 5)
        for options in (['--legacy'], ['-P', 'legacy:']):
            process = self.run_program(text, *options)
            self.assert_runs(process)
            self.assertIn('No rules/facts defined', process.errors)
            self.assertNotIn('Deprecated', process.errors)
        # In the text it comes behind the parser.
        self.assertEqual(self.run_program('.pragma "legacy"\n' + text).errors.count('Deprecated'), 5)

    def test_wrong_patterns(self):
        text = ('.decl s(x:symbol)\ns("a").\n.decl r(x:symbol)\n.output r\n'
                'r(x) :- s(x), match("b.*[", x).\n'
                'r(x) :- s(x), !match("(", x).\n'
                'r(x) :- s(x), (match("a+", x) ; match(x, "(")).\n'
                'r("c") :- 0 < count : { s(x), match("(a", x) }.\n')
        process = self.run_program(text)
        self.assert_runs(process)
        self.assertEqual(self.rows('out', 'r.csv'), ['a'])
        self.assertEqual(process.errors.count('Wrong pattern'), 3, process.errors)
        for line in ('r(x) :- s(x), match("b.*[", x).\n' + '-' * 20 + '^', 'at line 6', 'at line 8'):
            self.assertIn(line, process.errors)
        self.assertEqual(self.run_program(text, '-w').errors, '')

    def test_relations_that_are_not_inlined(self):
        text = """
.decl n(x:number)   n(1). n(2).
.init c = box
.comp box {
  .decl in_box(x:number) inline
  in_box(x + 1) :- n(x).
}
.decl twice(x:number) inline
twice(2 * x) :- c.in_box(x).
.decl r(x:number)
r(x) :- twice(x).
.output r
"""
        for options, before, kept in (
                ([], '', set()),
                (['--inline-exclude=twice'], '', {'twice'}),
                (['--inline-exclude', 'nobody,c.in_box,twice'], '', {'twice', 'c.in_box'}),
                (['--inline-exclude=twice', '--inline-exclude=c.in_box'], '', {'twice', 'c.in_box'}),
                (['--magic-transform-exclude=c.in_box'], '', {'c.in_box'}),
                ([], '.pragma "inline-exclude" "twice"', {'twice'}),
                (['--inline-exclude=c.in_box'], '.pragma "inline-exclude" "twice"', {'c.in_box'})):
            with self.subTest(options=options, before=before):
                self.assert_runs(self.run_program(before + text, *options))
                self.assertEqual(self.rows('out', 'r.csv'), ['4', '6'])
                plan = self.run_gpulog('--show', 'transformed-ram', *options, 'program.dl').output
                self.assertEqual({name for name in ('twice', 'c.in_box') if name + '(' in plan}, kept)

    def test_folders_of_the_program(self):
        self.write('program.dl', '.pragma "fact-dir" "in"\n.pragma "output-dir" "results"\n' + REACH)
        os.makedirs(self.path('in'))
        os.makedirs(self.path('results'))
        self.write('in/edge.facts', EDGES['edge.facts'])
        self.assert_runs(self.run_gpulog('program.dl'))
        self.assertEqual(self.rows('results', 'reach.csv'), CLOSURE)
        # Options win, also when they say what would be without them.
        self.write('edge.facts', '7\t8\n')
        self.assert_runs(self.run_gpulog('program.dl', '-F', '.'))
        self.assertEqual(self.rows('results', 'reach.csv'), ['7\t8'])
        self.assert_runs(self.run_gpulog('program.dl', '-D', '.'))
        self.assertEqual(self.rows('reach.csv'), CLOSURE)
        printed = self.run_gpulog('program.dl', '-P', 'output-dir:-')
        self.assert_runs(printed)
        self.assertIn('reach', printed.output)

    def test_options_before_the_program(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', EDGES['edge.facts'])
        self.assert_runs(self.run_gpulog('-Ffacts', '-Dout', '-j', '2', 'program.dl'))
        self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)

    def test_word_size(self):
        wide = {'edge.facts': '1\t4294967297\n4294967297\t-9223372036854775808\n'}
        refused = self.run_program(REACH, facts=wide)
        self.assertEqual((refused.returncode, refused.output, os.listdir(self.path('out'))), (1, '', []))
        self.assertIn('4294967297', refused.errors)
        for size in ('32', '64'):
            self.assert_runs(self.run_program(REACH, '--word-size', size, facts=EDGES))
            self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)
        self.assert_runs(self.run_program(REACH, '--word-size', '64', facts=wide))
        self.assertEqual(self.rows('out', 'reach.csv'), ['1\t-9223372036854775808', '1\t4294967297',
                                                         '4294967297\t-9223372036854775808'])
        for size in ('16', ''):
            process = self.run_gpulog('program.dl', '--word-size=' + size)
            self.assertEqual(process.returncode, 1)
            self.assertIn('--word-size', process.errors)

    def test_words_of_64_bits_in_a_database(self):
        declared = '.decl a(x:number, u:unsigned, f:float)\n'
        self.assert_runs(self.run_program(declared + """a(-9223372036854775808, 18446744073709551615, 0.1).
a(5000000000, 9223372036854775807, 2.5).
.output a(IO=sqlite, dbname="a.sqlite")
""", '--word-size', '64'))
        self.assert_runs(self.run_gpulog('program.dl', '-D', 'facts', '--word-size', '64'))
        self.assert_runs(self.run_program(declared + '.input a(IO=sqlite, dbname="a.sqlite")\n.output a\n',
                                          '--word-size', '64'))
        self.assertEqual(self.rows('out', 'a.csv'), ['-9223372036854775808\t18446744073709551615\t0.10000000000000001',
                                                     '5000000000\t9223372036854775807\t2.5'])

    def test_an_option_takes_one_value(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', EDGES['edge.facts'])
        for option in (['-I', '.'], ['-I', '.', '-I', 'facts'], ['--include-dir', '.'], ['-M', 'A=1'], ['-P', 'a:b'],
                       ['-l', 'x'], ['-L', '.'], ['-c'], ['--compile', '-C'], ['-m', '*'], ['--magic-transform', 'reach'],
                       ['-z', 'x'], ['-a', 'x'], ['-W', 'x'], ['--wno', 'x'], ['-j', '2'], ['-N', 'x'], ['--inline-exclude', 'reach']):
            with self.subTest(option=option):
                self.assert_runs(self.run_gpulog('-F', 'facts', '-D', 'out', *option, 'program.dl'))
                self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)
        process = self.run_gpulog('--show', 'initial-ast', 'program.dl')
        self.assert_runs(process)
        self.assertIn('reach', process.output)

    def test_relations_that_no_output_needs(self):
        text = REACH + '''
.decl missing(x:number)
.input missing
.decl faulty(x:number)
faulty(x / 0) :- edge(x, _).
faulty(x) :- missing(x).
'''
        self.assert_runs(self.run_program(text, facts=EDGES))
        self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)
        self.assertIn('omitted, because no output depends on them: missing, faulty',
                      self.run_program(text, '--show', 'transformed-ram', facts=EDGES).output)
        os.remove(self.path('out', 'reach.csv'))
        self.assert_fails(self.run_program(text, '--tune', 'unneeded-relations=off', facts=EDGES), 'missing.facts')
        self.assert_fails(self.run_program(text + '.printsize faulty\n', facts=EDGES), 'missing.facts')
        # They are checked nevertheless.
        wrong = self.run_program(text + 'faulty(y) :- edge(x, _).\n', facts=EDGES)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('Ungrounded variable y', wrong.errors)
        # Where only they call a functor, nobody needs its library.
        self.assert_runs(self.run_program(
            REACH + '.functor nowhere(x:number):number\n.decl called(x:number)\ncalled(@nowhere(x)) :- edge(x, _).\n',
            facts=EDGES))

    def test_output_to_standard_output(self):
        for option in (['-D-'], ['-D', '-'], ['--output-dir=-']):
            with self.subTest(option=option):
                self.write('program.dl', REACH)
                self.write('facts/edge.facts', EDGES['edge.facts'])
                process = self.run_gpulog('program.dl', '-F', 'facts', *option)
                self.assert_runs(process)
                lines = process.output.splitlines()
                self.assertEqual(lines[:4], ['---------------', 'reach', 'x\ty', '==============='])
                self.assertEqual(sorted(lines[4:-1]), CLOSURE)
                self.assertEqual(lines[-1], '===============')

    def test_bad_jobs(self):
        for jobs in ('0', '-1', 'many', '1.5', '', '99999999999999999999'):
            with self.subTest(jobs=jobs):
                self.assert_fails(self.run_program(REACH, '-j', jobs, facts=EDGES) if not jobs.startswith('-') else
                                  self.run_program(REACH, '-j' + jobs, facts=EDGES),
                                  "-j/--jobs may only be set to 'auto' or an integer greater than 0.")

    def test_refused_options(self):
        for options in (['-c', '-g', 'x.cpp'], ['-g', 'x.cpp'], ['-G', 'x'], ['-s', 'java'], ['-r', 'x.html'],
                        ['--preprocessor', 'x']):
            with self.subTest(options=options):
                result = self.run_program(REACH, *options, facts=EDGES)
                self.assert_fails(result, 'is not supported')
                self.assertRegex(result.errors, r'option (\S+/)?' + options[-2] + r'(/\S+)? is not supported: \w')

    def test_explain_session(self):
        text = ('.decl edge, path(x:number, y:number)\nedge(1, 2). edge(2, 3). edge(3, 4).\n'
                'path(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n')
        self.write('session.dl', text)
        commands = ('setdepth 3\nexplain path(1, 4)\nsubproof path(0)\nexplain path(4, 1)\nexplain nothing(1)\n'
                    'explainnegation path(1, 6)\n2\n2\nexit\nexplain path(1, 2)\n')
        with open(self.write('commands', commands), encoding='utf-8') as given:
            result = self.run_gpulog('-t', 'explain', 'session.dl', stdin=given)
        self.assert_runs(result)
        self.assertIn('''Depth is now 3
           edge(2, 3) subproof path(0)
           ------------------------(R2)
edge(1, 2)          path(2, 4)
------------------------------------(R2)
               path(1, 4)
edge(3, 4)
-------(R1)
path(3, 4)
Tuple not found
There is no relation nothing
''', result.output)
        self.assertIn('edge(1, 2) \u2713 path(2, 6) ✗\n', result.output)

    def ask_session(self, text, commands):
        self.write('session.dl', text)
        with open(self.write('commands', commands), encoding='utf-8') as given:
            result = self.run_gpulog('-t', 'explain', 'session.dl', stdin=given)
        self.assert_runs(result)
        return result.output.splitlines()

    def test_queries_of_a_session(self):
        text = ('.decl edge, path(x:number, y:number)\nedge(1, 2). edge(2, 3). edge(3, 4).\n'
                'path(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n'
                '.decl name(x:number, n:symbol)\nname(1, "x"). name(2, "a, b").\n'
                '.decl same(x:number, y:number) eqrel\nsame(1, 2).\n.decl empty(x:number)\n')
        for question, wanted in (('path(1, 4)', ['Tuple path(1, 4) exists']),
                                 ('path(4, 1)', ['Tuple path(4, 1) does not exist']),
                                 ('edge(1, 2), edge(2, 3)', ['Tuple edge(1, 2), edge(2, 3) exists']),
                                 ('edge(1, 2), edge(2, 4)', ['Tuple edge(1, 2), edge(2, 4) does not exist']),
                                 ('path(2, x)\n;', ['x = 3', 'x = 4', 'No more tuples match']),
                                 ('path(2, x)\n.', ['x = 3']),
                                 ('path(2, x)\nnext\n;', ['x = 3', '; shows the next match, . ends the query', 'x = 4',
                                                          'No more tuples match']),
                                 ('path(1, x), edge(x, y)\n;', ['x = 2, y = 3', 'x = 3, y = 4', 'No more tuples match']),
                                 ('path(x, _)\n;\n;', ['x = 1', 'x = 2', 'x = 3', 'No more tuples match']),
                                 ('path(x, x)', ['No tuples match']), ('empty(x)', ['No tuples match']),
                                 ('name(x, "a, b")', ['x = 2', 'No more tuples match']),
                                 ('name(1, x).', ['x = "x"', 'No more tuples match']),
                                 ('same(x, 1)\n;', ['x = 1', 'x = 2', 'No more tuples match']),
                                 ('nothing(x)', ['There is no relation nothing']),
                                 ('name(x, x)', ['x stands for a number and for a symbol']),
                                 ('path("a", x)', ['\'"a"\' is no value of attribute x of relation path, which is of type number'])):
            with self.subTest(question=question):
                self.assertEqual(sorted(self.ask_session(text, 'query ' + question + '\nexit\n')), sorted(wanted))

    def test_why(self):
        unknown = self.run_program(REACH, '--why', 'raech(1, 2)', facts=EDGES)
        self.assert_fails(unknown, "there is no relation raech, did you mean 'reach'?")
        several = self.run_program(REACH, '--why', 'reach(1)', '--why', 'reach(1, 2)', facts=EDGES)
        self.assertEqual(several.returncode, 1)
        self.assertIn("relation reach has 2 attributes, but 'reach(1)' gives 1 values", several.errors)
        self.assertIn('reach(1, 2)\n', several.output)
        self.assertIn('reach(1, 2)\n', self.run_program(REACH, '--why', 'reach(1,2)', facts=EDGES).output)
        self.assertIn('does not hold', self.run_program(REACH, '--why', 'reach(3,1)', facts=EDGES).output)
        self.assertEqual(self.run_program(REACH, '--why', 'reach(1', facts=EDGES).returncode, 1)
        refused = self.run_program(REACH, '-t', 'explore', facts=EDGES)
        self.assertEqual(refused.returncode, 1)
        self.assertIn('may only be set to explain or none', refused.errors)

    def test_provenance(self):
        text = '.pragma "provenance" "explain"\n' + REACH
        warning = 'Pragma provenance has no effect; use the option -t explain'
        process = self.run_program(text, facts=EDGES)
        self.assert_runs(process)
        self.assertIn('Warning: %s in file program.dl at line 1\n.pragma' % warning, process.errors)
        wanted = self.read('out', 'reach.csv')
        for program, options, is_warned in ((text, ['-w'], False), (text, ['-t', 'none'], False),
                                            (REACH, ['--provenance=none'], False),
                                            (REACH, ['-P', 'provenance:explore'], True),
                                            (text, ['-P', 'provenance:none'], False)):
            with self.subTest(options=options):
                process = self.run_program(program, *options, facts=EDGES)
                self.assert_runs(process)
                self.assertEqual(warning in process.errors, is_warned, process.errors)
                self.assertEqual(self.read('out', 'reach.csv'), wanted)

    def test_wrong_options(self):
        for options in (['--nonsense'], ['--backend', 'abacus'], ['--storage', 'shelf'], ['--memory-limit', '12Q'], ['--memory-limit', ''],
                        ['--memory-limit='], ['--stats', ''], ['-p', ''], ['-o', ''], ['-P', 'a'], ['-P', ''], ['-P', ':b'],
                        ['--tune', 'joins=sorted'], ['--tune', 'magic-sets=maybe'], ['--tune', 'rows=all'], ['--tune', 'joins=nested'],
                        ['--tune', 'magic-sets'], ['--tune', '=on'], ['--tune', 'magic=on'],
                        ['--storage', 'hisa', '--backend', 'cpu', '--tune', 'joins=nested'],
                        ['--tune', 'buffer-factor=0.5'], ['--tune', 'buffer-factor=-1'], ['--tune', 'buffer-factor=much'],
                        ['--memory-limit', '0'], ['--show', 'everything'], ['--device', 'one'], ['another.dl'], ['-q'],
                        ['-I', 'missing'], ['--place', 'reach'], ['--place', '=cpu'], ['--place', 'reach=auto'],
                        ['--place', 'missing=cpu'], ['--backend', 'cpu', '--place', 'reach=gpu']):
            with self.subTest(options=options):
                self.assert_fails(self.run_program(REACH, *options, facts=EDGES))

    def test_tuning(self):
        listed = self.run_gpulog('--tune', 'help')
        self.assert_runs(listed)
        defaults = {}
        for line in listed.output.splitlines()[1:]:
            name, rest = line.split(None, 1)
            defaults[name] = rest.rsplit('(default: ', 1)[1].rstrip(')')
        self.assertEqual(defaults['magic-sets'], 'auto')
        self.assertEqual(defaults['needless-sets'], 'on')
        self.assertEqual(defaults['unneeded-relations'], 'on')
        self.assertEqual(defaults['buffer-factor'], '8')
        # Every choice may have its default, and the others change no result.
        every = [part for name, value in defaults.items() for part in ('--tune', '%s=%s' % (name, value))]
        off = [part for name, value in defaults.items() if value in ('on', 'auto') for part in ('--tune', name + '=off')]
        for options in (every, off):
            self.assert_runs(self.run_program(REACH, *options, facts=EDGES))
            self.assertEqual(self.rows('out', 'reach.csv'), CLOSURE)

    def test_the_last_tuning_of_a_name_counts(self):
        self.assert_fails(self.run_program(REACH, '--tune', 'magic-sets=off', '--tune', 'magic-sets=maybe', facts=EDGES),
                          "magic-sets may only be auto, on or off, not 'maybe'")

    def test_gpu_is_refused_clearly(self):
        version = self.run_gpulog('--version').output
        if 'gpu' not in version:
            self.assert_fails(self.run_program(REACH, '--backend', 'gpu', facts=EDGES),
                              'Error: --backend gpu: this gpulog was built without a GPU backend\n')
        drivers = ('/dev/nvidiactl', '/dev/dxg', '/dev/nvhost-ctrl-gpu', '/dev/nvgpu', '/dev/kfd')
        if re.search('CUDA|HIP', version) and not any(map(os.path.exists, drivers)):
            process = self.run_program(REACH, '--backend', 'gpu', facts=EDGES)
            self.assert_fails(process)
            self.assertRegex(process.errors, r'^Error: --backend gpu: no GPU was found for (CUDA|HIP)\n$')
        for vendor, name in (('CUDA', 'cuda'), ('HIP', 'hip')):
            if vendor not in version:
                self.assert_fails(self.run_program(REACH, '--backend', name, facts=EDGES), 'this gpulog was built for')

    def test_an_emulated_device_is_used_by_who_asks_for_it(self):
        if 'emulated' not in self.run_gpulog('--version').output:
            self.skipTest('no emulated device')
        for backend, expected in (('auto', 'cpu'), ('cpu', 'cpu'), ('gpu', 'gpu')):
            self.assert_runs(self.run_program(REACH, '--backend', backend, '--stats', self.path('stats.json'), facts=EDGES))
            with open(self.path('stats.json'), encoding='utf-8') as file:
                self.assertEqual(json.load(file)['backend'], expected, backend)

    def test_missing_files_and_folders(self):
        self.assert_fails(self.run_gpulog('missing.dl'), 'missing.dl')
        self.assert_fails(self.run_gpulog('.'), 'Error')
        self.write('program.dl', REACH)
        self.assert_fails(self.run_gpulog('program.dl', '-F', 'nowhere'), 'nowhere')
        self.assert_fails(self.run_gpulog('program.dl', '-F', 'facts', '-D', 'nowhere'), 'nowhere')

    def test_missing_facts(self):
        self.assert_fails(self.run_program(REACH), 'edge.facts')
        process = self.run_program(REACH, '-w')
        self.assert_runs(process)
        self.assertEqual(self.read('out', 'reach.csv'), '')

    def test_warnings(self):
        text = '.decl a(x:number)\na(1).\n.decl b()\nb() :- a(unused).\n.output b\n'
        process = self.run_program(text)
        self.assert_runs(process)
        self.assertIn('Warning: Variable unused only occurs once in file program.dl at line 4', process.errors)
        self.assertEqual(self.run_program(text, '-w').errors, '')

    def test_warnings_left_out(self):
        text = ('.number_type old\n.decl a(x:number, y:number) brie\n.decl b(x:number)\n.decl c(x:number) output\n'
                'b(x) :- a(x,y).\nc($) :- b(_).\n/// of nothing\n@[nothing]\n')
        kinds = {'deprecated-type-decl': 'type declaration', 'deprecated-qualifier': 'output qualifier',
                 'dollar-sign': '$ symbol', 'no-rules-nor-facts': 'for relation a', 'var-appears-once': 'Variable y',
                 'useless-doc-comment': 'doc comment', 'useless-annotation': 'annotation found'}
        everything = self.run_program(text).errors
        for name, part in kinds.items():
            with self.subTest(name=name):
                self.assertIn(part, everything)
                rest = self.run_program(text, '--wno', name)
                self.assert_runs(rest)
                self.assertNotIn(part, rest.errors)
                self.assertEqual(rest.errors.count('Warning'), everything.count('Warning') - 1, rest.errors)
                self.assertEqual(self.run_program(text, '--wno=' + name, '-W', name).errors, everything)
        self.assertEqual(self.run_program(text, '--wno', 'all').errors, '')
        self.assertEqual(self.run_program(text, '--wno', 'something-new').errors,
                         'Warning: --wno knows no warning something-new\n' + everything)
        text = '.decl d(x:number, y:number) btree_delete\nd(1,2).\n.output d\n'
        self.assertEqual(self.run_program(text).errors.count('Warning'), 1)
        self.assertEqual(self.run_program(text, '--wno', 'no-subsumptive-rule').errors.count('Warning'), 0)

    def test_error_count(self):
        process = self.run_program('.decl a(x:number)\na(x) :- b(x).\na(x) :- c(x).\n')
        self.assertEqual(process.returncode, 1)
        self.assertIn('2 errors generated, evaluation aborted', process.errors)

    def test_show(self):
        for stage in ('initial-ast', 'transformed-ast', 'transformed-ram', 'precedence-graph', 'precedence-graph-text',
                      'scc-graph', 'scc-graph-text', 'type-analysis'):
            with self.subTest(stage=stage):
                process = self.run_program(REACH, '--show', stage)  # without facts: nothing is run
                self.assert_runs(process)
                self.assertIn('reach', process.output)
        process = self.run_program(REACH, '--show', 'transformed-ast,scc-graph-text')
        self.assert_runs(process)

    def test_show_by_a_pragma(self):
        text = ('.decl e(x:number, y:number) choice-domain x, (x, y)\ne(1, 2).\n.output e\n'
                '.type T = A {} | B {x:number} | C {x:number, y:T}\n.type E = One {} | Two {}\n.decl t(x:T, e:E)\n'
                't($C(1, $B(2)), $Two).\nt($A, e) :- t($C(x, _), e), e != $One, x > 0.\n.output t\n')
        shown = self.run_program('.pragma "show" "transformed-ast"\n' + text)
        self.assert_runs(shown)
        self.assertEqual(shown.output,
                         '.decl e(x:number, y:number) choice-domain x, (x, y)\n.output e\ne(1,2).\n'
                         '.decl t(x:T, e:E)\n.output t\nt($C(1,$B(2)),$Two).\n'
                         't($A,e) :- @2 = [x,_], @3 = [2,@2], t(@3,e), e != $One, x > 0.\n')
        self.assertEqual(os.listdir(self.path('out')), [])
        self.assertEqual(self.run_program(text, '-P', 'show:transformed-ast').output, shown.output)
        both = self.run_program('.pragma "show" "transformed-ast"\n' + text, '-P', 'show:scc-graph-text,precedence-graph-text')
        self.assertEqual(both.output, 'stratum 0: {e}\nstratum 1 (recursive): {t}\ne:\nt: t\n')
        wrong = self.run_program('.pragma "show" "transformed-as"\n' + text)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("The pragma show names no stage transformed-as, did you mean 'transformed-ast'?", wrong.errors)

    def test_show_follows_the_flags_of_a_plan(self):
        program = ('.decl e(x:number, y:number)\n.decl s(x:number, y:number)\n.decl r(x:number, y:number)\ns(x,y) :- e(x,y).\n'
                   'r(x,y) :- s(x,z), s(z,y).\ns(x,y) :- e(x,z), r(z,y).\n.output r\n')
        for choice, restricted in (('auto', False), ('on', True), ('off', False)):
            process = self.run_program(program, '--show', 'transformed-ram', '--tune', 'magic-sets=' + choice)
            self.assertEqual('tuples of r that the recursion reads' in process.output, restricted, choice)

    def test_show_parse_errors(self):
        self.assertEqual(self.run_program(REACH, '--show', 'parse-errors').returncode, 0)
        process = self.run_program('.decl a(x:number\n', '--parse-errors')
        self.assertEqual(process.returncode, 1)

    def test_macros(self):
        text = '#ifdef BIG\n#define N 5\n#else\n#define N 1\n#endif\n.decl a(x:number)\na(N).\n.output a\n'
        self.assert_runs(self.run_program(text, '-M', 'BIG'))
        self.assertEqual(self.rows('out', 'a.csv'), ['5'])
        self.assert_runs(self.run_program(text))
        self.assertEqual(self.rows('out', 'a.csv'), ['1'])

    def test_macros_of_place_and_time(self):
        text = '.decl a(x:symbol)\na(cat("1 ", __FILE__)). a(cat("2 ", __DATE__)). a(cat("3 ", __TIME__)).\n.output a\n'
        days = [time.strftime('%b %e %Y')]
        self.assert_runs(self.run_program(text))
        days.append(time.strftime('%b %e %Y'))
        file, day, clock = (row[2:] for row in self.rows('out', 'a.csv'))
        self.assertEqual(file, os.path.realpath(self.path('program.dl')))
        self.assertIn(day, days)
        self.assertRegex(clock, r'^\d\d:\d\d:\d\d$')

    def test_include(self):
        self.write('facts/part.dl', '.decl a(x:number)\na(3).\n')
        self.assert_runs(self.run_program('.include "part.dl"\n.output a\n', '-I', 'facts'))
        self.assertEqual(self.rows('out', 'a.csv'), ['3'])

    def test_verbose(self):
        process = self.run_program(REACH, '-v', facts=EDGES)
        self.assert_runs(process)
        self.assertIn('Starting work on program.dl', process.errors)

    def test_statistics(self):
        for storage in ('auto', 'hash', 'bits', 'words', 'hisa'):
            with self.subTest(storage=storage):
                process = self.run_program(REACH, '--storage', storage, '--stats', 'stats.json', '-p', 'profile.json',
                                           facts=EDGES)
                self.assert_runs(process)
                figures = json.loads(self.read('stats.json'))
                self.assertEqual(figures['storage'], storage)
                self.assertEqual(figures['loaded_tuples'], 2)
                self.assertGreater(figures['peak_process_bytes'], 0)
                reach = next(stratum for stratum in figures['strata'] if 'reach' in stratum['relations'])
                self.assertTrue(reach['recursive'])
                self.assertEqual(reach['iterations'], 2)
                self.assertTrue(reach['phases'])
                recursive = [rule for rule in reach['rules'] if rule['delta_atom'] >= 0]
                self.assertEqual(sum(rule['candidates'] for rule in recursive), 1)
                sizes = {relation['name']: relation['tuples'] for relation in figures['relations']}
                self.assertEqual((sizes['edge'], sizes['reach']), (2, 3))
                self.assertIn('total_seconds', json.loads(self.read('profile.json')))

    def test_statistics_name_the_tuple_set(self):
        wide = '0\t4000000000\n'
        for storage, facts, expected in (('auto', '', 'hash'), ('hash', '', 'hash'), ('bits', '', 'bits'), ('words', '', 'words'),
                                         ('hisa', '', 'hisa'), ('bits', wide, 'hash'), ('words', wide, 'words')):
            with self.subTest(storage=storage, facts=facts):
                process = self.run_program(REACH.replace('number', 'unsigned'), '--storage', storage, '--tune', 'rows=loop',
                                           '--memory-limit', '100M', '--stats', 'stats.json',
                                           facts={'edge.facts': '1\t2\n2\t3\n' + facts})
                self.assert_runs(process)
                sets = {relation['name']: relation['set'] for relation in json.loads(self.read('stats.json'))['relations']}
                self.assertEqual(sets['reach'], expected)

    def test_statistics_that_cannot_be_written(self):
        process = self.run_program(REACH, '--stats', 'nowhere/stats.json', facts=EDGES)
        self.assertEqual(process.returncode, 1)
        self.assertIn('nowhere/stats.json', process.errors)


if __name__ == '__main__':
    unittest.main()

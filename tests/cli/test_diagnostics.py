"""What errors and warnings say, and in which form: texts, colours, JSON; the program from standard input."""
import json
import os
import pty
import subprocess
import unittest

from command import CommandTest, TIMEOUT_SECONDS

PAIR = '.decl p(x:number, y:number)\n.input p%s\n.output p\n'
WRONG = '.decl s(name:symbol)\ns(x) :- s(x), x > 2.\n'


class Programs(CommandTest):
    def check(self, text, *wanted, status=1, arguments=(), facts=None):
        process = self.run_program(text, *arguments, facts=facts)
        self.assertEqual(process.returncode, status, process.errors)
        for one in wanted:
            self.assertIn(one, process.errors)
        return process.errors

    def test_types(self):
        self.check(WRONG, 'Error: Number constant (type mismatch) in file program.dl at line 2\n',
                   'Found number where symbol is expected, the type of x\n',
                   'Attribute name of relation s is declared as symbol in file program.dl at line 1\n')
        self.check('.decl s(x:symbol)\ns("a").\ns(n) :- s(y), n = strlen(y).\n', 'Functor strlen (type mismatch)',
                   'Found number where symbol is expected')

    def test_suggestions(self):
        head = '.decl s(x:symbol)\ns("a").\n'
        self.check(head + 's(concat(x, "b")) :- s(x).\n', "There is no functor concat, did you mean 'cat'?")
        self.check(head + '.ouput s\n', "There is no directive .ouput, did you mean '.output'?")
        self.check(head + '.comp Graph { .decl e(x:symbol) }\n.init g = Grahp\n', "did you mean 'Graph'?")
        self.check('.decl s(x:string)\n', "did you mean 'symbol'?")

    def test_suggestions_of_the_run(self):
        head = '.decl s(x:symbol)\n'
        self.check(head + '.input s(IO=fiel)\n.output s\n', 'input type <fiel> is not supported. Did you mean \'file\'?')
        self.check(head + 's("a").\n.output s(IO=jsonfil)\n', 'output type <jsonfil> is not supported. Did you mean \'jsonfile\'?')
        self.check(head, "--tune", "there is no choice 'continuaton', did you mean 'continuation'?",
                   arguments=['--tune', 'continuaton=off'])
        self.check(head, "--show knows no 'transformed-rma', did you mean 'transformed-ram'?",
                   arguments=['--show', 'transformed-rma'])
        self.check(head + 's(null).\n', 'variable null', 'A symbol is written in double quotes: "null"')
        self.assert_fails(self.run_gpulog(self.folder), 'it is a folder')

    def test_functors_that_souffle_has_not(self):
        text = ('.decl a(x:symbol)\na("b.c").\n.decl b(x:symbol)\nb(y) :- a(x), y = split(x, "."), !starts_with(y, "c").\n'
                '.output b(compress=zstd)\n')
        self.assertEqual(self.check(text, status=0), '')
        self.assertEqual(self.check(text, status=0, arguments=['--portable', '-w']), '')
        self.assertEqual(self.check(text, status=0, arguments=['--portable', '--wno', 'portable']), '')
        warnings = self.check(text, 'Warning: Soufflé has no functor split in file program.dl at line 4\n',
                              'Warning: Soufflé has no functor starts_with in file program.dl at line 4\n',
                              '----------------------------------^--------------------\nWrite substr(s, 0, strlen(t)) = t\n',
                              'Warning: Soufflé does not know the compression zstd', status=0, arguments=['--portable'])
        self.assertEqual(warnings.count('Warning: '), 3, warnings)
        self.assertEqual(self.check(text, status=0, arguments=['-W', 'portable']), warnings)

    def test_rules_that_souffle_rejects(self):
        text = ('.type P = [a:number, b:number]\n.decl below(p:P) inline\nbelow([x, y]) :- x < y.\n.decl q(p:P)\nq([2, 1]).\n'
                '.decl r(p:P)\nr(p) :- q(p), !below(p).\nr(p) :- q(p), p = [x, y], !below([x, y]).\n.output r\n'
                '.decl e(x:number, y:number)\ne(1, 2).\n.decl d(y:number, n:number)\nd(1, 0).\n'
                'd(y, n) :- e(_, y), n = min m + 1 : { d(x, m), e(x, y) }.\n.decl c(n:number)\n'
                'c(n) :- n = count : { d(_, _) }.\n.output d, c\n')
        warnings = self.check(text, 'Soufflé rejects a negated atom of an inline relation whose definition has a record in file '
                              'program.dl at line 7\n', 'Soufflé rejects an aggregate over a relation of its own recursion in '
                              'file program.dl at line 14\n', status=0, arguments=['--portable'])
        self.assertEqual(warnings.count('Warning: '), 2, warnings)

    def test_relations_with_names_of_functors(self):
        text = ('.decl starts_with(x:symbol, y:symbol)\nstarts_with("a", "b").\n.decl split(x:symbol)\n'
                'split(x) :- starts_with(x, "b"), "b" = split("a.b", ".", 1).\n.output split\n')
        self.assertEqual(self.check(text, status=0), '')
        self.assertEqual(self.read('out', 'split.csv'), 'a\n')

    def test_missing_dot(self):
        self.check('.decl a(x:number)\na(1)\n.output a\n', 'missing . at the end of the clause in file program.dl at line 2',
                   'a(1)\n----^\n')

    def test_unknown_names_are_warned_of(self):
        text = '.decl a(x:number)\na(1).\n.pragma "jbos" "3"\n.output a(delim=",", filname="b.csv")\n'
        warnings = self.check(text, "Unknown parameter delim of .output has no effect, did you mean 'delimiter'?",
                              "Unknown parameter filname of .output has no effect, did you mean 'filename'?",
                              "Unknown pragma jbos has no effect, did you mean 'jobs'?",
                              "Unknown pragma fact-dri has no effect, did you mean 'fact-dir'?",
                              '--wno knows no warning var-appear-once', "did you mean 'var-appears-once'?",
                              '-W/--warn knows no warning nonsense', status=0,
                              arguments=['-P', 'fact-dri:x', '--wno', 'var-appear-once', '-W', 'nonsense'])
        self.assertEqual(warnings.count('Warning: '), 6, warnings)
        for arguments in (['-w'], ['--wno', 'all'], ['--wno', 'unknown-parameter', '--wno', 'unknown-pragma']):
            self.assertEqual(self.check(text, status=0, arguments=arguments), '')
        self.assertEqual(self.check(text, status=0, arguments=['-w', '--wno', 'nonsense']), '')

    def test_values_of_parameters_as_in_souffle(self):
        text = ('.decl a(x:number, y:number)\na(1, 2).\n.output a(headers=yes, rfc4180=on, delimiter="")\n'
                '.output a(IO=jsonfile, format=objects)\n.output a(compress=1)\n.input a(headers=1)\n')
        warnings = self.check(text, 'Parameter headers of .output has no value "yes": it means false in file',
                              'Parameter rfc4180 of .output has no value "on": it means false in file',
                              'Parameter delimiter of .output does not separate columns: the file can\'t be read back in file',
                              'Parameter format of .output has no value "objects": it means list in file',
                              'Parameter compress of .output has no value "1": it means gzip in file',
                              'Parameter headers of .input has no value "1": it means false in file',
                              status=0, facts={'a.facts': '3\t4\n'})
        self.assertEqual(warnings.count('Warning: '), 6, warnings)
        self.assertEqual(self.rows('out', 'a.csv'), ['12', '34'])
        self.assertEqual(self.check(text, status=0, arguments=['--wno', 'unknown-parameter'], facts={'a.facts': ''}), '')

    def test_known_names_are_not_warned_of(self):
        text = ('.decl a(x:number)\na(1).\n.pragma "legacy"\n.pragma "magic-transform" "*"\n'
                '.output a(IO=file, delimiter=",", headers=true, rfc4180=true, compress=false, filename="b.csv")\n'
                '.decl b(x:number)\nb(x) :- a(x).\n.limitsize b(n=3)\n')
        self.assertEqual(self.check(text, status=0, arguments=['-P', 'jobs:2', '--wno', 'dollar-sign']), '')

    def test_no_internal_names(self):
        head = '.decl n(x:number)\nn(0).\n.decl a(x:number)\n.output a\n'
        rule = 'a(1/y) :- n(x), y = range(x, x + 2), z = count : { n(x2), x2 < y }, z >= 0.'
        errors = self.check(head + rule + '\n', 'Floating-point arithmetic exception signal in rule', 'range(x,(x+2))')
        self.assertNotIn('@', errors)

    def test_no_output(self):
        text = '.decl a(x:number)\na(1).\n'
        warning = 'Warning: Nothing is written: the program has no .output and no .printsize\n'
        self.assertEqual(self.check(text, status=0), warning)
        self.assertEqual(self.check(text + '.limitsize a(n=1)\n', status=0), warning)
        for arguments in (['-w'], ['--wno', 'no-output'], ['--query', 'a(x)'], ['--why', 'a(1)'], ['-t', 'explain'],
                          ['--explain'], ['-p', 'profile.json'], ['--stats', 'stats.json'], ['--show', 'initial-ast']):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.check(text, status=0, arguments=arguments), '')
        for directive in ('.output a\n', '.printsize a\n'):
            self.assertEqual(self.check(text + directive, status=0), '')
        self.assertNotIn('Nothing is written', self.check(text + 'a("b").\n'))
        self.assertEqual(self.check('.decl a(x:number) output\na(1).\n', status=0, arguments=['--legacy']), '')

    def test_unknown_options(self):
        self.assert_fails(self.run_program(WRONG, '--fact-dri', 'x'), '--fact-dri', 'did you mean --fact-dir?')
        self.assert_fails(self.run_program(WRONG, '--word-siz=64'), 'did you mean --word-size?')
        self.assert_fails(self.run_program(WRONG, '--color', 'pink'), '--color', 'pink')
        self.assert_fails(self.run_program(WRONG, '--diagnostics', 'xml'), '--diagnostics', 'xml')


class Facts(CommandTest):
    def errors(self, content, *arguments, parameters=''):
        process = self.run_program(PAIR % parameters, *arguments, facts={'p.facts': content})
        self.assertEqual(process.returncode, 1, process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])
        return process.errors

    def test_missing_file(self):
        process = self.run_program(PAIR % '')
        self.assert_fails(process, 'Cannot open fact file p.facts', os.path.realpath(self.path('facts', 'p.facts')))
        self.write('facts/p.csv', '1\t2\n')
        self.assert_fails(self.run_program(PAIR % ''), 'there is p.csv', 'filename="p.csv"')
        self.assert_fails(self.run_program(PAIR % '(filename="none/p.csv")'), 'there is no folder')

    def test_line_and_caret(self):
        errors = self.errors('1\t2\n3\tx\n')
        self.assertEqual(errors, 'Error loading p data: Error converting <x> in column 2 in line 2; '
                         'cannot parse fact file p.facts!\n3\tx\n-\t^\n')

    def test_first_ten_and_how_many_more(self):
        lines = ['%d\t%d' % (i, i) for i in range(3000)]
        for i in range(100, 1600, 100):
            lines[i] = 'bad%d\t1' % i
        for jobs in ('1', '2'):
            errors = self.errors('\n'.join(lines), '-j', jobs)
            self.assertEqual(errors.count('Error converting'), 10, errors)
            self.assertIn('<bad100> in column 1 in line 101', errors)
            self.assertIn('<bad1000> in column 1 in line 1001', errors)
            self.assertTrue(errors.endswith('\n5 more\n'), errors)

    def test_first_ten_of_json_and_how_many_more(self):
        rows = ['[%d, %s]' % (i, '"bad%d"' % i if i % 100 == 0 else '1') for i in range(1, 1501)]
        errors = self.errors('[' + ',\n'.join(rows) + ']', parameters='(IO=jsonfile, filename="p.facts")')
        self.assertEqual(errors.count('Error converting'), 10, errors)
        self.assertIn('<bad100> in column 2 in line 100 (a text instead of a number); cannot parse fact file p.facts!\n[100, "bad100"],\n------^\n', errors)
        self.assertTrue(errors.endswith('\n5 more\n'), errors)

    def test_numbers_of_64_bits(self):
        self.assertIn('--word-size 64', self.errors('1\t3000000000\n'))
        self.assertNotIn('--word-size 64', self.errors('1\t30000000000000000000000\n'))
        self.assertNotIn('--word-size 64', self.errors('1\tx\n'))

    def test_other_delimiters(self):
        self.assertIn('Columns are separated by a tab here; delimiter="," may be meant', self.errors('1,2\n3,4\n'))
        self.assertIn('delimiter=" " may be meant', self.errors('1 2\n'))
        self.assertIn('by "," here; delimiter="\\t" may be meant', self.errors('1\t2\n', parameters='(delimiter=",")'))
        for content in ('1\n', '1,2,3\n', '1\tx,y\n', 'x\t2\n'):
            self.assertNotIn('may be meant', self.errors(content))

    def test_header_lines(self):
        self.assertEqual(self.errors('x\ty\n1\t2\n'),
                         'Error loading p data: Error converting <x> in column 1 in line 1; cannot parse fact file p.facts!\n'
                         'x\ty\n^\nIf line 1 has the names of the columns, headers=true skips it\n')
        for content, parameters in (('1\t2\nx\ty\n', ''), ('4x\t2\n', ''), ('x\ty\nx\ty\n', '(headers=true)')):
            self.assertNotIn('headers=true', self.errors(content, parameters=parameters))

    def test_kinds_of_files_are_named(self):
        self.assertIn('byte order mark of UTF-8', self.errors(b'\xef\xbb\xbf1\t2\n'))
        for content, name in ((b'\x04\x22\x4d\x18\x20\x04', 'lz4'), ('\ufeff1\t2\n'.encode('utf-16-le'), 'UTF-16'),
                              ('\ufeff1\t2\n'.encode('utf-16-be'), 'UTF-16'), (b'\xfd7zXZ\0', 'xz')):
            self.assertIn(name, self.errors(content))


class Forms(CommandTest):
    def json_of(self, *arguments, text, facts=None):
        process = self.run_program(text, '--diagnostics', 'json', *arguments, facts=facts)
        self.assertEqual(process.returncode, 1, process.errors)
        return [json.loads(line) for line in process.errors.splitlines()]

    def test_json(self):
        wrong, = self.json_of(text=WRONG)
        place = {'file': 'program.dl', 'line': 2, 'column': 19}
        self.assertEqual(wrong, {'severity': 'error', 'message': 'Number constant (type mismatch)', **place, 'notes': [
            {'message': 'Found number where symbol is expected, the type of x'},
            {'message': 'Attribute name of relation s is declared as symbol', 'file': 'program.dl', 'line': 1,
             'column': 9}]})
        missing, = self.json_of(text=PAIR % '')
        self.assertEqual(missing['severity'], 'error')
        self.assertIn('p.facts', missing['message'])
        option, = self.json_of('--nonsense', text=WRONG)
        self.assertIn('--nonsense', option['message'])
        several = self.json_of('--wno', 'nothing', text='.decl a(x:number)\n.decl b(x:number)\nb(x, y) :- a(x.\nb(\xff).\n')
        self.assertEqual([one['severity'] for one in several][:1], ['warning'])

    def test_colours(self):
        self.assertNotIn('\x1b', self.run_program(WRONG).errors)
        coloured = self.run_program(WRONG, '--color', 'always').errors
        self.assertIn('\x1b[1;31mError\x1b[0m: Number constant', coloured)
        self.assertIn('\x1b[1;32m^\x1b[0m', coloured)
        self.assertEqual(coloured.replace('\x1b[1;31m', '').replace('\x1b[1;32m', '').replace('\x1b[0m', ''),
                         self.run_program(WRONG).errors)

    def on_terminal(self, *arguments, **environment):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([self.gpulog, 'program.dl', *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stderr=theirs, env={'PATH': os.environ['PATH'], 'TERM': 'xterm', **environment})
        os.close(theirs)
        shown = b''
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        os.close(ours)
        self.assertEqual(process.wait(), 1)
        return shown

    def test_colours_on_a_terminal(self):
        self.write('program.dl', WRONG)
        self.assertIn(b'\x1b[', self.on_terminal())
        self.assertNotIn(b'\x1b[', self.on_terminal(NO_COLOR='1'))
        self.assertNotIn(b'\x1b[', self.on_terminal(TERM='dumb'))
        self.assertNotIn(b'\x1b[', self.on_terminal('--color=never'))
        self.assertIn(b'\x1b[', self.on_terminal('--color=always', NO_COLOR='1'))


class StandardInput(CommandTest):
    def run_text(self, text, *arguments):
        return subprocess.run([self.gpulog, *arguments], cwd=self.folder, input=text, capture_output=True, text=True,
                              check=False, timeout=TIMEOUT_SECONDS)

    def test_program(self):
        process = self.run_text('.decl a(x:number)\na(1). a(2).\n.output a\n', '-', '-D', 'out')
        self.assertEqual((process.returncode, process.stderr), (0, ''))
        self.assertEqual(self.rows('out', 'a.csv'), ['1', '2'])

    def test_includes_and_stages(self):
        self.write('b.dl', '.decl b(x:number)\nb(7).\n.printsize b\n')
        process = self.run_text('.include "b.dl"\n', '-')
        self.assertEqual((process.returncode, process.stdout), (0, 'b\t1\n'))
        self.assertIn('.decl b', self.run_text('.include "b.dl"\n', '-', '--show', 'initial-ast').stdout)

    def test_errors(self):
        process = self.run_text(WRONG, '-', '-D', 'out')
        self.assertEqual(process.returncode, 1)
        self.assertIn('in file stdin at line 2', process.stderr)
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_empty(self):
        self.assertEqual(self.run_text('', '-').returncode, 0)

    def test_closed(self):
        process = subprocess.run([self.gpulog, '-'], cwd=self.folder, check=False, timeout=TIMEOUT_SECONDS, capture_output=True,
                                 preexec_fn=lambda: os.close(0))
        self.assertEqual(process.returncode, 1)
        self.assertIn(b'standard input', process.stderr)


if __name__ == '__main__':
    unittest.main()

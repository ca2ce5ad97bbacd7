"""gpulog test: expectations, folders with outputs, --update, --coverage, --junit, --timeout."""
import os
import resource
import signal
import time
import unittest
import xml.etree.ElementTree

from command import IS_SANITIZED, CommandTest

PROGRAM = '''.decl edge(x:symbol, y:symbol)
.input edge
.decl reach(x:symbol, y:symbol)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
.output reach
'''
FACTS = '#include "program.dl"\nedge("a", "b").\nedge("b", "c").\n'
ENDLESS = '.decl n(x:unsigned)\nn(0).\nn(x + 1) :- n(x).\n// expect n(1)\n'


class Tests(CommandTest):
    def setUp(self):
        super().setUp()
        self.write('program.dl', PROGRAM)

    def check(self, *arguments):
        return self.run_gpulog('test', *arguments)

    def assert_prints(self, process, output, status=0):
        self.assertEqual((process.output, process.errors, process.returncode), (output, '', status))

    def check_test(self, text, output, *arguments, status=1):
        self.write('a.test.dl', text)
        self.assert_prints(self.check('a.test.dl', *arguments), output, status)

    def test_what_holds(self):
        self.check_test(FACTS + '''
// expect reach("a", "c")
//expect reach("a", x), x != "b".
  //   expect   not   reach("c", _)
// expect !reach("c", "a")
// expect count(reach) = 3
// expect count(reach("a", _)) = 2.
// expect count : { reach(_, _) } > 2
// expect reach = {("a", "b"), ("b", "c"), ("a", "c")}
// expect reach = {
//   ("a", "b"), ("b", "c"),
//   ("a", "c"), ("a", "c")
// }
// expect warning "No rules/facts defined for relation empty in file a.test.dl at line 18"
.decl empty()
// expect empty = {}
// expected is another word, and so is
// unexpected
/* expect nothing here */
/// expect nothing here
.decl after()
after() :- reach("a", "b").
// expect after = {()}
''', '1 test with 12 checks: passed\n', status=0)

    def test_failures(self):
        self.check_test(FACTS + '''// expect reach("c", "a")
// expect not reach("a", "c")
// expect not reach("a", x), x != "b"
// expect reach(x, x)
// expect count(reach) = 2
// expect count(reach("a", _)) = 3
''', '''a.test.dl:4: reach("c", "a") does not hold
  // expect reach("c", "a")
  edge("c", "a") ✗
  -------------(R1)
   reach("c", "a")
  reach("c", y) ✗ edge(y, "a")
  -------------------------(R2)
         reach("c", "a")
a.test.dl:5: reach("a", "c") holds
  // expect not reach("a", "c")
  edge("a", "b")
  -----------(R1)
  reach("a", "b") edge("b", "c")
  ---------------------------(R2)
          reach("a", "c")
a.test.dl:6: reach("a", x), x != "b" holds
  // expect not reach("a", x), x != "b"
  x = c
a.test.dl:7: reach(x, x) does not hold
  // expect reach(x, x)
a.test.dl:8: count(reach) is 3, not 2
  // expect count(reach) = 2
a.test.dl:9: count(reach("a", _)) is 2, not 3
  // expect count(reach("a", _)) = 3
1 test with 6 checks: 6 failed
''')

    def test_difference_of_sets(self):
        facts = ''.join('n(%d).\n' % number for number in range(1, 25))
        self.check_test('.decl n(x:number)\n' + facts + '// expect n = {(1), (2), (-3)}\n', '''a.test.dl:26: n has 1 missing tuple and 22 unexpected tuples
  // expect n = {(1), (2), (-3)}
  - (-3)
''' + ''.join('  + (%d)\n' % number for number in range(3, 23)) + '''  + ... and 2 more
  n(3)
1 test with 1 check: 1 failed
''')

    def test_errors(self):
        self.check_test('.decl a(x:number)\na(x) :- b(x).\n// expect error "Undefined relation b in file a.test.dl at line 2"\n',
                        '1 test with 1 check: passed\n', status=0)
        self.check_test('.decl a(x:number)\na(1/0).\n// expect error "Floating-point arithmetic exception"\n// expect a(1)\n',
                        '''a.test.dl:4: Cannot be checked, because the program has errors
  // expect a(1)
1 test with 2 checks: 1 failed
''')

    def test_unexpected_errors(self):
        self.check_test('.decl a(x:number)\na(x) :- b(x).\n// expect a(1)\n// expect error "Undefined relation c"\n',
                        '''a.test.dl: The program has errors
  Error: Undefined relation b in file a.test.dl at line 2
  a(x) :- b(x).
  --------^-----
a.test.dl:4: No error contains this text
  // expect error "Undefined relation c"
1 test with 2 checks: 2 failed
''')
        self.check_test('.decl a(x:number)\na(1).\n// expect a(1)\n// expect error "b"\n// expect warning "c"\n',
                        '''a.test.dl:4: The program has no error
  // expect error "b"
a.test.dl:5: The program has no warning
  // expect warning "c"
1 test with 3 checks: 2 failed
''')
        self.check_test('.decl a(x:number)\n// expect not a(1)\n// expect warning "x y"\n',
                        '''a.test.dl:3: No warning contains this text
  // expect warning "x y"
  Warning: No rules/facts defined for relation a in file a.test.dl at line 1
  .decl a(x:number)
  ------^-----------
1 test with 2 checks: 1 failed
''')

    def test_wrong_expectations(self):
        self.check_test(FACTS + '''// expect
// expect reach("a"
// expect reach("a", 1)
// expect unknown("a")
// expect count(reach)
// expect count(unknown) = 1
// expect count(reach(x, 1)) = 1
// expect reach = {"a"}
// expect reach = {("a")}
// expect reach = {("a", _)}
// expect reach = {("a", "b")
''', '''a.test.dl:4: Nothing follows the word expect
  // expect
a.test.dl:5: syntax error, unexpected end of file
  // expect reach("a"
  Error: syntax error, unexpected end of file in file a.test.dl at line 5
            reach("a"
  ------------------^-
  This ( is not closed in file a.test.dl at line 5
            reach("a"
  ---------------^----
a.test.dl:6: Number constant (type mismatch)
  // expect reach("a", 1)
  Error: Number constant (type mismatch) in file a.test.dl at line 6
            reach("a", 1)
  ---------------------^--
  Found number where symbol is expected
  Attribute y of relation reach is declared as symbol in file program.dl at line 3
  .decl reach(x:symbol, y:symbol)
  ----------------------^---------
a.test.dl:7: Undefined relation unknown
  // expect unknown("a")
  Error: Undefined relation unknown in file a.test.dl at line 7
            unknown("a")
  ----------^------------
a.test.dl:8: A count is written as count(reach) = 3 or count(reach("a", _)) = 3
  // expect count(reach)
a.test.dl:9: There is no relation unknown
  // expect count(unknown) = 1
a.test.dl:10: Number constant (type mismatch)
  // expect count(reach(x, 1)) = 1
  Error: Number constant (type mismatch) in file a.test.dl at line 10
         n=count:{reach(x, 1)}
  -------------------------^---
  Found number where symbol is expected
  Attribute y of relation reach is declared as symbol in file program.dl at line 3
  .decl reach(x:symbol, y:symbol)
  ----------------------^---------
a.test.dl:11: A set is written as reach = {("a", "b"), ("b", "c")}
  // expect reach = {"a"}
a.test.dl:12: relation reach has 2 attributes, but 'reach("a")' gives 1 values
  // expect reach = {("a")}
a.test.dl:13: ("a", _) has a variable or _: a set lists constants
  // expect reach = {("a", _)}
a.test.dl:14: A set is written as reach = {("a", "b"), ("b", "c")}
  // expect reach = {("a", "b")
1 test with 11 checks: 11 failed
''')
        self.check_test('.decl a()\n', 'a.test.dl: No comment states an expectation, as // expect reach(1, 2)\n1 test with 1 check: 1 failed\n')

    def test_facts(self):
        self.write('edge.facts', 'x\ty\n')  # not read
        self.check_test('#include "program.dl"\n// expect count(edge) = 0\n', '1 test with 1 check: passed\n', status=0)
        os.mkdir(self.path('a.facts'))
        self.write('a.facts/edge.facts', 'x\ty\n')
        self.check_test('#include "program.dl"\n.pragma "fact-dir" "facts"\n// expect edge = {("x", "y")}\n',
                        '1 test with 1 check: passed\n', status=0)
        self.assertFalse(os.path.exists(self.path('reach.csv')))

    def test_options_of_runs(self):
        self.check_test('.decl a(x:number)\na(N).\n// expect a(5000000000)\n', '1 test with 1 check: passed\n',
                        '--', '--word-size', '64', '-M', 'N=5000000000', status=0)
        self.assert_fails(self.check('a.test.dl', '--', '--no-such'), 'Error: The following argument was not expected: --no-such')

    def write_folder(self, name, program, **expected):
        os.makedirs(self.path(name, 'expected'))
        self.write(name + '/program.dl', program)
        for file, text in expected.items():
            self.write('%s/expected/%s' % (name, file.replace('_', '.')), text)

    def test_folders(self):
        self.write_folder('tests/good', PROGRAM + '.printsize reach\n', reach_csv='b\tc\na\tc\na\tb\n', stdout='reach\t3\n')
        os.mkdir(self.path('tests/good/facts'))
        self.write('tests/good/facts/edge.facts', 'a\tb\nb\tc\n')
        self.write_folder('tests/bad', '.decl a(x:number)\n.output a\n.output b(IO=jsonfile)\na(1). a(2). a(2).\n'
                          '.decl b(x:number)\nb(1).\n.printsize a\n', a_csv='2\n3\n', c_csv='', b_json='[[1]]')
        self.write_folder('tests/options', '#ifdef A\n.decl a(x:number)\n.output a\n#endif\n', a_csv='')
        self.write('tests/options/options', '-M A\n')
        self.write('tests/b.test.dl', '.decl a()\n// expect not a()\n')
        os.makedirs(self.path('tests/.hidden'))
        self.write('tests/.hidden/c.test.dl', 'wrong')
        bad = '''tests/bad/expected/a.csv: The output has 1 missing line and 1 unexpected line
  - 3
  + 1
tests/bad/expected/c.csv: The run does not write this output
tests/bad/expected/stdout: The run writes an output that is not expected
  + a\t2
'''
        self.assert_prints(self.check('tests'), bad + '4 tests with 8 checks: 3 failed\n', status=1)
        self.assert_prints(self.check('tests/good'), '1 test with 2 checks: passed\n')
        self.assert_prints(self.check('--update', 'tests'), '4 tests with 8 checks: passed, 3 updated\n')
        self.assertEqual(self.rows('tests/bad/expected/a.csv'), ['1', '2'])
        self.assertEqual(sorted(os.listdir(self.path('tests/bad/expected'))), ['a.csv', 'b.json', 'stdout'])
        self.assert_prints(self.check('tests'), '4 tests with 7 checks: passed\n')

    def test_folders_with_errors(self):
        self.write_folder('tests/expected', 'a(1).\n// expect error "Undefined relation a in file program.dl at line 1"\n')
        self.write_folder('tests/unexpected', 'a(1).\n')
        self.assert_prints(self.check('tests'), '''tests/unexpected/program.dl: The program has errors
  Error: Undefined relation a in file program.dl at line 1
  a(1).
  ^-----
  1 errors generated, evaluation aborted
2 tests with 2 checks: 1 failed
''', status=1)

    def test_paths_without_tests(self):
        self.assert_fails(self.check('missing'), 'Error: Cannot open file missing\n')
        self.assert_fails(self.check('facts'),
                          'Error: Folder facts has neither a file NAME.test.dl nor a folder with program.dl and expected\n')

    def test_update(self):
        rows = ', '.join('(%d, "a long text with a , and a )")' % number for number in range(1, 3))
        text = '''.decl n(x:number, y:symbol)
n(%s, "a long text with a , and a )").
  // expect n = {}
// expect count(n) = 7 .
// expect count(n(10, _)) = 0
// expect not n(10, _)
'''
        self.write('a.test.dl', text % '10' + 'n(2, "").\n')
        failed = '''a.test.dl:6: n(10, _) holds
  // expect not n(10, _)
  n(10, "a long text with a , and a )")
1 test with 4 checks: 1 failed, 3 updated
'''
        self.assert_prints(self.check('a.test.dl', '--update'), failed, status=1)
        updated = (text % '10' + 'n(2, "").\n').replace('{}', '{(2, ""), (10, "a long text with a , and a )")}')
        self.assertEqual(self.read('a.test.dl'), updated.replace('= 7', '= 2').replace(')) = 0', ')) = 1'))
        self.write('a.test.dl', '.decl n(x:number, y:symbol)\n' + ''.join('n(%d, "%s").\n' % (number, 40 * 'x') for number in (1, 2, 10)) +
                   '  // expect n = {}\n')
        self.assert_prints(self.check('a.test.dl', '--update'), '1 test with 1 check: passed, 1 updated\n')
        self.assertTrue(self.read('a.test.dl').endswith('''  // expect n = {
  //   (1, "%(x)s"),
  //   (2, "%(x)s"),
  //   (10, "%(x)s")
  // }
''' % {'x': 40 * 'x'}))
        self.assert_prints(self.check('a.test.dl'), '1 test with 1 check: passed\n')

    def test_coverage(self):
        self.write('program.dl', PROGRAM + '.decl cycle(x:symbol)\ncycle(x) :- reach(x, x).\n'
                   '.decl both(x:symbol)\nboth(x) :- edge(x, _) ; edge(_, x), cycle(x).\n')
        self.write('a.test.dl', '#include "program.dl"\nedge("a", "b").\n.decl t()\nt() :- cycle(_).\n// expect count(reach) = 1\n')
        self.write('b.test.dl', FACTS + '// expect count(reach) = 3\n')
        self.assert_prints(self.check('--coverage', '.', '-j', '1'), '''program.dl:8: no test derives a tuple
  cycle(x) :- reach(x,x).
program.dl:10: no test derives a tuple
  both(x) :- edge(_,x), cycle(x).
3 of 5 rules derived a tuple
2 tests with 2 checks: passed
''')
        self.write('b.test.dl', FACTS + 'edge("c", "a").\n// expect count(reach) = 9\n')
        self.assert_prints(self.check('--coverage'), '5 of 5 rules derived a tuple\n2 tests with 2 checks: passed\n')

    def test_junit(self):
        self.write('a.test.dl', FACTS.encode() + b'// expect reach("a", "c")\n// expect reach("<\x01\xff&>", x)\n')
        self.assertEqual(self.check('a.test.dl', '--junit', 'out.xml').returncode, 1)
        root = xml.etree.ElementTree.parse(self.path('out.xml')).getroot()
        self.assertEqual((root.tag, root.get('tests'), root.get('failures')), ('testsuites', '2', '1'))
        suite, = root
        self.assertEqual((suite.tag, suite.get('name'), suite.get('tests'), suite.get('failures')), ('testsuite', 'a.test.dl', '2', '1'))
        self.assertEqual([case.get('name') for case in suite],
                         ['4: // expect reach("a", "c")', '5: // expect reach("<?\ufffd&>", x)'])
        self.assertEqual([case.get('classname') for case in suite], ['a.test.dl', 'a.test.dl'])
        failure, = root.iter('failure')
        self.assertEqual(failure.get('message'), 'reach("< \ufffd&>", x) does not hold')
        self.assertRegex(suite.get('time'), r'^\d+\.\d{3}$')

    def test_time_limit(self):
        self.write('a.test.dl', ENDLESS)
        process = self.check('--timeout', '0.5')
        self.assertRegex(process.output, r'\Aa\.test\.dl: No result within the time limit\n(  .*\n)*1 test with 1 check: 1 failed\n\Z')
        self.assertEqual(process.returncode, 1)

    def test_process_that_dies(self):
        self.write('a.test.dl', ENDLESS)
        self.write('b.test.dl', '.decl a()\n// expect not a()\n')
        process = self.run_gpulog('test', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 3)))
        self.assert_prints(process, 'a.test.dl: The process was ended by SIGXCPU\n2 tests with 2 checks: 1 failed\n', status=1)

    def test_interrupt(self):
        self.write('a.test.dl', ENDLESS)
        folder = self.path('temporary')
        os.mkdir(folder)
        process = self.start('test', env={**os.environ, 'TMPDIR': folder})
        while not os.listdir(folder):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
        self.assertEqual((process.returncode, output, errors), (-signal.SIGINT, '', ''))
        self.assertEqual(os.listdir(folder), [])

    def test_line_ends_and_encodings(self):
        self.check_test('\ufeff.decl a(x:symbol)\r\na("é").\r\n// expect a("é")\r\n// expect a = {("é")}\r\n',
                        '1 test with 2 checks: passed\n', status=0)
        self.check_test(b'.decl a(x:symbol)\na("\xff").\n// expect a("\xff")\n', '1 test with 1 check: passed\n', status=0)


    @unittest.skipIf(IS_SANITIZED, 'takes long with sanitizers')
    def test_golden_programs(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'programs')
        names = [name for name in sorted(os.listdir(folder)) if not os.path.exists(os.path.join(folder, name, 'expected', 'error.json'))]
        paths = [os.path.join(folder, name) for name in names if name != 'equivalence_million']
        for options in ([], ['--coverage']):
            process = self.check(*paths, *options, '--', '--backend', 'cpu')
            self.assertRegex(process.output.splitlines()[-1], r'^%d tests with \d+ checks: passed$' % len(paths), process.output)


if __name__ == '__main__':
    unittest.main()

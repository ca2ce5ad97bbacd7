"""gpulog fmt: files in place, --check, --diff, standard input, lines, errors."""
import os
import unittest

from command import CommandTest

PROGRAM = '.decl a( x:number )\na( 1 ).\nr(x):-\n  a(x).\n'
FORMATTED = '.decl a(x:number)\na(1).\nr(x) :-\n  a(x).\n'


class Format(CommandTest):
    def format(self, *arguments, **options):
        return self.run_gpulog('fmt', *arguments, **options)

    def assert_prints(self, process, output, status=0):
        self.assertEqual((process.returncode, process.output, process.errors), (status, output, ''))

    def from_standard_input(self, text, *arguments):
        path = self.write('input', text)
        with open(path, 'rb') as file:
            return self.format('-', *arguments, stdin=file)

    def test_files_are_rewritten(self):
        self.write('a.dl', PROGRAM)
        self.write('b.dl', FORMATTED)
        os.chmod(self.path('a.dl'), 0o750)
        before = os.stat(self.path('b.dl')).st_mtime_ns
        self.assert_prints(self.format('a.dl', 'b.dl'), '')
        self.assertEqual(self.read('a.dl'), FORMATTED)
        self.assertEqual(os.stat(self.path('a.dl')).st_mode & 0o777, 0o750)
        self.assertEqual(os.stat(self.path('b.dl')).st_mtime_ns, before)

    def test_check(self):
        self.write('a.dl', PROGRAM)
        self.write('b.dl', FORMATTED)
        self.assert_prints(self.format('--check', 'a.dl', 'b.dl'), 'a.dl\n', status=1)
        self.assert_prints(self.format('--check', 'b.dl'), '')
        self.assertEqual(self.read('a.dl'), PROGRAM)

    def test_diff(self):
        self.write('a.dl', '// 1\n// 2\n// 3\n// 4\na( 1 ).\n// 5\n// 6\n// 7\n// 8\n// 9\n// 10\n// 11\nb( 1 ).')
        self.assert_prints(self.format('--diff', 'a.dl'), '''--- a.dl
+++ a.dl
@@ -2,7 +2,7 @@
 // 2
 // 3
 // 4
-a( 1 ).
+a(1).
 // 5
 // 6
 // 7
@@ -10,4 +10,4 @@
 // 9
 // 10
 // 11
-b( 1 ).
\\ No newline at end of file
+b(1).
''', status=1)
        self.write('b.dl', 'a( 1 ).\nb( 1 ).\n\n\n')
        self.assert_prints(self.format('--diff', 'b.dl'), '''--- b.dl
+++ b.dl
@@ -1,4 +1,2 @@
-a( 1 ).
-b( 1 ).
-
-
+a(1).
+b(1).
''', status=1)
        self.write('b.dl', FORMATTED)
        self.assert_prints(self.format('--diff', 'b.dl'), '')

    def test_standard_input(self):
        self.assert_prints(self.from_standard_input(PROGRAM), FORMATTED)
        self.assert_prints(self.from_standard_input(FORMATTED), FORMATTED)
        self.assert_prints(self.from_standard_input(PROGRAM, '--check'), 'stdin\n', status=1)

    def test_lines(self):
        self.assert_prints(self.from_standard_input(PROGRAM, '--lines', '2:2'), '.decl a( x:number )\na(1).\nr(x):-\n  a(x).\n')
        for text in ('2', '0:1', '3:2', '1:b', ':'):
            self.assert_fails(self.format('-', '--lines', text), "Error: --lines has to be FIRST:LAST, as 10:20, not '%s'\n" % text)

    def test_programs_with_errors_stay(self):
        text = 'a( 1 ) :-\n'
        self.write('a.dl', text)
        process = self.format('a.dl')
        self.assertEqual((process.returncode, process.output), (1, ''))
        self.assertIn('Error: syntax error, unexpected end of file', process.errors)
        self.assertEqual(self.read('a.dl'), text)
        self.assert_fails(self.format('missing.dl'), 'Cannot open file missing.dl')
        self.assert_fails(self.format(), 'gpulog fmt --help lists the options')

    def test_includes_and_macros(self):
        os.mkdir(self.path('other'))
        self.write(os.path.join('other', 'macros.dl'), '#define END .\n')
        self.write('a.dl', '#include "macros.dl"\na( N )END\n')
        self.assert_prints(self.format('a.dl', '-I', 'other', '-M', 'N=1'), '')
        self.assertEqual(self.read('a.dl'), '#include "macros.dl"\na(N) END\n')

    def test_examples_are_formatted(self):
        folder = os.path.join(os.path.dirname(__file__), '..', '..', 'examples')
        programs = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.endswith('.dl')]
        self.assertIn(os.path.join(folder, 'taint', 'taint.dl'), programs)
        self.assert_prints(self.format('--check', *sorted(programs)), '')

    def test_ten_megabytes_on_one_line(self):
        count = 1000000 if 'GPULOG_SANITIZED' not in os.environ else 1000
        process = self.from_standard_input('a(1,2). ' * count)
        self.assertEqual((process.returncode, process.errors), (0, ''))
        lines = process.output.splitlines()
        self.assertEqual(set(lines[:-1]), {' '.join(['a(1, 2).'] * 11)})
        self.assertEqual(process.output.count('a(1, 2).'), count)


if __name__ == '__main__':
    unittest.main()

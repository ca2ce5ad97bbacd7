"""The WebAssembly engine in node: golden programs. PLAYGROUND names the folder of the engine."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SITE = os.environ.get('PLAYGROUND', '')
FOLDER = pathlib.Path(__file__).resolve().parent
PROGRAMS = FOLDER.parent.parent / 'tests' / 'programs'
TIMEOUT_SECONDS = 300
TURN = int(os.environ.get('GPULOG_TEST_TURN', '0'))
SHARE = 9  # one in nine programs runs per turn
# What a module without libraries, zlib, libzstd and SQLite lacks.
ABSENT = re.compile(r'\.functor|\.include +"[^"]*/|sqlite|compress|parquet|arrow|IO=stdin', re.IGNORECASE)
COMPRESSED = (b'\x1f\x8b', b'\x28\xb5\x2f\xfd')


def lines_of(folder):
    return {path.name: sorted(path.read_bytes().split(b'\n')) for path in folder.iterdir()}


def names_in(folder):
    return [path.name for path in folder.iterdir()] if folder.exists() else []


def is_possible(case):
    names = names_in(case / 'facts')
    program = (case / 'program.dl').read_text(encoding='utf-8', errors='replace')
    if (case / 'options').exists() or 'error.json' in names_in(case / 'expected'):
        return False
    if any((case / 'facts' / name).read_bytes().startswith(COMPRESSED) for name in names):
        return False
    return not ABSENT.search(program)


@unittest.skipUnless(shutil.which('node') and os.path.exists(os.path.join(SITE, 'engine.wasm')), 'needs node and the built engine')
class EngineTest(unittest.TestCase):
    def run_program(self, program, *options, of_node=()):
        return subprocess.run(['node', *of_node, FOLDER / 'run_program.js', program, *options], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, text=True, timeout=TIMEOUT_SECONDS)

    def run_text(self, text, of_node=()):
        with tempfile.NamedTemporaryFile('w', suffix='.dl') as program:
            program.write(text)
            program.flush()
            return self.run_program(program.name, of_node=of_node)

    def test_golden_programs(self):
        cases = [case for case in sorted(PROGRAMS.iterdir()) if is_possible(case)]
        self.assertGreater(len(cases), 50)
        for case in cases[TURN % SHARE::SHARE]:
            with self.subTest(case.name), tempfile.TemporaryDirectory() as output:
                options = ['-F', case / 'facts'] if (case / 'facts').exists() else []
                finished = self.run_program(case / 'program.dl', '-D', output, *options)
                self.assertEqual(finished.returncode, 0, finished.stderr)
                found = lines_of(pathlib.Path(output))
                expected = lines_of(case / 'expected')
                found['stdout'] = sorted(finished.stdout.encode().split(b'\n'))
                self.assertEqual({name: found.get(name) for name in expected}, expected)

    def test_absent_libraries(self):
        for parameters, library in (('IO="sqlite", dbname="a.sqlite"', 'SQLite: databases are neither read nor written'),
                                    ('compress="true"', 'zlib: gzip files are neither read nor written'),
                                    ('compress="zstd"', 'libzstd: zstd files are neither read nor written')):
            finished = self.run_text('.decl a(x: number)\na(1).\n.output a(%s)\n' % parameters)
            self.assertEqual(finished.returncode, 1)
            self.assertIn('This build of gpulog was made without ' + library, finished.stderr)

    def test_results_beyond_memory(self):
        # 256 MiB are filled in an eighth of the time of the engine's 2 GiB.
        finished = self.run_text('.decl n(x: number, y: number)\nn(x, y) :- x = range(0, 100000), y = range(0, 100000).\n.output n\n',
                                 of_node=['--wasm-max-mem-pages=4096'])
        self.assertEqual(finished.returncode, 1)
        self.assertRegex(finished.stderr, r'^Error: Out of memory while extending relation n \(\d+ tuples, \d+ bytes\): \d+ more bytes '
                                          r'were needed with \d+ bytes in use, and the machine has no more\nin rule:\n'
                                          r'n\(x,y\) :- x = range\(0,100000\), y = range\(0,100000\)\.\n'
                                          r'in file program\.dl \[2:1-2:55\]\n*$')

    def test_nested_expressions(self):
        for depth in (100, 900):
            finished = self.run_text('.decl a(x: number)\na(%s1%s).\n.printsize a\n' % ('(' * depth, ')' * depth))
            self.assertEqual((finished.returncode, finished.stdout), (0, 'a\t1\n'), finished.stderr)
        finished = self.run_text('.decl a(x: number)\na(%s1%s).\n' % ('(' * 100000, ')' * 100000))
        self.assertEqual((finished.returncode, finished.stderr.strip()),
                         (1, 'Error: The program has very deep expressions or long rules, and no thread with a stack of 1 GiB starts'))


if __name__ == '__main__':
    unittest.main()

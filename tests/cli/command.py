"""Runs gpulog in a folder of its own, for the tests of this folder. The environment variable GPULOG names the program."""
import os
import resource
import subprocess
import tempfile
import unittest
import zlib

REACH = '''
.decl edge(x:number, y:number)
.input edge
.decl reach(x:number, y:number)
reach(x,y) :- edge(x,y).
reach(x,y) :- reach(x,z), edge(z,y).
.output reach
'''


IS_SANITIZED = 'GPULOG_SANITIZED' in os.environ  # such a program takes ten to sixty times as long, and as much more stack
STACK_BYTES = 1 << 28
TIMEOUT_SECONDS = 600 if IS_SANITIZED else 60


def scaled(usual, least=0):
    return max(least, usual // 50) if IS_SANITIZED else usual


def raise_stack_limit():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def is_in_turn(name):
    """Returns whether a test runs under sanitizers in this turn; without GPULOG_TEST_TURN, every test does."""
    turn = os.environ.get('GPULOG_TEST_TURN')
    return turn is None or (zlib.crc32(name.encode()) + int(turn)) % 2 == 0


class CommandTest(unittest.TestCase):
    def setUp(self):
        if IS_SANITIZED and not is_in_turn(self.id()):
            self.skipTest('runs under sanitizers in another turn')
        self.gpulog = os.path.abspath(os.environ['GPULOG'])
        scratch = tempfile.TemporaryDirectory(prefix='gpulog-')
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        os.mkdir(self.path('out'))
        os.mkdir(self.path('facts'))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), 'wb') as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def read(self, *names):
        with open(self.path(*names), encoding='utf-8') as file:
            return file.read()

    def rows(self, *names):
        return sorted(self.read(*names).splitlines())

    def start(self, *arguments, **options):
        if IS_SANITIZED:
            options.setdefault('preexec_fn', raise_stack_limit)
        options.setdefault('stdin', subprocess.DEVNULL)
        return subprocess.Popen([self.gpulog, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", **options)

    def run_gpulog(self, *arguments, **options):
        process = self.start(*arguments, **options)
        process.output, process.errors = process.communicate(timeout=TIMEOUT_SECONDS)
        return process

    def run_program(self, text, *arguments, facts=None, **options):
        self.write('program.dl', text)
        for name, rows in (facts or {}).items():
            self.write(os.path.join('facts', name), rows)
        return self.run_gpulog('program.dl', '-F', 'facts', '-D', 'out', *arguments, **options)

    def assert_fails(self, process, *texts, status=1):
        """One message on standard error, with a line of what it is about and a hint at most; nothing on standard output, no
        output file."""
        self.assertEqual(process.returncode, status, process.errors)
        for text in texts:
            self.assertIn(text, process.errors)
        self.assertLessEqual(len(process.errors.strip().splitlines()), 4, process.errors)
        self.assertEqual(process.output, '')
        if os.path.isdir(self.path('out')):
            self.assertEqual(os.listdir(self.path('out')), [])

    def assert_runs(self, process):
        self.assertEqual(process.returncode, 0, process.errors)

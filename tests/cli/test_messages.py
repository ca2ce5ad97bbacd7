"""Nothing about messages ends a run; a small stack does not either."""
import json
import os
import signal
import resource
import subprocess
import unittest

from command import IS_SANITIZED, REACH, CommandTest

EDGES = '1\t2\n2\t3\n'
WARNED = REACH + '.decl w(x:number)\nw(x) :- edge(x, y).\n'
ROWS = ['1\t2', '1\t3', '2\t3']


def closed(*streams):
    def close():
        for stream in streams:
            os.close(stream)
    return close


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


class StandardError(CommandTest):
    def setUp(self):
        super().setUp()
        self.write('facts/edge.facts', EDGES)
        self.write('program.dl', WARNED)

    def execute(self, *arguments, **streams):
        streams.setdefault('stdin', subprocess.DEVNULL)
        streams.setdefault('stdout', subprocess.PIPE)
        return subprocess.run([self.gpulog, *arguments, '-F', 'facts'], cwd=self.folder, check=False, timeout=60, **streams)

    def ways(self):
        """Standard errors that take nothing: name, options of the process, what to close when it has begun."""
        with open('/dev/full', 'wb') as full:
            yield 'full', {'stderr': full}
        yield 'closed', {'preexec_fn': closed(2)}
        reading, writing = os.pipe()
        os.close(reading)
        yield 'broken pipe', {'stderr': writing}
        os.close(writing)
        with open(self.path('log'), 'wb') as log:
            log.write(b'x' * 100)
            log.flush()
            yield 'limited', {'stderr': log, 'preexec_fn': small_files}

    def test_results_are_written(self):
        for name, streams in self.ways():
            for arguments in ([], ['-v']):
                with self.subTest(name=name, arguments=arguments):
                    process = self.execute('program.dl', '-D', 'out', *arguments, **streams)
                    self.assertEqual(process.returncode, 0)
                    self.assertEqual(self.rows('out', 'reach.csv'), ROWS)
                    os.remove(self.path('out', 'reach.csv'))
                    self.assertEqual(os.listdir(self.path('out')), [])

    def test_errors_have_their_status(self):
        self.write('wrong.dl', '.decl a(x:number)\na("text").\n')
        for name, streams in self.ways():
            with self.subTest(name=name):
                self.assertEqual(self.execute('wrong.dl', '-D', 'out', **streams).returncode, 1)
                self.assertEqual(self.execute('none.dl', '-D', 'out', **streams).returncode, 1)
                self.assertEqual(self.execute('program.dl', '-D', 'nowhere', **streams).returncode, 1)
                self.assertEqual(self.execute('--nonsense', **streams).returncode, 1)

    def test_closed_streams_are_not_taken_by_files(self):
        process = self.execute('program.dl', '-D', 'out', '-v', stdin=None, stdout=None, preexec_fn=closed(0, 1, 2))
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.rows('out', 'reach.csv'), ROWS)
        process = self.execute('program.dl', '-D', '-', stdout=None, stderr=subprocess.PIPE, preexec_fn=closed(1))
        self.assertEqual(process.returncode, 1)
        self.assertIn(b'standard output', process.stderr)

    def test_a_reader_that_ends_early_ends_the_run_quietly(self):
        self.write('many.dl', '.decl n(x:number)\nn(x) :- x = range(0, 100000).\n.output n\n')
        for arguments in (['many.dl', '-D', '-'], ['many.dl', '--query', 'n(x)'], ['many.dl', '-D', '', '--explain']):
            with self.subTest(arguments=arguments):
                reading, writing = os.pipe()
                os.close(reading)
                process = self.execute(*arguments, stdout=writing, stderr=subprocess.PIPE)
                os.close(writing)
                self.assertEqual((process.returncode, process.stderr), (-signal.SIGPIPE, b''))

    def test_standard_output_that_takes_nothing_is_an_error(self):
        with open('/dev/full', 'wb') as full:
            process = self.execute('program.dl', '-D', '-', stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b'standard output', process.stderr)


@unittest.skipIf(IS_SANITIZED, 'instrumented programs need more stack before main()')
class SmallStack(CommandTest):
    def test_runs(self):
        self.write('facts/edge.facts', EDGES)
        for kilobytes in (64, 256, 8192):
            for jobs in ('1', '2'):
                with self.subTest(kilobytes=kilobytes, jobs=jobs):
                    self.write('program.dl', REACH)
                    process = self.run_with(kilobytes, 'program.dl', '-F', 'facts', '-D', 'out', '-j', jobs)
                    self.assertEqual((process.returncode, process.stderr), (0, b''))
                    self.assertEqual(self.rows('out', 'reach.csv'), ROWS)

    def test_depths_are_errors(self):
        for part, ending in (('(', ')'), ('[', ']'), ('cat(', ')')):
            with self.subTest(part=part):
                self.write('program.dl', '.decl a(x:number)\na(%s1%s).\n' % (part * 250000, ending * 250000))
                process = self.run_with(64, 'program.dl')
                self.assertEqual(process.returncode, 1)
                self.assertIn(b'nested too deeply', process.stderr)

    def run_with(self, kilobytes, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, kilobytes << 10))
        return subprocess.run([self.gpulog, *arguments], cwd=self.folder, check=False, timeout=60, stdin=subprocess.DEVNULL,
                              capture_output=True, preexec_fn=limit)


class WrappedResults(CommandTest):
    """A count or sum that needs more bits than words have is said once, with its rule; its result stays as it was."""
    NUMBERS = '.decl a(x:number)\na(2147483647). a(2147483646). a(-5).\n.decl s(n:number)\n.output s\n'
    SUM = 's(n) :- n = sum x : { a(x) }.'
    WORDS = 'wraps around'

    def warnings_of(self, text, *arguments, backend='cpu'):
        """What is said on standard error. The result is in out/s.csv."""
        process = self.run_program(text, '--backend', backend, *arguments)
        self.assert_runs(process)
        return process.errors

    def test_a_count(self):
        # 46341 * 46341 is the least square that a number has no room for.
        text = ('.decl a(x:number)\na(x) :- x = range(0, {}).\n.decl s(n:number)\n.output s\n'
                's(n) :- n = count : {{ a(x), a(y) }}.')
        for backend in self.backends():
            said = self.warnings_of(text.format(46341), backend=backend)
            self.assertEqual(self.rows('out', 's.csv'), ['-2147479015'])
            self.assertEqual(said.count(self.WORDS), 1)
            self.assertNotIn(self.WORDS, self.warnings_of(text.format(46340), backend=backend))
            self.assertEqual(self.rows('out', 's.csv'), ['2147395600'])

    def test_what_devices_add(self):
        if 'gpu' not in self.backends():
            self.skipTest('no device')
        self.assertEqual(self.warnings_of(self.NUMBERS + self.SUM, backend='gpu').count(self.WORDS), 1)
        self.assertEqual(self.rows('out', 's.csv'), ['-8'])
        balanced = self.NUMBERS + 'a(-2147483647). a(-2147483646).\n' + self.SUM
        self.assertNotIn(self.WORDS, self.warnings_of(balanced, backend='gpu'))
        self.assertEqual(self.rows('out', 's.csv'), ['-5'])
        # Each value as often as there are rows of another relation.
        many = self.NUMBERS + '.decl b(x:number)\nb(1). b(2). b(3).\ns(n) :- n = sum x : { a(x), b(y), x < 0 }.'
        self.assertNotIn(self.WORDS, self.warnings_of(many, backend='gpu'))
        self.assertEqual(self.rows('out', 's.csv'), ['-15'])

    def test_the_place(self):
        self.assertEqual(self.warnings_of(self.NUMBERS + self.SUM), (
            'Warning: A count or sum needs more than 32 bits and wraps around in rule:\ns(n) :- n = sum x : { a(x) }.\n'
            'in file program.dl [5:1-5:30]\nNumbers have 32 bits here; with --word-size 64 they have 64 bits\n'))
        with open(os.path.join(self.folder, 'program.dl'), encoding='utf-8') as file:
            remark, = map(json.loads, self.warnings_of(file.read(), '--diagnostics', 'json').splitlines())
        self.assertEqual([remark[key] for key in ('severity', 'file', 'line', 'column')], ['warning', 'program.dl', 5, 1])
        self.assertEqual(self.warnings_of(self.NUMBERS + self.SUM, '--word-size', '64'), '')

    def backends(self):
        built = self.run_gpulog('--version').output
        return ('cpu', 'gpu') if 'emulated' in built else ('cpu',)

    def test_a_sum_of_numbers(self):
        for more in ((), ('-j2',), ('--storage', 'hisa')):
            said = self.warnings_of(self.NUMBERS + self.SUM, *more)
            self.assertEqual(self.rows('out', 's.csv'), ['-8'])
            self.assertEqual(said.count(self.WORDS), 1)
            self.assertIn(self.SUM, said)
            self.assertIn('32 bits', said)

    def test_no_warning(self):
        self.assertNotIn(self.WORDS, self.warnings_of(self.NUMBERS + self.SUM, '--word-size', '64'))
        self.assertNotIn(self.WORDS, self.warnings_of(self.NUMBERS + self.SUM, '-w'))
        self.assertNotIn(self.WORDS, self.warnings_of(self.NUMBERS + 's(n) :- n = sum x : { a(x), x < 0 }.'))
        # What is in between may need more bits.
        balanced = self.NUMBERS + 'a(-2147483647). a(-2147483646).\n' + self.SUM
        self.assertNotIn(self.WORDS, self.warnings_of(balanced))
        self.assertEqual(self.rows('out', 's.csv'), ['-5'])

    def test_unsigned_numbers(self):
        text = ('.decl a(x:unsigned)\na(2147483647). a(2147483646). {}\n.decl s(n:unsigned)\n.output s\n'
                's(n) :- n = sum x : {{ a(x) }}.')
        self.assertNotIn(self.WORDS, self.warnings_of(text.format('')))
        said = self.warnings_of(text.format('a(10).'))
        self.assertEqual(self.rows('out', 's.csv'), ['7'])
        self.assertEqual(said.count(self.WORDS), 1)

    def test_words_of_64_bits(self):
        text = '.decl a(x:number)\na(9223372036854775807). a(1).\n.decl s(n:number)\n.output s\n' + self.SUM
        said = self.warnings_of(text, '--word-size', '64')
        self.assertEqual(self.rows('out', 's.csv'), ['-9223372036854775808'])
        self.assertIn('64 bits', said)
        self.assertNotIn(self.WORDS, self.warnings_of(text + ' a(-1).', '--word-size', '64'))


if __name__ == '__main__':
    unittest.main()

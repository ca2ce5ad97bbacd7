"""Whatever goes wrong: exit status 1, one clear line, no output file; Ctrl-C ends a run, too."""
import gzip
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from command import IS_SANITIZED, REACH, TIMEOUT_SECONDS, CommandTest

PAIR = '.decl p(x:number, y:number)\n.input p%s\n.output p\n'
# Ten thousand nodes in a ring: a closure of a hundred million tuples.
LONG_RING = ''.join('%d\t%d\n' % (i, (i + 1) % 10000) for i in range(10000))
# So many that no machine is done before it is interrupted: 10^12 tuples.
ENDLESS_RING = ''.join('%d\t%d\n' % (i, (i + 1) % 1000000) for i in range(1000000))


class BadFacts(CommandTest):
    def check(self, content, *texts, parameters=''):
        self.assert_fails(self.run_program(PAIR % parameters, facts={'p.facts': content}), 'p.facts', *texts)

    def test_too_few_columns(self):
        self.check('1\t2\n3\n', 'line 2')

    def test_empty_line(self):
        self.check('1\t2\n\n3\t4\n', 'line 2')

    def test_not_a_number(self):
        self.check('1\t2\n1\tx\n', 'line 2', '<x>')

    def test_overflow(self):
        self.check('1\t2147483648\n', 'line 1', '<2147483648>')
        self.check('1\t-2147483649\n', 'line 1')

    def test_first_bad_file_whatever_the_threads(self):
        program = ''.join('.decl r%d(x:symbol, n:number)\n.input r%d(filename="r%d.facts%s")\n.printsize r%d\n'
                          % (i, i, i, '.gz' if i % 2 else '', i) for i in range(1, 21))
        facts = {}
        for i in range(1, 21):
            lines = ['s%d\t%d' % (line % (100 * i), line) for line in range(1000 * i)]
            if i in (7, 11, 20):
                lines[50 * i] = 'bad'
            text = '\n'.join(lines).encode()
            facts['r%d.facts%s' % (i, '.gz' if i % 2 else '')] = gzip.compress(text) if i % 2 else text
        for jobs in ('1', '2', '8'):
            with self.subTest(jobs=jobs):
                process = self.run_program(program, '-j', jobs, '--stats', 'stats.json', facts=facts)
                self.assertEqual((process.returncode, process.output), (1, ''))
                self.assertEqual(process.errors, 'Error loading r7 data: Values missing in line 351; '
                                                 'cannot parse fact file r7.facts.gz!\nbad\n---^\n')
                record = json.loads(self.read('stats.json'))
                self.assertEqual(record['outcome']['step']['file'], 'facts/r7.facts.gz')
                self.assertEqual([file['rows'] for file in record['files']], [1000 * i for i in range(1, 7)] + [0])

    def test_numbers_of_texts_whatever_the_threads(self):
        program = ''.join('.decl r%d(x:symbol)\n.input r%d\n.decl n%d(x:symbol, n:number)\nn%d(x, ord(x)) :- r%d(x).\n.output n%d\n'
                          % (i, i, i, i, i, i) for i in range(5))
        facts = {'r%d.facts' % i: ''.join('s%d\n' % (line * (i + 7) % 9973) for line in range(40000)) for i in range(5)}
        results = []
        for jobs in ('1', '2', '8'):
            self.assert_runs(self.run_program(program, '-j', jobs, facts=facts))
            results.append([sorted(self.read('out', 'n%d.csv' % i).splitlines()) for i in range(5)])
        self.assertEqual(results[1], results[0])
        self.assertEqual(results[2], results[0])

    def test_first_bad_line_whatever_the_threads(self):
        lines = ['%d\t%d' % (i, i) for i in range(200000)]
        lines[150000] = lines[199000] = 'bad'
        for jobs in ('1', '4'):
            process = self.run_program(PAIR % '', '-j', jobs, facts={'p.facts': '\n'.join(lines)})
            self.assertEqual(process.returncode, 1)
            self.assertIn('line 150001', process.errors.splitlines()[0])

    def test_truncated_gzip(self):
        self.check(gzip.compress(b'1\t2\n' * 100000)[:-20])

    def test_corrupt_gzip(self):
        content = bytearray(gzip.compress(b''.join(b'%d\t2\n' % i for i in range(5000))))
        content[len(content) // 2] ^= 0x55
        self.check(bytes(content))

    def test_truncated_and_corrupt_zstd(self):
        text = '.decl p(x:number, y:number)\np(x, 2) :- x = range(0, 50000).\n.output p(compress=zstd)\n'
        self.assert_runs(self.run_program(text))
        with open(self.path('out', 'p.csv.zst'), 'rb') as file:
            whole = file.read()
        os.remove(file.name)
        for size in (4, 20, len(whole) // 2, len(whole) - 1):
            self.check(whole[:size], 'Compressed data ends too early in line')
        damaged = bytearray(whole)
        damaged[-2] ^= 1
        self.check(bytes(damaged), 'Compressed data is damaged in line')

    def test_binary_facts(self):
        process = self.run_program(PAIR % '', facts={'p.facts': bytes(range(256))})
        self.assertEqual(process.returncode, 1)
        self.assertIn('cannot parse fact file p.facts', process.errors)

    def test_folder_as_facts(self):
        os.mkdir(self.path('facts', 'p.facts'))
        self.assert_fails(self.run_program(PAIR % ''), 'p.facts')

    def test_unknown_kind_of_input(self):
        self.assertEqual(self.run_program(PAIR % '(IO=telegraph)').returncode, 1)


class BadPrograms(CommandTest):
    def check(self, text):
        process = self.run_program(text)
        self.assertEqual(process.returncode, 1, process.errors)
        self.assertIn('Error', process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_binary_program(self):
        self.check(bytes(range(256)))

    @unittest.skipIf(IS_SANITIZED, 'AddressSanitizer reports errors where exceptions pass more than 64 MB of stack')
    def test_deep_nesting(self):
        self.check('.decl a(x:number)\na(' + '(' * 200000 + '1' + ')' * 200000 + ').\n')
        self.check('.decl a(x:number)\na(' + '-' * 200000 + '1).x\n')
        self.check('.decl a(x:number)\na(x) :- ' + '(' * 200000 + 'a(x).\n')

    def test_unterminated(self):
        self.check('.decl a(x:symbol)\na("')
        self.check('/* ')

    def test_include_of_itself(self):
        self.check('.include "program.dl"\n')


class BadOutput(CommandTest):
    FACTS = {'edge.facts': '1\t2\n2\t3\n'}

    def test_output_folder_not_writable(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', self.FACTS['edge.facts'])
        self.assert_fails(self.run_gpulog('program.dl', '-F', 'facts', '-D', '/proc'), 'reach.csv')  # not even for root

    def test_output_file_is_a_folder(self):
        os.mkdir(self.path('out', 'reach.csv'))
        process = self.run_program(REACH, facts=self.FACTS)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(os.listdir(self.path('out')), ['reach.csv'])

    def test_no_file_when_one_of_two_fails(self):
        text = REACH + '.output reach(filename="missing/x.csv")\n.output edge\n'
        self.assert_fails(self.run_program(text, facts=self.FACTS), 'missing/x.csv')

    def test_full_disk(self):
        text = REACH + '.output edge(filename="/dev/full")\n'
        self.assert_fails(self.run_program(text, facts=self.FACTS), '/dev/full')

    def test_file_size_limit(self):
        facts = {'edge.facts': ''.join('%d\t%d\n' % (i, i + 1) for i in range(600))}

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.assert_fails(self.run_program(REACH, facts=facts, preexec_fn=limit), 'reach.csv')

    def test_full_standard_output(self):
        text = REACH.replace('.output reach', '.printsize reach')
        self.write('program.dl', text)
        self.write('facts/edge.facts', self.FACTS['edge.facts'])
        with open('/dev/full', 'w', encoding='utf-8') as full:
            process = subprocess.run([self.gpulog, 'program.dl', '-F', 'facts'], cwd=self.folder, stdout=full,
                                     stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn('standard output', process.stderr)

    def test_old_results_stay_when_a_run_fails(self):
        self.write('out/reach.csv', 'precious\n')
        process = self.run_program(REACH, facts={'edge.facts': 'x\n'})
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.read('out', 'reach.csv'), 'precious\n')


class Limits(CommandTest):
    def test_memory_limit_names_rule_relation_and_sizes(self):
        for storage in ('hash', 'bits', 'words', 'hisa'):
            with self.subTest(storage=storage):
                # Components of a graph take little memory: a search has to run.
                process = self.run_program(REACH, '--memory-limit', '20M', '--storage', storage,
                                           '--tune', 'rows=search', facts={'edge.facts': LONG_RING})
                self.assertEqual(process.returncode, 1, process.errors)
                for text in ('reach', 'reach(x,z)', '20'):
                    self.assertIn(text, process.errors)
                self.assertEqual(os.listdir(self.path('out')), [])

    def test_memory_limit_while_loading(self):
        process = self.run_program(REACH, '--memory-limit', '4K', facts={'edge.facts': LONG_RING})
        self.assertEqual(process.returncode, 1, process.errors)
        self.assertIn('edge', process.errors)

    def test_memory_limit_counts_texts_of_facts(self):
        lines = ''.join('%s%d\n' % ('a long text ' * 20, i) for i in range(20000)).encode()
        for name, content in (('s.facts', lines), ('s.facts.gz', gzip.compress(lines, 1))):
            for jobs in ('1', '2'):
                with self.subTest(name=name, jobs=jobs):
                    arguments = ('.decl s(x:symbol)\n.input s(filename="%s")\n.printsize s\n' % name, '-j', jobs)
                    process = self.run_program(*arguments, '--memory-limit', '2M', facts={name: content})
                    self.assertEqual(process.returncode, 1, process.errors)
                    self.assertIn('loading relation s', process.errors)
                    self.assertIn('needed for symbols', process.errors)
                    process = self.run_program(*arguments, '--memory-limit', '20M', facts={name: content})
                    self.assertEqual(process.output, 's\t20000\n', process.errors)

    def test_division_faults(self):
        for expression in ('1/x', '1%x', '(x-2147483647-1)/(x-1)'):
            with self.subTest(expression=expression):
                text = '.decl n(x:number)\nn(0).\n.decl a(x:number)\na(%s) :- n(x).\n.output a\n' % expression
                process = self.run_program(text)
                self.assertEqual(process.returncode, 1, process.errors)
                self.assertIn('Floating-point arithmetic exception signal in rule', process.errors)
                self.assertIn('program.dl [4:1-', process.errors)
                self.assertEqual(os.listdir(self.path('out')), [])


class Interrupt(CommandTest):
    @staticmethod
    def awaits(process, number):
        """Whether a thread of the process waits for the signal, and all others have it blocked: before anything else."""
        with open('/proc/%d/status' % process.pid) as file:
            blocked = next(line for line in file if line.startswith('SigBlk'))
        return int(blocked.split()[1], 16) >> (number - 1) & 1

    def check(self, process, delay, number=signal.SIGINT):
        # However long that takes on a machine that others use, too.
        while not self.awaits(process, number):
            self.assertIsNone(process.poll(), 'ended before it awaited the signal')
            time.sleep(0.01)
        time.sleep(delay)  # so that it is usually amidst its work; right in any case
        self.assertIsNone(process.poll(), 'ended before it was interrupted')
        process.send_signal(number)
        process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 128 + number)
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_while_evaluating(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', ENDLESS_RING)
        for storage in ('hash', 'hisa'):
            with self.subTest(storage=storage):
                self.check(self.start('program.dl', '-F', 'facts', '-D', 'out', '--storage', storage), 0.5)

    def test_in_one_long_rule(self):
        self.write('program.dl', '.decl a(x:number)\n.input a\n.decl n(c:number)\n'
                   'n(x) :- a(x), a(y), a(z), a(w), x + y + z + w = -1.\n.output n\n')
        self.write('facts/a.facts', ''.join('%d\n' % i for i in range(20000)))
        for jobs in ('1', '2'):
            with self.subTest(jobs=jobs):
                self.check(self.start('program.dl', '-F', 'facts', '-D', 'out', '-j', jobs), 0.5)

    def test_termination(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', ENDLESS_RING)
        self.check(self.start('program.dl', '-F', 'facts', '-D', 'out'), 0.5, signal.SIGTERM)

    def test_while_reading(self):
        self.write('program.dl', PAIR % '')
        os.mkfifo(self.path('facts', 'p.facts'))
        self.check(self.start('program.dl', '-F', 'facts', '-D', 'out'), 0.3)


if __name__ == '__main__':
    unittest.main()

"""The record of a run (-p): also of one that does not end well, and while it goes on."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from command import CommandTest, IS_SANITIZED, REACH, TIMEOUT_SECONDS

RING = ''.join('%d\t%d\n' % (i, (i + 1) % 200000) for i in range(200000))
PRODUCT = ('.decl a(x:number)\n.input a\n.decl n(c:number)\n'
           'n(x) :- a(x), a(y), a(z), a(w), x + y + z + w = -1.\n.output n\n')
NUMBERS = ''.join('%d\n' % i for i in range(20000))
KEYS = ('schema_version', 'gpulog', 'outcome', 'program', 'options', 'machine', 'spans', 'files', 'samples', 'strata',
        'relations', 'sources', 'pass_seconds', 'total_seconds')


class RecordTest(CommandTest):
    def record(self, name='p.json'):
        return json.loads(self.read(name))

    def wait_for(self, condition, process):
        end = time.monotonic() + TIMEOUT_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll(), 'ended before')
            time.sleep(0.02)

    def start_product(self, *arguments):
        self.write('program.dl', PRODUCT)
        self.write('facts/a.facts', NUMBERS)
        return self.start('program.dl', '-F', 'facts', '-D', 'out', *arguments)

    def renewed(self, process, condition):
        def holds():
            return os.path.exists(self.path('p.json')) and condition(self.record())
        self.wait_for(holds, process)


# A step of r would have 16,200,000 rows.
COSTLY_STEP = ''.join((
    '.decl is(v:number, t:number)\nis(v, v % 50) :- v = range(0, 9000).\n',
    '.decl at(v:number, x:number)\nat(v, v) :- v = range(0, 9000).\n',
    '.decl call(i:number, x:number)\ncall(i, i) :- i = range(0, 9000).\n',
    '.decl finds(t:number, i:number, m:number)\nfinds(t, i, i % 100) :- t = range(0, 50), call(i, _), i % 5 = t % 5.\n',
    '.decl mock(m:number, v:number, t:number)\nmock(0, 0, 0) :- call(-1, _).\n',
    '.decl kind(v:number, t:number)\n.decl points(v:number, x:number)\n.decl r(i:number, v:number, m:number)\n',
    'kind(v, t), points(v, x) :- is(v, t), at(v, x).\nkind(v, t) :- r(_, _, m), mock(m, v, t).\n',
    'r(i, v, m) :- call(i, x), points(v, x), kind(v, t), finds(t, i, m).\n.printsize r\n'))


class Complete(RecordTest):
    @unittest.skipIf(IS_SANITIZED, 'skipped: joins millions of rows')
    def test_costly_steps_end_within_their_budget(self):
        backends = ['cpu'] + (['gpu'] if 'emulated' in self.run_gpulog('--version').output else [])
        for backend in backends:
            with self.subTest(backend=backend):
                process = self.run_program(COSTLY_STEP, '--backend', backend, '-p', 'p.json')
                self.assertEqual(process.output, 'r\t9000\n')
                candidates = sum(rule['candidates'] for one in self.record()['strata'] for rule in one['rules'])
                self.assertLess(candidates, 6_000_000)

    def test_keys(self):
        for flag in ('-p', '--stats'):
            with self.subTest(flag=flag):
                self.assert_runs(self.run_program(REACH, flag, 'p.json', facts={'edge.facts': '1\t2\n2\t3\n'}))
                record = self.record()
                for key in KEYS:
                    self.assertIn(key, record)
                self.assertEqual(record['schema_version'], 2)
                self.assertEqual(record['outcome'], {'state': 'complete', 'message': '', 'step': None})
                self.assertEqual(record['program'], 'program.dl')
                self.assertEqual(record['sources'], [{'path': 'program.dl', 'text': REACH}])
                names = [span['name'] for span in record['spans']]
                self.assertEqual(names, ['compile', 'load', 'measure', 'plan', 'encode', 'take over', 'evaluate', 'write'])
                self.assertTrue(all(span['is_complete'] for span in record['spans']))
                read, written = record['files']
                self.assertEqual((read['file'], read['rows'], read['bytes'], read['is_output']),
                                 ('facts/edge.facts', 2, 8, False))
                self.assertEqual((written['relation'], written['rows'], written['bytes'], written['is_output']),
                                 ('reach', 3, 12, True))
                self.assertGreater(len(record['samples']), 0)

    def test_iterations_are_merged(self):
        program = '.decl r(x:number)\nr(0).\nr(x+1) :- r(x), x < %d.\n.printsize r\n'
        for last, parts in ((10, 11), (999, 1000), (5000, None)):
            self.assert_runs(self.run_program(program % last, '-p', 'p.json'))
            stratum = self.record()['strata'][-1]
            self.assertEqual(sum(part[0] for part in stratum['deltas']), stratum['iterations'])
            self.assertEqual(sum(part[1] for part in stratum['deltas']), last)
            self.assertLessEqual(len(stratum['deltas']), 1000)
            if parts is not None:
                self.assertEqual(len(stratum['deltas']), parts)


class Unfinished(RecordTest):
    def assert_told(self, errors, rule, place):
        self.assertRegex(errors, r'after \d+\.\d+ s, in stratum \d+ of \d+ \(')
        self.assertIn('in rule:\n' + rule, errors)
        self.assertIn('in file program.dl ' + place, errors)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            for jobs in ('1', '2'):
                with self.subTest(number=number, jobs=jobs):
                    process = self.start_product('-p', 'p.json', '--profile-every', '0.05', '-j', jobs)
                    self.renewed(process, lambda record: (record['outcome']['step'] or {}).get('rule'))
                    self.assertEqual(self.record()['outcome']['state'], 'unfinished')
                    process.send_signal(number)
                    _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
                    self.assertEqual(process.returncode, 128 + number)
                    self.assertIn('Interrupted by ' + signal.Signals(number).name, errors)
                    self.assert_told(errors, 'n(x) :- a(x)', '[4:1-')
                    record = self.record()
                    self.assertEqual(record['outcome']['state'], 'interrupted')
                    self.assertEqual(record['outcome']['step']['relations'], 'n')
                    self.assertEqual(record['strata'][-1]['is_complete'], False)
                    self.assertGreater(record['strata'][-1]['rules'][0]['seconds'], 0)
                    self.assertEqual(record['loaded_tuples'], 20000)
                    os.remove(self.path('p.json'))
                    self.assertEqual(os.listdir(self.path('out')), [])

    def test_candidates_of_a_rule_that_is_interrupted(self):
        def candidates(record):
            return sum(rule['candidates'] for stratum in record['strata'] for rule in stratum['rules']
                       if rule['rule'].startswith('p('))
        self.write('program.dl', '.decl n(x:number)\nn(x) :- x = range(0, 60000).\n.decl p(x:number, y:number)\n'
                                 'p(x, y) :- n(x), n(y), x * y % 7919 = 3.\n.printsize p\n')
        process = self.start('program.dl', '-p', 'p.json', '--profile-every', '0.05')
        self.renewed(process, lambda record: candidates(record) > 0)
        seen = candidates(self.record())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertGreaterEqual(candidates(self.record()), seen)

    def test_without_a_record(self):
        # Nothing tells when the rule has begun: a signal that came too early is sent again, later.
        wait = 0.25
        errors = ''
        while 'in rule:' not in errors and wait < TIMEOUT_SECONDS:
            process = self.start_product()
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
            wait *= 2
        self.assert_told(errors, 'n(x) :- a(x)', '[4:1-')

    def test_while_loading(self):
        self.write('program.dl', REACH)
        os.mkfifo(self.path('facts', 'edge.facts'))
        # So often that a renewal is under way when the signal comes.
        process = self.start('program.dl', '-F', 'facts', '-D', 'out', '-p', 'p.json', '--profile-every', '0.001')
        self.renewed(process, lambda record: (record['outcome']['step'] or {}).get('phase') == 'load')
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn('load facts/edge.facts', errors)
        outcome = self.record()['outcome']
        self.assertEqual((outcome['state'], outcome['step']['file']), ('interrupted', 'facts/edge.facts'))

    def test_memory_limit(self):
        process = self.run_program(REACH, '-p', 'p.json', '--memory-limit', '40M', '--tune', 'rows=loop',
                                   facts={'edge.facts': RING})
        self.assertEqual(process.returncode, 1)
        self.assertIn('Out of memory', process.errors)
        self.assertRegex(process.errors, r'The run failed after \d+\.\d+ s, in stratum 2 of 2 \(reach\)')
        record = self.record()
        self.assertEqual(record['outcome']['state'], 'failed')
        self.assertIn('Out of memory', record['outcome']['message'])

    def test_fault(self):
        program = '.decl a(x:number)\n.input a\n.decl b(x:number)\nb(y) :- a(x), y = 1 / x.\n.output b\n'
        process = self.run_program(program, '-p', 'p.json', facts={'a.facts': '0\n'})
        self.assertEqual(process.returncode, 1)
        self.assertIn('in stratum 2 of 2 (b)', process.errors)
        self.assertEqual(process.errors.count('b(y) :- a(x)'), 1)
        step = self.record()['outcome']['step']
        self.assertEqual((step['phase'], step['relations']), ('evaluate', 'b'))
        self.assertIn('b(y) :- a(x)', step['rule'])
        self.assertEqual(step['location'], 'program.dl [4:1-4:25]')

    def test_full_device(self):
        program = '.decl a(x:number)\na(1).\n.output a(filename="/dev/full")\n'
        process = self.run_program(program, '-p', 'p.json')
        self.assertEqual(process.returncode, 1)
        outcome = self.record()['outcome']
        self.assertEqual(outcome['state'], 'failed')
        self.assertIn('/dev/full', outcome['message'])
        self.assertEqual(self.record()['relations'][0]['tuples'], 1)


class Progress(RecordTest):
    PAIRS = '.decl a(x:number)\n.input a\n.decl p(x:number, y:number)\np(x, y) :- a(x), a(y), x != y + 1.\n.printsize p\n'

    def on_terminal(self, wanted, *arguments):
        """What a terminal gets until the wanted text is there; the run is ended then."""
        own, its = os.openpty()
        process = subprocess.Popen([self.gpulog, 'program.dl', '-F', 'facts', '-D', 'out', *arguments], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its)
        os.close(its)
        seen = b''
        try:
            while re.search(wanted, seen) is None:
                seen += os.read(own, 65536)
        except OSError:
            self.fail('%r is not in %r' % (wanted, seen))
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=TIMEOUT_SECONDS)
            os.close(own)
        return seen

    def test_a_long_rule(self):
        self.write('program.dl', self.PAIRS)
        self.write('facts/a.facts', NUMBERS)
        seen = self.on_terminal(rb'stratum 2 of 2, [1-9]\d* %: p\(x,y\) :- [^\r]*, [^\r,]*/s, [^\r,]*B, [^\r]*')
        self.assertNotIn(b'\n', seen.split(b'Interrupted')[0])

    def test_iterations(self):
        self.write('program.dl', '.decl r(x:number)\nr(0).\nr(x+1) :- r(x), x < 200000000.\n.printsize r\n')
        self.on_terminal(rb'stratum 1 of 1, iteration \d+')

    def test_loading(self):
        self.write('program.dl', REACH)
        os.mkfifo(self.path('facts', 'edge.facts'))
        self.on_terminal(rb'loading facts/edge.facts: file 1 of 1, 0 rows')

    def test_is_erased_before_results(self):
        numbers, pairs = (2000, 522) if IS_SANITIZED else (8000, 8080)
        self.write('program.dl', '.decl n(x:number)\nn(x) :- x = range(0, %d).\n.decl p(x:number, y:number)\n' % numbers +
                                 'p(x, y) :- n(x), n(y), x * y % 7919 = 3.\n.printsize p\n.decl q(x:number)\nq(1).\n.output q\n')
        for arguments, ending in (([], 'p\t%d\n' % pairs), (['--query', 'q(x)'], '\n1\n==============='),
                                  (['-v'], 'p\t%d\n' % pairs), (['--explain'], 'p\t%d\n' % pairs)):
            with self.subTest(arguments=arguments):
                own, its = os.openpty()
                process = subprocess.Popen([self.gpulog, 'program.dl', '-D-', *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                           stdout=its, stderr=its)
                os.close(its)
                seen = b''
                try:
                    while more := os.read(own, 65536):
                        seen += more
                except OSError:  # the other side is closed
                    pass
                os.close(own)
                self.assertEqual(process.wait(timeout=TIMEOUT_SECONDS), 0)
                text = seen.decode().replace('\r\n', '\n')
                for line in text.split('\n'):
                    shown = re.split('\r\x1b\\[K', line)[-1]
                    self.assertNotRegex(shown, r'^\d+\.\d s  ', text)
                self.assertIn(ending, re.sub('[^\n]*\r\x1b\\[K', '', text))

    def test_elsewhere_nothing(self):
        process = self.run_program(REACH, facts={'edge.facts': '1\t2\n'})
        self.assert_runs(process)
        self.assertEqual(process.errors, '')

    def test_events(self):
        process = self.run_program(REACH + 'reach(x,y) :- reach(y,x), x > 100.\n', '-v',
                                   facts={'edge.facts': '1\t2\n2\t3\n3\t4\n'})
        self.assert_runs(process)
        lines = process.errors.splitlines()

        def at(text):
            found = [i for i, line in enumerate(lines) if line.startswith(text)]
            self.assertEqual(len(found), 1, (text, process.errors))
            return found[0]
        self.assertRegex(lines[at('stratum 2 of 2 done')], r'\d+ iterations, 6 tuples, \d+\.\d+ s')
        first, loop = '  %s reach(x,y) :- edge(x,y).', '  %s reach(x,y) :- reach(x,z), edge(z,y).'
        order = [at('stratum 2 of 2: reach'), at(first % 'begin'), at(loop % 'begin'), at(loop % 'end  '),
                 at('stratum 2 of 2 done')]
        self.assertEqual(order, sorted(order))
        self.assertIn('6:1-', lines[at(loop % 'begin')])
        self.assertRegex(lines[at(loop % 'end  ')], r'3 candidates, 3 tuples, \d+\.\d+ s in \d+ runs')


class Renewed(RecordTest):
    def test_whole_at_any_time(self):
        process = self.start_product('-p', 'p.json', '--profile-every', '0.01')
        seen = set()

        def is_new(record):
            seen.add(record['total_seconds'])
            return len(seen) > 5
        self.renewed(process, is_new)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_SECONDS)

    def test_small_iterations(self):
        self.write('program.dl', '.decl r(x:number)\nr(0).\nr(x+1) :- r(x), x < 200000000.\n.printsize r\n')
        process = self.start('program.dl', '-p', 'p.json', '--profile-every', '0.05')
        self.renewed(process, lambda record: record['strata'] and record['strata'][-1]['iterations'] > 0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertRegex(errors, r'in stratum 1 of 1 \(r\), iteration \d+')
        stratum = self.record()['strata'][-1]
        self.assertEqual(sum(part[0] for part in stratum['deltas']), stratum['iterations'])

    def test_wrong_seconds(self):
        for seconds in ('0', '-1', 'x'):
            self.assert_fails(self.run_program(REACH, '-p', 'p.json', '--profile-every', seconds), '--profile-every')


if __name__ == '__main__':
    unittest.main()

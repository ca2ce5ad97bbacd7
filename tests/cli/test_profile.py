"""gpulog profile: tables, comparison and trace."""
import json
import os
import re
import unittest

from command import CommandTest, REACH

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'examples')
EDGES = {'edge.facts': ''.join('%d\t%d\n' % (i, i + 1) for i in range(200))}


def seconds_of(rule):
    """With those of the indexes that were made for it."""
    return rule['seconds'] + rule['index_seconds']


class ProfileTest(CommandTest):
    def record_of(self, example, name='p.json', *options):
        folder = os.path.join(EXAMPLES, example)
        facts = os.path.join(folder, 'facts')
        self.assert_runs(self.run_gpulog(os.path.join(folder, example + '.dl'), '-D', 'out', '-p', name, *options,
                                         '-F', facts if os.path.isdir(facts) else folder))
        return json.loads(self.read(name))

    def write_record(self, record, name='p.json'):
        self.write(name, json.dumps(record))

    def assert_refused(self, name, *texts):
        for file in os.listdir(self.path('out')):
            os.remove(self.path('out', file))
        for options in ([], ['--html', 'p.html'], ['--trace', 't.json']):
            self.assert_fails(self.run_gpulog('profile', name, *options), name, *texts)
        self.assertFalse(os.path.exists(self.path('p.html')))


class Tables(ProfileTest):
    def test_of_three_runs(self):
        for example in ('java_points_to', 'taint', 'cspa'):
            with self.subTest(example=example):
                record = self.record_of(example)
                process = self.run_gpulog('profile', 'p.json')
                self.assert_runs(process)
                lines = process.output.splitlines()
                self.assertIn('%s.dl: complete' % example, lines[0])
                self.assertLessEqual(max(map(len, lines[1:])), 80)
                times = [float(found.group(1)) for line in lines if (found := re.match(r' *(\d+\.\d{3}) +\d+ %', line))]
                self.assertEqual(times, sorted(times, reverse=True))
                ran = [rule for stratum in record['strata'] for rule in stratum['rules'] if rule['runs']]
                self.assertEqual(len(times), min(10, len(ran)))
                self.assertIn('Relations: the largest of %d' % len(record['relations']), process.output)
                heads = {}
                for rule in (rule for stratum in record['strata'] for rule in stratum['rules']):
                    name = rule['rule'].split('(')[0]
                    heads[name] = heads.get(name, 0) + seconds_of(rule)
                largest = max(record['relations'], key=lambda relation: relation['tuples'])['name']
                shown = '%.3f' % heads[largest] if largest in heads else '-'
                self.assertRegex(process.output, r'tuples +bytes +seconds +set +relation\n.* %s .* %s\n' % (re.escape(shown), largest))
                self.assertIn('Files: the slowest of %d' % len(record['files']), process.output)

    def test_time_of_indexes_is_in_that_of_their_rule(self):
        self.record_of('java_points_to')
        record = json.loads(self.read('p.json'))
        for stratum in record['strata']:
            for rule in stratum['rules']:
                rule.update(seconds=0.5, index_seconds=0)
        record['strata'][-1]['rules'][0].update(rule='late(x) :- a(x).', index_seconds=1.5)
        self.write_record(record)
        lines = self.run_gpulog('profile', 'p.json').output.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith('  seconds'))
        self.assertRegex(lines[first + 1], r'^ *2\.000 .*late\(x\) :- a\(x\)\.')
        self.assertEqual(lines[first + 3].strip(), 'of that, its indexes 1.500')
        self.assertNotIn('indexes', lines[first + 6])

    def test_lines(self):
        self.record_of('java_points_to')
        output = self.run_gpulog('profile', '-n', '1', 'p.json').output
        self.assertEqual(len(re.findall(r'^ *\d+\.\d{3} +\d+ %', output, re.M)), 1)

    def test_of_an_unfinished_run(self):
        self.run_program('.decl a(x:number)\na(0).\n.decl b(x:number)\nb(y) :- a(x), y = 1 / x.\n.output b\n', '-p', 'p.json')
        process = self.run_gpulog('profile', 'p.json')
        self.assert_runs(process)
        self.assertIn('program.dl: failed', process.output)
        self.assertIn('b(y) :- a(x)', process.output)

    def test_comparison(self):
        self.assert_runs(self.run_program(REACH, '-p', 'a.json', facts=EDGES))
        self.assert_runs(self.run_program(REACH + 'reach(x,x) :- edge(x,_).\n', '-p', 'b.json', facts=EDGES))
        process = self.run_gpulog('profile', 'a.json', 'b.json')
        self.assert_runs(process)
        self.assertIn('only B: reach(x,x)', process.output)
        self.assertRegex(process.output, r' 20100 +20300  reach')
        self.assertNotIn('  edge\n', process.output)
        self.assertLessEqual(max(map(len, process.output.splitlines()[1:])), 80)
        same = self.run_gpulog('profile', 'a.json', 'a.json')
        self.assertIn('All relations have as many tuples in both runs', same.output)
        os.remove(self.path('out', 'reach.csv'))
        self.assert_fails(self.run_gpulog('profile', 'a.json', 'b.json', '--html', 'p.html'), 'for one record')


class BadRecords(ProfileTest):
    def test_missing(self):
        self.assert_refused('nowhere.json', 'Cannot read', 'No such file')

    def test_cut_off(self):
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        text = self.read('p.json')
        for length in (1, 100, len(text) // 2, len(text) - 3):
            self.write('cut.json', text[:length])
            self.assert_refused('cut.json', 'is cut off behind %d bytes' % length)
        self.write('cut.json', '')
        self.assert_refused('cut.json', 'is empty')

    def test_other_versions(self):
        self.assert_runs(self.run_program(REACH, '-p', 'p.json', facts=EDGES))
        record = json.loads(self.read('p.json'))
        for version in (1, 3, '2'):
            record['schema_version'] = version
            self.write_record(record)
            self.assert_refused('p.json', 'of version', 'reads version 2')
        del record['schema_version']
        self.write_record(record)
        self.assert_refused('p.json', 'without a version')

    def test_no_records(self):
        for text in ('{}', '[]', '1', 'x', '{"strata": 1}', '{"schema_version": 2, "strata": 1}',
                     '{"schema_version": 2, "strata": [{"relations": 1}]}', '{"schema_version": 2, "strata": []}'):
            with self.subTest(text=text):
                self.write('x.json', text)
                self.assert_refused('x.json')


class Trace(ProfileTest):
    def test_events(self):
        record = self.record_of('reach')
        self.assert_runs(self.run_gpulog('profile', 'p.json', '--trace', 't.json'))
        events = json.loads(self.read('t.json'))['traceEvents']
        slices = [event for event in events if event['ph'] == 'X']
        self.assertTrue(all(event['dur'] >= 0 and event['ts'] >= 0 for event in slices))
        names = [event['name'] for event in slices]
        self.assertIn('evaluate', names)
        for stratum in record['strata']:
            for rule in stratum['rules']:
                if rule['seconds'] > 0:
                    self.assertIn(rule['rule'], names)
        self.assertTrue(any(event['ph'] == 'C' and event['name'] == 'memory' for event in events))


if __name__ == '__main__':
    unittest.main()

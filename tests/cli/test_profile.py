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


def sections(output):
    """Lines of each part of a report, by the first word of its title; '' for the lines before the first part."""
    parts = {'': []}
    name = ''
    for before, line in zip([None] + output.splitlines(), output.splitlines()):
        if before == '':
            name = line.split(':')[0].split()[0]
            parts[name] = []
        if line:
            parts[name].append(line)
    return parts


class ProfileTest(CommandTest):
    def record_of(self, example, name='p.json', *options):
        folder = os.path.join(EXAMPLES, example)
        facts = os.path.join(folder, 'facts')
        self.assert_runs(self.run_gpulog(os.path.join(folder, example + '.dl'), '-D', 'out', '-p', name, *options,
                                         '-F', facts if os.path.isdir(facts) else folder))
        return json.loads(self.read(name))

    def record_with_times(self):
        """A record of 20 seconds: 2 of loading, 17 of evaluation, 15 of these in one stratum, and 8 of these in its rule."""
        self.assert_runs(self.run_program('.decl a(x:number)\na(1).\na(x) :- x = 2.\n.output a\n', '-p', 'p.json'))
        record = json.loads(self.read('p.json'))
        spans = (('load', 0, 2), ('evaluate', 2, 16), ('write', 18, 1))
        record.update(total_seconds=20.0, spans=[{'name': name, 'subject': '', 'begin': begin, 'seconds': seconds, 'is_complete': True}
                                                 for name, begin, seconds in spans],
                      peak_process_bytes=3 << 29, peak_relation_bytes=2 << 30, files=[])
        del record['strata'][1:]
        stratum = record['strata'][0]
        stratum.update(begin=3.0, seconds=14.0, indexes=[], deltas=[],
                       phases=[{'name': 'join', 'seconds': 7.0}, {'name': 'index', 'seconds': 1.0},
                               {'name': 'clear', 'seconds': 0.5}, {'name': 'materialize', 'seconds': 4.0}])
        rule = stratum['rules'][0]
        rule.update(seconds=7.0, index_seconds=1.0, candidates=10, tuples=10, runs=1, counted_runs=1, operators=[])
        stratum['rules'] = [rule]
        return record

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
                rules = sections(process.output)['Rules']
                times = [float(found.group(1)) for line in rules if (found := re.match(r' *(\d+\.\d{3}) +\d+ %', line))]
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
        lines = sections(self.run_gpulog('profile', 'p.json').output)['Rules']
        self.assertRegex(lines[2], r'^ *2\.000 .*late\(x\) :- a\(x\)\.')
        self.assertEqual(lines[4].strip(), 'of that, indexes 1.500')
        self.assertNotIn('indexes', lines[7])

    def test_files_that_are_read_together_count_once(self):
        record = self.record_with_times()
        self.write_record(record)
        expected = sections(self.run_gpulog('profile', 'p.json').output)['Time']
        record['spans'] += [{'name': 'load', 'subject': name, 'begin': begin, 'seconds': seconds, 'is_complete': True}
                            for name, begin, seconds in (('b', 1.5, 0.5), ('c', 0.25, 1))]
        self.write_record(record)
        self.assertEqual(sections(self.run_gpulog('profile', 'p.json').output)['Time'], expected)

    def test_lines(self):
        self.record_of('java_points_to')
        parts = sections(self.run_gpulog('profile', '-n', '1', 'p.json').output)
        figures = {name: sum(re.match(r' *\d+\.\d{3} +\d+ %', line) is not None for line in lines) for name, lines in parts.items()}
        self.assertEqual((figures['Time'], figures['Rules']), (2, 1))
        self.assertIn('everything else', parts['Time'][-1])
        self.assertLessEqual(figures.get('Advice', 0), 1)

    def test_parts_of_the_time(self):
        self.write_record(self.record_with_times())
        self.assertEqual(sections(self.run_gpulog('profile', 'p.json').output)[''][:2], [
            'program.dl: complete, 20.000 s, -j1 on cpu', 'memory at most: process 1.5GB resident, relations 2GB allocated'])
        self.assertEqual(sections(self.run_gpulog('profile', 'p.json').output)['Time'], [
            'Time: all parts',
            '  seconds  share  part',
            '    8.000   40 %  rules, and indexes built for them',
            '    4.000   20 %  materialize: stores factorized relations as columns',
            '    2.000   10 %  load: reads fact files',
            '    2.000   10 %  between strata: evaluates no stratum',
            '    1.500    8 %  other work of strata: iterations, and planning again',
            '    1.000    5 %  write: writes result files',
            '    1.000    5 %  rest of the run: is in no part of the record',
            '    0.500    2 %  clear: ends iterations and frees memory'])
        self.assertEqual(sections(self.run_gpulog('profile', '-n', '3', 'p.json').output)['Time'][-1],
                         '    6.000   30 %  everything else')

    def test_advice(self):
        record = self.record_with_times()
        stratum = record['strata'][0]
        rule = stratum['rules'][0]
        steps = [{'operator': 'for a(x)', 'depth': 0, 'expected': 10, 'rows': 20, 'passed_on': 20},
                 {'operator': '  match b[x] -> y', 'depth': 1, 'expected': 10, 'rows': 20000, 'passed_on': 20000},
                 {'operator': 'match c[y] -> z', 'depth': 2, 'expected': 10, 'rows': 20000, 'passed_on': 20000}]
        rule.update(candidates=1000, tuples=200, operators=steps, runs=2, counted_runs=2)
        stratum['indexes'] = [{'number': 7, 'relation': 'b', 'columns': ['x', 'y'], 'key_columns': 1, 'rules': 1, 'rule': 0,
                               'refreshes': 1, 'seconds': 1.0, 'bytes': 64}]
        self.write_record(record)
        duplicates = ['    8.000   40 %  program.dl [3:1-3:15]',
                      '                  80 % of 1k candidates are duplicates (advice from 80 %): join',
                      '                  through a relation with only the columns that the head needs.']
        estimate = ['    8.000   40 %  program.dl [3:1-3:15]',
                    '                  The step "match b[x] -> y" has 20k rows, but 20 were expected',
                    '                  (advice from 1000 times): add .plan or split the rule.']
        index = ['    1.000    5 %  program.dl [3:1-3:15]',
                 '                  Index 7 of b by x,y is built for one rule: search the relation',
                 '                  by columns that other rules also search, or search a smaller',
                 '                  relation.']
        self.assertEqual(self.advice(3), duplicates + estimate + index)
        for change, left in (((rule, 'tuples', 201), (estimate, index)), ((steps[1], 'rows', 19999), (duplicates, estimate, index)),
                             ((steps[1], 'passed_on', None), (duplicates, index)),
                             ((stratum['indexes'][0], 'rules', 2), (duplicates, estimate)),
                             ((stratum['indexes'][0], 'seconds', 0.999), (duplicates, estimate)),
                             ((stratum['indexes'][0], 'seconds', None), (duplicates, estimate))):
            with self.subTest(change=change):
                place, key, value = change
                before = dict(place)
                place[key] = value
                if key == 'passed_on':
                    del place[key]
                self.write_record(record)
                lines = [line for part in left for line in part]
                if key == 'rows':
                    lines = [line.replace('"match b[x] -> y"', '"match c[y] -> z"') for line in lines]
                self.assertEqual(self.advice(len(left)), lines)
                place.clear()
                place.update(before)
        for total, pieces in ((160, 2), (161, 0)):
            record['total_seconds'] = total
            self.write_record(record)
            output = self.run_gpulog('profile', 'p.json').output
            self.assertEqual((' of the time: %d\n' % pieces in output, 'Advice' in output), (pieces > 0, pieces > 0))

    def advice(self, number):
        """Lines of advice behind the header, which has the number of pieces."""
        lines = sections(self.run_gpulog('profile', 'p.json').output)['Advice']
        self.assertEqual(lines[:2], ['Advice on rules and indexes with at least 5 %% of the time: %d' % number, '  seconds  share  rule'])
        return lines[2:]

    def test_advice_is_given_once_for_a_rule(self):
        record = self.record_with_times()
        rule = record['strata'][0]['rules'][0]
        rule.update(candidates=1000, tuples=0, seconds=4)
        record['strata'][0]['rules'] = [dict(rule, delta_atom=0), dict(rule, delta_atom=1, seconds=4.5)]
        self.write_record(record)
        self.assertEqual(self.advice(1)[0], '    5.500   28 %  program.dl [3:1-3:15], delta of atom 2')

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
            self.assert_refused('cut.json', 'ends after %d bytes, within the document' % length)
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

"""Runs that keep their results: --state, --state-strict and --changes. Results equal those of a run from scratch."""
import fcntl
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from command import IS_SANITIZED, REACH, CommandTest, scaled

SCRATCH = 'The run starts from scratch'
VALUES = '''
.type list = [head:symbol, tail:list]
.type tree = Leaf {} | Node {key:number, below:tree}
.decl edge(x:symbol, y:symbol)
.input edge
.decl weight(x:symbol, n:number, f:float, u:unsigned)
.input weight
.decl given(x:symbol, l:list, t:tree)
.input given
edge("text", "a").
.decl reach(x:symbol, y:symbol)
.input reach
.output reach
reach(x,y) :- edge(x,y).
reach(x,z) :- reach(x,y), edge(y,z).
.decl apart(x:symbol, y:symbol)
.output apart
apart(x,y) :- edge(x,_), edge(_,y), !reach(x,y).
.decl same(x:symbol, y:symbol) eqrel
.output same
same(x,y) :- edge(x,y).
.decl lists(l:list, t:tree)
.output lists
lists(l,t) :- given(_,l,t).
lists([cat(x,"+"),l], $Node(n,t)) :- given(x,l,t), weight(x,n,_,_).
.decl best(x:symbol, n:number, f:float, u:unsigned)
.output best
best(x,m,f*2,u) :- edge(x,_), m = max n : {weight(x,n,_,_)}, weight(x,m,f,u).
.decl some()
.output some
some() :- weight(_,n,_,_), n < -5.
'''
COUNTED = '.decl a(x:number)\n.input a\n.decl b(x:number, n:number)\n.output b\n'


class State(CommandTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path('scratch'))

    def run_state(self, *arguments, **options):
        return self.run_gpulog('program.dl', '-F', 'facts', '-D', 'out', '--state', 'state', *arguments, **options)

    def assert_says(self, process, message=''):
        self.assertEqual(process.returncode, 0, process.errors)
        self.assertEqual(process.errors, message)

    def assert_refuses(self, process, message):
        self.assertEqual((process.returncode, process.output), (1, ''), process.errors)
        self.assertIn('Error: ' + message + '\n', process.errors)

    def assert_as_from_scratch(self, *arguments, facts='facts'):
        self.assert_runs(self.run_gpulog('program.dl', '-F', facts, '-D', 'scratch', *arguments))
        for name in os.listdir(self.path('scratch')):
            self.assertEqual(self.rows('out', name), self.rows('scratch', name), name)

    def write_facts(self, **rows):
        for name, lines in rows.items():
            self.write(os.path.join('facts', name + '.facts'), ''.join(line + '\n' for line in lines))

    def begin(self, text=REACH, *arguments, **facts):
        self.write('program.dl', text)
        self.write_facts(**(facts or {'edge': ['1\t2', '2\t3']}))
        self.assert_says(self.run_state(*arguments))

    def evaluated(self, *arguments):
        """The relations with rules that the next run evaluates, and the files that it reads."""
        self.assert_says(self.run_state('-p', 'record', *arguments))
        record = json.loads(self.read('record'))
        relations = {name for stratum in record['strata'] if stratum['rules'] for name in stratum['relations']}
        return relations, [file['relation'] for file in record['files'] if not file['is_output']]


class Results(State):
    def test_unread_texts_distinguish_facts(self):
        program = '.decl r(a:symbol, x:number)\n.input r\n.decl n(x:number)\n.output n\nn(x) :- r(_, x).\n'
        self.begin(program, r=['a\t1', 'b\t1', 'c\t2'])
        self.write_facts(r=['b\t1', 'c\t2'])
        self.assert_says(self.run_state())
        self.assertEqual(self.rows('out', 'n.csv'), ['1', '2'])
        self.write_facts(r=['b\t3'])
        self.assert_says(self.run_state())
        self.assertEqual(self.rows('out', 'n.csv'), ['3'])

    def test_values_of_every_kind_in_random_changes(self):
        chance = random.Random(1)
        names = ['a', 'b', 'c', 'd', 'text', 'ü']
        for turn, arguments in enumerate([[], ['--storage', 'hisa'], ['-j4'], ['--word-size', '64', '--storage', 'bits'],
                                          ['--storage', 'words', '-j3'], ['--tune', 'continuation=on'],
                                          ['--tune', 'magic-sets=on']]):
            edges, weights, given, reached = set(), set(), set(), set()
            def change(rows, make):
                for _ in range(chance.randrange(3)):
                    rows.add(make())
                if rows and chance.randrange(2):
                    rows.remove(chance.choice(sorted(rows)))
            self.write('program.dl', VALUES)
            for run in range(3 if IS_SANITIZED else 8):
                name = lambda: chance.choice(names)
                change(edges, lambda: f'{name()}\t{name()}')
                change(weights, lambda: f'{name()}\t{chance.randrange(-9, 2**31)}\t{chance.randrange(9)}.5\t4000000000')
                change(given, lambda: f'{name()}\t[{name()},[{name()},nil]]\t$Node({chance.randrange(9)},$Leaf)')
                change(reached, lambda: f'{name()}\t{name()}')
                self.write_facts(edge=sorted(edges), weight=sorted(weights), given=sorted(given),
                                 reach=sorted(reached))
                with self.subTest(turn=turn, run=run):
                    self.assert_says(self.run_state(*arguments))
                    self.assert_as_from_scratch(*arguments)
            os.remove(self.path('state'))

    def test_nothing_is_read_and_evaluated_if_nothing_changes(self):
        self.begin()
        before = self.read('out', 'reach.csv')
        os.remove(self.path('out', 'reach.csv'))
        stored = os.stat(self.path('state')).st_ino
        os.utime(self.path('facts', 'edge.facts'), (0, 0))
        self.assertEqual(self.evaluated(), (set(), []))
        self.assertEqual(self.read('out', 'reach.csv'), before)
        self.assertEqual(os.stat(self.path('state')).st_ino, stored)

    def test_only_what_a_change_reaches_is_evaluated(self):
        text = REACH + '.decl other(x:number)\n.input other\n.decl more(x:number)\n.output more\nmore(x+1) :- other(x).\n'
        self.begin(text, edge=['1\t2'], other=['1', '2'])
        self.write_facts(other=['1', '3'])
        self.assertEqual(self.evaluated(), ({'more'}, ['other']))
        self.assertEqual(self.rows('out', 'more.csv'), ['2', '4'])
        self.assertEqual(self.rows('out', 'reach.csv'), ['1\t2'])
        self.write_facts(edge=['2\t1', '1\t2', '2\t1'])
        self.assertEqual(self.evaluated(), ({'reach'}, ['edge']))
        self.assert_as_from_scratch()

    def test_relations_that_are_evaluated_faster_than_stored(self):
        size = scaled(2000, 100)
        text = REACH.replace('.output reach', '.printsize reach') + \
            '.decl asked(x:number)\n.input asked\n.decl far(x:number, y:number)\n.output far\nfar(x,y) :- asked(x), reach(x,y), y % 100 = 0.\n'
        self.begin(text, edge=[f'{n}\t{n + 1}' for n in range(size)], asked=['1'])
        for asked, extra in ((['1'], []), (['2', '3'], []), (['2', '3'], ['5\t1']), (['2'], []), (['2'], [])):
            self.write_facts(asked=asked, edge=[f'{n}\t{n + 1}' for n in range(size)] + extra)
            process = self.run_state()
            self.assert_says(process)
            self.assertEqual(process.output, self.run_gpulog('program.dl', '-F', 'facts', '-D', '').output)
            self.assert_as_from_scratch()

    def test_small_relations_without_output_are_stored(self):
        columns = ', '.join(f'c{n}:number' for n in range(10))
        rules = f'.decl kept(x:number, y:number, {columns})\nkept(x,y,0,1,2,3,4,5,6,7,8,9) :- edge(x,y).\n'
        text = REACH.replace('reach(x,y) :- edge(x,y)', rules + 'reach(x,y) :- kept(x,y,_,_,_,_,_,_,_,_,_,_)')
        edges = [f'{n}\t{n + 1}' for n in range(0, 3000, 3)]
        self.begin(text, edge=edges)
        self.write_facts(edge=edges[:100] + edges[101:])
        self.assert_says(self.run_state('-p', 'record', '--tune', 'continuation=on'))
        strata = json.loads(self.read('record'))['strata']
        continued = {name for stratum in strata if stratum['continued'] for name in stratum['relations']}
        self.assertEqual(continued, {'edge', 'kept', 'reach'})
        self.assert_as_from_scratch()

    def test_abandoned_deletions_are_remembered(self):
        edges = [f'{n}\t{n + 1}' for n in range(200)]
        def regret():
            with open(self.path('state'), 'rb') as file:
                return re.findall(rb'"regret":\[([0-9.]+),', file.read())[-1].decode()
        self.begin(edge=edges)
        self.assertEqual(regret(), '1.0')
        many, others = {70, 140}, {60, 130}
        for lost, factor in ((many, '2.0'), (set(), '2.0'), (others, '4.0'), (others | {199}, '2.0'), (others | {198, 199}, '1.0')):
            self.write_facts(edge=[edge for n, edge in enumerate(edges) if n not in lost])
            self.assert_says(self.run_state('--tune', 'continuation=on'))
            self.assert_as_from_scratch()
            self.assertEqual(regret(), factor)

    def test_other_lines_with_the_same_tuples(self):
        self.begin()
        self.write_facts(edge=['2\t3', '1\t2', '2\t3'])
        self.assertEqual(self.evaluated(), (set(), ['edge']))
        self.assert_as_from_scratch()
        self.assertEqual(self.evaluated(), (set(), []))

    def test_a_tuple_in_two_files_and_in_the_text(self):
        self.begin(REACH + '.input edge(filename="more.facts")\nedge(7,8).\n', edge=['1\t2'], more=['1\t2', '7\t8', '2\t3'])
        for more in (['7\t8', '2\t3'], ['2\t3'], [], ['1\t2']):
            self.write_facts(more=more)
            self.assert_says(self.run_state())
            self.assert_as_from_scratch()
        self.write_facts(edge=[])
        self.assert_says(self.run_state())
        self.assertEqual(self.rows('out', 'reach.csv'), ['1\t2', '7\t8'])

    def test_compressed_files_standard_input_and_tables(self):
        self.write(os.path.join('facts', 'edge.facts'), gzip.compress(b'1\t2\n'))
        self.write('program.dl', REACH + '.decl n(x:number)\n.input n(IO=stdin)\n.output n\n')
        for rows in ('1\n', '2\n', '2\n3\n', ''):
            process = self.run_state(stdin=self.open_with(rows))
            self.assert_says(process)
            self.assertEqual(self.rows('out', 'n.csv'), rows.split())
        self.write(os.path.join('facts', 'edge.facts'), gzip.compress(b'1\t2\n2\t3\n'))
        self.assert_says(self.run_state(stdin=self.open_with('')))
        self.assertEqual(self.rows('out', 'reach.csv'), ['1\t2', '1\t3', '2\t3'])

    def open_with(self, text):
        file = open(self.write('input', text), encoding='utf-8')
        self.addCleanup(file.close)
        return file

    def test_folders_and_threads_may_differ(self):
        self.begin()
        shutil.move(self.path('facts'), self.path('elsewhere'))
        process = self.run_gpulog('program.dl', '-F', 'elsewhere', '-D-', '--state', 'state', '-j4', '--storage', 'hisa')
        self.assert_says(process)
        self.assertEqual(sorted(process.output.splitlines()[4:-1]), ['1\t2', '1\t3', '2\t3'])

    def test_the_program_of_an_executable(self):
        self.write('program.dl', REACH)
        self.write_facts(edge=['1\t2'])
        self.assert_runs(self.run_gpulog('program.dl', '-o', 'program'))
        for edges in (['1\t2'], ['1\t2', '2\t3']):
            self.write_facts(edge=edges)
            subprocess.run([self.path('program'), '-F', 'facts', '-D', 'out', '--state', 'state'], cwd=self.folder, check=True)
            self.assert_as_from_scratch()


class Changes(State):
    def test_tuples_that_are_new_and_lost(self):
        os.mkdir(self.path('changes'))
        text = REACH.replace('.output reach', '.output reach(delimiter=",", headers=true)') + \
            '.decl same(x:number, y:number) eqrel\nsame(x,y) :- edge(x,y).\n.output same\n.decl any()\nany() :- edge(_,_).\n.output any\n'
        def changes():
            return {name: self.rows('changes', name) for name in sorted(os.listdir(self.path('changes')))}
        self.begin(text, '--changes', 'changes', edge=['1\t2'])
        head = 'x,y'
        self.assertEqual(changes(), {
            'any.added.csv': ['()'], 'any.removed.csv': [], 'reach.added.csv': ['1,2', head], 'reach.removed.csv': [head],
            'same.added.csv': ['1\t1', '1\t2', '2\t1', '2\t2'], 'same.removed.csv': []})
        self.assert_says(self.run_state('--changes', 'changes'))
        nothing = {name: [head] if name.startswith('reach') else [] for name in changes()}
        self.assertEqual(changes(), nothing)
        self.write_facts(edge=['2\t3', '3\t4'])
        self.assert_says(self.run_state('--changes', 'changes'))
        self.assertEqual(changes(), nothing | {
            'reach.added.csv': ['2,3', '2,4', '3,4', head], 'reach.removed.csv': ['1,2', head],
            'same.added.csv': ['2\t3', '2\t4', '3\t2', '3\t3', '3\t4', '4\t2', '4\t3', '4\t4'],
            'same.removed.csv': ['1\t1', '1\t2', '2\t1']})
        self.write_facts(edge=[])
        self.assert_says(self.run_state('--changes', 'changes'))
        self.assertEqual(changes()['any.removed.csv'], ['()'])
        self.assertEqual(changes()['reach.removed.csv'], ['2,3', '2,4', '3,4', head])

    def test_flags_that_do_not_fit(self):
        self.write('program.dl', REACH)
        self.assert_fails(self.run_gpulog('program.dl', '--changes', '.'), 'Error: --changes needs --state\n')
        self.assert_fails(self.run_gpulog('program.dl', '--state-strict'), 'Error: --state-strict needs --state\n')
        self.assert_fails(self.run_gpulog('program.dl', '--state', ''), 'Error: --state: its value is empty')
        self.assert_fails(self.run_gpulog('program.dl', '--state', 's', '--changes', 'none'),
                          'Error: Folder none of --changes does not exist\n')
        self.assert_fails(self.run_gpulog('program.dl', '--state', 'none/state'),
                          'Error: Cannot open output file none/state: there is no folder none\n')


class Refusals(State):
    def assert_starts_again(self, reason, *arguments, **options):
        message = f'The state state cannot be used: {reason}'
        self.assert_refuses(self.run_state('--state-strict', *arguments, **options), message)
        self.assert_says(self.run_state(*arguments, **options), f'Warning: {message}. {SCRATCH}\n')
        self.assert_as_from_scratch(*arguments)
        self.assert_says(self.run_state('--state-strict', *arguments, **options))

    def test_other_programs_and_options(self):
        self.begin()
        self.write('program.dl', REACH + 'edge(5,6).\n')
        self.assert_starts_again('the program of the run changed')
        self.write('part.dl', '')
        self.write('program.dl', '.include "part.dl"\n' + REACH)
        self.assert_starts_again('the program of the run changed')
        self.write('part.dl', 'edge(5,6).\n')
        self.assert_starts_again('the program of the run changed')
        self.assert_starts_again('the options of the run changed', '-M', 'A=1')
        self.assert_starts_again('its words have 32 bits instead of 64', '--word-size', '64', '-M', 'A=1')

    def test_damage(self):
        self.begin()
        with open(self.path('state'), 'rb') as file:
            state = file.read()
        for turn, damaged in enumerate((state[:-1], state[:100], state[:128] + b'\xff' + state[129:],
                                        state[:192] + b'\xff' + state[193:])):
            self.write('state', damaged)
            self.write_facts(edge=['1\t2', f'2\t{turn + 9}'])  # else relations without outputs are not read
            self.assert_starts_again('it is damaged')
        self.write('state', b'gpulog state 999' + state[16:])
        self.assert_starts_again('it has the format of another version of gpulog')
        self.write('state', '')
        self.assert_says(self.run_state('--state-strict'))

    def test_another_version(self):
        self.begin()
        with open(self.path('state'), 'rb') as file:
            state = file.read()
        version = self.run_gpulog('--version').output.split()[1]
        self.assertEqual(state.count(f'"{version}"'.encode()), 1)
        self.write('state', state.replace(f'"{version}"'.encode(), b'"' + b'9' * len(version) + b'"'))
        self.assert_starts_again('it is damaged')

    def test_a_file_that_is_no_state_stays(self):
        self.write('program.dl', REACH)
        self.write_facts(edge=['1\t2'])
        self.write('state', 'precious\n')
        self.assert_fails(self.run_state(), 'Error: state is not a state of gpulog\n')
        self.assertEqual(self.read('state'), 'precious\n')
        os.remove(self.path('state'))
        os.mkdir(self.path('state'))
        self.assert_fails(self.run_state(), 'Error: Cannot open output file state: Is a directory\n')

    def test_another_process_uses_the_file(self):
        self.begin()
        with open(self.path('state'), 'rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            message = 'The state state cannot be used: another process uses it'
            self.assert_refuses(self.run_state('--state-strict'), message)
            self.assert_says(self.run_state(), f'Warning: {message}. {SCRATCH}\n')
        self.assert_says(self.run_state('--state-strict'))

    def test_many_processes(self):
        self.begin()
        self.write_facts(edge=['1\t2', '2\t4'])
        processes = []
        for number in range(6):
            os.mkdir(self.path(f'out{number}'))
            processes.append(self.start('program.dl', '-F', 'facts', '-D', f'out{number}', '--state', 'state'))
        for number, process in enumerate(processes):
            process.communicate()
            self.assertEqual(process.returncode, 0)
            self.assertEqual(self.rows(f'out{number}', 'reach.csv'), ['1\t2', '1\t4', '2\t4'])
        self.assertEqual(self.evaluated('--state-strict'), (set(), []))

    def test_what_depends_on_order_is_computed_from_scratch(self):
        for rules, reason in (
                ('b(x, ord(s)) :- a(x), s = to_string(x).\n', 'a rule reads internal numbers of symbols or records'),
                ('b(x, autoinc()) :- a(x).\n',
                 'relation b has a counter, or an aggregate that depends on the order'),
                ('.decl c(x:number, n:number) choice-domain x\nc(x % 2, x) :- a(x).\nb(x,y) :- c(x,y).\n',
                 'relation c has a choice-domain'),
                ('b(x % 2, x) :- a(x).\nb(x,n) <= b(x,m) :- n < m.\n', 'relation b has a subsumption'),
                ('b(x, x) :- a(x).\n.limitsize b(n=2)\n', 'relation b has .limitsize')):
            with self.subTest(reason=reason):
                self.begin(COUNTED + rules, a=['1', '2', '3'])
                self.assertEqual(self.evaluated('--state-strict'), (set(), []))  # nothing has changed
                self.write_facts(a=['3', '4', '1'])
                self.assert_starts_again('facts have changed, and ' + reason)
                os.remove(self.path('state'))

    def test_functors(self):
        library = os.environ['GPULOG_FUNCTORS']
        for file in os.listdir(library):
            if file == 'libfunctors.so':
                shutil.copy(os.path.join(library, file), self.path(file))
        rules = '.functor add_length(x:number, text:symbol):number\nb(x, @add_length(x, "abc")) :- a(x).\n'
        self.begin(COUNTED + rules, a=['1'])
        self.assertEqual(self.evaluated('--state-strict'), (set(), []))
        with open(self.path('libfunctors.so'), 'ab') as file:
            file.write(b'changed')
        self.assert_starts_again('a library of functors has changed')
        stateful = '.functor known_symbols():number stateful\nb(x, @known_symbols()) :- a(x).\n'
        self.write('program.dl', COUNTED + stateful)
        self.assert_runs(self.run_state())
        for _ in range(2):
            self.assert_says(self.run_state(), 'Warning: The state state cannot be used: the program has stateful '
                                               f'functors. {SCRATCH}\n')


class Failures(State):
    def test_a_file_that_is_missing_or_has_other_columns(self):
        self.begin()
        os.remove(self.path('facts', 'edge.facts'))
        process = self.run_state()
        self.assertEqual(process.returncode, 1)
        self.assertIn('Cannot open fact file edge.facts', process.errors)
        self.assert_says(self.run_state('-w'))
        self.assertEqual(self.rows('out', 'reach.csv'), [])
        self.assertEqual(self.evaluated('-w'), (set(), []))
        self.write_facts(edge=['1'])
        process = self.run_state()
        self.assertEqual(process.returncode, 1)
        self.assertIn('edge.facts', process.errors)
        self.write_facts(edge=['1\t2', '2\t3'])
        self.assert_says(self.run_state('--state-strict'))
        self.assert_as_from_scratch()

    def test_a_failed_run_keeps_the_state(self):
        self.begin(COUNTED + 'b(x, 6 / x) :- a(x).\n', a=['1', '2'])
        before = self.read_bytes('state')
        self.write_facts(a=['0'])
        self.assertEqual(self.run_state().returncode, 1)
        self.assertEqual(self.read_bytes('state'), before)
        self.write_facts(a=['1', '2'])
        self.assertEqual(self.evaluated('--state-strict'), (set(), []))

    def read_bytes(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def test_a_full_disk(self):
        self.begin()
        before = self.read_bytes('state')
        self.write_facts(edge=['1\t2', '2\t4'])
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        message = 'The state state was not stored: Cannot write output file state: File too large'
        self.assert_says(self.run_state(preexec_fn=limit), f'Warning: {message}\n')
        self.assert_as_from_scratch()
        self.assert_refuses(self.run_state('--state-strict', preexec_fn=limit), message)
        self.assertEqual(self.read_bytes('state'), before)
        self.assertEqual([name for name in os.listdir(self.folder) if 'unfinished' in name], [])

    def test_a_run_that_ends_between_two_writes_leaves_the_earlier_results(self):
        edges = [f'{n}\t{n + 1}' for n in range(0, 600, 2)]
        more, other = edges[1:] + ['1\t5', '2\t7'], edges[3:] + ['1\t5', '2\t7']
        run = lambda: self.run_state('--state-strict', '--tune', 'continuation=on', '-p', 'record')
        self.begin(edge=edges)
        before, file = self.read_bytes('state'), os.stat(self.path('state')).st_ino
        self.write_facts(edge=more)
        self.assert_says(run())
        after = self.read_bytes('state')
        self.assertEqual(os.stat(self.path('state')).st_ino, file)
        places = [place for place in range(len(before)) if before[place] != after[place]]
        commit = {place for place in places if place < 192}
        self.assertTrue(commit <= set(range(64, 128)) or commit <= set(range(128, 192)), commit)
        # All writes before the commit, and the first ones of them.
        for end in (len(before), (len(before) + len(after)) // 2, len(after)):
            for begin in (192, len(before)):
                self.write('state', before[:begin] + after[begin:end])
                self.write_facts(edge=other)
                self.assert_says(run())
                self.assert_as_from_scratch()
                self.write_facts(edge=more)
                self.assert_says(run())
                self.assert_as_from_scratch()

    def test_the_file_grows_to_a_bound(self):
        chance = random.Random(3)
        edges = [f'{n}\t{n + 1}' for n in range(0, 1000, 2)]
        self.begin(edge=edges)
        size, files = len(self.read_bytes('state')), set()
        for _ in range(scaled(80, 10)):
            edges[chance.randrange(len(edges))] = f'{chance.randrange(1000)}\t{chance.randrange(1001, 2000)}'
            self.write_facts(edge=edges)
            self.assert_says(self.run_state('--tune', 'continuation=on'))
            self.assertLess(len(self.read_bytes('state')), 8 * size + 2**17)
            files.add(os.stat(self.path('state')).st_ino)
        self.assert_as_from_scratch()
        self.assertLess(len(files), scaled(40, 10))

    def test_killed_runs_leave_a_whole_state(self):
        chance = random.Random(2)
        size = scaled(2000, 200)
        edges = [f'{n}\t{n + 1}' for n in range(10)]
        self.begin(REACH, edge=edges)
        for turn in range(scaled(30, 6)):
            if turn % 3 == 0:
                edges = [f'{n}\t{chance.randrange(n + 1, n + 9)}' for n in range(size)]
            else:  # a deletion that continues
                lost = set(chance.sample(edges, 5))
                edges = [edge for edge in edges if edge not in lost]
            self.write_facts(edge=edges)
            process = self.start('program.dl', '-F', 'facts', '-D', 'out', '--state', 'state', '--tune', 'continuation=on')
            time.sleep(chance.random() * 0.2)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            with self.subTest(turn=turn):
                self.assert_says(self.run_state('--state-strict', '--tune', 'continuation=on'))
                if turn % 3 != 0:
                    self.assert_as_from_scratch()


if __name__ == '__main__':
    unittest.main()

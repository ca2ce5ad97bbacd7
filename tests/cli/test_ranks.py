"""Runs with several ranks: results are those of one rank, and a rank that fails ends all ranks with one message."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from command import REACH, CommandTest

EDGES = ''.join('%d\t%d\n' % (x, (x * 7 + 3) % 101) for x in range(101))

# Numbers of texts, records and autoinc(), choices and classes depend on the order of evaluation.
MANY_FEATURES = '''
.decl edge(x:number, y:number)
.input edge
.type Pair = [x:number, y:number]
.decl name(x:number, s:symbol)
name(x, cat("n", to_string(x))) :- edge(x, _).
.decl pair(p:Pair, n:number)
pair([x, y], autoinc()) :- edge(x, y), x < 5.
.decl chosen(x:number, y:number) choice-domain x
chosen(x, y) :- edge(x, y).
.decl same(x:number, y:number) eqrel
same(x, y) :- edge(x, y), x < 20.
.decl total(n:number)
total(n) :- n = sum x : { edge(x, _) }.
.decl unreached(x:number)
unreached(x) :- edge(x, _), !same(x, _).
.output name, pair, chosen, same, total, unreached
.printsize same
'''

# Rank 0 computes the texts and the records, and all ranks the rest.
DIVIDED = '''
.decl edge(x:number, y:number)
.input edge
.type Pair = [x:number, y:number]
.decl path(x:number, y:number, steps:number)
path(x, y, 1) :- edge(x, y).
path(x, z, n + 1) :- path(x, y, n), edge(y, z), n < 4.
.decl pair(p:Pair)
pair([x, y]) :- path(x, y, 4).
.decl text(s:symbol)
text(cat("n", to_string(x))) :- pair([x, _]).
.decl even(x:number)
.decl odd(x:number)
even(0).
odd(y) :- even(x), edge(x, y).
even(y) :- odd(x), edge(x, y).
.decl both(x:number)
both(x) :- even(x), odd(x).
.decl none(x:number)
none(x) :- edge(x, _), !path(_, x, 2).
.decl degree(x:number, n:number)
degree(x, n) :- edge(x, _), n = count : { path(x, _, _) }.
.decl least(x:number, y:number)
least(x, y) :- edge(x, _), y = min z : { path(x, z, 2) }.
.output path, pair, text, even, odd, both, none, degree, least
'''

CLOSURE = REACH + '''
.printsize reach
.decl size(n:number)
size(n) :- n = count : { reach(_, _) }.
.printsize size
'''

ENDLESS = '''
.decl n(x:number)
n(0).
n(x + 1) :- n(x), x < 2000000000.
.output n
'''


@unittest.skipUnless(os.environ.get('GPULOG_MPI') == 'ON', 'skipped: built without MPI')
class Ranks(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}

    def start(self, *arguments, **options):
        options.setdefault('env', self.environment)
        return super().start(*arguments, **options)

    def mpirun(self, *arguments):
        """Runs mpirun itself, which adds its own messages."""
        environment = {**self.environment, 'OMPI_MCA_rmaps_base_oversubscribe': '1', 'OMPI_MCA_orte_execute_quiet': '1'}
        return subprocess.run(['mpirun', *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def results(self, text, *arguments, **options):
        process = self.run_program(text, *arguments, facts={'edge.facts': EDGES}, **options)
        self.assertEqual((process.returncode, process.errors), (0, ''))
        files = {name: sorted(self.read('out', name).splitlines()) for name in os.listdir(self.path('out'))}
        for name in files:
            os.remove(self.path('out', name))
        return files, process.output

    def assert_error(self, process, message, status=1):
        self.assertEqual((process.returncode, process.errors, process.output), (status, 'Error: %s\n' % message, ''))
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_results_are_those_of_one_rank(self):
        expected = self.results(MANY_FEATURES)
        self.assertEqual(len(expected[0]), 6)
        for ranks in ('2', '3'):
            self.assertEqual(self.results(MANY_FEATURES, '--ranks', ranks), expected)
        self.assertEqual(self.results(MANY_FEATURES, '--ranks', '1'), expected)

    def test_strata_are_divided(self):
        divide = ('--tune', 'divided-strata=on', '--tune', 'rows=loop')
        for text in (DIVIDED, MANY_FEATURES):
            expected = self.results(text)
            for options in (('--ranks', '2'), ('--ranks', '3', '-j', '2'), ('--ranks', '4', '--storage', 'bits')):
                with self.subTest(options=options):
                    self.assertEqual(self.results(text, *options, *divide), expected)
        self.results(DIVIDED, '--ranks', '3', *divide, '-p', 'p.json')
        figures = json.loads(self.read('p.json'))
        strategies = {stratum['relations'][0]: stratum['strategies'] for stratum in figures['strata']
                      if stratum['relations'] and stratum['strategies']}
        self.assertEqual(strategies['path'], ['versions on all ranks', 'loop on all ranks'])
        self.assertEqual(strategies['degree'], ['versions on all ranks'])
        self.assertEqual(strategies['text'], ['versions'])

    def test_devices_partition_strata(self):
        process = self.run_program(REACH.replace('.output', '.printsize'), '--backend', 'gpu', facts={'edge.facts': EDGES})
        if process.errors.startswith('Error: --backend gpu'):
            self.skipTest('no GPU')
        for text, options in ((DIVIDED, ('--tune', 'rows=loop')), (CLOSURE, ()), (CLOSURE, ('--tune', 'rows=search'))):
            expected = self.results(text)
            for ranks in ('2', '3'):
                with self.subTest(options=options, ranks=ranks):
                    self.assertEqual(self.results(text, '--ranks', ranks, '--tune', 'divided-strata=on', '--backend', 'gpu',
                                                  '-p', 'p.json', *options), expected)
                    strata = json.loads(self.read('p.json'))['strata']
                    strategies = [one['strategies'] for one in strata if one['relations'][0] in ('path', 'reach')]
                    self.assertEqual([one.endswith(' on all ranks') for one in strategies[0]], [True, True])

    def test_failures_of_divided_strata(self):
        divide = ('--tune', 'divided-strata=on', '--ranks', '3')
        for divisor in range(4):
            numbers = '.decl n(x:number)\nn(x) :- x = range(0, 100).\n'
            endless = '.decl a(x:number, m:number)\na(x, 0) :- n(x).\na(x, m + 1 + 1 / (x - %d)) :- a(x, m).\n.output a\n'
            for rules in ('.decl a(x:number)\na(1 / (x - %d)) :- n(x).\n.output a\n', endless):
                text = numbers + rules % divisor
                alone = self.run_program(text)
                self.assertEqual(alone.returncode, 1)
                together = self.run_program(text, *divide, '--memory-limit', '500M')
                self.assertEqual(self.without_times(together), self.without_times(alone))
        process = self.run_program(CLOSURE, *divide, '--tune', 'rows=loop', '--memory-limit', '600K',
                                   facts={'edge.facts': EDGES + ''.join('%d\t%d\n' % (x, x + 1) for x in range(400))})
        self.assertEqual((process.returncode, os.listdir(self.path('out'))), (1, []))
        self.assertRegex(process.errors, r'^Error: (rank [12] \(process \d+ on [^ ]+\): )?Out of memory while ')

    def test_closures_are_counted_by_all_ranks(self):
        edges = ''.join('%d\t%d\n%d\t%d\n' % (x, x + 1 + x % 7, x, x + 1 + x % 301) for x in range(3000))
        expected = self.results_of_closure(edges)
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                options = ('--ranks', str(ranks), '-j', str(ranks - 1), '-p', 'p.json')
                self.assertEqual(self.results_of_closure(edges, *options), expected)
                figures = json.loads(self.read('p.json'))
                self.assertEqual(figures['ranks']['count'], ranks)
                phases = [phase['name'] for stratum in figures['strata'] for phase in stratum['phases']]
                self.assertIn('strips on all ranks', phases)
                self.assertNotIn('strips', phases)
        # More ranks than rows.
        self.assertEqual(self.results_of_closure('1\t2\n', '--ranks', '4'), (['1\t2'], 'reach\t1\nsize\t1\n'))

    def test_more_threads_than_processors(self):
        edges = ''.join('%d\t%d\n' % (x, x + 1) for x in range(20000))
        process = self.run_program(REACH.replace('.output', '.printsize'), '--ranks', '2', '-j', str(2 * os.cpu_count() + 2),
                                   '--tune', 'rows=recursions', facts={'edge.facts': edges})
        self.assertEqual((process.returncode, process.output, process.errors), (0, 'reach\t200010000\n', ''))

    def results_of_closure(self, edges, *arguments):
        process = self.run_program(CLOSURE, '--tune', 'rows=recursions', *arguments, facts={'edge.facts': edges})
        self.assertEqual((process.returncode, process.errors), (0, ''))
        return self.rows('out', 'reach.csv'), process.output

    def test_mpirun_starts_ranks(self):
        self.write('program.dl', REACH)
        self.write('facts/edge.facts', '1\t2\n2\t3\n')
        for size in ('1', '3'):
            run = self.mpirun('-n', size, self.gpulog, 'program.dl', '-F', 'facts', '-D-')
            self.assertEqual((run.returncode, run.stderr), (0, ''))
            self.assertEqual(sorted(re.findall(r'^\d+\t\d+$', run.stdout, re.M)), ['1\t2', '1\t3', '2\t3'])

    def test_standard_input_is_read_by_rank_0(self):
        process = self.start('-', '-D', 'out', '--ranks', '2', stdin=subprocess.PIPE)
        output, errors = process.communicate('.decl a(x:number)\na(7).\n.output a\n', timeout=60)
        self.assertEqual((process.returncode, output, errors), (0, '', ''))
        self.assertEqual(self.read('out', 'a.csv'), '7\n')

    def test_executable_runs_with_ranks(self):
        self.assert_runs(self.run_program('.decl a(x:number)\na(7).\n.output a\n', '-o', 'program'))
        folder = os.path.dirname(self.gpulog)
        os.symlink(os.path.join(folder, 'libgpulog_mpi.so'), self.path('libgpulog_mpi.so'))
        run = self.mpirun('-n', '2', './program', '-D', 'out')
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, '', ''))
        self.assertEqual(self.read('out', 'a.csv'), '7\n')

    def test_number_of_ranks(self):
        for number in ('0', '-1', 'x', '2x', '99999999999'):
            self.assert_error(self.run_program(REACH, '--ranks=' + number),
                              "--ranks: it may only be set to an integer greater than 0, not to '%s' "
                              '(gpulog --help lists the options)' % number)
        run = self.mpirun('-n', '2', self.gpulog, 'program.dl', '--ranks', '3')
        self.assertEqual((run.returncode, run.stdout, run.stderr),
                         (1, '', 'Error: --ranks 3: mpirun has started 2 ranks\n'))

    def test_other_arguments(self):
        self.write('program.dl', REACH)
        # Under load, mpirun may end before it has passed on what a rank wrote.
        for _ in range(4):
            run = self.mpirun('-n', '1', self.gpulog, 'program.dl', ':', '-n', '1', self.gpulog, 'program.dl', '-D', 'out')
            self.assertEqual((run.returncode, run.stdout), (1, ''))
            if run.stderr:
                break
        self.assertRegex(run.stderr, r"^Error: the arguments of rank 1 \(process \d+ on %s\) are 'program.dl -D out', but "
                                     r"those of rank 0 are 'program.dl'\n$" % socket.gethostname())

    @unittest.skipUnless(os.geteuid() == 0, 'skipped: not root')
    def test_root(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('OMPI_')}
        self.assert_error(self.run_program(REACH, '--ranks', '2', env=environment),
                          '--ranks 2: mpirun runs as root only with the variables OMPI_ALLOW_RUN_AS_ROOT=1 and '
                          'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1')

    def test_launcher_of_another_mpi(self):
        environment = {**self.environment, 'OMPI_COMM_WORLD_SIZE': '3'}
        self.assert_error(self.run_program(REACH, env={**environment, 'OMPI_COMM_WORLD_RANK': '0'}),
                          '3 processes were started, but MPI has 1: start them with the mpirun of this MPI')
        silent = self.run_program(REACH, env={**environment, 'OMPI_COMM_WORLD_RANK': '1'})
        self.assertEqual((silent.returncode, silent.output, silent.errors), (1, '', ''))
        self.assertEqual(os.listdir(self.path('out')), [])
        self.assertEqual(self.results(REACH, '--ranks', '1', env=environment), self.results(REACH))

    def test_without_mpirun(self):
        self.assert_error(self.run_program(REACH, '--ranks', '2', env={**self.environment, 'PATH': self.folder}),
                          '--ranks 2: mpirun cannot be started: No such file or directory')

    def test_without_mpi(self):
        shutil.copy(self.gpulog, self.path('gpulog'))
        self.gpulog = self.path('gpulog')
        reason = ('Several ranks need a gpulog that was built with MPI (libgpulog_mpi.so: cannot open shared object file: '
                  'No such file or directory)')
        self.assert_error(self.run_program(REACH, '--ranks', '2'), reason)
        self.assertEqual(self.mpirun('-n', '2', self.gpulog, 'program.dl').stderr, 'Error: %s\n' % reason)

    def test_failures_of_the_run(self):
        for text, options in (('.decl a(x:number)\na(1 / (x - x)) :- x = range(0, 4).\n.output a\n', ()),
                              ('.decl a(x:number)\na(x) :- b(x).\n.output a\n', ()),
                              ('.decl a(x:number)\n.input a\n.output a\n', ()),
                              ('.decl a(x:number)\na(x) :- x = range(0, 100000).\n.output a\n', ('--memory-limit', '64K'))):
            alone = self.run_program(text, *options)
            # Otherwise, ranks share the memory (test_ranks_share_what_exceeds_the_memory_of_one).
            alone_at_rank_0 = ('--tune', 'divided-strata=off') if options else ()
            together = self.run_program(text, *options, '--ranks', '2', *alone_at_rank_0)
            self.assertEqual(alone.returncode, 1)
            self.assertEqual(self.without_times(together), self.without_times(alone))
            self.assertEqual(os.listdir(self.path('out')), [])

    def test_ranks_share_what_exceeds_the_memory_of_one(self):
        options = ('--memory-limit', '3M', '--tune', 'rows=off')
        edges = {'edge.facts': ''.join('%d\t%d\n' % (x, x + 1) for x in range(500))}
        counted = REACH.replace('.output', '.printsize')
        alone = self.run_program(counted, *options, facts=edges)
        self.assertEqual((alone.returncode, alone.output), (1, ''))
        self.assertRegex(alone.errors, '^Error: Out of memory while extending relation reach')
        together = self.run_program(counted, *options, '--ranks', '3', '-p', 'p.json', facts=edges)
        self.assertEqual((together.returncode, together.errors, together.output), (0, '', 'reach\t125250\n'))

    @staticmethod
    def without_times(process):
        return process.returncode, process.output, process.errors.split(' after ')[0]

    def begin(self):
        """Starts an endless run with three ranks. Returns the process and, by rank, the process numbers of the ranks."""
        self.write('program.dl', ENDLESS)
        process = self.start('program.dl', '-D', 'out', '-v', '--ranks', '3')
        self.addCleanup(process.kill)
        while not process.stderr.readline().startswith('  begin n((x+1))'):
            pass
        ranks = {}
        for child in self.children(process.pid):
            with open('/proc/%d/environ' % child, encoding='utf-8') as file:
                variables = dict(entry.split('=', 1) for entry in file.read().split('\0') if '=' in entry)
            ranks[int(variables['OMPI_COMM_WORLD_RANK'])] = child
        self.assertEqual(sorted(ranks), [0, 1, 2])
        return process, ranks

    @staticmethod
    def state(number):
        """Returns the letter of a process's state and its parent, or None if there is no such process."""
        try:
            with open('/proc/%d/stat' % number, encoding='ascii', errors='replace') as file:
                letter, parent = file.read().rsplit(')', 1)[1].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            return None
        return letter, int(parent)

    def children(self, parent):
        numbers = [int(name) for name in os.listdir('/proc') if name.isdigit()]
        return [number for number in numbers if (self.state(number) or (None, None))[1] == parent]

    def wait_for(self, number):
        """Waits until a process has ended: mpirun may end before ranks that it has killed."""
        while (self.state(number) or 'Z')[0] != 'Z':
            time.sleep(0.01)

    def end(self, process):
        output, errors = process.communicate(timeout=60)
        self.assertEqual(output, '')
        self.assertEqual(os.listdir(self.path('out')), [])
        return errors

    def test_killed_rank(self):
        for rank in (0, 2):
            process, ranks = self.begin()
            os.kill(ranks[rank], signal.SIGKILL)
            self.assertEqual(self.end(process), 'Error: the run ends because rank %d (process %d on %s) has ended\n'
                             % (rank, ranks[rank], socket.gethostname()))
            self.assertEqual(process.returncode, 128 + signal.SIGKILL)

    def test_interrupted_run(self):
        process, ranks = self.begin()
        process.send_signal(signal.SIGINT)
        errors = self.end(process)
        # The position has a rule unless the signal arrives between two rules.
        self.assertRegex(errors, r'^(Interrupted by SIGTERM after [^\n]*\n(in rule:\n[^\n]*\nin file [^\n]*\n)?)?$')
        self.assertNotEqual(process.returncode, 0)
        for number in ranks.values():
            self.wait_for(number)


if __name__ == '__main__':
    unittest.main()

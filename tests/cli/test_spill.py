"""--spill: relations that exceed the memory limit go to a folder; results are those of a run in memory."""
import json
import os
import resource
import unittest

from command import CommandTest, IS_SANITIZED

# About 40 MB of relations of each kind: facts, a join, a recursion, texts, an aggregate, a negation.
LARGE = '''
.decl edge(x:number, y:number)
edge(x, (x * 7919 + 13) % 200000) :- x = range(0, 200000).
.decl two(x:number, y:number, z:number)
two(x, y, z) :- edge(x, y), edge(y, z).
two(x, y, x) :- edge(x, y), edge(_, x).
.decl grown(x:number, n:number, s:symbol)
grown(x, 0, to_string(x)) :- edge(x, _), x < 40000.
grown(y, n + 1, s) :- grown(x, n, s), edge(x, y), n < 4.
.decl degree(x:number, n:number)
degree(x, n) :- edge(x, _), n = count : two(_, x, _).
.decl rest(x:number, y:number)
rest(x, y) :- edge(x, y), !two(x, y, x).
.output two
.output grown
.output degree
.output rest
'''


class Spill(CommandTest):
    def results(self, *arguments):
        process = self.run_program(LARGE, '--backend', 'cpu', '-p', 'p.json', *arguments)
        self.assert_runs(process)
        return [sorted(self.read('out', name + '.csv').splitlines()) for name in ('two', 'grown', 'degree', 'rest')]

    def assert_out_of_memory(self, process, reason):
        self.assertEqual((process.returncode, process.output), (1, ''), process.errors)
        first = process.errors.splitlines()[0]
        self.assertTrue(first.startswith('Error: Out of memory while '), first)
        self.assertTrue(first.endswith(reason), first)
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_results_are_those_of_a_run_in_memory(self):
        expected = self.results()
        self.assertEqual(json.loads(self.read('p.json'))['peak_spilled_bytes'], 0)
        os.mkdir(self.path('disk'))
        self.write('disk/of others', 'precious')
        for storage in ('words', 'hisa') if IS_SANITIZED else ('hash', 'bits', 'words', 'hisa'):
            for jobs in ('4',) if IS_SANITIZED else ('1', '4'):
                with self.subTest(storage=storage, jobs=jobs):
                    options = ('--storage', storage, '-j', jobs)
                    spilled = self.results('--memory-limit', '16M', '--spill', 'disk', *options)
                    self.assertTrue(spilled == expected)
                    figures = json.loads(self.read('p.json'))
                    self.assertGreater(figures['peak_spilled_bytes'], 8 << 20)
                    self.assertLessEqual(figures['peak_relation_bytes'], 16 << 20)
                    self.assertEqual(os.listdir(self.path('disk')), ['of others'])

    def test_without_a_limit_nothing_is_spilled_from_a_small_program(self):
        self.results('--spill', '.')
        self.assertEqual(json.loads(self.read('p.json'))['peak_spilled_bytes'], 0)

    def test_memory_for_small_arrays_is_still_limited(self):
        text = ''.join('.decl r%d(x:number)\nr%d(x) :- x = range(0, 4000).\n.output r%d\n' % (i, i, i) for i in range(40))
        process = self.run_program(text, '--backend', 'cpu', '--memory-limit', '64K', '--spill', '.')
        self.assert_out_of_memory(process, ', and the limit is 65536 bytes (raise it with --memory-limit)')

    def test_a_full_disk_is_an_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        process = self.run_program(LARGE, '--backend', 'cpu', '--memory-limit', '16M', '--spill', '.', preexec_fn=limit)
        self.assert_out_of_memory(process, ', and the limit is 16777216 bytes '
                                  '(raise it with --memory-limit; folder . of --spill is full)')

    def test_the_folder_is_checked_before_the_run(self):
        self.write('file', '')
        for folder, reason in (('missing', 'No such file or directory'), ('file', 'Not a directory'),
                               ('/proc', 'No such file or directory')):
            with self.subTest(folder=folder):
                process = self.run_program(LARGE, '--spill', folder)
                self.assert_fails(process)
                self.assertEqual(process.errors, 'Error: --spill %s: %s\n' % (folder, reason))

    def test_a_message_without_a_folder_names_the_flag(self):
        process = self.run_program(LARGE, '--backend', 'cpu', '--memory-limit', '8M')
        self.assert_out_of_memory(process, ', and the limit is 8388608 bytes '
                                  '(raise it with --memory-limit, or name a folder with --spill)')


if __name__ == '__main__':
    unittest.main()

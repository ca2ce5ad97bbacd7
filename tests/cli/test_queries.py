"""--query: what is asked of a program, and what is printed and written then."""
import json
import os
import unittest

from command import CommandTest, REACH

FACTS = {'edge.facts': '1\t2\n2\t3\n3\t2\n'}
LINE, END = '-' * 15, '=' * 15


def table(name, *lines):
    return '\n'.join((LINE, name, *lines[:1], END, *sorted(lines[1:]), END)) + '\n'


class Queries(CommandTest):
    def ask(self, *arguments, text=REACH, with_output=False):
        self.write('program.dl', text)
        for name, rows in FACTS.items():
            self.write(os.path.join('facts', name), rows)
        folders = ['-F', 'facts'] + (['-D', 'out'] if with_output else [])
        return self.run_gpulog('program.dl', *folders, *arguments)

    def assert_prints(self, printed, *arguments, **options):
        process = self.ask(*arguments, **options)
        self.assert_runs(process)
        self.assertEqual(process.errors, '')
        # Rows have no order.
        self.assertEqual(sorted(process.output.splitlines()), sorted(printed.splitlines()), process.output)
        return process.output

    def test_tables(self):
        self.assert_prints(table('reach(1,x)', 'x', '2', '3'), '--query', 'reach(1,x)')
        output = self.assert_prints(table('reach(x, y), x != y', 'x\ty', '1\t2', '1\t3', '2\t3', '3\t2'),
                                    '--query', ' reach(x, y), x != y. ')
        self.assertTrue(output.startswith('\n'.join((LINE, 'reach(x, y), x != y', 'x\ty', END, ''))), output)
        self.assert_prints(table('reach(9,x)', 'x'), '--query=reach(9,x)')
        self.assert_prints(table('reach(1, x), x > 2', 'x', '3'), '--query', 'reach(1,\nx), x > 2')

    def test_truth(self):
        self.assert_prints('\n'.join((LINE, 'reach(1,3)', END, 'true', END, '')), '--query', 'reach(1,3)')
        self.assert_prints('\n'.join((LINE, 'reach(3,1)', END, 'false', END, '')), '--query', 'reach(3,1)')
        self.assert_prints('\n'.join((LINE, 'reach(1,_)', END, 'true', END, '')), '--query', 'reach(1,_)')

    def test_forms_for_scripts(self):
        text = '.decl a(x:number, s:symbol)\na(1, "q\\"t").\na(2, "b,c").\n'
        for form, printed in (('csv', 'x,y\n1,"q""t"\n2,"b,c"\n'), ('tsv', 'x\ty\n1\tq"t\n2\tb,c\n'),
                              ('json', '[{"x": 1, "y": "q\\"t"}, {"x": 2, "y": "b,c"}]\n')):
            with self.subTest(form=form):
                output = self.ask('--query', 'a(x, y)', '--format', form, text=text).output
                if form == 'json':
                    self.assertEqual(sorted(json.loads(output), key=str), json.loads(printed))
                    self.assertTrue(output.endswith(']\n'))
                else:
                    self.assertEqual(sorted(output.splitlines()), sorted(printed.splitlines()))
                    self.assertEqual(output.splitlines()[0], printed.splitlines()[0])
                for query, answer in (('a(1, _)', 'true\n'), ('a(3, _)', 'false\n')):
                    self.assertEqual(self.ask('--query', query, '--format', form, text=text).output, answer)
        self.assert_prints(table('reach(9,x)', 'x'), '--query=reach(9,x)', '--format', 'table')
        self.assert_fails(self.ask('--query', 'reach(1,x)', '--format', 'xml'),
                          "Error: --format may only be set to table, csv, tsv or json, not to 'xml'")

    def test_forms_with_printed_outputs(self):
        text = '.decl a(x:number)\na(1).\n.output a\n'
        self.write('program.dl', text)
        self.assertEqual(self.run_gpulog('program.dl', '-D-', '--query', 'a(x)', '--format', 'json').output,
                         '---------------\na\nx\n===============\n1\n===============\n[{"x": 1}]\n')

    def test_several_come_in_their_order(self):
        output = self.assert_prints(table('edge(1,x)', 'x', '2') + table('reach(x,1)', 'x'),
                                    '--query', 'edge(1,x)', '--query', 'reach(x,1)')
        self.assertLess(output.index('edge(1,x)'), output.index('reach(x,1)'))

    def test_on_all_machines(self):
        for arguments in (['-j', '2'], ['--storage', 'hisa'], ['--storage', 'bits'], ['--word-size', '64'],
                          ['--tune', 'unneeded-relations=off']):
            self.assert_prints(table('reach(1,x)', 'x', '2', '3'), '--query', 'reach(1,x)', *arguments)

    def test_outputs_are_written_where_they_are_asked_for(self):
        before = set(os.listdir(self.folder))
        self.assert_prints(table('edge(1,x)', 'x', '2'), '--query', 'edge(1,x)', text=REACH + '.printsize reach\n')
        self.assertEqual(set(os.listdir(self.folder)) - before, {'program.dl'})
        self.assert_prints(table('edge(1,x)', 'x', '2') + 'reach\t6\n', '--query', 'edge(1,x)', with_output=True,
                           text=REACH + '.printsize reach\n')
        self.assertEqual(len(self.rows('out', 'reach.csv')), 6)

    def test_nothing_else_is_loaded_and_evaluated(self):
        text = REACH + '.decl other(x:number)\n.input other\nreach(x,x) :- other(x).\n'
        # There is no file other.facts.
        process = self.ask('--query', 'edge(1,x)', '--stats', 'record.json', text=text)
        self.assert_runs(process)
        record = json.loads(self.read('record.json'))
        run = [name for stratum in record['strata'] for name in stratum['relations']]
        self.assertNotIn('reach', run)
        self.assertEqual([file['relation'] for file in record['files'] if not file['is_output']], ['edge'])
        self.assert_fails(self.ask('--query', 'reach(1,x)', text=text), 'other.facts')

    def test_errors_have_a_place(self):
        self.assert_fails(self.ask('--query', 'edge(x,y), raech(x,y)'),
                          "Error: Undefined relation raech, did you mean 'reach'? in file --query at line 1\n",
                          'edge(x,y), raech(x,y)\n-----------^----------\n')
        self.assert_fails(self.ask('--query', 'edge(x,'), 'syntax error', 'in file --query at line 1')
        self.assert_fails(self.ask('--query', ''), 'syntax error', 'in file --query at line 1')
        process = self.ask('--query', 'edge(x,"a")')
        self.assertIn('Symbol constant (type mismatch) in file --query at line 1\n', process.errors)
        self.assertIn('Attribute y of relation edge is declared as number in file program.dl at line 2\n', process.errors)
        process = self.ask('--query', 'edge(x,y', '--diagnostics', 'json')
        remark = json.loads(process.errors.splitlines()[0])
        self.assertEqual((remark['file'], remark['line']), ('--query', 1))

    def test_plans(self):
        process = self.ask('--query', 'reach(1,x)', '--show', 'transformed-ram')
        self.assert_runs(process)
        self.assertIn('query 1', process.output)
        process = self.ask('--query', 'reach(1,x)', '--explain')
        self.assert_runs(process)
        self.assertTrue(process.output.startswith(LINE + '\nreach(1,x)\n'), process.output)
        self.assertIn('query 1(x) :- ', process.output)

    def test_of_an_executable(self):
        self.assert_runs(self.ask('-o', 'reach'))
        process = self.run_gpulog('--version')
        self.gpulog = self.path('reach')
        process = self.run_gpulog('-F', 'facts', '--query', 'edge(1,x)')
        self.assert_runs(process)
        self.assertEqual(process.output, table('edge(1,x)', 'x', '2'))

    def test_program_is_needed(self):
        process = self.run_gpulog('--query', 'edge(1,x)')
        self.assertEqual(process.output, '')
        self.assertIn('No datalog file specified.', process.errors)


if __name__ == '__main__':
    unittest.main()

"""gpulog lint: its warnings, their names, forms of messages, exit status."""
import json
import unittest

from command import CommandTest

PROGRAM = '''.decl a(x:number, y:number)
.input a
.decl b(x:number)
b(x) :- a(x, z), a(y, _), y > 1, z > 0.
.decl unread(x:number)
unread(x) :- unread(x), a(x, _).
.decl empty(x:number)
empty(x) :- unread(x).
b(x) :- empty(x).
b(v) :- empty(v).
.output b
'''
UNREAD = '''Warning: Relation unread is neither read by another relation nor written in file program.dl at line 5
.decl unread(x:number)
------^----------------
'''


class Lint(CommandTest):
    def lint(self, text, *arguments):
        self.write('program.dl', text)
        process = self.run_gpulog('lint', 'program.dl', *arguments)
        self.assertEqual(process.output, '')
        return process

    def messages(self, text, *arguments):
        """The first line of each message without the file."""
        return [line.replace(' in file program.dl', '').split(': ', 1)[1] for line in self.lint(text, *arguments).errors.splitlines()
                if line.startswith(('Warning', 'Error'))]

    def assert_reports(self, process, errors, status=1):
        self.assertEqual((process.errors, process.returncode), (errors, status))

    def test_nothing_to_report(self):
        self.assert_reports(self.lint('.decl a(x:number)\n.input a\n.output a\n'), '', 0)

    def test_existing_warnings(self):
        self.assertEqual(self.messages('.decl a(x:number)\na(1).\n'),
                         ['Nothing is written: the program has no .output and no .printsize'])
        self.assertEqual(self.messages('.decl a(x:number)\na(x) :- b(x).\n'), ['Undefined relation b at line 2'])
        process = self.run_program('.decl a(x:number)\n.decl b(x:number)\na(1). b(1).\n.output a\n')
        self.assertEqual((process.errors, process.returncode), ('', 0))

    def test_unread_relation(self):
        self.assert_reports(self.lint('.decl a(x:number)\n.input a\n.output a\n\n.decl unread(x:number)\nunread(1).\n'), UNREAD)
        message = 'Relation %s is neither read by another relation nor written at line 1'
        for reader in ('b(1) :- u(1).', 'b(1) :- !u(1).', 'b(1) :- 1 = count : { u(_) }.', 'b(1) :- (c(1) ; !(c(1) , u(2))).',
                       '.printsize u', '.limitsize u(n=1)\n.output u', '.pragma "suppress-warnings" "u"', '.output u',
                       '.pragma "suppress-warnings" "*"', '.decl d = debug_delta(u)\n.output d', 'b(x) <= b(y) :- u(x), u(y).'):
            with self.subTest(reader):
                text = '.decl u(x:number) btree_delete\n.decl b(x:number) btree_delete\n.decl c(x:number)\n.input u\n.input b\n.input c\n.output b\n.output c\n'
                text = text if '<=' in reader else text.replace(' btree_delete', '')
                found = self.messages(text + reader + '\n', '--wno', 'cross-product', '--wno', 'no-subsumptive-rule')
                self.assertEqual(found, [])
        self.assertEqual(self.messages('.decl u(x:number)\n.decl b(x:number)\n.input u\nb(1).\nu(x) :- u(x), b(x).\n.output b\n'), [message % 'u'])

    def test_components(self):
        component = '.comp C {\n.decl u(x:number)\nu(1).\n.decl v(x:number)\nv(x) :- w(x), u(y), y > 1.\n.decl w(x:number)\n}\n'
        wanted = ['The body is a cross product: %s.u(y) has no variable in common with %s.w(x) at line 5' % ('c', 'c'),
                  'The rule can never fire: relation c.w never has a tuple at line 5',
                  'No rules/facts defined for relation c.w at line 6']
        self.assertEqual(sorted(self.messages(component + '.init c = C\n.output c.v\n')), sorted(wanted))
        both = component + '.init c = C\n.init d = C\nd.w(1).\n.output c.v, d.v\n'
        self.assertEqual(sorted(self.messages(both)), sorted(wanted[:1] + wanted[2:]))
        self.assertEqual(self.messages(component + '.init c = C\n.init d = C\nd.w(1). c.w(1).\n.output c.v\n'),
                         ['The body is a cross product: c.u(y) has no variable in common with c.w(x) at line 5',
                          'Relation d.v is neither read by another relation nor written at line 4'][:1])

    def test_rules_that_never_fire(self):
        declared = '.decl a(x:number)\n.input a\n.decl b(x:number)\n.decl c(x:number)\n.output b\n.output c\n'
        never = 'The rule can never fire: relation b never has a tuple at line 7'
        for rule, found in (('c(x) :- a(x), b(x).', [never]), ('c(x) :- a(x), (b(x) ; a(x)).', []), ('c(x) :- (b(x) ; a(x), b(x)).', [never]),
                            ('c(x) :- a(x), !b(x).', []), ('c(x) :- a(x), 0 = count : { b(_) }.', [])):
            self.assertEqual(self.messages(declared + rule + '\n', '--wno', 'no-rules-nor-facts'), found, rule)
        self.assertEqual(self.messages(declared + 'b(x) :- c(x).\nc(x) :- b(x).\n', '--wno', 'unread-relation'),
                         ['The rule can never fire: relation c never has a tuple at line 7',
                          'The rule can never fire: relation b never has a tuple at line 8'])
        self.assertEqual(self.messages(declared + 'b(x) :- c(x).\nc(x) :- b(x).\nb(x) :- a(x).\n'), [])

    def test_cross_products(self):
        declared = '.decl a(x:number, y:number)\n.input a\n.decl b(x:number)\n.output b\n'
        def found(rule):
            return self.messages(declared + rule + '\n', '--wno', 'var-appears-once', '--wno', 'no-rules-nor-facts')
        product = 'The body is a cross product: a(y, z) has no variable in common with a(x, _) at line 5'
        self.assertEqual(found('b(x) :- a(x, _), a(y, z).'), [product])
        self.assertEqual(found('b(x) :- x = 1 ; a(x, _), a(y, z), y < z.'), [product])
        self.assertEqual(found('b(x) :- x = 1, (a(x, _), a(y, z) ; x = 2).'), [product])
        for rule in ('b(x) :- a(x, y), a(y, z).', 'b(x) :- a(x, _), a(y, z), x < z.', 'b(x) :- a(x, _), a(_, _), a(1, _).',
                     'b(x) :- a(x, _), a(y, _), !a(x, y).', 'b(x) :- a(x, y), a(z, w), y = w + 1.', 'b(x) :- a(x, _), a(_y, _).',
                     'b(x) :- a(x, _), a(y, _), y = sum z : { a(x, z) }.', 'b(x) :- a(x, _) ; a(_, x).'):
            self.assertEqual(found(rule), [], rule)

    def test_repeated_rules(self):
        declared = '.decl a(x:number, y:number)\n.input a\n.decl b(x:number)\n.output b\n'
        self.assert_reports(self.lint(declared + 'b(x) :- a(x, _).\nb( y ) :- // again\n  a(y, _).\n'), '''Warning: The rule occurs twice in file program.dl at line 6
b( y ) :- // again
^------------------
The same rule in file program.dl at line 5
b(x) :- a(x, _).
^----------------
''')
        for rules in ('b(x) :- a(x, x).\nb(x) :- a(x, y), y > 0.', 'b(x) :- a(x, y), y > 0.\nb(x) :- a(y, x), y > 0.', 'b(1).\nb(1).\nb(x) :- a(x, _).'):
            self.assertEqual(self.messages(declared + rules + '\n'), [], rules)

    def test_names(self):
        self.assertEqual(self.messages(PROGRAM),
                         ['The body is a cross product: a(y, _) has no variable in common with a(x, z) at line 4',
                          'The rule can never fire: relation unread never has a tuple at line 6',
                          'The rule can never fire: relation unread never has a tuple at line 8',
                          'The rule can never fire: relation empty never has a tuple at line 9',
                          'The rule can never fire: relation empty never has a tuple at line 10',
                          'The rule occurs twice at line 10'])
        self.assertEqual(self.messages(PROGRAM, '--wno', 'never-fires', '--wno', 'cross-product'), ['The rule occurs twice at line 10'])
        self.assert_reports(self.lint(PROGRAM, '--wno', 'all'), '', 0)
        self.assert_reports(self.lint(PROGRAM, '--wno', 'all', '--wno', 'cros-product'),
                            "Warning: --wno knows no warning cros-product, did you mean 'cross-product'?\n", 0)

    def test_portable(self):
        text = '.decl a(x:symbol)\na(trim("b ")).\n.output a\n'
        self.assert_reports(self.lint(text), '', 0)
        self.assertEqual(self.messages(text, '--portable'), ['Soufflé has no functor trim at line 2'])
        self.assertEqual(self.messages(text, '--portable', '--wno', 'portable'), [])

    def test_forms_and_options(self):
        process = self.lint('.decl a(x:number)\na(N).\n.output b\n.decl b(x:number)\nb(1).\n', '--diagnostics', 'json', '-M', 'N=1')
        self.assertEqual([json.loads(line) for line in process.errors.splitlines()],
                         [{'severity': 'warning', 'message': 'Relation a is neither read by another relation nor written',
                           'file': 'program.dl', 'line': 1, 'column': 7, 'notes': []}])
        self.write('input', '.decl b(x:number)\nb(1).\n')
        with open(self.path('input'), 'rb') as file:
            self.assert_reports(self.run_gpulog('lint', '-', stdin=file),
                                'Warning: Nothing is written: the program has no .output and no .printsize\n')
        self.assert_fails(self.run_gpulog('lint', 'a.dl', '--diagnostics', 'xml'), 'Error: --diagnostics: may only be set to text or json')
        self.assert_fails(self.run_gpulog('lint'), 'gpulog lint --help lists the options')
        self.assert_fails(self.run_gpulog('lint', 'missing.dl'), 'Cannot open file missing.dl')


if __name__ == '__main__':
    unittest.main()

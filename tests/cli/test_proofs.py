"""--why: proofs of tuples, of the first matches of a question, and what fails for a tuple that is not there."""
import unittest

from command import CommandTest

TEXT = """.decl edge, reach(x:symbol, y:symbol)
edge("a", "b"). edge("b", "c"). edge("c", "d"). edge("d", "e").
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z), x != z.
.decl flag()
flag() :- reach("a", "c").
"""


class Proofs(CommandTest):
    def ask(self, *questions, text=TEXT):
        process = self.run_program(text, *(part for question in questions for part in ('--why', question)))
        self.assert_runs(process)
        return process.output

    def test_a_wide_proof_is_a_tree(self):
        names = ['n%s%d' % ('x' * 45, i) for i in range(4)]
        text = ('.decl edge, reach(x:symbol, y:symbol)\n' + ''.join('edge("%s", "%s").\n' % pair for pair in zip(names, names[1:])) +
                'reach(x, y) :- edge(x, y).\nreach(x, z) :- reach(x, y), edge(y, z).\n')
        a, b, c, d = ('"%s"' % name for name in names)
        self.assertEqual(self.ask('reach(%s, %s)' % (a, d), text=text), '''reach(%s, %s)  (R2, program.dl [6:1-6:40])
  reach(%s, %s)  (R2, program.dl [6:1-6:40])
    reach(%s, %s)  (R1, program.dl [5:1-5:27])
      edge(%s, %s)
    edge(%s, %s)
  edge(%s, %s)
''' % (a, d, a, c, a, b, a, b, b, c, c, d))
        self.assertEqual(self.ask('reach(%s, %s)' % (d, a), text=text), '''reach(%s, %s) does not hold
reach(%s, %s)  (R1, program.dl [5:1-5:27])
  edge(%s, %s) ✗
reach(%s, %s)  (R2, program.dl [6:1-6:40])
  reach(%s, y) ✗
  edge(y, %s)
''' % ((d, a) * 4 + (d, a)))

    def test_variables(self):
        proofs = [self.ask('reach("a", "%s")' % to) for to in 'bcd']
        self.assertEqual(self.ask('reach("a", x)'), ''.join(proofs) + 'reach("a", x) has more matches: --query prints all of them\n')
        self.assertEqual(self.ask('reach("b", x)'), ''.join(self.ask('reach("b", "%s")' % to) for to in 'cde'))
        self.assertEqual(self.ask('reach("a", _)'), proofs[0])
        self.assertEqual(self.ask('reach(x, "a")'), 'reach(x, "a") does not hold\n')
        self.assertEqual(self.ask('reach(_, "a")'), 'reach(_, "a") does not hold\n')

    def test_several_atoms(self):
        self.assertEqual(self.ask('edge("a", x), edge(x, y)'),
                         'edge("a", x), edge(x, y) holds: ask for a single tuple to see its proof\n')
        self.assertEqual(self.ask('edge("a", x), edge(x, "a")'), 'edge("a", x), edge(x, "a") does not hold\n')
        self.assertIn('flag()\n', self.ask('flag()'))

    def test_marks_bind_from_left_to_right(self):
        self.assertEqual(self.ask('reach("c", "b")'), '''reach("c", "b") does not hold
edge("c", "b") ✗
-------------(R1)
 reach("c", "b")
reach("c", y) ✓ edge(y, "b") ✗ "c" != "b"
--------------------------------------(R2)
             reach("c", "b")
''')
        text = '.decl n(x:number)\nn(1). n(2).\n.decl p(x:number)\np(x) :- n(x), y < x, n(y), y > 1.\n'
        self.assertIn('n(2) ✓ y < 2 ✓ n(y) ✓ y > 1 ✗\n', self.ask('p(2)', text=text))
        self.assertIn('n(1) ✓ y < 1 ? n(y) ✗ y > 1\n', self.ask('p(1)', text=text))


if __name__ == '__main__':
    unittest.main()

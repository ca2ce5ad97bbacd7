"""Parquet and Arrow files, made and read by pyarrow (whose Python runs this file). GPULOG_ARROW: whether gpulog was built with
Apache Arrow."""
import os
import unittest

from command import CommandTest

PROGRAM = '''
.type pair = [a:number, b:symbol]
.decl e(x:number, s:symbol, f:float, u:unsigned)   .input e(IO=%s)   .output e(IO=%s, filename="e.out")
.decl p(x:pair)   p([x, s]) :- e(x, s, _, _).   .output p(IO=%s)
.decl q(x:pair)   .input q(IO=%s, filename="p.in")   .output q
.decl t()   t() :- e(_, _, _, _).   .output t(IO=%s)
.decl none(x:number)   .output none(IO=%s)
'''


@unittest.skipUnless(os.environ.get('GPULOG_ARROW') == 'ON', 'skipped: built without Apache Arrow')
class ArrowFiles(CommandTest):
    def setUp(self):
        super().setUp()
        import pyarrow
        self.arrow = pyarrow
        self.table = pyarrow.table({
            'u': pyarrow.array([1, 2, 3], pyarrow.uint8()), 'x': pyarrow.array([5, -7, 2**31 - 1], pyarrow.int64()),
            'f': pyarrow.array([0.5, 1.25, float('inf')]), 's': pyarrow.array(['a', 'ü', '']).dictionary_encode()})

    def save(self, table, kind, *name):
        import pyarrow.ipc
        import pyarrow.parquet
        if kind == 'parquet':
            return pyarrow.parquet.write_table(table, self.path(*name))
        with pyarrow.ipc.new_file(self.path(*name), table.schema) as file:
            file.write_table(table)

    def load(self, kind, *name):
        import pyarrow.ipc
        import pyarrow.parquet
        if kind == 'parquet':
            return pyarrow.parquet.read_table(self.path(*name))
        return pyarrow.ipc.open_file(self.path(*name)).read_all()

    def test_what_is_read_is_written(self):
        for kind in ('parquet', 'arrow'):
            for jobs in ('1', '4'):
                with self.subTest(kind=kind, jobs=jobs):
                    self.save(self.table, kind, 'facts', 'e.' + kind)
                    self.save(self.arrow.table({'x': ['[1, "a, b"]', '[2, "c"]']}), kind, 'facts', 'p.in')
                    self.assert_runs(self.run_program(PROGRAM % ((kind,) * 6), '-j', jobs))
                    found = self.load(kind, 'out', 'e.out')
                    self.assertEqual(found.column_names, ['x', 's', 'f', 'u'])
                    self.assertEqual([str(field.type).replace('large_', '') for field in found.schema],
                                     ['int32', 'string', 'float', 'uint32'])
                    by_name = sorted(self.table.select(['x', 's', 'f', 'u']).to_pylist(), key=lambda row: row['x'])
                    self.assertEqual(sorted(found.to_pylist(), key=lambda row: row['x']), by_name)
                    self.assertEqual(sorted(self.load(kind, 'out', 'p.' + kind)['x'].to_pylist()),
                                     ['[-7, "ü"]', '[2147483647, ""]', '[5, "a"]'])
                    self.assertEqual(self.rows('out', 'q.csv'), ['[1, a, b]', '[2, c]'])
                    self.assertEqual(self.load(kind, 'out', 't.' + kind).num_rows, 1)
                    self.assertEqual(self.load(kind, 'out', 'none.' + kind).num_rows, 0)

    def test_streams_and_many_batches(self):
        import pyarrow.ipc
        n = 300000
        table = self.arrow.table({'x': range(n), 's': ['t%d' % (i % 1000) for i in range(n)]})
        with pyarrow.ipc.new_stream(self.path('facts', 'r.arrow'), table.schema) as file:
            file.write_table(table, max_chunksize=70000)
        program = '.decl r(x:number, s:symbol)\n.input r(IO=arrow)\n.output r(IO=parquet)\n'
        self.assert_runs(self.run_program(program, '-j', '2'))
        self.assertEqual(self.load('parquet', 'out', 'r.parquet').sort_by('x')['s'].to_pylist(), table['s'].to_pylist())

    def test_wide_words(self):
        self.save(self.arrow.table({'x': self.arrow.array([2**63 - 1, -2**63]),
                                    'u': self.arrow.array([2**64 - 1, 0], self.arrow.uint64())}), 'parquet', 'facts', 'r.parquet')
        program = '.decl r(x:number, u:unsigned)\n.input r(IO=parquet)\n.output r(IO=arrow)\n'
        self.assert_runs(self.run_program(program, '--word-size', '64'))
        self.assertEqual(sorted(self.load('arrow', 'out', 'r.arrow')['u'].to_pylist()), [0, 2**64 - 1])
        os.remove(self.path('out', 'r.arrow'))
        self.assert_fails(self.run_program(program, '--word-size', '32'), 'in column 1 in row 1')

    def test_bad_files(self):
        program = '.decl r(x:number)\n.input r(IO=parquet)\n.output r\n'
        self.assert_fails(self.run_program(program), 'Cannot open fact file r.parquet')
        for text in (b'', b'PAR1', b'no such file at all', b'PAR1' + bytes(range(256)) * 4 + b'PAR1'):
            self.assert_fails(self.run_program(program, facts={'r.parquet': text}), 'Error loading r data: ',
                              'cannot parse fact file r.parquet!')
        self.save(self.arrow.table({'x': self.arrow.array([1, None, 3])}), 'parquet', 'facts', 'r.parquet')
        self.assert_fails(self.run_program(program), 'Error converting NULL in column 1 in row 2')
        self.assert_fails(self.run_program('.decl r(x:number)\nr(1).\n.output r(IO=parquet, filename="no/such")\n'), 'no/such')


@unittest.skipIf(os.environ.get('GPULOG_ARROW') == 'ON', 'built with Apache Arrow')
class WithoutArrow(CommandTest):
    def test_is_said(self):
        program = '.decl r(x:number)\n.input r(IO=parquet)\n.output r\n'
        self.assert_fails(self.run_program(program, facts={'r.parquet': ''}), 'built with Apache Arrow')
        self.assert_fails(self.run_program('.decl r(x:number)\nr(1).\n.output r(IO=arrow)\n'), 'built with Apache Arrow')


if __name__ == '__main__':
    unittest.main()

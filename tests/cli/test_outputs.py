"""Where results go: files that others may have put there, names that two outputs share, large values, odd texts."""
import json
import os
import sqlite3
import stat
import subprocess
import threading
import unittest

from command import IS_SANITIZED, REACH, CommandTest

EDGES = {'edge.facts': '1\t2\n2\t3\n'}
PAIR = '.decl a(x:number)\na(1).\n.decl b(x:number)\nb(2).\n'


class Json(CommandTest):
    def test_texts_that_are_no_unicode(self):
        lines = [b'\xff', b'a\xc3', b'\xc3\xa9', b'\xed\xa0\x80', b'\xf0\x9f\x98\x80', b'\xf4\x90\x80\x80x', b'\x80\x81',
                 b'\xc0\xaf"\\', b'\xe2\x82']
        text = ('.type T = A {s:symbol}\n.decl s(x:symbol)\n.input s\n.output s(IO=jsonfile)\n'
                '.decl t(x:T)\nt($A(x)) :- s(x).\n.output t(IO=jsonfile, format=object)\n')
        self.assert_runs(self.run_program(text, facts={'s.facts': b'\n'.join(lines) + b'\n'}))
        with open(self.path('out', 's.json'), encoding='utf-8', errors='strict') as file:
            rows = [row[0] for row in json.load(file)]
        self.assertEqual(sorted(row.encode('utf-8', 'surrogateescape') for row in rows), sorted(lines))
        with open(self.path('out', 't.json'), encoding='utf-8', errors='strict') as file:
            self.assertEqual(len(json.load(file)), len(lines))
        # What was written is read again.
        reader = '.decl s(x:symbol)\n.input s(IO=jsonfile)\n.output s\n'
        self.write('reader.dl', reader)
        self.assert_runs(self.run_gpulog('reader.dl', '-F', 'out', '-D', 'out'))
        with open(self.path('out', 's.csv'), 'rb') as file:
            self.assertEqual(sorted(file.read().splitlines()), sorted(lines))


class Databases(CommandTest):
    TEXT = '.decl t(who:symbol, n:number)\nt("x", 1).\n.output t(IO=sqlite)\n'

    def test_columns_of_views_have_names(self):
        self.assert_runs(self.run_program(self.TEXT))
        database = sqlite3.connect(self.path('out', 't.sqlite'))
        self.addCleanup(database.close)
        self.assertEqual(database.execute('SELECT who, n FROM t').fetchall(), [('x', 1)])
        self.assertEqual([column[0] for column in database.execute('SELECT * FROM t').description], ['who', 'n'])

    def test_null_is_the_empty_text(self):
        database = sqlite3.connect(self.path('facts', 't.sqlite'))
        database.execute('CREATE TABLE t (who TEXT, n INTEGER)')
        database.execute("INSERT INTO t VALUES (NULL, 1)")
        database.commit()
        text = '.decl t(who:symbol, n:number)\n.input t(IO=sqlite)\n.output t\n'
        self.assert_runs(self.run_program(text))
        self.assertEqual(self.read('out', 't.csv'), '\t1\n')
        os.remove(self.path('out', 't.csv'))
        database.execute("INSERT INTO t VALUES ('x', NULL)")
        database.commit()
        database.close()
        self.assert_fails(self.run_program(text), 'NULL in column 2 in row 2')


if __name__ == '__main__':
    unittest.main()

"""Where results go: files that others may have put there, names that two outputs share, large values, odd texts."""
import gzip
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


class Files(CommandTest):
    def test_pipes_and_streams_are_written_in_place(self):
        os.mkfifo(self.path('out', 'reach.csv'))
        read = []
        thread = threading.Thread(target=lambda: read.append(self.read('out', 'reach.csv')))
        thread.start()
        self.assert_runs(self.run_program(REACH, facts=EDGES))
        thread.join()
        self.assertEqual(sorted(read[0].splitlines()), ['1\t2', '1\t3', '2\t3'])
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path('out', 'reach.csv')).st_mode))

    def test_standard_output_by_name(self):
        self.write('program.dl', PAIR + '.output a(filename="/dev/stdout")\n.output b(filename="/dev/stdout")\n.printsize a\n')
        self.assertEqual(self.run_gpulog('program.dl').output, '1\n2\na\t1\n')
        with open(self.path('log'), 'wb') as log:  # what was printed before stays
            log.write(b'before\n')
            log.flush()
            subprocess.run([self.gpulog, 'program.dl'], cwd=self.folder, stdout=log, check=True)
        self.assertEqual(self.read('log'), 'before\n1\n2\na\t1\n')

    def test_a_link_stays(self):
        self.write('target', 'old\n')
        os.symlink('../target', self.path('out', 'a.csv'))
        self.assert_runs(self.run_program(PAIR + '.output a\n'))
        self.assertTrue(os.path.islink(self.path('out', 'a.csv')))
        self.assertEqual(self.read('target'), '1\n')

    def test_reports_do_not_follow_planted_links(self):
        self.write('precious', 'old\n')
        os.symlink('precious', self.path('stats.json.unfinished'))
        self.assert_runs(self.run_program(REACH, '--stats', 'stats.json', facts=EDGES))
        self.assertIn('"backend"', self.read('stats.json'))
        self.assertEqual(self.read('precious'), 'old\n')

    def test_an_empty_name_of_a_folder(self):
        text = PAIR + '.output a\n.output b(IO=stdout)\n.printsize a\n.output b(IO=stdoutprintsize)\n'
        self.write('program.dl', text)
        before = sorted(os.listdir(self.folder))
        process = self.run_gpulog('program.dl', '-D', '')
        self.assertEqual((process.returncode, process.output, process.errors), (0, 'a\t1\nb\t1\n', ''))
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class ManyFiles(CommandTest):
    """Small files are written several at a time."""
    def text(self):
        text = '.decl e(x:number, s:symbol)\ne(x, cat("s", to_string(x))) :- x = range(0, 40000).\n.output e\n.output e(filename="e2")\n'
        for i in range(40):
            text += '.decl r%d(x:number, s:symbol)\nr%d(x, s) :- e(x, s), x < %d.\n' % (i, i, i * 31)
        return text + ''.join('.output r%d%s\n' % (i, ('', '(IO=jsonfile)', '(compress=true)', '(IO=sqlite, filename="db")',
                                                      '(filename="/dev/null")')[i % 5]) for i in range(40))

    def test_any_number_of_threads(self):
        files = {}
        for jobs in ('1', '2', '4'):
            self.assert_runs(self.run_program(self.text(), '-j', jobs, '--stats', 'stats.json'))
            self.assertEqual(len(os.listdir(self.path('out'))), 2 + 3 * 8 + 1)
            found = {}
            for name in os.listdir(self.path('out')):
                with (gzip.open if name.endswith('.gz') else open)(self.path('out', name), 'rb') as file:
                    found[name] = None if name == 'db' else sorted(file.read().splitlines()) if name[-4:] != 'json' else sorted(
                        json.load(file))
                os.remove(self.path('out', name))
            stats = json.loads(self.read('stats.json'))
            found['files'] = [(file['relation'], file['rows']) for file in stats['files']]
            found['spans'] = sorted(span['subject'] for span in stats['spans'] if span['name'] == 'write')
            self.assertEqual(len(found['spans']), 42)
            self.assertEqual(found['r6.json'][3], [3, 's3'])
            self.assertEqual(len(found['r37.csv.gz']), 37 * 31)
            self.assertEqual(files.setdefault('first', found), found)

    def test_streams_keep_their_order(self):
        text = ''.join('.decl a%d(x:number)\na%d(%d).\n.output a%d(filename="/dev/stdout")\n' % (i, i, i, i) for i in range(50))
        self.write('program.dl', text)
        for jobs in ('1', '4'):
            self.assertEqual(self.run_gpulog('program.dl', '-j', jobs).output, ''.join('%d\n' % i for i in range(50)))

    def test_memory_for_one_at_a_time(self):
        # Each text takes 7 MB, and its writer several times as much.
        text = LargeValues.SHARED.replace('60', '20')
        for i in range(8):
            text += '.decl w%d(x:T)\nw%d(x) :- whole(x).\n.output w%d\n' % (i, i, i)
        self.assert_runs(self.run_program(text, '-j', '4', '--memory-limit', '60M'))
        self.assertEqual({os.path.getsize(self.path('out', 'w%d.csv' % i)) for i in range(8)}, {7 * 2**20 - 4 + 1})

    def test_none_is_left_by_one_that_fails(self):
        text = self.text() + LargeValues.SHARED + '.output whole\n'
        process = self.run_program(text, '-j', '4', '--memory-limit', '40M' if IS_SANITIZED else '200M')
        self.assert_fails(process, 'Out of memory while writing relation whole')


class Reports(CommandTest):
    def test_found_before_the_run(self):
        for flag in ('--stats', '-p'):
            for path in ('nowhere/stats.json', 'facts', '/proc/stats.json'):
                with self.subTest(flag=flag, path=path):
                    # Facts that are missing would be the first error of the run.
                    self.assert_fails(self.run_program(REACH, flag, path), path)

    def test_no_output_stays_without_them(self):
        process = self.run_program(REACH, '--stats', '/dev/full', facts=EDGES)
        self.assert_fails(process, '/dev/full')

    def test_of_a_failed_run(self):
        self.assert_fails(self.run_program(REACH, '--stats', 'stats.json', facts={'edge.facts': 'x\n'}), 'edge.facts')
        outcome = json.loads(self.read('stats.json'))['outcome']
        self.assertEqual(outcome['state'], 'failed')
        self.assertIn('edge.facts', outcome['message'])
        self.assertEqual(outcome['step']['phase'], 'load')

    def test_devices_and_pipes(self):
        self.assert_runs(self.run_program(REACH, '--stats', '/dev/null', '-p', '/dev/null', facts=EDGES))
        self.assertIn('"backend"', self.run_program(REACH, '--stats', '/dev/stdout').output)

    def test_without_outputs(self):
        self.write('program.dl', REACH)
        self.assert_runs(self.run_gpulog('program.dl', '-w', '-D', '', '--stats', 'stats.json'))
        self.assertIn('"backend"', self.read('stats.json'))

    def test_explain(self):
        process = self.run_program(REACH, '--explain', '--tune', 'rows=loop', '--backend', 'cpu', facts=EDGES)
        self.assertEqual((process.returncode, process.errors), (0, ''))
        for text in ('stratum 1: reach (recursive)\n', ' on cpu; iterations 2; strategies: versions, loop\n', 'reach(x,y) :- reach(x,z), edge(z,y).', 'program.dl [6:1-6:37]',
                     'tuples when planned: edge 2', ' for reach(x,z) in delta', ' insert reach(x,y)'):
            self.assertIn(text, process.output)
        self.assertEqual(self.rows('out', 'reach.csv'), ['1\t2', '1\t3', '2\t3'])

    def test_explain_behind_what_is_printed(self):
        self.write('program.dl', '.decl a(x:number)\na(x) :- x = 1.\n.output a(IO=stdout)\n')
        process = self.run_gpulog('program.dl', '--explain')
        self.assertLess(process.output.index('==='), process.output.index('stratum 0'))

    def test_a_file_for_two(self):
        for arguments in (['--stats', 'x', '-p', './x'], ['--stats', 'out/reach.csv']):
            with self.subTest(arguments=arguments):
                self.assert_fails(self.run_program(REACH, *arguments, facts=EDGES), 'is the file of another output')


class SharedNames(CommandTest):
    def refused(self, outputs, *texts):
        process = self.run_program(PAIR + outputs)
        self.assertEqual(process.returncode, 1, outputs)
        for text in texts:
            self.assertIn(text, process.errors)
        self.assertEqual(os.listdir(self.path('out')), [])
        return process

    def test_two_relations(self):
        for first, second in (('.output a(filename="x")\n', '.output b(filename="x")\n'),
                              ('.output a(filename="x")\n', '.output b(filename="./x")\n'),
                              ('.output a(filename="x")\n', '.output b(IO=jsonfile, filename="x")\n'),
                              ('.output a(filename="x")\n', '.output b(IO=sqlite, dbname="x")\n'),
                              ('.output a\n', '.output b(name="a")\n'),
                              ('.output a(IO=sqlite, filename="x")\n', '.output b(IO=sqlite, filename="x", name="a")\n'),
                              ('.output a\n', '.output b(filename="a.csv")\n'),
                              ('.output a\n', '.output a(headers=true)\n')):
            with self.subTest(first=first, second=second):
                process = self.refused(first + second, 'have one file', 'in file program.dl at line 6', 'Other output')
                self.assertIn('\n' + second, process.errors)
        self.refused('.output a, b(filename="x")\n', 'Outputs of a and b have one file')

    def test_through_a_link(self):
        os.mkdir(self.path('other'))
        os.symlink(self.path('other'), self.path('link'))
        process = self.run_program(PAIR + '.output a(filename="%s/x")\n.output b(filename="%s/x")\n' %
                                   (self.path('link'), self.path('other')))
        self.assertEqual(process.returncode, 1)
        self.assertEqual(os.listdir(self.path('other')), [])

    def test_what_may_share(self):
        self.assert_runs(self.run_program(PAIR + '.output a, b(IO=sqlite, filename="x.db")\n.output a\n.output a\n'
                                          '.output a, b(filename="/dev/null")\n.output a, b(IO=stdout)\n'))
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['a.csv', 'x.db'])

    def test_databases_that_are_no_files(self):
        for name in (':memory:', 'file:x.db', 'file::memory:?cache=shared'):
            for parameter in ('dbname', 'filename'):
                with self.subTest(name=name):
                    self.refused('.output a(IO=sqlite, %s="%s")\n' % (parameter, name), name, 'an output is a file')
        self.assertFalse(os.path.exists(self.path('x.db')))


class FoundBeforeTheRun(CommandTest):
    """Facts that are missing would be the first error of a run that has begun."""
    TEXT = '.decl a(x:number, y:symbol)\n.input a\n.output a(%s)\n'

    def refused(self, parameters, message, text=TEXT):
        process = self.run_program(text % parameters)
        self.assert_fails(process)
        self.assertEqual(process.errors, '%s%s\n' % ('' if message.startswith('Error ') else 'Error: ', message))

    def test_paths(self):
        self.write('file', '')
        os.mkdir(self.path('folder'))
        for name, reason in (('no/p.csv', 'there is no folder out/no'), ('../folder', 'Is a directory'),
                             ('../file/p.csv', 'Not a directory'), ('x' * 300, 'File name too long'),
                             ('../no/p.csv', 'there is no folder out/../no'), ('', 'Is a directory')):
            with self.subTest(name=name):
                self.refused('filename="%s"' % name, 'Cannot open output file out/%s: %s' % (name, reason))
        self.refused('filename="/proc/p.csv"', 'Cannot open output file /proc/p.csv: No such file or directory')
        self.refused('IO=jsonfile, filename="no/p.json"', 'Cannot open output file out/no/p.json: there is no folder out/no')

    @unittest.skipIf(os.geteuid() == 0, 'skipped: root may write everything')
    def test_permissions(self):
        self.write(os.path.join('out', 'a.csv'), 'old\n')
        os.chmod(self.path('out', 'a.csv'), 0o400)
        self.assertIn('out/a.csv: Permission denied', self.run_program(self.TEXT % 'IO=file').errors)
        os.chmod(self.path('out'), 0o500)
        self.assertIn('out/b.csv: Permission denied', self.run_program(self.TEXT % 'filename="b.csv"').errors)

    def test_what_is_there_stays(self):
        self.write(os.path.join('out', 'a.csv'), 'old\n')
        self.assertEqual(self.run_program(self.TEXT % 'IO=file').returncode, 1)
        self.assertEqual((os.listdir(self.path('out')), self.read('out', 'a.csv')), (['a.csv'], 'old\n'))

    def test_parameters(self):
        self.refused('IO=csv', 'Error writing a data: Requested output type <csv> is not supported.')
        for kind in ('file', 'stdout'):
            self.refused('IO=%s, rfc4180=true, delimiter="\\""' % kind,
                         'Error writing a data: a delimiter with a double quote does not go with rfc4180=true')

    def test_databases(self):
        os.mkfifo(self.path('pipe'))
        self.write('text', 'This is not a database, although it is long enough to have the header of a database: ' * 3)
        self.refused('IO=sqlite, filename="../pipe"', 'Cannot write output file ../pipe: not a regular file')
        self.refused('IO=sqlite, filename="../text"', 'Cannot write output file ../text: file is not a database')
        database = sqlite3.connect(self.path('other.db'))
        self.addCleanup(database.close)
        database.execute('CREATE TABLE b (x)')
        database.execute('CREATE VIEW _c AS SELECT * FROM b')
        database.commit()
        text = '.decl %s(x:number)\n.input %s\n.output %s(IO=sqlite, filename="../other.db")\n'
        for name, reason in (('B', 'SQLite does not tell B from b, which the database has'),
                             ('b', 'the database has a table b already'), ('c', 'the database has a view _c already'),
                             ('__symboltable', '__symboltable is the table of symbols')):
            self.refused((name, name, name), 'Error writing %s data: %s' % (name, reason), text)

    def test_names_of_a_database(self):
        for name in ('A', '_a'):
            text = '.decl a(x:number)\n.decl %s(x:number)\n.input a, %s\n.output a, %s(IO=sqlite, filename="x.db")\n'
            process = self.run_program(text % (name, name, name))
            self.assertEqual(process.returncode, 1)
            self.assertTrue(process.errors.startswith('Error: Outputs of a and %s have one file: ' % name), process.errors)
            self.assertEqual(os.listdir(self.path('out')), [])

    @unittest.skipIf(os.environ.get('GPULOG_ARROW') == 'ON', 'skipped: built with Apache Arrow')
    def test_without_arrow(self):
        for kind in ('parquet', 'arrow'):
            process = self.run_program(self.TEXT % ('IO=' + kind))
            self.assert_fails(process, 'Error writing a data: Parquet and Arrow files need a gpulog that was built with')


class NamesInFiles(CommandTest):
    def test_inputs(self):
        text = ('.decl d(x:number)\n.input d(name="A")\n.input d(IO=jsonfile, name="B")\n.output d\n')
        self.assert_runs(self.run_program(text, facts={'A.facts': '1\n', 'B.json': '[[2]]'}))
        self.assertEqual(self.rows('out', 'd.csv'), ['1', '2'])
        os.remove(self.path('out', 'd.csv'))
        os.remove(self.path('facts', 'A.facts'))
        self.assert_fails(self.run_program(text), 'A.facts')

    def test_outputs(self):
        text = ('.decl d(x:number)\nd(1).\n.output d(name="Y")\n.output d(IO=jsonfile, name="Y")\n'
                '.output d(IO=sqlite, name=Y)\n.output d(compress=true, name="Y")\n.output d(IO=stdout, name="Y")\n'
                '.printsize d(name="Z")\n')
        process = self.run_program(text)
        self.assert_runs(process)
        self.assertEqual(sorted(os.listdir(self.path('out'))), ['Y.csv', 'Y.csv.gz', 'Y.json', 'Y.sqlite'])
        self.assertEqual(process.output, '---------------\nY\n===============\n1\n===============\nZ\t1\n')
        self.write('reader.dl', '.decl d(x:number)\n.input d(IO=sqlite, name="Y")\n.printsize d\n')
        self.assertEqual(self.run_gpulog('reader.dl', '-F', 'out').output, 'd\t1\n')


class QuotedTexts(CommandTest):
    def test_inside_records_and_branches(self):
        text = ('.type R = [s:symbol, n:number]\n.type A = S {s:symbol} | P {s:symbol, t:symbol}\n'
                '.decl r(x:R)\n.input r\n.decl t(s:symbol)\nt(s) :- r([s, _]).\n.output t\n'
                '.decl a(x:A)\n.input a\nt(s) :- a($S(s)).\nt(cat(s, t)) :- a($P(s, t)).\n')
        facts = {'r.facts': '["four", 1]\n["q\\"r", 5]\n["a,b", 3]\n[plain, 4]\n',
                 'a.facts': '$S("x)")\n$P("1, ", "2")\n'}
        self.assert_runs(self.run_program(text, facts=facts))
        self.assertEqual(self.rows('out', 't.csv'), sorted(['four', 'q"r', 'a,b', 'plain', 'x)', '1, 2']))


class Nullary(CommandTest):
    def test_a_header_is_an_empty_line(self):
        text = '.decl a()\na().\n.output a\n.output a(headers=true, filename="h")\n.output a(IO=stdout)\n'
        process = self.run_program(text)
        self.assertEqual(process.output, '---------------\na\n===============\n()\n===============\n')
        self.assertEqual((self.read('out', 'a.csv'), self.read('out', 'h')), ('()\n', '\n()\n'))
        self.write('one.dl', '.decl a()\na().\n.output a\n')
        self.assertEqual(self.run_gpulog('one.dl', '-D-').output,
                         '---------------\na\n\n===============\n()\n===============\n')


class LargeValues(CommandTest):
    # Each record has the one before twice: n records have a text of 2^n parts.
    SHARED = ('.type T = [l:T, r:T]\n.decl t(x:T, n:number)\nt(nil, 0).\nt([x, x], n + 1) :- t(x, n), n < 60.\n'
              '.decl whole(x:T)\nwhole(x) :- t(x, 60).\n')
    FORMATS = ('', '(rfc4180=true)', '(IO=jsonfile)', '(IO=jsonfile, format=object)', '(IO=sqlite)', '(IO=stdout)',
               '(compress=true)')

    def test_shared_parts_obey_the_memory_limit(self):
        for parameters in self.FORMATS:
            with self.subTest(parameters=parameters):
                process = self.run_program(self.SHARED + '.output whole%s\n' % parameters, '--memory-limit', '8M' if IS_SANITIZED else '20M')
                self.assert_fails(process, 'Out of memory while writing relation whole', '--memory-limit')

    @unittest.skipIf(IS_SANITIZED, 'a gigabyte takes long there')
    def test_shared_parts_have_an_end(self):
        process = self.run_program(self.SHARED + '.output whole\n')
        self.assert_fails(process, 'Error writing whole data', 'more than 1073741824 bytes')

    def test_long_lines_obey_the_memory_limit(self):
        text = '.decl s(x:symbol)\n.input s%s\n.printsize s\n'
        for parameters in ('(filename="/dev/zero")', '(filename="/dev/zero", rfc4180=true)',
                           '(filename="/dev/zero", headers=true)', '(IO=jsonfile, filename="/dev/zero")'):
            with self.subTest(parameters=parameters):
                process = self.run_program(text % parameters, '--memory-limit', '50M')
                self.assert_fails(process, 'loading relation s', '--memory-limit')


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


class RoundTrips(CommandTest):
    """Odd values of every type, read from JSON, written in each format, read again and written as JSON."""
    TYPES = ('.type R = [f:float, s:symbol, r:R]\n.type T = A {f:float, s:symbol} | B {r:R} | C {}\n'
             '.decl v(f:float, n:number, u:unsigned, s:symbol, r:R, t:T)\n')
    TEXTS = ['', ' ', ' a ', '"', '""', '\\', '\\"', 'a\tb', 'a\nb', '\n', '\r', 'a\r\nb', ',', 'a,b', '[', ']', '[1, 2]', '$A(1)',
             'null', 'nil', 'nan', '\0', 'a\0b', 'é', '\U0001f600', '\ufeff', '\udcff', 'a\udcc3']
    FORMATS = ('rfc4180=true', 'rfc4180=true, headers=true, delimiter=";"', 'rfc4180=true, compress=true',
               'rfc4180=true, compress=zstd', 'IO=jsonfile', 'IO=jsonfile, format=object', 'IO=sqlite')

    def floats(self, word_size):
        odd = ['inf', '-inf', 'nan', '-nan']
        if word_size == '64':
            return [*odd, 0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0.1, 1e22, 123456789.125]
        return [*odd, 0, 1.40129846e-45, 1.17549435e-38, 3.40282347e+38, -0.100000001, 16777217, 0.333333343]

    def values(self, word_size):
        bits = int(word_size)
        numbers = [-2**(bits - 1), 2**(bits - 1) - 1, -1, 0]
        unsigned = [2**bits - 1, 2**(bits - 1), 0]
        floats = self.floats(word_size)
        rows = []
        for i in range(max(len(self.TEXTS), len(floats))):
            f, s = floats[i % len(floats)], self.TEXTS[i % len(self.TEXTS)]
            branch = ['$C', '$B(nil)'][i % 2]
            rows.append([f, numbers[i % 4], unsigned[i % 3], s, [None, [f, s, None], [f, s, [f, '', None]]][i % 3], branch])
        return rows

    def back(self, folder, parameters, word_size):
        self.write('reader.dl', self.TYPES + '.input v(%s)\n.output v(IO=jsonfile, filename="v.again")\n' % parameters)
        self.assert_runs(self.run_gpulog('reader.dl', '-F', folder, '-D', 'out', '--word-size', word_size))
        with open(self.path('out', 'v.again'), encoding='utf-8') as file:
            return sorted(map(repr, json.load(file)))

    def check(self, formats, word_size):
        self.write(os.path.join('facts', 'v.json'), json.dumps(self.values(word_size)))
        # Branches of a record with each text: their text is gpulog's own.
        make = 'v(f, n, u, s, r, $A(f, s)), v(f, n, u, s, r, $B(r)) :- v(f, n, u, s, r, _).\n'
        expected = self.back('facts', 'IO=jsonfile', word_size)
        self.assertEqual(len(expected), len(self.values(word_size)))
        self.write('first.dl', self.TYPES + '.input v(IO=jsonfile)\n' + make + '.output v(IO=jsonfile)\n')
        self.assert_runs(self.run_gpulog('first.dl', '-F', 'facts', '-D', 'facts', '--word-size', word_size))
        expected = self.back('facts', 'IO=jsonfile', word_size)
        self.assertGreater(len(expected), 2 * len(self.values(word_size)))
        for parameters in formats:
            with self.subTest(parameters=parameters, word_size=word_size):
                self.write('writer.dl', self.TYPES + '.input v(IO=jsonfile)\n.output v(%s, filename="v.odd")\n' % parameters)
                self.assert_runs(self.run_gpulog('writer.dl', '-F', 'facts', '-D', 'out', '--word-size', word_size))
                self.assertEqual(self.back('out', parameters + ', filename="v.odd"', word_size), expected)
                os.remove(self.path('out', 'v.odd'))

    def test_all_formats(self):
        for word_size in ('32', '64'):
            self.check(self.FORMATS, word_size)

    @unittest.skipUnless(os.environ.get('GPULOG_ARROW') == 'ON', 'skipped: built without Apache Arrow')
    def test_arrow(self):
        for word_size in ('32', '64'):
            self.check(('IO=parquet', 'IO=arrow'), word_size)

    def test_text_without_quotes(self):
        text = '.decl v(f:float, n:number, u:unsigned)\n.input v%s\n.output v%s\n'
        rows = [['inf', -2147483648, 4294967295], ['-inf', 2147483647, 0], ['nan', 0, 1], ['-nan', -1, 2147483648]]
        self.assert_runs(self.run_program(text % ('(IO=jsonfile)', ''), facts={'v.json': json.dumps(rows)}))
        self.write('reader.dl', text % ('(filename="v.csv")', '(IO=jsonfile)'))
        self.assert_runs(self.run_gpulog('reader.dl', '-F', 'out', '-D', 'out'))
        self.assertEqual(sorted(json.loads(self.read('out', 'v.json'))), sorted(rows))

    def test_json_is_valid(self):
        self.assert_runs(self.run_program('.decl f(x:float)\nf(1.0/0.0). f(-1.0/0.0). f(0.0/0.0). f(1.5).\n.output f(IO=jsonfile)\n'))

        def refuse(constant):
            raise ValueError(constant)
        rows = json.loads(self.read('out', 'f.json'), parse_constant=refuse)
        self.assertEqual(sorted(map(str, rows)), ["['-inf']", "['-nan']", "['inf']", '[1.5]'])

    def test_relations_without_columns(self):
        for parameters in ('IO=file', 'rfc4180=true', 'IO=jsonfile', 'IO=jsonfile, format=object', 'IO=sqlite'):
            with self.subTest(parameters=parameters):
                self.assert_runs(self.run_program('.decl t()\nt().\n.output t(%s, filename="t")\n' % parameters))
                self.write('reader.dl', '.decl t()\n.input t(%s, filename="t")\n.printsize t\n' % parameters)
                self.assertEqual(self.run_gpulog('reader.dl', '-F', 'out').output, 't\t1\n')
                os.remove(self.path('out', 't'))


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

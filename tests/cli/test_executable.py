"""Executables that `gpulog -o` makes: they need nothing of what they were made of."""
import os
import shutil
import subprocess
import unittest

from command import REACH, CommandTest

EDGES = '1\t2\n2\t3\n'


class Executable(CommandTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path('elsewhere'))

    def make(self, text, *arguments):
        """Makes elsewhere/program, and removes the text."""
        self.write('program.dl', text)
        process = self.run_gpulog('-o', 'elsewhere/program', 'program.dl', *arguments)
        os.remove(self.path('program.dl'))
        return process

    def run_made(self, *arguments):
        return subprocess.run(['./program', *arguments], cwd=self.path('elsewhere'), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)

    def test_runs_as_the_program_does(self):
        made = self.make(REACH)
        self.assert_runs(made)
        self.assertEqual(made.output + made.errors, '')
        self.assertEqual(os.listdir(self.path('elsewhere')), ['program'])
        self.assertEqual(os.listdir(self.path('out')), [])
        self.write('facts/edge.facts', EDGES)
        for arguments in (['-F', '../facts', '-D', '../out'], ['--facts=../facts', '--output=../out', '-j', 'auto', '-i'],
                          ['-F../facts', '-D../out', '--storage', 'hisa', '--stats', 'figures.json', '-j4']):
            with self.subTest(arguments=arguments):
                process = self.run_made(*arguments)
                self.assertEqual((process.returncode, process.stdout, process.stderr), (0, b'', b''))
                self.assertEqual(self.rows('out', 'reach.csv'), ['1\t2', '1\t3', '2\t3'])
                os.remove(self.path('out', 'reach.csv'))
        self.assertIn('"storage": "hisa"', self.read('elsewhere', 'figures.json'))

        process = self.run_made('-F', '../facts', '-D-')
        self.assertEqual(process.stdout.decode().splitlines()[-4:-1], ['1\t2', '1\t3', '2\t3'])
        process = self.run_made('-F', '../facts', '-D', '')
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, b'', b''))
        self.assertEqual(sorted(os.listdir(self.path('elsewhere'))), ['figures.json', 'program'])

    def test_has_what_was_included_and_defined(self):
        os.mkdir(self.path('include'))
        self.write('include/once.dl', '.once\n.decl a(s:symbol)\n')
        os.symlink('once.dl', self.path('include/again.dl'))
        self.write('include/name.h', b'#pragma once\n#define NAME "n\xe9"\n')
        os.symlink('name.h', self.path('include/alias.h'))
        made = self.make('#include <name.h>\n#include "include/alias.h"\n.include "once.dl"\n.include "include/again.dl"\n'
                         'a(NAME). a(TEXT). a(__FILE__).\n.output a\n', '-I', 'include', '-M', 'TEXT="t"')
        self.assert_runs(made)
        shutil.rmtree(self.path('include'))
        process = self.run_made('-D', '../out')
        self.assertEqual((process.returncode, process.stderr), (0, b''))
        with open(self.path('out', 'a.csv'), 'rb') as file:
            self.assertEqual(sorted(file.read().splitlines()), sorted(
                [b'n\xe9', os.path.realpath(self.path('program.dl')).encode(), b't']))

    def test_keeps_options(self):
        self.assert_runs(self.make('.decl a(x:number, y:number)\na(2147483647 + 1, 1).\n.output a\n.decl b(x:number)\n'
                                   'b(x) :- a(x,y).\n', '--word-size', '64', '-D', '../out', '-w'))
        process = self.run_made()
        self.assertEqual((process.returncode, process.stderr), (0, b''))
        self.assertEqual(self.rows('out', 'a.csv'), ['2147483648\t1'])
        # What is given later wins; warnings were for who made it.
        self.assertIn('only occurs once', self.make('.decl a(x:number)\na(2147483647 + 1).\n.output a\n.decl b(x:number)\n'
                                                    'b(1) :- a(x).\n', '--word-size', '64').errors)
        process = self.run_made('--word-size=32', '-D', '../out')
        self.assertEqual((process.returncode, process.stderr), (0, b''))
        self.assertEqual(self.rows('out', 'a.csv'), ['-2147483648'])

    def test_finds_libraries_where_it_was_made(self):
        os.mkdir(self.path('libraries'))
        for name in os.listdir(os.environ['GPULOG_FUNCTORS']):
            if name.startswith('libfunctors'):
                shutil.copy(os.path.join(os.environ['GPULOG_FUNCTORS'], name), self.path('libraries'))
        self.assert_runs(self.make('.functor answer():number\n.decl a(x:number)\na(@answer()).\n.output a\n',
                                   '-L', 'libraries'))
        process = self.run_made('-D', '../out')
        self.assertEqual((process.returncode, process.stderr), (0, b''))
        self.assertEqual(self.rows('out', 'a.csv'), ['42'])

    def test_errors(self):
        process = self.make('.decl a(x:number)\na("text").\n')
        self.assertEqual(process.returncode, 1)
        self.assertEqual(os.listdir(self.path('elsewhere')), [])
        self.write('program.dl', REACH)
        self.assert_fails(self.run_gpulog('-o', 'nowhere/program', 'program.dl'), 'nowhere/program')
        self.assert_fails(self.run_gpulog('-o', 'elsewhere', 'program.dl'), 'elsewhere: Is a directory')
        self.assertEqual(os.listdir(self.path('elsewhere')), [])

        self.assert_runs(self.make('.decl e(x:number)\n.input e\n.decl a(x:number)\na(1/x) :- e(x).\n.output a\n'))
        self.write('elsewhere/e.facts', '0\n')
        process = self.run_made('-D', '../out')
        self.assertEqual(process.returncode, 1)
        self.assertIn(b'program.dl [4:1-4:16]', process.stderr)
        for arguments, message in ((['other.dl'], b'takes no file'), (['-F', 'nowhere'], b'Fact directory nowhere'),
                                   (['-o', 'x'], b'-o'), (['--nonsense'], b'--nonsense')):
            process = self.run_made(*arguments)
            self.assertEqual(process.returncode, 1)
            self.assertIn(message, process.stderr)
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_replaces_only_files(self):
        self.write('program.dl', '.include "other.dl"\n')
        self.write('other.dl', REACH)
        self.write('target', 'old')
        os.symlink('target', self.path('link'))
        os.symlink('nothing', self.path('dangling'))
        os.symlink('program.dl', self.path('source'))
        os.mkfifo(self.path('pipe'))
        os.link(self.path('other.dl'), self.path('same.dl'))
        before = sorted(os.listdir(self.folder))
        for path in ('link', 'dangling', 'source', 'pipe', '/dev/null', 'program.dl', './other.dl', 'same.dl', self.gpulog):
            with self.subTest(path=path):
                self.assert_fails(self.run_gpulog('-o', path, 'program.dl'), 'Cannot replace ' + path)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(self.read('target'), 'old')
        self.assertEqual(self.read('other.dl'), REACH)

    def test_does_not_follow_a_planted_link(self):
        self.write('precious', 'old')
        os.symlink('../precious', self.path('elsewhere', 'program.unfinished'))
        self.assert_runs(self.make(REACH))
        self.assertEqual(self.read('precious'), 'old')
        self.write('elsewhere/program', 'old')
        os.chmod(self.path('elsewhere', 'program'), 0o640)
        self.assert_runs(self.make(REACH))
        self.assertEqual(os.stat(self.path('elsewhere', 'program')).st_mode & 0o777, 0o751)
        self.assertEqual(self.run_made('-w', '-D', '').returncode, 0)

    def test_cut_off(self):
        self.assert_runs(self.make(REACH))
        path = self.path('elsewhere', 'program')
        size = os.path.getsize(path)
        behind = size - os.path.getsize(self.gpulog)
        for cut in (1, 8, 20, 30, behind - 1, behind, behind + 100):
            with self.subTest(cut=cut):
                with open(path, 'r+b') as file:
                    file.truncate(size - cut)
                process = self.run_made('-w', '-D', '')
                self.assertEqual(process.returncode, 1)
                self.assertIn(b'damaged or cut off', process.stderr)

    def test_damaged(self):
        self.assert_runs(self.make(REACH))
        with open(self.path('elsewhere', 'program'), 'r+b') as file:
            file.seek(-24, os.SEEK_END)
            file.write(b'\xff' * 8)
        process = self.run_made()
        self.assertEqual(process.returncode, 1)
        self.assertIn(b'damaged', process.stderr)


if __name__ == '__main__':
    unittest.main()

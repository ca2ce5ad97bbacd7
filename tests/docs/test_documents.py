#!/usr/bin/env python3
"""Runs what stands in the documents (documents.py says how), and checks that they are complete and in good form.

  GPULOG=build/release/gpulog python3 tests/docs/test_documents.py [TEST...]

tests/docs/documents.py --update DOCUMENT... writes what programs print into a document.
"""
import fnmatch
import glob
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import documents
from documents import ROOT

LONGEST_LINE = 120
LONGEST_README = 120
LONGEST_DECISION = 40
LONGEST_RELEASE = 60
# Sources that tests compile, which have the C++ of the documents.
COMPILED_SOURCES = ['tests/unit/engine/readme_test.cpp', 'tests/unit/engine/embedding_test.cpp', 'tests/docs/functors.cpp',
                    'examples/service/service.cpp']
DOCUMENTS_WITH_CPP = ['README.md', 'docs/embedding.md', 'examples/service/README.md']

LINK = re.compile(r'\]\((?!\w+:|#)([^)#\s]+)')
FLAG = re.compile(r'(?<![\w-])--?[A-Za-z][\w-]*')


def stripped(text):
    return '\n'.join(line.strip() for line in text.splitlines())


def read(name):
    with open(os.path.join(ROOT, name), encoding='utf-8') as file:
        return file.read()


def printed_by(*arguments):
    return subprocess.run([os.environ['GPULOG'], *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=documents.TIMEOUT_SECONDS)


def section(text, title):
    """What stands under a heading of the second level."""
    return re.split(r'^## ', text.split('\n## %s\n' % title)[1], flags=re.M)[0]


def first_cells(text):
    return [line.split('|')[1] for line in text.splitlines() if line.startswith('|')]


class Programs(unittest.TestCase):
    """Every program of every document prints what the document says."""
    LANGUAGE = 'docs/language/*'
    TUTORIAL = 'docs/tutorial.md'

    def run_documents(self, names):
        self.assertTrue(names)
        problems = [problem for name in names for problem in documents.Runner(name).run()]
        self.assertFalse(problems, '\n'.join(problems))

    def test_tutorial(self):
        self.run_documents([self.TUTORIAL])

    def test_language(self):
        self.run_documents(fnmatch.filter(documents.all_documents(), self.LANGUAGE))

    def test_others(self):
        self.run_documents([name for name in documents.all_documents()
                            if name != self.TUTORIAL and not fnmatch.fnmatch(name, self.LANGUAGE)])


class Cpp(unittest.TestCase):
    def test_is_compiled(self):
        sources = [stripped(read(name)) for name in COMPILED_SOURCES]
        for name in DOCUMENTS_WITH_CPP:
            blocks = [block for block in documents.blocks_of(name) if block.kind == 'cpp']
            self.assertTrue(blocks, name)
            for block in blocks:
                wanted = stripped(block.text).replace('#include "gpulog/engine.hpp"\n\n', '')
                # What encloses the functions of a library stands around all of them.
                wanted = wanted.removeprefix('extern "C" {\n\n').removesuffix('\n}')
                self.assertTrue(any(wanted in source for source in sources), '%s:%d' % (name, block.line))


class Flags(unittest.TestCase):
    PAGE = 'docs/flags.md'
    REFUSED = 'Flags of Soufflé that are refused'
    PAGES_OF_COMMANDS = {'fmt': 'docs/formatting.md', 'lint': 'docs/linting.md', 'lsp': 'docs/editors.md', 'profile': 'docs/record.md',
                         'test': 'docs/testing.md'}

    def setUp(self):
        self.text = read(self.PAGE)
        self.known = self.flags_of('--help')

    def flags_of(self, *command):
        process = printed_by(*command)
        self.assertEqual(process.returncode, 0, process.stderr)
        # A flag and its forms begin a line: "  -F,--fact-dir DIR".
        begin = re.compile(r'^  (-[\w,-]+)', re.M)
        return {flag for names in begin.findall(process.stdout) for flag in names.split(',')}

    def documented(self, text):
        """The flags in the first cells of tables."""
        return {flag for cell in first_cells(text) for code in re.findall('`([^`]*)`', cell) for flag in FLAG.findall(code)}

    def test_all_are_documented(self):
        tables = self.text.split('\n## Tuning\n')[0]
        refused = self.documented(section(self.text, self.REFUSED))
        self.assertEqual(self.documented(tables) - refused, self.known)

    def test_documents_name_no_others(self):
        refused = self.documented(section(self.text, self.REFUSED))
        for name in ['README.md', *fnmatch.filter(documents.all_documents(), 'docs/*.md')]:
            commands = [line.split('#')[0] for block in documents.blocks_of(name) if block.kind in ('console', 'sh')
                        for line in block.lines if 'gpulog' in line.split() or 'build/release/gpulog' in line.split()]
            for command in self.PAGES_OF_COMMANDS:
                of_command = [line for line in commands if 'gpulog ' + command in line]
                commands = [line for line in commands if line not in of_command]
                found = {flag for line in of_command for flag in re.findall(r'(?<=\s)(--[a-z][\w-]*|-[A-Za-z])', line)}
                self.assertFalse(found - self.flags_of(command, '--help'), name)
            found = {flag for line in commands for flag in re.findall(r'(?<=\s)(--[a-z][\w-]*|-[A-Za-z])', line)}
            self.assertFalse(found - self.known - refused, name)

    def test_those_of_commands(self):
        for command, page in self.PAGES_OF_COMMANDS.items():
            text = read(page)
            for flag in self.flags_of(command, '--help') - {'-h', '--help'}:
                self.assertRegex(text, r'[` ]%s\b' % flag)

    def test_refused_ones_are_refused(self):
        for flag in sorted(self.documented(section(self.text, self.REFUSED))):
            process = printed_by(flag, 'explain', 'program.dl')
            self.assertNotEqual(process.returncode, 0, flag)
            self.assertIn('is not supported', process.stderr, flag)

    def test_tuning(self):
        process = printed_by('--tune', 'help')
        self.assertEqual(process.returncode, 0, 'gpulog --tune help: ' + process.stderr)
        known = {line.split()[0].split('=')[0] for line in process.stdout.splitlines()
                 if re.match(r'\s*[a-z][a-z-]*\b', line) and not line.rstrip().endswith(':')}
        documented = {name for cell in first_cells(section(self.text, 'Tuning')) for name in re.findall('`([^`]*)`', cell)}
        self.assertEqual(documented, known)


class Form(unittest.TestCase):
    def test_readme_is_short(self):
        self.assertLessEqual(len(read('README.md').splitlines()), LONGEST_README)

    def test_releases_are_short(self):
        for release in re.split(r'^## ', read('CHANGELOG.md'), flags=re.M)[1:]:
            self.assertLessEqual(len(release.splitlines()), LONGEST_RELEASE, release.splitlines()[0])

    def test_decisions_have_one_form(self):
        names = sorted(name for name in documents.all_documents() if re.match(r'docs/adr/\d', name))
        for name in names:
            text = read(name)
            self.assertRegex(text, r'^# %s: Use .*\n\nStatus: (accepted|superseded)' % os.path.basename(name)[:4])
            self.assertLessEqual(len(text.splitlines()), LONGEST_DECISION, name)
            for heading in ('Context', 'Decision', 'Consequences'):
                self.assertIn('\n## %s\n' % heading, text, name)
        self.assertEqual(re.findall(r'^- \[\d+\]\((.*?)\)', read('docs/adr/index.md'), flags=re.M),
                         [os.path.basename(name) for name in names])

    def test_lines_are_short(self):
        for name in documents.all_documents():
            long_lines = [number for number, line in enumerate(read(name).splitlines(), 1) if len(line) > LONGEST_LINE]
            self.assertFalse(long_lines, name)

    def test_links_lead_somewhere(self):
        for name in documents.all_documents():
            for target in LINK.findall(re.sub('^```.*?^```', '', read(name), flags=re.M | re.S)):
                path = os.path.join(ROOT, os.path.dirname(name), target)
                self.assertTrue(os.path.exists(path), '%s: %s' % (name, target))

    def test_examples_have_pages(self):
        listed = read('examples/README.md')
        for folder in glob.glob(os.path.join(ROOT, 'examples', '*', '')):
            name = os.path.basename(os.path.dirname(folder))
            self.assertTrue(os.path.exists(os.path.join(folder, 'README.md')), name)
            self.assertIn('](%s/README.md)' % name, listed)


class Prose(unittest.TestCase):
    def counts(self, name, text):
        loader = importlib.machinery.SourceFileLoader('prose', os.path.join(ROOT, 'scripts', 'prose'))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader('prose', loader))
        loader.exec_module(module)
        with tempfile.TemporaryDirectory(prefix='gpulog-') as folder:
            path = os.path.join(folder, name)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            return module.counts(path)

    def test_comments_are_counted(self):
        self.assertEqual(self.counts('a.cpp', '// Returns what it has.\n/* As many rows. */ call("// its", 1);\n'), (3, 7))
        self.assertEqual(self.counts('a.py', '"""Stores those rows."""\nname = "# its"  # such a name\n'), (2, 6))
        self.assertEqual(self.counts('a', '#!/bin/sh\n# Builds the other one.\necho it\n'), (1, 4))

    def test_code_of_documents_is_not_counted(self):
        self.assertEqual(self.counts('a.md', 'Rows of `its` [table](it.md).\n\n```text\nit\n```\n\nNothing else.\n'), (1, 5))


if __name__ == '__main__':
    os.environ['GPULOG'] = os.path.abspath(os.environ.get('GPULOG', os.path.join(ROOT, 'build/release/gpulog')))
    sys.exit(unittest.main())

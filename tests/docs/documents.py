"""Reads the documents and runs what is in them.

A fenced block says by its first word what it is:

  datalog            a whole program; it is written to program.dl. All blocks up to the next such block belong to it
  datalog-fragment   a part of a program, not run
  NAME.EXTENSION     a file beside the program
  output             what `gpulog program.dl -D-` prints, with exit status 0
  warning            what it prints on standard error then; without such a block, nothing
  error              what it prints on standard error when the program is rejected or fails, with exit status 1, without
                     the line that says when and where it failed
  console            lines `$ COMMAND`, each followed by what it prints; run in the folder of the program
  stats              JSON; the file that --stats writes has all of it, and may have more
  cpp                a part of a source file that tests compile
  python             run by the tests of the Python package (python/tests/test_documents.py)
  sh, text           not run

Rows of a relation may come in another order than the document has; what --show, --explain and profile print may not.
What --explain and profile print of times and bytes may differ. In these, a line `...` stands for any lines.
"""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
IS_SANITIZED = 'GPULOG_SANITIZED' in os.environ
TIMEOUT_SECONDS = 600 if IS_SANITIZED else 60

PROGRAM, FRAGMENT = 'datalog', 'datalog-fragment'
CHECKED = ('output', 'warning', 'error', 'console', 'stats')
# Settings of editors are 'json', 'lua', 'toml' and 'lisp'.
IGNORED = ('cpp', 'python', 'sh', 'text', 'json', 'lua', 'toml', 'lisp', FRAGMENT)
# Documents show messages with whole paths as if their programs were here.
SHOWN_FOLDER = '/home/ann'

# What a console block may run beside gpulog and executables of the folder.
COMMANDS = ('cat', 'ls', 'mkdir')
FENCE = re.compile(r'^```(.*)$')
# Where a run was when it failed, and how long it took.
PLACE = re.compile(r'^The run failed after .*\n', re.M)
MEASURE = re.compile(r'[0-9]+\.[0-9]{6} s\b|[0-9,]+ bytes\b')
# A figure of a table: with the blanks in front of it, as the column is aligned.
TABLE_MEASURE = re.compile(r' *[+-]?[0-9]+\.[0-9]{2,3}\b| *[0-9]+ %| *[0-9.]+[kMG]?B\b')
ANY_LINES = '...'


class Block:
    def __init__(self, kind, line):
        self.kind = kind
        self.line = line  # of the fence, from 1
        self.lines = []

    @property
    def text(self):
        return ''.join(line + '\n' for line in self.lines)

    @property
    def is_file(self):
        return '.' in self.kind


def all_documents():
    patterns = ('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/**/*.md', 'examples/**/*.md')
    found = (path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern), recursive=True))
    return sorted(os.path.relpath(path, ROOT) for path in found)


def read_lines(document):
    with open(os.path.join(ROOT, document), encoding='utf-8') as file:
        return file.read().split('\n')


def blocks_of(document):
    blocks, open_block = [], None
    for number, line in enumerate(read_lines(document), 1):
        fence = FENCE.match(line)
        if fence and open_block is None:
            open_block = Block(fence.group(1).strip(), number)
        elif fence:
            blocks.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.lines.append(line)
    if open_block is not None:
        raise ValueError('%s:%d: the block has no end' % (document, open_block.line))
    return blocks


def cases_of(document):
    """Lists of blocks, each with its program first; what stands in front of the first program is a list of its own."""
    cases = [[]]
    for block in blocks_of(document):
        if block.kind == PROGRAM:
            cases.append([])
        cases[-1].append(block)
    return [case for case in cases if case]


def is_known(block):
    return block.kind in (PROGRAM, *CHECKED, *IGNORED) or block.is_file


def same_text(wanted, found, in_order):
    if wanted == found:
        return True
    return not in_order and sorted(wanted.splitlines()) == sorted(found.splitlines())


def same_but_for_gaps(wanted, found):
    """Whether the text is as wanted, whose lines `...` stand for any lines."""
    lines = wanted.splitlines()
    pattern = ''.join('(?:.*\n)*' if line == ANY_LINES else re.escape(line) + '\n' for line in lines)
    return ANY_LINES in lines and re.fullmatch(pattern, found) is not None


def missing_part(wanted, found, place=''):
    """Where a JSON value lacks something that another one has; empty: nowhere. Lists have to be of the same length."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        parts = [(key, value, found.get(key)) for key, value in wanted.items()]
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        parts = [(number, *pair) for number, pair in enumerate(zip(wanted, found))]
    else:
        return '' if wanted == found else '%s: %s instead of %s' % (place, json.dumps(found), json.dumps(wanted))
    return next(filter(None, (missing_part(value, there, '%s/%s' % (place, key)) for key, value, there in parts)), '')


class Runner:
    """Runs the blocks of one document in a folder for each program. With `update`, takes over what was printed."""

    def __init__(self, document, update=False):
        self.document = document
        self.update = update
        self.problems = []
        self.replacements = []
        self.gpulog = os.path.abspath(os.environ['GPULOG'])
        self.folder = None

    def run(self):
        for case in cases_of(self.document):
            with tempfile.TemporaryDirectory(prefix='gpulog-') as scratch:
                self.folder = os.path.join(scratch, 'here')
                self.prepare()
                self.run_case(case)
        return self.problems

    def prepare(self):
        """A document beside a program finds the files of its folder."""
        own = os.path.join(ROOT, os.path.dirname(self.document))
        if self.document.startswith('examples/'):
            shutil.copytree(own, self.folder)
        else:
            os.mkdir(self.folder)
        functors = os.environ.get('GPULOG_DOCS_FUNCTORS')
        if functors:
            shutil.copy(functors, os.path.join(self.folder, 'libfunctors.so'))

    def problem(self, block, text):
        self.problems.append('%s:%d: %s' % (self.document, block.line, text))

    def run_case(self, case):
        for block in case:
            if not is_known(block):
                self.problem(block, 'no test knows what a block of "%s" is' % block.kind)
            if block.is_file or block.kind == PROGRAM:
                name = 'program.dl' if block.kind == PROGRAM else block.kind
                path = os.path.join(self.folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as file:
                    file.write(block.text)
        checked = [block for block in case if block.kind in CHECKED]
        if case[0].kind == PROGRAM and not checked:
            self.problem(case[0], 'nothing says what the program prints')
        warnings = [block for block in checked if block.kind == 'warning']
        for block in checked:
            if block.kind == 'console':
                self.run_console(block)
            elif block.kind == 'stats':
                self.check_stats(block)
            elif block.kind == 'output' or (block.kind == 'warning' and all(b.kind != 'output' for b in checked)):
                self.check_success(block, warnings)
            elif block.kind == 'error':
                self.check_failure(block)

    def execute(self, command, stdin=subprocess.DEVNULL):
        if command[0] == 'gpulog':
            runs = '--backend' not in command and command[1:2] not in (['profile'], ['test'], ['lint'])
            command = [self.gpulog, *command[1:]] + (['--backend', 'cpu'] if runs else [])
        process = subprocess.run(command, cwd=self.folder, stdin=stdin, capture_output=True, text=True, check=False,
                                 timeout=TIMEOUT_SECONDS)
        process.stderr = process.stderr.replace(os.path.realpath(self.folder), SHOWN_FOLDER)
        return process

    def compare(self, block, found, in_order=False, measures=None):
        wanted, printed = block.text, found
        if measures:
            wanted, printed = (measures.sub('_', text) for text in (wanted, printed))
        if same_text(wanted, printed, in_order) or (measures and same_but_for_gaps(wanted, printed)):
            return
        if self.update:
            self.replacements.append((block.line, len(block.lines), found.splitlines()))
        else:
            self.problem(block, 'the document has\n%s\nand gpulog prints\n%s' % (block.text, found))

    def check_success(self, block, warnings):
        process = self.execute(['gpulog', 'program.dl', '-D-'])
        if process.returncode != 0:
            self.problem(block, 'exit status %d: %s' % (process.returncode, process.stderr))
            return
        if block.kind == 'output':
            self.compare(block, process.stdout)
        for warning in warnings:
            self.compare(warning, process.stderr, in_order=True)
        if not warnings and process.stderr:
            self.problem(block, 'unexpected on standard error: %s' % process.stderr)

    def check_failure(self, block):
        process = self.execute(['gpulog', 'program.dl', '-D-'])
        if process.returncode != 1 or process.stdout:
            self.problem(block, 'exit status %d, printed: %s' % (process.returncode, process.stdout))
        self.compare(block, PLACE.sub('', process.stderr), in_order=True)

    def check_stats(self, block):
        process = self.execute(['gpulog', 'program.dl', '-D', '', '--stats', 'stats.json'])
        if process.returncode != 0:
            self.problem(block, process.stderr)
            return
        with open(os.path.join(self.folder, 'stats.json'), encoding='utf-8') as file:
            found = json.load(file)
        missing = missing_part(json.loads(block.text), found)
        if missing:
            self.problem(block, 'the figures differ at %s' % missing)

    def run_console(self, block):
        printed, commands = [], []
        for line in block.lines:
            if line.startswith('$ '):
                commands.append((line[2:], len(printed)))
        lines, in_order, measures = [], True, None
        for command, _ in commands:
            words, stdin = shlex.split(command), subprocess.DEVNULL
            if '<' in words:
                stdin = open(os.path.join(self.folder, words[-1]), encoding='utf-8')
                words = words[:-2]
            if words[0] not in ('gpulog', *COMMANDS) and not words[0].startswith('./'):
                self.problem(block, 'no test runs %s' % words[0])
                return
            process = self.execute(words, stdin)
            if stdin is not subprocess.DEVNULL:
                stdin.close()
            is_table = words[:2] == ['gpulog', 'profile']
            in_order = in_order and ('--show' in words or '--explain' in words or is_table or '-p' in words)
            measures = TABLE_MEASURE if is_table else MEASURE if '--explain' in words else measures
            lines += ['$ ' + command] + (process.stdout + process.stderr).splitlines()
        self.compare(block, ''.join(line + '\n' for line in lines), in_order, measures)

    def rewrite(self):
        """Takes over what was printed, from the last block on, so that lines keep their numbers."""
        lines = read_lines(self.document)
        for first, count, printed in sorted(self.replacements, reverse=True):
            lines[first:first + count] = printed
        with open(os.path.join(ROOT, self.document), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines))


def main():
    """documents.py [--update] DOCUMENT...: runs documents, by paths from the root; --update writes what was printed."""
    documents = [name for name in sys.argv[1:] if name != '--update']
    failed = False
    for document in documents:
        runner = Runner(document, update='--update' in sys.argv)
        for problem in runner.run():
            print(problem)
            failed = True
        if runner.replacements:
            runner.rewrite()
    return failed


if __name__ == '__main__':
    sys.exit(main())

"""A session on a terminal: a program that is entered piece by piece, and what is asked of it."""
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
import unittest

from command import CommandTest, TIMEOUT_SECONDS, raise_stack_limit, IS_SANITIZED

PROMPT, CONTINUED = 'gpulog> ', '   ...> '
CONTROL = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]')
PROGRESS = re.compile(r'\r\x1b\[K\d+\.\d s  [^\r\n]*')  # of a run of more than 0.2 s, up to its erasure
LINE, END = '-' * 15, '=' * 15
SLOW = '''.decl n(x:number)
n(0).
n(x + 1) :- n(x), x < 200000.
.decl all(x:number)
all(x) :- n(x), n(y), n(z), x + y * z = -1.
'''


class Terminal:
    """gpulog as somebody at a terminal has it. What it prints is read until it waits for a line."""

    def __init__(self, gpulog, folder, arguments, environment):
        self.master, terminal = pty.openpty()
        self.process = subprocess.Popen([gpulog, *arguments], cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal,
                                        env=environment, start_new_session=True, preexec_fn=lambda: self.prepare(terminal))
        os.close(terminal)
        self.text = ''

    @staticmethod
    def prepare(terminal):
        import fcntl
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)  # so that Ctrl-C is its signal
        if IS_SANITIZED:
            raise_stack_limit()

    def read_more(self):
        ready, _, _ = select.select([self.master], [], [], TIMEOUT_SECONDS)
        if not ready:
            raise AssertionError('nothing comes behind: %r' % self.text)
        try:
            more = os.read(self.master, 1 << 16)
        except OSError:  # the other side is closed
            more = b''
        self.text += more.decode(errors='replace')
        return bool(more)

    def until(self, *ends):
        """What it prints up to one of these, without that."""
        while True:
            shown = CONTROL.sub('', PROGRESS.sub('', self.text)).replace('\r', '')
            if any(shown.endswith(end) for end in ends):
                self.text = ''
                return shown
            if not self.read_more():
                raise AssertionError('it has ended: %r' % shown)

    def wait_for(self, text):
        while text not in self.text:
            if not self.read_more():
                raise AssertionError('it has ended: %r' % self.text)

    def wait_for_editor(self):
        """Waits until Ctrl-C is a key of the line editor instead of a signal."""
        while termios.tcgetattr(self.master)[3] & termios.ISIG:
            if self.process.poll() is not None:
                raise AssertionError('it has ended: %r' % self.text)
            time.sleep(0.01)

    def type(self, text):
        os.write(self.master, text.encode())

    def enter(self, line, end=PROMPT):
        """What is printed behind the line, up to the prompt."""
        self.type(line + '\n')
        shown = self.until('\n' + end)
        return shown.split('\n', 1)[1].removesuffix(end)

    def ended(self):
        while self.read_more():
            pass
        return self.process.wait(TIMEOUT_SECONDS)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class Sessions(CommandTest):
    def start_session(self, *arguments, prompt=PROMPT, **environment):
        # libedit does not free all of its texts when it ends.
        sanitizer = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        surroundings = {**os.environ, 'ASAN_OPTIONS': sanitizer, 'XDG_STATE_HOME': self.path('state'), 'HOME': self.folder, 'TERM': 'xterm', 'NO_COLOR': '1',
                        'LC_ALL': 'C.UTF-8', **environment}
        terminal = Terminal(self.gpulog, self.folder, arguments, surroundings)
        self.addCleanup(terminal.close)
        self.greeting = terminal.until(prompt)
        return terminal

    def leave(self, terminal):
        terminal.type('\x04')
        self.assertEqual(terminal.ended(), 0)

    def graph(self, terminal):
        for line in ('.decl edge(x:number, y:number)', '.decl reach(x:number, y:number)', 'edge(1,2). edge(2,3).',
                     'reach(x,y) :- edge(x,y).', 'reach(x,z) :- reach(x,y), edge(y,z).'):
            self.assertEqual(terminal.enter(line), '', line)

    def test_program_and_queries(self):
        terminal = self.start_session()
        self.assertIn('.help', self.greeting)
        self.graph(terminal)
        answer = terminal.enter('?- reach(1,x).')
        self.assertEqual(answer.splitlines()[:4], [LINE, 'reach(1,x)', 'x', END])
        self.assertEqual(sorted(answer.splitlines()[4:-1]), ['2', '3'])
        self.assertEqual(terminal.enter('?- reach(3,1)').splitlines(), [LINE, 'reach(3,1)', END, 'false', END])
        self.assertEqual(terminal.enter('edge(3,1).'), '')
        self.assertEqual(terminal.enter('?-reach(3,1).').splitlines()[3], 'true')
        self.leave(terminal)

    def test_entries_of_several_lines(self):
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.decl a(x:number,', CONTINUED), '')
        self.assertEqual(terminal.enter('  y:symbol).'), '')
        self.assertEqual(terminal.enter('a(1,', CONTINUED), '')
        self.assertEqual(terminal.enter('"one. two")', CONTINUED), '')
        self.assertEqual(terminal.enter('. /* a dot. and', CONTINUED), '')
        self.assertEqual(terminal.enter('no end */'), '')
        self.assertEqual(terminal.enter('.decl f(x:float)'), '')
        self.assertEqual(terminal.enter('f(1.5', CONTINUED), '')
        self.assertEqual(terminal.enter('). f(2.5).'), '')
        self.assertEqual(terminal.enter('.comp C {', CONTINUED), '')
        self.assertEqual(terminal.enter('  .decl b(x:number) b(7).', CONTINUED), '')
        self.assertEqual(terminal.enter('}'), '')
        self.assertEqual(terminal.enter('.init c = C'), '')
        self.assertEqual(terminal.enter('?- a(x, y),', CONTINUED), '')
        self.assertIn('\n1\tone. two\t7\n', terminal.enter('c.b(z).'))
        self.assertIn('\n1.5\n', terminal.enter('?- f(x), x < 2.'))
        self.leave(terminal)

    def test_errors_leave_the_program_as_it_was(self):
        terminal = self.start_session()
        self.graph(terminal)
        shown = terminal.enter('edge(4,5). egde(5,6).')
        self.assertIn("Error: Undefined relation egde, did you mean 'edge'? in file entry 6 at line 1", shown)
        self.assertIn('edge(4,5). egde(5,6).\n-----------^', shown)
        self.assertIn('Error: Undefined relation raech', terminal.enter('?- raech(1,x).'))
        self.assertIn('\n   raech(1,x).\n---^', terminal.enter('?- raech(1,x).'))
        self.assertIn('syntax error', terminal.enter('edge(4,5)).'))
        self.assertEqual(terminal.enter('?- edge(4,5).').splitlines()[3], 'false')
        self.assertIn("did you mean '.output'", terminal.enter('.ouput edge'))
        self.assertEqual(terminal.enter('.output edge.'), '')
        # A warning comes once.
        self.assertIn('Variable y only occurs once', terminal.enter('reach(x,x) :- edge(x,y).'))
        self.assertNotIn('only occurs once', terminal.enter('edge(7,8).'))
        self.assertNotIn('only occurs once', terminal.enter('?- edge(7,8).'))
        self.assertFalse(os.path.exists(self.path('edge.csv')))
        self.leave(terminal)

    def test_facts_that_cannot_be_read(self):
        terminal = self.start_session('-F', 'facts')
        self.assertEqual(terminal.enter('.decl a(x:number)'), '')
        self.assertEqual(terminal.enter('.input a'), '')
        self.assertIn('a.facts', terminal.enter('?- a(x).'))
        self.write('facts/a.facts', '5\n')
        self.assertIn('\n5\n', terminal.enter('?- a(x).'))
        self.leave(terminal)

    def test_commands(self):
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(1,2).\n')
        terminal = self.start_session()
        self.assertIn('.profile', terminal.enter('.help'))
        self.assertIn('nothing has run', terminal.enter('.profile'))
        self.assertIn('Cannot open file none.dl', terminal.enter('.load none.dl'))
        self.assertEqual(terminal.enter('.load graph.dl'), '')
        self.assertIn('Redefinition of relation edge', terminal.enter('.load "graph.dl"'))
        self.assertEqual(terminal.enter('.decl back(x:number, y:number).'), '')
        self.assertEqual(terminal.enter('back(y,x) :- edge(x,y).'), '')
        self.assertEqual(terminal.enter('.list'),
                         '// graph.dl\n.decl edge(x:number, y:number)\nedge(1,2).\n'
                         '.decl back(x:number, y:number)\nback(y,x) :- edge(x,y).\n')
        # Without a query, of all rules.
        self.assertIn('back(y,x) :- edge(x,y).', terminal.enter('.explain'))
        self.assertIn('\n2\t1\n', terminal.enter('?- back(x,y).'))
        self.assertIn('query 1(x,y) :- back(x,y).', terminal.enter('.explain').replace(', ', ','))
        self.assertIn('query 1', terminal.enter('.profile'))
        terminal.type('.quit\n')
        self.assertEqual(terminal.ended(), 0)

    def test_words_without_a_mark(self):
        terminal = self.start_session()
        self.graph(terminal)
        self.assertIn('.relations', terminal.enter('help'))
        self.assertEqual(terminal.enter('.hlep'), "Error: There is no command .hlep, did you mean '.help'?\n")
        self.assertEqual(terminal.enter('reach(1, x)', CONTINUED),
                         'A query begins with ?-. An empty line asks this query; a dot ends a rule or fact.\n')
        self.assertEqual(sorted(terminal.enter('').splitlines()), sorted([LINE, 'reach(1, x)', 'x', END, '2', '3', END]))
        self.assertEqual(terminal.enter('reach(1, x).'),
                         'Error: Argument in fact is not constant: variable x in file entry 6 at line 1\n'
                         'reach(1, x).\n---------^---\nA symbol is written in double quotes: "x"\n'
                         'To ask this as a query, begin with ?-.\n')
        # The head of a rule may have a line of its own.
        terminal.enter('reach(x, x)', CONTINUED)
        self.assertEqual(terminal.enter('  // of each edge', CONTINUED), '')
        self.assertEqual(terminal.enter('  :- edge(x, _).'), '')
        self.assertEqual(terminal.enter('?- reach(1, 1).').splitlines()[3], 'true')
        terminal.type('exit\n')
        self.assertEqual(terminal.ended(), 0)

    def test_relations_and_retraction(self):
        self.write('more.dl', 'edge(7,8).\n')
        terminal = self.start_session()
        self.graph(terminal)
        self.assertEqual(terminal.enter('.relations'),
                         'edge(x:number, y:number)   not computed\nreach(x:number, y:number)  not computed\n')
        self.assertEqual(len(terminal.enter('?- reach(x, y).').splitlines()), 8)
        self.assertEqual(terminal.enter('.relations'),
                         'edge(x:number, y:number)   2 rows\nreach(x:number, y:number)  3 rows\n')
        self.assertEqual(terminal.enter('.retract edge(2, 3)'), '')
        self.assertEqual(terminal.enter('?- reach(x, y).').splitlines()[4:-1], ['1\t2'])
        self.assertEqual(terminal.enter('.retract edge(2, 3).'), 'Error: The fact edge(2,3) was not entered\n')
        self.assertEqual(terminal.enter('.retract reach(x, x) :- edge(x, x)'),
                         "Error: 'reach(x, x) :- edge(x, x)' is not a fact\n")
        self.assertIn('Undefined relation egde', terminal.enter('.retract egde(1, 2)'))
        self.assertEqual(terminal.enter('.load more.dl'), '')
        self.assertEqual(terminal.enter('.retract edge(7,8)'),
                         'Error: edge(7,8) cannot be retracted: the text is in a file or states more than one fact\n')
        self.assertEqual(terminal.enter('edge(2,3).'), '')
        self.assertEqual(terminal.enter('.relations').splitlines()[0],
                         'edge(x:number, y:number)   1 rows before later changes')
        self.assertEqual(terminal.enter('?- reach(1, 3).').splitlines()[3], 'true')
        self.leave(terminal)

    def test_retraction_of_parts_of_a_text(self):
        terminal = self.start_session()
        for line in ('.decl a(x:number)', 'a(3). a(4). a(3).'):
            self.assertEqual(terminal.enter(line), '')
        for line in ('#define N 5', '#define BOTH a(6). a(7)', 'a(N). BOTH.', '#define SOME a(8)', 'SOME.'):
            terminal.type(line + '\n')
            terminal.until('\n' + PROMPT, '\n' + CONTINUED)
        self.assertEqual(terminal.enter(''), '')
        rows = lambda: sorted(map(int, terminal.enter('?- a(x).').splitlines()[4:-1]))
        self.assertEqual(rows(), [3, 4, 5, 6, 7, 8])
        refusal = 'Error: a(%d) cannot be retracted: the text is in a file or states more than one fact\n'
        for number in (6, 7):
            self.assertEqual(terminal.enter('.retract a(%d)' % number), refusal % number)
        self.assertEqual(rows(), [3, 4, 5, 6, 7, 8])
        for fact in ('a(3)', 'a(N).', 'a(8)'):
            self.assertEqual(terminal.enter('.retract ' + fact), '')
        self.assertEqual(rows(), [4, 6, 7])
        for line in ('.type P = [x:number, y:P]', '.decl p(p:P, s:symbol)', 'p([1, nil], cat("a", "b")). p(nil, "").',
                     '.retract p([1,nil], cat("a","b")).'):
            self.assertEqual(terminal.enter(line), '')
        self.assertEqual(terminal.enter('?- p(x, y).').splitlines()[4:-1], ['nil\t'])
        self.assertEqual(terminal.enter('.comp C { .decl b(x:number) b(7). }'), '')
        self.assertEqual(terminal.enter('.init c = C'), '')
        self.assertEqual(terminal.enter('.init d = C'), '')
        self.assertEqual(terminal.enter('.retract c.b(7)'), refusal.replace('a(%d)', 'c.b(7)'))
        self.assertEqual(terminal.enter('.retract c.b(7). d.b(7).'), '')
        self.assertEqual(terminal.enter('?- c.b(x); d.b(x).').splitlines()[3:], [END, END])
        self.leave(terminal)

    def test_why(self):
        terminal = self.start_session()
        self.graph(terminal)
        for _ in range(2):
            self.assertEqual(terminal.enter('.why reach(1, 2)'), 'edge(1, 2)\n-------(R1)\nreach(1, 2)\n')
        self.assertTrue(terminal.enter('.why reach(1, 4)').startswith('reach(1, 4) does not hold\n'))
        self.assertEqual(terminal.enter('edge(3,4).'), '')
        self.assertNotIn('does not hold', terminal.enter('.why reach(1, 4)'))
        self.assertEqual(terminal.enter('.why'), 'Error: .why needs a tuple, as reach(1, x)\n')
        self.leave(terminal)

    def test_save(self):
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(1,2).\n')
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.load graph.dl'), '')
        self.assertEqual(terminal.enter('edge(2,3).'), '')
        self.assertEqual(terminal.enter('.save all.dl'), '')
        self.assertEqual(self.read('all.dl'), '#include "%s"\nedge(2,3).\n' % os.path.realpath(self.path('graph.dl')))
        self.assertEqual(terminal.enter('.save all.dl'), 'Error: The file all.dl exists: name a new file\n')
        self.assertEqual(terminal.enter('.save none/all.dl'), 'Error: Cannot open output file none/all.dl: there is no folder none\n')
        self.leave(terminal)
        process = self.run_gpulog('all.dl', '--query', 'edge(x, y)', '--format', 'tsv')
        self.assertEqual(sorted(process.output.splitlines()), ['1\t2', '2\t3', 'x\ty'])

    def test_rows_and_times(self):
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.decl n(x:number)'), '')
        self.assertEqual(terminal.enter('n(x) :- x = range(0, 150).'), '')
        lines = terminal.enter('?- n(x).').splitlines()
        self.assertEqual((len(lines), lines[-1]), (106, '100 of 150 rows; .rows all prints all rows'))
        self.assertEqual(terminal.enter('.rows 3'), '')
        lines = terminal.enter('?- n(x).').splitlines()
        self.assertEqual((len(lines), lines[-1]), (9, '3 of 150 rows; .rows all prints all rows'))
        self.assertEqual(terminal.enter('.rows all'), '')
        self.assertEqual(len(terminal.enter('?- n(x).').splitlines()), 155)
        self.assertEqual(terminal.enter('.rows many'), 'Error: .rows needs a number, or all\n')
        self.assertEqual(terminal.enter('.timer'), 'Error: .timer needs on or off\n')
        self.assertEqual(terminal.enter('.timer on'), '')
        self.assertRegex(terminal.enter('?- n(1).'), END + r'\n\d+\.\d\d\d s\n$')
        self.assertEqual(terminal.enter('.timer off'), '')
        self.assertEqual(terminal.enter('?- n(1).').splitlines()[-1], END)
        self.leave(terminal)
        # The time comes last.
        terminal = self.start_session('--explain')
        self.graph(terminal)
        self.assertEqual(terminal.enter('.timer on'), '')
        self.assertRegex(terminal.enter('?- edge(1, x).'), END + r'\n(.*\n)*.*query 1\(x\)(.*\n)+\d+\.\d\d\d s\n$')
        self.leave(terminal)

    def test_files_are_read_anew(self):
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(1,2).\n')
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.load graph.dl'), '')
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(3,4).\n')
        self.assertIn('\n3\t4\n', terminal.enter('?- edge(x,y).'))
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(3,4)\n')
        self.assertIn('in file graph.dl at line 2', terminal.enter('?- edge(x,y).'))
        self.assertIn('in file graph.dl at line 2', terminal.enter('edge(5,6).'))
        self.write('graph.dl', '.decl edge(x:number, y:number)\nedge(5,6).\n')
        self.assertIn('\n5\t6\n', terminal.enter('?- edge(x,y).'))
        self.leave(terminal)

    def test_what_was_computed_stays(self):
        terminal = self.start_session()
        self.graph(terminal)
        self.assertEqual(len(terminal.enter('?- reach(x,y).').splitlines()), 8)
        self.assertIn('reach(x,z) :-', terminal.enter('.profile'))
        self.assertIn('\n1\n2\n', terminal.enter('?- reach(x,3).'))
        self.assertNotIn('reach(x,z) :-', terminal.enter('.profile'))
        for line in ('edge(3,4).', '.decl far(x:symbol, y:number)', 'far("a", y) :- reach(1,y), !edge(1,y).'):
            self.assertEqual(terminal.enter(line), '')
        self.assertIn('\na\t3\na\t4\n', terminal.enter('?- far(x,y).'))
        self.assertIn('\n3\n4\n', terminal.enter('?- far("a",y).'))
        self.assertEqual(terminal.enter('?- far("b",y).').splitlines()[3:], [END, END])
        self.assertIn('\n1\n2\n3\n', terminal.enter('?- reach(x,4).'))
        self.leave(terminal)

    def test_overflows_are_warnings_once(self):
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.decl n(x:number)'), '')
        self.assertEqual(terminal.enter('n(2147483647). n(1).'), '')
        warning = ('Warning: A count or sum needs more than 32 bits and wraps around in rule:\n'
                   'query 1(t) :- t = sum x : { n(x) }.\nin file query [1:4-1:24]\n'
                   'Numbers have 32 bits here; with --word-size 64 they have 64 bits\n')
        query = '?- t = sum x : { n(x) }.'
        self.assertEqual(terminal.enter(query), '\n'.join((LINE, query[3:-1], 't', END, '-2147483648', END)) + '\n' + warning)
        self.assertNotIn('Warning', terminal.enter(query))
        self.leave(terminal)

    def test_files_of_facts_that_change(self):
        self.write('a.facts', '5\n')
        self.write('b.facts', '6\n')
        terminal = self.start_session()
        for line in ('.decl a(x:number)', '.input a', '.decl b(x:number)', '.input b', '.decl c(x:number)', 'c(x) :- a(x).'):
            self.assertEqual(terminal.enter(line), '')
        self.assertIn('\n5\n', terminal.enter('?- c(x).'))
        self.assertIn('\n6\n', terminal.enter('?- b(x).'))
        self.assertIn('\n5\t6\n', terminal.enter('?- c(x), b(y).'))
        self.write('a.facts', '77\n')
        self.assertIn('\n77\t6\n', terminal.enter('?- c(x), b(y).'))
        for line in ('.decl j(x:number)', '.input j(IO=jsonfile)'):
            self.assertEqual(terminal.enter(line), '')
        for number in ('5', '66'):
            self.write('j.json', '[[%s]]' % number)
            self.assertIn('\n%s\n' % number, terminal.enter('?- j(x).'))
        os.remove(self.path('b.facts'))
        self.assertIn('b.facts', terminal.enter('?- c(x), b(y).'))
        self.assertIn('\n77\n', terminal.enter('?- c(x).'))
        self.leave(terminal)

    def test_interruptions(self):
        terminal = self.start_session()
        self.write('slow.dl', SLOW)
        self.assertEqual(terminal.enter('.load slow.dl'), '')
        terminal.type('?- all(x).\n')
        terminal.wait_for('stratum')  # of the line that says what is done
        terminal.type('\x03')
        self.assertIn('Interrupted', terminal.until(PROMPT))
        self.assertEqual(terminal.enter('?- n(5).').splitlines()[3], 'true')
        # Of a line, and of an entry of several.
        terminal.type('n(7')
        terminal.wait_for('n(7')
        terminal.type('\x03')
        terminal.until('\n' + PROMPT)
        self.assertEqual(terminal.enter('n(', CONTINUED), '')
        terminal.type('\x03')
        terminal.until('\n' + PROMPT)
        self.assertEqual(terminal.enter('?- n(6).').splitlines()[3], 'true')
        self.leave(terminal)

    def test_signals_end_it(self):
        terminal = self.start_session()
        terminal.process.send_signal(signal.SIGINT)  # nothing runs
        self.assertEqual(terminal.enter('.list'), '')
        terminal.process.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.ended(), 128 + signal.SIGTERM)

    def test_history(self):
        terminal = self.start_session()
        self.graph(terminal)
        self.assertIn('2', terminal.enter('?- edge(1,x).'))
        self.leave(terminal)
        self.assertIn('edge(1,x)', self.read('state', 'gpulog', 'history'))
        terminal = self.start_session()
        self.graph(terminal)
        for _ in range(6):  # back over the five lines
            terminal.type('\x1b[A')
        terminal.type('\n')
        self.assertIn('2', terminal.until('\n' + PROMPT).split(END)[1])
        self.leave(terminal)
        # No place for it, which is no error.
        self.write('file', '')
        terminal = self.start_session(XDG_STATE_HOME=self.path('file'))
        self.assertEqual(terminal.enter('.decl a(x:number)'), '')
        self.leave(terminal)

    def test_completion(self):
        terminal = self.start_session()
        self.graph(terminal)
        self.assertIn('\n2\n3\n', terminal.enter('?- re\t(1, x).'))
        self.assertIn('edge(x:number, y:number)', terminal.enter('.rel\t'))
        self.assertEqual(terminal.enter('.dec\tedges(x:number)'), '')
        # The next word is ambiguous: the first tab completes what the matches share, the second lists the matches.
        terminal.type('?- e\t\t')
        terminal.wait_for('edge  edges')
        self.assertIn('\ntrue\n', terminal.enter('(1, 2).'))
        terminal.type('.re\t')
        terminal.wait_for('.relations  .retract')
        terminal.type('t\tedge(1, 2)\n')
        self.assertTrue(terminal.until('\n' + PROMPT).endswith('\n%s.retract edge(1, 2)\n%s' % (PROMPT, PROMPT)))
        self.assertIn('\nfalse\n', terminal.enter('?- edge(1, 2).'))
        # A tab that follows no word is a blank, as in pasted programs.
        self.assertEqual(terminal.enter('\tedge(1, 2).\tedge(1, \t3).'), '')
        self.assertIn('\ntrue\n', terminal.enter('?- edge(1, 2), edge(1, 3).'))
        self.assertIn('Undefined relation nothing', terminal.enter('?- nothing\t(1).'))
        self.leave(terminal)

    def test_explain_session(self):
        prompt = 'Enter command > '
        self.write('session.dl', '.decl edge, path(x:number, y:number)\nedge(1, 2). edge(2, 3).\n'
                   'path(x, y) :- edge(x, y).\npath(x, z) :- edge(x, y), path(y, z).\n')
        terminal = self.start_session('-t', 'explain', 'session.dl', prompt=prompt)
        shown = 'edge(2, 3)\n-------(R1)\npath(2, 3)\n'
        self.assertEqual(terminal.enter('explain pa\t(2, 3)', prompt), shown)
        terminal.type('\x1b[A\n')
        self.assertTrue(terminal.until('\n' + prompt).endswith('\n' + shown + prompt))
        terminal.type('ex\t')
        terminal.wait_for('exit  explain  explainnegation')
        terminal.type('\x03')  # of the line
        terminal.until('\n' + prompt)
        terminal.type('que\tpath(x, y)\n')
        terminal.until('y = 2\n', 'y = 3\n')
        terminal.wait_for_editor()
        terminal.type('\x03')  # of the answers
        terminal.until('\n' + prompt)
        terminal.type('explainneg\tpath(2, 1)\n')
        terminal.until('Pick a rule number: ')
        self.assertEqual(terminal.enter('1', prompt), 'edge(2, 1) ✗\n---------(R1)\n path(2, 1)\n')
        self.leave(terminal)
        history = self.read('state', 'gpulog', 'explain-history')
        self.assertIn('explainnegation', history)
        self.assertNotIn('\n1\n', history)
        terminal = self.start_session('-t', 'explain', 'session.dl', prompt=prompt)
        terminal.type('q\n')
        self.assertEqual(terminal.ended(), 0)

    def test_options_hold(self):
        terminal = self.start_session('--word-size', '64', '-j', '2', '-p', 'record.json')
        self.assertEqual(terminal.enter('.decl a(x:number)'), '')
        self.assertEqual(terminal.enter('a(5000000000).'), '')
        self.assertIn('\n5000000000\n', terminal.enter('?- a(x).'))
        self.assertIn('"word_size": 64', self.read('record.json'))
        self.leave(terminal)

    def test_other_characters(self):
        terminal = self.start_session()
        self.assertEqual(terminal.enter('.decl a(x:symbol)'), '')
        self.assertEqual(terminal.enter('a("Köln").'), '')
        self.assertIn('\nKöln\n', terminal.enter('?- a(x).'))
        self.leave(terminal)

    def test_plain_terminal(self):
        terminal = self.start_session(TERM='dumb', LC_ALL='C')
        self.graph(terminal)
        self.assertEqual(terminal.enter('?- reach(1,3).').splitlines()[3], 'true')
        self.leave(terminal)

    def test_without_a_terminal_there_is_none(self):
        process = self.run_gpulog()
        self.assertEqual((process.output, process.errors), ('', 'No datalog file specified.\n'))
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.run([self.gpulog], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                 timeout=TIMEOUT_SECONDS)
        os.close(terminal)
        self.assertEqual(process.stderr, b'No datalog file specified.\n')


if __name__ == '__main__':
    unittest.main()

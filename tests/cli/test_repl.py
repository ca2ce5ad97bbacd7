"""A session on a terminal: a program that is entered piece by piece, and what is asked of it."""
import os
import pty
import re
import select
import signal
import subprocess
import unittest

from command import CommandTest, TIMEOUT_SECONDS, raise_stack_limit, IS_SANITIZED

PROMPT, CONTINUED = 'gpulog> ', '   ...> '
CONTROL = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]')
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
        import termios
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
            shown = CONTROL.sub('', self.text).replace('\r', '')
            if any(shown.endswith(end) for end in ends):
                self.text = ''
                return shown
            if not self.read_more():
                raise AssertionError('it has ended: %r' % shown)

    def wait_for(self, text):
        while text not in self.text:
            if not self.read_more():
                raise AssertionError('it has ended: %r' % self.text)

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
    def start_session(self, *arguments, **environment):
        # libedit does not free all of its texts when it ends.
        sanitizer = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        surroundings = {**os.environ, 'ASAN_OPTIONS': sanitizer, 'XDG_STATE_HOME': self.path('state'), 'HOME': self.folder, 'TERM': 'xterm', 'NO_COLOR': '1',
                        'LC_ALL': 'C.UTF-8', **environment}
        terminal = Terminal(self.gpulog, self.folder, arguments, surroundings)
        self.addCleanup(terminal.close)
        self.greeting = terminal.until(PROMPT)
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
                         '.load graph.dl\n.decl back(x:number, y:number)\nback(y,x) :- edge(x,y).\n')
        # Without a query, of all rules.
        self.assertIn('back(y,x) :- edge(x,y).', terminal.enter('.explain'))
        self.assertIn('\n2\t1\n', terminal.enter('?- back(x,y).'))
        self.assertIn('query 1(x,y) :- back(x,y).', terminal.enter('.explain').replace(', ', ','))
        self.assertIn('query 1', terminal.enter('.profile'))
        terminal.type('.quit\n')
        self.assertEqual(terminal.ended(), 0)

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

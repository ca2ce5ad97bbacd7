"""gpulog lsp: sessions of a client over pipes, clients that die or send nonsense, and random edits."""
import os
import random
import subprocess
import sys
import unittest

from command import CommandTest, IS_SANITIZED, scaled
from lsp_client import Client

PROGRAMS = os.path.join(os.path.dirname(__file__), '..', 'programs')
REACH = '.decl edge(x:number, y:number)\n.input edge\n.decl reach(x:number, y:number)\n' \
        'reach(x,y) :- edge(x,y).\nreach(x,z) :- reach(x,y), edge(y,z).\n.output reach\n'


def position(line, character):
    return {'line': line, 'character': character}


def range_of(line, begin, end):
    return {'start': position(line, begin), 'end': position(line, end)}


class Lsp(CommandTest):
    def client(self, *arguments, initialize=True, **options):
        client = Client(self.gpulog, self.folder, *arguments, **options)
        self.addCleanup(client.close)
        if initialize:
            client.initialize()
        return client

    def test_session(self):
        self.write('edges.dl', '.decl edge(x:number, y:number)\n')
        client = self.client('--stdio')
        client.notify('initialized')
        client.open('main.dl', '.include "edges.dl"\n.decl r(x:number)\nr( x ) :- egde(x, _).\n.output r\n')
        self.assertEqual(client.diagnostics('main.dl'), [
            {'range': range_of(2, 10, 14), 'severity': 1, 'source': 'gpulog',
             'message': "Undefined relation egde, did you mean 'edge'?"}])
        fix, _ = client.ask('codeAction', 'main.dl', range=range_of(2, 12, 12), context={'diagnostics': []})
        [edit] = fix['edit']['changes'][client.uri('main.dl')]
        client.change('main.dl', {'range': edit['range'], 'text': edit['newText']})
        self.assertEqual(client.diagnostics('main.dl'), [])
        self.assertEqual(client.ask('formatting', 'main.dl', options={'tabSize': 2, 'insertSpaces': True}),
                         [{'range': {'start': position(2, 0), 'end': position(3, 0)}, 'newText': 'r(x) :- edge(x, _).\n'}])
        self.assertEqual([symbol['name'] for symbol in client.ask('documentSymbol', 'main.dl')], ['r', 'r( x )'])
        self.assertEqual((client.end(), client.errors), (0, ''))

    def test_figures_of_the_newest_run(self):
        self.write('main.dl', REACH.replace('.input edge', 'edge(1,2). edge(2,3). edge(3,4). edge(1,3).'))
        for name in ('old.json', 'new.json'):
            self.assert_runs(self.run_gpulog('main.dl', '-p', name, '-j1', '--backend', 'cpu'))
        os.utime(self.path('old.json'), (1, 1))
        self.write('old.json', self.read('old.json').replace('"tuples": 4', '"tuples": 77'))
        os.utime(self.path('old.json'), (1, 1))
        self.write('other.json', '{"schema_version": 2}')
        client = self.client()
        client.open('main.dl', '\n' + self.read('main.dl'))
        titles = [lens['command']['title'] for lens in client.ask('codeLens', 'main.dl')]
        self.assertEqual(titles[:2], ['Last run: 4 tuples, 32 bytes', 'Last run: 6 tuples, 48 bytes'])
        for title, end in zip(titles[2:], (' s, 4 tuples, 0 duplicates', ' s, 2 tuples, 1 duplicate')):
            self.assertRegex(title, r'^Last run: [0-9.e-]+%s$' % end)
        hover = client.ask('hover', 'main.dl', position=position(4, 15))['contents']['value']
        self.assertEqual(hover.split('\n\n')[-1], 'Last run: 4 tuples, 32 bytes')
        # An edited rule has no figures.
        client.change('main.dl', {'range': range_of(5, 0, 0), 'text': ' '}, {'range': range_of(4, 14, 15), 'text': ' e'})
        self.assertEqual(len(client.ask('codeLens', 'main.dl')), 3)
        client.notify('workspace/didChangeConfiguration', settings={'gpulog': {'record': 'old.json'}})
        self.assertEqual(client.ask('codeLens', 'main.dl')[0]['command']['title'], 'Last run: 77 tuples, 32 bytes')
        self.assertEqual(client.end(), 0)

    def test_commands(self):
        self.write('facts/edge.facts', '1\t2\n')
        self.write('main.dl', REACH)
        client = self.client()
        client.open('main.dl', REACH)

        def execute(command, **question):
            return client.request('workspace/executeCommand', command=command, arguments=[{'uri': client.uri('main.dl'), **question}])

        self.assertEqual(execute('gpulog.showPlan', position=position(3, 5)),
                         'reach(x,y) :- edge(x,y).   main.dl [4:1-4:25]\n  # order: only atom to start from\n'
                         '  for edge(x,y)  ~1e+05\n    insert reach(x,y)\n')
        plan = execute('gpulog.showPlan', position=position(1, 0))
        self.assertEqual(plan, self.run_gpulog('main.dl', '--show', 'transformed-ram').output)
        self.assertEqual(plan, execute('gpulog.showPlan'))
        self.assertIn('edge.facts', execute('gpulog.why', tuple='reach(1,2)')['message'])
        client.notify('workspace/didChangeConfiguration', settings={'gpulog': {'facts': 'facts'}})
        self.assertEqual(execute('gpulog.why', tuple='reach(1,2)'), 'edge(1, 2)\n-------(R1)\nreach(1, 2)\n')
        self.assertEqual(execute('gpulog.why', tuple='reach(2,x)'), 'No tuple matches reach(2,x).\n')
        self.assertTrue(execute('gpulog.why', tuple='reach(2,1)').startswith('reach(2,1) does not exist.\n'))
        self.assertEqual(execute('gpulog.what')['message'], 'there is no command gpulog.what')
        client.change('main.dl', {'range': range_of(3, 0, 0), 'text': '.decl'})
        self.assertEqual(execute('gpulog.showPlan')['message'], 'the program has errors')
        self.assertEqual((client.end(), client.errors), (0, ''))
        self.assertEqual(os.listdir(self.path('out')), [])

    def test_questions_that_run_while_others_are_answered(self):
        text = '.decl a(x:number)\na(x) :- x = range(0, 100000), y = range(0, 100000), x + y < 0.\na(1).\n.output a\n'
        self.write('main.dl', text)
        client = self.client()
        client.open('main.dl', text)
        why = {'command': 'gpulog.why', 'arguments': [{'uri': client.uri('main.dl'), 'tuple': 'a(1)'}]}
        number = client.start('workspace/executeCommand', **why)
        self.assertEqual(client.ask('definition', 'main.dl', position=position(2, 0))['range'], range_of(0, 6, 7))
        client.notify('$/cancelRequest', id=number)
        self.assertEqual(client.answer(number), {'code': -32800, 'message': 'the command was cancelled'})
        # A question does not outlive its session.
        client.start('workspace/executeCommand', **why)
        self.assertEqual((client.end(), client.errors), (0, ''))

    def test_options(self):
        os.mkdir(self.path('other'))
        self.write('other/a.dl', '.decl a(x:number)\na(N).\n')
        client = self.client('-I', 'other', '-M', 'N=1')
        client.open('main.dl', '#include "a.dl"\n')
        self.assertEqual(client.diagnostics('main.dl'), [])
        self.assertEqual(client.end(), 0)
        self.assert_fails(self.run_gpulog('lsp', '--tcp'), 'gpulog lsp --help lists the options')

    def test_same_errors_as_the_command(self):
        text = '.decl a(x:number)\na(1) :- b(.\na("x").\n.ouput a\n'
        self.write('main.dl', text)
        process = self.run_gpulog('--diagnostics', 'json', 'main.dl')
        client = self.client()
        client.open('main.dl', text)
        messages = [diagnostic['message'].splitlines()[0] for diagnostic in client.diagnostics('main.dl')]
        self.assertEqual(len(messages), 2)
        for message in messages:
            self.assertIn(message, process.errors)
        self.assertEqual(client.end(), 0)

    def test_ends_with_its_client(self):
        client = self.client()
        self.assertEqual((client.wait(), client.errors), (1, ''))  # the input ends without shutdown
        client = self.client()
        client.process.stdout.close()
        client.open('main.dl', REACH)  # nobody reads the diagnostics
        client.process.stdin.close()
        self.assertIn(client.process.wait(), (1, -13))
        client.process.stderr.close()

    def test_ends_with_the_process_of_its_client(self):
        child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)
        client = self.client(initialize=False)
        client.request('initialize', processId=child.pid, capabilities={})
        child.communicate(b'\n')
        self.assertEqual(client.process.wait(), 1)  # its input is open
        client.wait()

    def test_nonsense(self):
        generator = random.Random(1)
        for round in range(scaled(100, 3)):
            client = self.client(initialize=round % 2 == 0)
            for _ in range(20):
                content = generator.randbytes(generator.randrange(200))
                if generator.randrange(2):
                    content = b'Content-Length: %d\r\n\r\n' % len(content) + content
                client.send_bytes(content)
            client.process.stdin.close()
            client.process.stdout.read()
            self.assertEqual(client.process.wait(), 1)
            self.assertEqual(client.process.stderr.read(), b'')
            client.process.stdout.close()
            client.process.stderr.close()

    def test_values_of_other_types(self):
        """Each value of valid messages is replaced by nonsense."""
        client = self.client()
        client.open('main.dl', REACH)
        document = {'uri': client.uri('main.dl')}
        whole = {'textDocument': document, 'position': position(3, 3), 'range': range_of(3, 0, 3), 'newName': 'x',
                 'context': {'includeDeclaration': True, 'diagnostics': []}, 'query': '', 'options': {},
                 'item': {'uri': document['uri'], 'range': range_of(0, 0, 1), 'selectionRange': range_of(0, 0, 1)},
                 'contentChanges': [{'range': range_of(0, 0, 0), 'text': ''}], 'settings': {'gpulog': {'mainFiles': []}},
                 'command': 'gpulog.showPlan', 'arguments': [{'uri': document['uri'], 'position': position(3, 3)}],
                 'event': {'added': [document], 'removed': []}}
        methods = ['textDocument/' + name for name in (
            'formatting', 'rangeFormatting', 'documentSymbol', 'codeAction', 'definition', 'references', 'documentHighlight',
            'hover', 'completion', 'signatureHelp', 'prepareRename', 'rename', 'foldingRange', 'semanticTokens/full',
            'prepareCallHierarchy', 'codeLens', 'inlayHint')]
        methods += ['workspace/executeCommand', 'callHierarchy/incomingCalls', 'callHierarchy/outgoingCalls', 'workspace/symbol']
        values = (None, -1, 1e300, 2**70, 'x', [], {}, [[]], True)
        for nonsense in values[:4] if IS_SANITIZED else values:
            for path in self.paths(whole):
                params = self.replaced(whole, path, nonsense)
                for method in methods:
                    client.request(method, **params)
                if path[0] in ('settings', 'event', 'contentChanges'):
                    client.notify('workspace/didChangeConfiguration', **params)
                    client.notify('workspace/didChangeWorkspaceFolders', **params)
                    client.notify('textDocument/didChange', **params)
                    client.notify('textDocument/didChange', textDocument=document, contentChanges=[{'text': REACH}])
        self.assertEqual(client.end(), 0)

    def paths(self, value, path=()):
        if path:
            yield path
        if isinstance(value, dict):
            for key in value:
                yield from self.paths(value[key], (*path, key))

    def replaced(self, value, path, nonsense):
        if not path:
            return nonsense
        return {**value, path[0]: self.replaced(value[path[0]], path[1:], nonsense)}

    def test_ten_megabytes_on_one_line(self):
        count = scaled(1000000, 1000)
        client = self.client()
        client.open('main.dl', '.decl a(x:number,y:number) a(x,y) :- a(y,x). ' + 'a(1,2). ' * count)
        self.assertEqual(client.diagnostics('main.dl'), [])
        client.change('main.dl', {'range': range_of(0, 8 * count, 8 * count), 'text': '(('})
        [error] = client.diagnostics('main.dl')
        self.assertEqual(error['range'], range_of(0, 8 * count, 8 * count + 1))
        self.assertEqual(client.end(), 0)


if __name__ == '__main__':
    unittest.main()

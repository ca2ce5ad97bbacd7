"""`gpulog lsp` with real clients: each request with pytest-lsp (build/python, scripts/install_python), with what VS Code,
Neovim and Emacs say that they support, and a tour with a headless Neovim. Tests whose client is missing are skipped."""
import asyncio
import json
import os
import shutil
import subprocess
import unittest
import warnings

from command import CommandTest

try:
    import pytest_lsp
    from lsprotocol import types
except ImportError:
    pytest_lsp = None

NEOVIM = shutil.which('nvim')
CLIENTS = ('visual_studio_code', 'neovim@v0.7', 'neovim', 'emacs')
PROGRAM = '''// Roads
.decl edge(from:number, to:number)
edge(1,2). edge(2,3).
// Towns that a trip visits
.decl reach(from:number, to:number)
.output reach
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z), z > 1.
.type Way = [from:number,
             to:number]
'''


@unittest.skipUnless(pytest_lsp, 'needs pytest-lsp of scripts/install_python')
class PytestLsp(CommandTest):
    """Each request, with its exact answer."""

    def test_requests(self):
        self.write('main.dl', PROGRAM)
        self.assertEqual(self.run_gpulog('main.dl', '-D', 'out', '-p', 'run.json', '--backend', 'cpu').returncode, 0)
        self.document = types.TextDocumentIdentifier(uri='file://' + os.path.realpath(self.path('main.dl')))
        for name in CLIENTS:
            with self.subTest(client=name), warnings.catch_warnings():
                warnings.simplefilter('error', pytest_lsp.LspSpecificationWarning)
                asyncio.run(self.session(name))

    async def session(self, name):
        client = self.client = pytest_lsp.make_test_lsp_client()
        refreshed = []
        client.feature('client/registerCapability')(lambda params: None)
        client.feature('workspace/codeLens/refresh')(lambda params: refreshed.append('lenses'))
        client.feature('workspace/inlayHint/refresh')(lambda params: refreshed.append('hints'))
        await client.start_io(self.gpulog, 'lsp', cwd=self.folder)
        try:
            root = 'file://' + os.path.realpath(self.folder)
            result = await client.initialize_session(types.InitializeParams(
                capabilities=pytest_lsp.client_capabilities(name), process_id=os.getpid(), root_uri=root,
                workspace_folders=[types.WorkspaceFolder(uri=root, name='x')]))
            self.assertEqual(result.server_info.name, 'gpulog')
            client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(
                uri=self.document.uri, language_id='souffle', version=1, text=PROGRAM)))
            await client.wait_for_notification('textDocument/publishDiagnostics')
            self.assertEqual(list(client.diagnostics[self.document.uri]), [])
            await self.names()
            await self.structure()
            await self.figures_and_commands()
            await self.actions()
            self.assertEqual(refreshed, [])
        finally:
            await client.shutdown_session()
            await client.stop()
        self.assertIsNone(client.error)

    def at(self, kind, line, character, **more):
        return kind(text_document=self.document, position=types.Position(line, character), **more)

    @staticmethod
    def place(span):
        return (span.start.line, span.start.character, span.end.line, span.end.character)

    def area(self, *places):
        return types.Range(types.Position(*places[:2]), types.Position(*places[2:]))

    async def names(self):
        client, place = self.client, self.place
        found = await client.text_document_definition_async(self.at(types.DefinitionParams, 7, 30))
        self.assertEqual(place(found.range), (1, 6, 1, 10))
        context = types.ReferenceContext(include_declaration=False)
        found = await client.text_document_references_async(self.at(types.ReferenceParams, 1, 7, context=context))
        self.assertEqual([place(each.range) for each in found], [(2, 0, 2, 4), (2, 11, 2, 15), (6, 15, 6, 19), (7, 28, 7, 32)])
        found = await client.text_document_document_highlight_async(self.at(types.DocumentHighlightParams, 6, 6))
        self.assertEqual([place(each.range) for each in found], [(6, 6, 6, 7), (6, 20, 6, 21)])
        found = await client.text_document_hover_async(self.at(types.HoverParams, 4, 7))
        self.assertEqual(found.contents.value, '```souffle\n.decl reach(from:number, to:number)\n```\n\nTowns that a trip visits'
                         '\n\n2 rules, 0 facts, read by 1 rule\n\nLast run: 3 tuples, 24 bytes')
        found = await client.text_document_completion_async(self.at(types.CompletionParams, 6, 17))
        items = found.items if hasattr(found, 'items') else found
        self.assertIn(('edge', '(from:number, to:number)'), [(each.label, each.detail) for each in items])
        found = await client.text_document_signature_help_async(self.at(types.SignatureHelpParams, 6, 23))
        self.assertEqual((found.signatures[0].label, found.active_parameter), ('edge(from:number, to:number)', 1))
        found = await client.text_document_prepare_rename_async(self.at(types.PrepareRenameParams, 1, 7))
        self.assertEqual((place(found.range), found.placeholder), ((1, 6, 1, 10), 'edge'))
        found = await client.text_document_rename_async(self.at(types.RenameParams, 1, 7, new_name='road'))
        self.assertEqual([place(each.range) for each in found.changes[self.document.uri]],
                         [(1, 6, 1, 10), (2, 0, 2, 4), (2, 11, 2, 15), (6, 15, 6, 19), (7, 28, 7, 32)])
        with self.assertRaises(Exception) as refused:
            await client.text_document_rename_async(self.at(types.RenameParams, 1, 7, new_name='reach'))
        self.assertIn('reach has one already', str(refused.exception))

    async def structure(self):
        client = self.client
        of_document = {'text_document': self.document}
        found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(**of_document))
        self.assertEqual([each.name for each in found], ['edge', 'reach', 'reach(x, y)', 'reach(x, z)', 'Way'])
        found = await client.workspace_symbol_async(types.WorkspaceSymbolParams(query='ea'))
        self.assertEqual([each.name for each in found], ['reach'])
        found = await client.text_document_folding_range_async(types.FoldingRangeParams(**of_document))
        self.assertEqual([(each.start_line, each.end_line) for each in found], [(8, 9)])
        found = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(**of_document))
        self.assertEqual(list(found.data[:5]), [0, 0, 8, 1, 0])  # the comment in the first line
        options = types.FormattingOptions(tab_size=2, insert_spaces=True)
        found = await client.text_document_formatting_async(types.DocumentFormattingParams(options=options, **of_document))
        self.assertEqual([each.new_text for each in found],
                         ['edge(1, 2). edge(2, 3).\n', '.type Way = [from:number, to:number]\n'])
        found = await client.text_document_range_formatting_async(types.DocumentRangeFormattingParams(
            range=self.area(6, 0, 7, 0), options=options, **of_document))
        self.assertEqual(list(found or []), [])
        relation, = await client.text_document_prepare_call_hierarchy_async(self.at(types.CallHierarchyPrepareParams, 1, 7))
        found = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(relation))
        self.assertEqual([(each.from_.name, [self.place(span) for span in each.from_ranges]) for each in found],
                         [('reach', [(6, 15, 6, 19), (7, 28, 7, 32)])])
        relation, = await client.text_document_prepare_call_hierarchy_async(self.at(types.CallHierarchyPrepareParams, 4, 7))
        found = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(relation))
        self.assertEqual([each.to.name for each in found], ['edge', 'reach'])

    async def figures_and_commands(self):
        client = self.client
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(self.document))
        self.assertEqual([(each.range.start.line, each.command.command) for each in lenses],
                         [(1, ''), (4, ''), (6, 'gpulog.showPlan'), (7, 'gpulog.showPlan')])
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(self.document, self.area(0, 0, 5, 0)))
        self.assertEqual([(each.position.line, each.position.character, each.label) for each in hints],
                         [(1, 34, '2 tuples'), (4, 35, '3 tuples')])
        await self.execute(lenses[2].command, 'reach(x,y) :- edge(x,y).   main.dl [7:1-7:27]\n'
                           '  # order: only atom to start from\n  for edge(x,y)  ~2\n    insert reach(x,y)\n')
        context = types.CodeActionContext(diagnostics=[])
        found = await client.text_document_code_action_async(types.CodeActionParams(self.document, self.area(7, 15, 7, 15), context))
        self.assertEqual([each.title for each in found], ['Show plan of the rule', 'Why reach(x, y)'])
        await self.execute(found[1], '\n\n'.join((
            'edge(1, 2)\n-------(R1)\nreach(1, 2)',
            'edge(1, 2)\n-------(R1)\nreach(1, 2) edge(2, 3) 3 > 1\n-------------------------(R2)\n         reach(1, 3)',
            'edge(2, 3)\n-------(R1)\nreach(2, 3)')) + '\n')

    async def execute(self, command, expected):
        client = self.client
        before = len(client.shown_documents), len(client.messages)
        text = await client.workspace_execute_command_async(types.ExecuteCommandParams(command.command, command.arguments))
        self.assertEqual(text, expected)
        # The answer follows the text that the editor shows.
        shown, messages = client.shown_documents[before[0]:], client.messages[before[1]:]
        if client.capabilities.window.show_document and client.capabilities.window.show_document.support:
            with open(shown[0].uri.removeprefix('file://'), encoding='utf-8') as file:
                self.assertEqual((file.read(), messages), (expected, []))
        else:
            self.assertEqual(([each.message for each in messages], shown), ([expected], []))

    async def actions(self):
        client = self.client
        only = types.CodeActionContext(diagnostics=[], only=[types.CodeActionKind.Refactor])
        found = await client.text_document_code_action_async(types.CodeActionParams(self.document, self.area(7, 15, 7, 38), only))
        self.assertEqual([(each.title, [edit.new_text for edit in each.edit.changes[self.document.uri]]) for each in found], [
            ('Extract relation extracted', [
                '.decl extracted(x:number, z:number)\nextracted(x, z) :- reach(x, y), edge(y, z).\n', 'extracted(x, z)'])])
        client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(2, self.document.uri),
            [types.TextDocumentContentChangePartial(text=', 1', range=self.area(6, 24, 6, 24))]))
        await client.wait_for_notification('textDocument/publishDiagnostics')
        error, = client.diagnostics[self.document.uri]
        self.assertEqual((self.place(error.range), error.message),
                         ((6, 15, 6, 28), 'Mismatching arity of relation edge (expected 2, got 3)'))
        found = await client.text_document_code_action_async(types.CodeActionParams(
            self.document, error.range, types.CodeActionContext(diagnostics=[error])))
        self.assertEqual([each.title for each in found], ['Add column a3:number to edge'])
        client.text_document_did_close(types.DidCloseTextDocumentParams(self.document))


# Waits for the server, asks as a user does, and writes what it sees.
TOUR = '''
vim.cmd('edit main.dl')
local client = vim.lsp.start_client({name = 'gpulog', cmd = {vim.env.GPULOG, 'lsp'}, root_dir = vim.fn.getcwd()})
vim.lsp.buf_attach_client(0, client)
local shown = {}
local function wait(what) assert(vim.wait(60000, what, 10), 'the server does not answer') end
wait(function() return #vim.diagnostic.get(0) > 0 end)
shown.diagnostics = vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))
vim.fn.cursor(7, 16)
local actions
vim.ui.select = function(items, options, choose) actions = items; choose(items[1], 1) end
vim.lsp.buf.code_action()
wait(function() return #vim.diagnostic.get(0) == 0 end)
shown.fixed = vim.fn.getline(7)
vim.lsp.buf.definition()
wait(function() return vim.fn.line('.') ~= 7 end)
shown.definition = {vim.fn.line('.'), vim.fn.col('.')}
vim.lsp.buf.rename('road')
wait(function() return vim.fn.getline(2):find('road') ~= nil end)
shown.renamed = vim.fn.getline(7)
if vim.lsp.buf.format then vim.lsp.buf.format({timeout_ms = 60000}) else vim.lsp.buf.formatting_sync(nil, 60000) end
shown.formatted = vim.fn.getline(3, 4)
local answer = vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(), 60000)
shown.hover = answer[client].result.contents.value
vim.fn.writefile({vim.fn.json_encode(shown)}, 'shown.json')
vim.cmd('quitall!')
'''


@unittest.skipUnless(NEOVIM, 'needs Neovim')
class Neovim(CommandTest):
    def test_tour(self):
        self.write('main.dl', PROGRAM.replace(':- edge(x, y)', ':- egde(x, y)'))
        self.write('tour.lua', TOUR)
        environment = {**os.environ, 'GPULOG': self.gpulog, 'HOME': self.folder, 'XDG_STATE_HOME': self.folder,
                       'XDG_DATA_HOME': self.folder, 'XDG_CONFIG_HOME': self.folder, 'XDG_CACHE_HOME': self.folder}
        process = subprocess.run([NEOVIM, '--headless', '--clean', '-n', '-c', 'luafile tour.lua', '-c', 'cquit'], cwd=self.folder,
                                 env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
        self.assertEqual(process.returncode, 0, process.stderr.decode())
        self.assertEqual(json.loads(self.read('shown.json')), {
            'diagnostics': ["Undefined relation egde, did you mean 'edge'?"],
            'fixed': 'reach(x, y) :- edge(x, y).',
            'definition': [2, 7],
            'renamed': 'reach(x, y) :- road(x, y).',
            'formatted': ['road(1, 2). road(2, 3).', '// Towns that a trip visits'],
            'hover': '```souffle\n.decl road(from:number, to:number)\n```\n\nRoads\n\n0 rules, 2 facts, read by 2 rules'})


if __name__ == '__main__':
    unittest.main()

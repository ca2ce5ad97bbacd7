"""The playground in a headless Chromium, from a web server of this machine. PLAYGROUND names the folder of the page."""
import functools
import http.server
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = ROOT / 'docs'
sys.path.append(str(ROOT / 'scripts'))
import playground_links  # noqa: E402

BROWSER = shutil.which('chromium')
SITE = os.environ.get('PLAYGROUND', '')
TIMEOUT_SECONDS = 300

# Runs a script beside the page, in a frame of this width, and sends its result.
FRAME = '''<!doctype html><body><iframe style="width:%dpx;height:900px;border:0" src="index.html%s"></iframe><script>
const frame = document.querySelector('iframe');
const until = async (what) => {
  for (;;) {
    const found = what();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
frame.onload = async () => {
  const page = frame.contentDocument;
  const by = (id) => page.getElementById(id);
  const type = (text) => {
    by('text').value = text;
    by('text').dispatchEvent(new Event('input'));
  };
  const finished = () => until(() => !by('run').disabled);
  const view = (name) => [...page.querySelectorAll('#views button')].find((one) => one.textContent === name).click();
  const rows = () => [...page.querySelectorAll('#view tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent));
  const act = async () => { %s };
  let result;
  try {
    result = await act();
  } catch (failure) {
    result = String(failure.stack || failure);
  }
  await fetch('/result', {method: 'POST', body: JSON.stringify(result ?? null)});
};
</script></body>'''


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        name = self.path.split('?')[0]
        if name == '/index.html' and self.server.before_page:
            content = self.server.before_page + pathlib.Path(SITE, 'index.html').read_text(encoding='utf-8')
        elif name == '/frame.html':
            content = self.server.frame
        else:
            return super().do_GET()
        self.send_response(200)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.end_headers()
        self.wfile.write(content.encode())
        return None

    def do_POST(self):
        self.server.results.put(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


@unittest.skipUnless(BROWSER and os.path.exists(os.path.join(SITE, 'engine.wasm')), 'needs chromium and the built page')
class PageTest(unittest.TestCase):
    def setUp(self):
        handler = functools.partial(Handler, directory=SITE)
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
        self.server.results = queue.Queue()
        self.server.before_page = ''
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()

    def result_of(self, script, width=1280, fragment=''):
        self.server.frame = FRAME % (width, fragment, script)
        with tempfile.TemporaryDirectory(prefix='gpulog-', ignore_cleanup_errors=True) as home:
            browser = subprocess.Popen(
                [BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--user-data-dir=' + home,
                 '--proxy-server=127.0.0.1:9', '--proxy-bypass-list=127.0.0.1', '--window-size=1400,1000',
                 '--remote-debugging-port=0', 'http://127.0.0.1:%d/frame.html' % self.server.server_port],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                return self.server.results.get(timeout=TIMEOUT_SECONDS)
            finally:
                browser.terminate()
                browser.wait()

    def test_example_runs(self):
        self.assertEqual(self.result_of('''
            await until(() => by('state').textContent === 'Ready');
            by('run').click();
            await finished();
            const result = rows();
            page.querySelectorAll('#view th button')[1].click();
            return [result, rows()[0], [...page.querySelectorAll('#files button')].map((one) => one.textContent)];'''), [
                [['Bochum', 'Bochum'], ['Bochum', 'Essen'], ['Bonn', 'Bochum'], ['Bonn', 'Essen'], ['Bonn', 'Koeln'],
                 ['Essen', 'Bochum'], ['Essen', 'Essen'], ['Koeln', 'Bochum'], ['Koeln', 'Essen']], ['Bochum', 'Bochum'],
                ['program.dl', 'edge.facts', '+ facts']])

    def test_all_examples_run(self):
        found = self.result_of('''
            const sizes = [];
            for (const option of [...by('examples').options]) {
              by('examples').value = option.value;
              by('examples').dispatchEvent(new Event('change'));
              by('run').click();
              await finished();
              sizes.push([option.textContent, rows().length]);
            }
            return sizes;''')
        self.assertEqual(found, [['Reachability', 9], ['Same generation', 10], ['Shortest paths', 16], ['Points-to analysis', 5],
                                 ['Aggregates and texts', 2]])

    def test_diagnostics_while_typing(self):
        found = self.result_of('''
            type('.decl a(x: number)\\n.output a\\na(1). a(y) :- b(y).\\n');
            await until(() => page.querySelector('#problems .error'));
            return [page.querySelector('#problems .error').textContent, page.querySelector('.error-mark').textContent,
                    [...page.querySelectorAll('#shown .directive')].map((one) => one.textContent)];''')
        self.assertEqual(found[1:], ['b', ['.decl', '.output']])
        self.assertTrue(found[0].startswith('3:15: error: '), found[0])

    def test_proof_plan_and_profile(self):
        found = self.result_of('''
            by('run').click();
            await finished();
            page.querySelectorAll('#view tbody tr')[2].click();
            await until(() => page.querySelector('#view ul.proof'));
            const proof = [...page.querySelectorAll('#view ul.proof code')].map((one) => one.textContent);
            view('Plan');
            const plan = (await until(() => page.querySelector('#view pre'))).textContent;
            view('Profile');
            const inner = await until(() => page.querySelector('#view iframe'));
            await until(() => inner.contentDocument.querySelector('#ruletable tr.opens'));
            const rules = [...inner.contentDocument.querySelectorAll('#ruletable tr.opens')].map((row) =>
              [...row.children].map((cell) => cell.textContent));
            return [proof, plan, rules];''')
        proof, plan, rules = found
        self.assertEqual(proof, ['reach("Bonn", "Bochum")', 'reach("Bonn", "Essen")', 'reach("Bonn", "Koeln")',
                                 'edge("Bonn", "Koeln")', 'edge("Koeln", "Essen")', 'edge("Essen", "Bochum")'])
        # Strata and rules; the planner chooses the rest.
        self.assertEqual([line for line in plan.splitlines() if re.match(r'stratum|.*program\.dl', line)], [
            'stratum 0: edge', 'stratum 1: reach (recursive)', '    reach(x,y) :- edge(x,y).   program.dl [7:1-7:27]',
            '    reach(x,z) :- reach(x,y), edge(y,z).   program.dl [8:1-8:40]'])
        # Iterations, candidates, tuples and duplicates of rules; the other rows are parts of the time.
        self.assertEqual(sorted(row[3:] for row in rules if 'program.dl' in row[-1]), [
            ['1', '4', '4', '0 %', 'reach(x,y) :- edge(x,y).program.dl [7:1-7:27]'],
            ['3', '9', '5', '44 %', 'reach(x,z) :- reach(x,y), edge(y,z).program.dl [8:1-8:40], delta of atom 1']])

    def test_description_of_a_name(self):
        found = self.result_of('''
            const box = by('text').getBoundingClientRect();
            const style = frame.contentWindow.getComputedStyle(by('text'));
            const context = page.createElement('canvas').getContext('2d');
            context.font = style.font;
            const pointAt = (line, column) => by('text').dispatchEvent(new frame.contentWindow.MouseEvent('mousemove', {
              clientX: box.left + 8 + (column + 0.5) * context.measureText('0').width,
              clientY: box.top + 8 + (line + 0.5) * parseFloat(style.lineHeight)}));
            type('.decl edge(x:number, y:number)\\n// Connected\\n.decl reach(x:number)\\nreach(x) :- edge(x, _).\\n');
            const shown = async () => (await until(() => !by('hover').hidden && by('hover'))).innerText;
            pointAt(3, 2);
            const relation = await shown();
            pointAt(2, 60);
            const beside = by('hover').hidden;
            by('text').setSelectionRange(by('text').value.lastIndexOf('x'), by('text').value.lastIndexOf('x'));
            by('text').dispatchEvent(new frame.contentWindow.KeyboardEvent('keydown', {key: 'i', ctrlKey: true}));
            return [relation, beside, await shown()];''')
        self.assertEqual(found, ['.decl reach(x:number)\n\nConnected\n\n1 rule, 0 facts, read by 0 rules', True, 'x:number'])

    def test_completions(self):
        found = self.result_of('''
            const key = (name, more) => by('text').dispatchEvent(new frame.contentWindow.KeyboardEvent('keydown', {key: name, ...more}));
            const write = (text) => {
              for (const data of text) {
                by('text').setRangeText(data, by('text').selectionStart, by('text').selectionEnd, 'end');
                by('text').dispatchEvent(new frame.contentWindow.InputEvent('input', {data}));
              }
            };
            const labels = () => [...by('completions').children].map((line) => line.textContent);
            const opened = (count) => until(() => !by('completions').hidden && labels().length === count);
            type('.decl edge(from:number, to:number)\\n.decl edges(n:number)\\n.decl reach(x:number)\\nreach(x) :- ');
            by('text').setSelectionRange(by('text').value.length, by('text').value.length);
            write('ed');
            await opened(2);
            const offered = labels();
            key('ArrowDown');
            key('Enter');
            const accepted = by('text').value.split('\\n').pop();
            write('(');
            key(' ', {ctrlKey: true});
            await until(() => !by('completions').hidden);
            key('Escape');
            write('x).');
            const closed = by('completions').hidden;
            return [offered, accepted, closed, by('text').value.split('\\n').pop()];''')
        self.assertEqual(found, [['edge(from:number, to:number)', 'edges(n:number)'], 'reach(x) :- edges', True,
                                 'reach(x) :- edges(x).'])

    def test_browser_without_webassembly(self):
        self.server.before_page = '<script>delete globalThis.WebAssembly;</script>'
        self.assertEqual(self.result_of('''
            await until(() => by('text').value);
            const before = by('text').value.length;
            type('.decl a(x:number)\\n');
            return [by('state').textContent, by('run').disabled, before > 0, page.querySelector('#shown .directive').textContent];
            '''), [
                'This browser is too old: the playground needs WebAssembly and CompressionStream.', True, True, '.decl'])

    def test_included_files(self):
        self.assertEqual(self.result_of('''
            frame.contentWindow.prompt = () => 'rules.dl';
            [...page.querySelectorAll('#files button')].find((one) => one.textContent === '+ facts').click();
            type('.decl a(x: number)\\na(5).\\n');
            page.querySelector('#files button').click();
            type('.include "rules.dl"\\n.output a\\na(x) :- b(x).\\n');
            const problem = (await until(() => page.querySelector('#problems .error'))).textContent;
            type('.include "rules.dl"\\n.output a\\n');
            by('run').click();
            await finished();
            return [problem, rows()];'''), ['3:9: error: Undefined relation b', [['5']]])

    def test_stop_and_run_again(self):
        self.assertEqual(self.result_of('''
            type('.decl n(x: number)\\nn(0).\\nn(x + 1) :- n(x), x >= 0.\\n.output n\\n');
            by('run').click();
            await new Promise((resolve) => setTimeout(resolve, 500));
            by('stop').click();
            await finished();
            const stopped = [by('view').textContent];
            type('.decl n(x: number)\\nn(7).\\n.output n\\n');
            by('run').click();
            await finished();
            return [stopped, rows()];'''), [['The run was stopped.'], [['7']]])

    def test_memory_limit(self):
        found = self.result_of('''
            by('memory').value = '256';
            type('.decl n(x: number, y: number)\\nn(x, y) :- x = range(0, 100000), y = range(0, 100000).\\n.output n\\n');
            by('run').click();
            await finished();
            return by('view').textContent;''')
        self.assertIn('268435456 bytes', found)

    def test_link_contains_program_and_facts(self):
        program = '.decl a(x: number)\n.input a\n.output a\n'
        fragment = self.result_of('''
            type(%s);
            by('link').click();
            await until(() => frame.contentWindow.location.hash);
            return frame.contentWindow.location.hash;''' % json.dumps(program))
        self.assertEqual(self.result_of('await until(() => by("text").value); return by("text").value;', fragment=fragment), program)
        self.assertIn('reach', self.result_of('await until(() => by("text").value); return by("text").value;', fragment='#p=damaged'))

    def test_programs_of_the_documentation(self):
        """The links of the site open the program with its files, and exactly those run that the document runs."""
        names = ['tutorial.md', *sorted('language/' + path.name for path in DOCUMENTS.glob('language/*.md'))]
        texts = [DOCUMENTS.joinpath(name).read_text(encoding='utf-8') for name in names]
        programs = [program for text in texts for _, program, _ in playground_links.programs_of(text)]
        sites = [playground_links.with_links(text, 'page') for text in texts]
        linked = [link for site in sites for link in re.findall('href="page(#p=[^"]*)"', site)]
        notes = sum(site.count(playground_links.NO_LIBRARIES) for site in sites)
        self.assertEqual(notes, sum(map(playground_links.needs_libraries, programs)))
        self.assertGreater(notes, 0)
        self.assertEqual(len(linked) + notes, len(programs))
        self.assertGreater(len(linked), 70)
        wanted = []
        for name, text in zip(names, texts):
            for end, program, files in playground_links.programs_of(text):
                if playground_links.needs_libraries(program):
                    continue
                rest = re.split('^```datalog\n', text[end:], maxsplit=1, flags=re.M)[0]
                wanted.append([name, program, sorted(files), not re.search('^```error\n|"severity":"error"', rest, re.M)])
        found = self.result_of('''
            const found = [];
            for (const fragment of %s) {
              const before = by('text').value;
              frame.contentWindow.location.hash = fragment;
              await until(() => by('text').value && by('text').value !== before);
              by('run').click();
              await finished();
              const files = [...page.querySelectorAll('#files button')].map((one) => one.textContent).slice(1, -1);
              found.push([by('text').value, files.sort(), !page.querySelector('#view .error')]);
            }
            return found;''' % json.dumps(linked))
        self.assertEqual(len(found), len(wanted))
        for (name, program, *rest), answer in zip(wanted, found):
            with self.subTest(name, program=program):
                self.assertEqual([program, *rest], answer)

    def test_width(self):
        """No part is wider than the page."""
        for width in (400, 1280):
            found = self.result_of('''
                by('run').click();
                await finished();
                return [frame.contentWindow.innerWidth, page.documentElement.scrollWidth];''', width)
            self.assertEqual(found[0], width)
            self.assertLessEqual(found[1], width)


if __name__ == '__main__':
    unittest.main()

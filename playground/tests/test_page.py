"""The playground in a headless Chromium, from a web server of this machine. PLAYGROUND names the folder of the page."""
import functools
import http.server
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import unittest

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
        if self.path.split('?')[0] != '/frame.html':
            return super().do_GET()
        self.send_response(200)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.end_headers()
        self.wfile.write(self.server.frame.encode())
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
            return [proof, plan.includes('edge'), inner.contentDocument.querySelectorAll('#ruletable tr.opens').length > 0];''')
        self.assertEqual(found[0][0], 'reach("Bonn", "Bochum")')
        self.assertIn('edge("Essen", "Bochum")', found[0])
        self.assertEqual(found[1:], [True, True])

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

#!/usr/bin/env python3
"""Opens the documentation site in a headless Chromium and checks its width, its search and its programs.

  tests/docs/test_site.py [DIR]      DIR: the site; default: built into build/docs. Needs Debian's chromium

The exit status is 77 if scripts/build_docs cannot install MkDocs.

A page of this test loads each page of the site in a frame and sends its findings to the server of this test.
"""
import functools
import glob
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SITE = os.path.join(ROOT, 'build', 'docs')
TIMEOUT_SECONDS = 300
WIDTHS = [400]
# The page that a search has to list among the first three pages.
SEARCHES = {'query': 'interactive.html', '--query': 'interactive.html', 'why': 'proofs.html', '--why': 'proofs.html',
            'memory-limit': 'flags.html', 'choice-domain': 'language/special.html', 'parquet': 'files.html'}
DRIVER = '''<!doctype html><iframe></iframe><script>
const { pages, widths, searches } = %s;
const frame = document.querySelector("iframe");
const load = address => new Promise(done => { frame.onload = done; frame.src = address; });
const soon = () => new Promise(done => setTimeout(done, 20));
async function search(text) {
  await load("about:blank");
  await load("index.html?q=" + encodeURIComponent(text));
  const results = () => frame.contentDocument.querySelectorAll("a.md-search-result__link");
  while (results().length == 0) await soon();
  return [...results()].map(link => new URL(link.href).pathname.slice(1));
}
async function look() {
  const found = { wide: [], searches: {} };
  frame.height = 900;
  for (const width of widths) {
    frame.width = width;
    for (const page of pages) {
      await load(page);
      const needed = frame.contentDocument.documentElement.scrollWidth;
      if (needed > width) found.wide.push([page, width, needed]);
    }
  }
  for (const text of searches) found.searches[text] = await search(text);
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
}
look();
</script>'''


def read(page):
    with open(os.path.join(SITE, page), encoding='utf-8') as file:
        return file.read()


def all_pages():
    names = glob.glob(os.path.join(SITE, '**', '*.html'), recursive=True)
    return sorted(os.path.relpath(name, SITE) for name in names)


class Handler(http.server.SimpleHTTPRequestHandler):
    findings = None
    has_findings = threading.Event()

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        if self.path != '/driver.html':
            return super().do_GET()
        task = {'pages': all_pages(), 'widths': WIDTHS, 'searches': list(SEARCHES)}
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write((DRIVER % json.dumps(task)).encode())
        return None

    def do_POST(self):
        Handler.findings = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(204)
        self.end_headers()
        self.has_findings.set()


def look():
    """Returns what the driver page found in Chromium."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Processes of the browser may still write into the folder after the browser has ended.
    with tempfile.TemporaryDirectory(prefix='gpulog-', ignore_cleanup_errors=True) as home:
        address = 'http://127.0.0.1:%d/driver.html' % server.server_port
        browser = subprocess.Popen(['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
                                    '--user-data-dir=' + home, '--remote-debugging-port=0', address],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        in_time = Handler.has_findings.wait(TIMEOUT_SECONDS)
        browser.terminate()
        browser.wait()
    server.shutdown()
    server.server_close()
    assert in_time, 'Chromium reported nothing in %d s: a page or a search has no result' % TIMEOUT_SECONDS
    return Handler.findings


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.findings = look()

    def test_no_page_scrolls_sideways(self):
        self.assertEqual(self.findings['wide'], [])

    def test_search_finds_flags(self):
        for text, page in SEARCHES.items():
            pages = list(dict.fromkeys(self.findings['searches'][text]))
            self.assertIn(page, pages[:3], text)

    def test_search_excludes_pages_for_developers(self):
        index = json.loads(read('search/search_index.json'))
        folders = {entry['location'].split('/')[0] for entry in index['docs']}
        self.assertFalse(folders & {'internals', 'adr'})
        self.assertIn('language', folders)

    def test_nothing_comes_from_other_servers(self):
        for page in all_pages():
            self.assertEqual(re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="https?:[^"]*"', read(page)), [], page)

    def test_programs_are_highlighted(self):
        program = read('tutorial.html')
        self.assertIn('<span class="k">.decl</span><span class="w"> </span><span class="nf">parent</span>', program)
        self.assertIn('content.code.copy', program)


if __name__ == '__main__':
    if sys.argv[1:]:
        SITE = os.path.abspath(sys.argv.pop())
    else:
        status = subprocess.run([os.path.join(ROOT, 'scripts', 'build_docs'), SITE], check=False).returncode
        if status != 0:
            sys.exit(status)
    unittest.main()

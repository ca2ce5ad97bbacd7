"""Extensions of MkDocs for scripts/build_docs.

- The examples are outside of docs/. Their pages and files become a part of the site, as examples/NAME/. A notebook
  becomes a page in the same folder.
- Documents link to paths in the repository (docs/tutorial.md links to ../examples/README.md). The site has links to
  pages.
- tests/docs/documents.py defines the kinds of code blocks. Each kind becomes a language for highlighting, and a file
  beside a program gets its name as a title.
- Programs of the tutorial and of the language reference get a link to the playground, which becomes a part of the site if
  scripts/build_playground has built it.
- The search excludes the pages for developers and prefers reference pages to examples.
"""
import fnmatch
import glob
import json
import logging
import os
import posixpath
import re
import shutil

import datalog_lexer  # noqa: F401, registers the lexer
import playground_links
from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = 'examples'
PLAYGROUND = os.path.join(ROOT, 'build', 'wasm', 'site')
HAS_PLAYGROUND = os.path.exists(os.path.join(PLAYGROUND, 'engine.wasm'))
RUN_PAGES = ('tutorial.md', 'language/*')
LINK = re.compile(r'(?<=\]\()(?!\w+:)([^)#\s]+)')
FENCE = re.compile(r'^```(\S+)\n(>>>)?', re.M)
LANGUAGES = {'output': 'text', 'warning': 'text', 'error': 'text', 'stats': 'json'}
# Pages and their weight in the search: the first pattern that matches decides. A boost of 0 excludes a page from the search.
BOOSTS = [('internals/*', 0), ('adr/*', 0), ('examples/*', 0.3), ('flags.md', 3), ('interactive.md', 3),
          ('proofs.md', 3)]


def pages_of(pattern):
    """Returns the pages of a folder in the form of the navigation; the pages of examples are in sub-folders."""
    folder = pattern.removesuffix('/*')
    if folder == EXAMPLES:
        found = glob.glob(os.path.join(ROOT, EXAMPLES, '*', 'README.md'))
        notebooks = glob.glob(os.path.join(ROOT, EXAMPLES, '*', '*.ipynb'))
        names = [os.path.relpath(path, ROOT) for path in found + notebooks]
        return [EXAMPLES + '/README.md'] + sorted(page_of_notebook(name) for name in names)
    names = sorted(name for name in glob.glob(os.path.join(ROOT, 'docs', folder, '*.md')))
    names.sort(key=lambda name: os.path.basename(name) != 'index.md')
    return [os.path.relpath(name, os.path.join(ROOT, 'docs')) for name in names]


def page_of_notebook(name):
    return re.sub(r'\.ipynb$', '.md', name)


def text_of_notebook(path):
    with open(path, encoding='utf-8') as file:
        cells = json.load(file)['cells']
    parts = []
    for cell in cells:
        text = ''.join(cell['source'])
        parts.append(text if cell['cell_type'] == 'markdown' else '```python\n%s\n```' % text)
        for output in cell.get('outputs', []):
            parts.append('```text\n%s\n```' % ''.join(output['data']['text/plain']))
    return '\n\n'.join(parts) + '\n'


def expanded(entries):
    """Returns the navigation with the pages that match `folder/*`; drops an entry without pages."""
    result = []
    for entry in entries:
        if not isinstance(entry, dict):
            result.append(entry)
            continue
        (title, value), = entry.items()
        if isinstance(value, list):
            value = expanded(value)
        elif value.endswith('/*'):
            value = pages_of(value)
        if value:
            result.append({title: value})
    return result


def on_config(config):
    config.nav = expanded(config.nav)
    return config


def on_files(files, config):
    for path in sorted(glob.glob(os.path.join(ROOT, EXAMPLES, '**', '*'), recursive=True)):
        if os.path.isfile(path):
            files.append(File.generated(config, os.path.relpath(path, ROOT), abs_src_path=path))
        if path.endswith('.ipynb'):
            name = page_of_notebook(os.path.relpath(path, ROOT))
            files.append(File.generated(config, name, content=text_of_notebook(path)))
    return files


def on_post_build(config):
    if HAS_PLAYGROUND:
        shutil.copytree(PLAYGROUND, os.path.join(config.site_dir, 'playground'))


def highlighted(fence):
    """Returns the opening line of a code block for the site."""
    kind, prompt = fence.groups(default='')
    title = ''
    if '.' in kind:
        title = ' title="%s"' % kind
        kind = 'datalog' if kind.endswith('.dl') else 'text'
    language = 'pycon' if prompt else LANGUAGES.get(kind, kind)
    return '```%s%s\n%s' % (language, title, prompt)


def on_page_markdown(markdown, page, config, files):
    source = page.file.src_uri
    boost = next((boost for pattern, boost in BOOSTS if fnmatch.fnmatch(source, pattern)), 1)
    page.meta['search'] = {'boost': boost, 'exclude': boost == 0}
    if source == 'index.md':
        page.meta['hide'] = ['navigation']
    in_repository = source if source.startswith(EXAMPLES + '/') else 'docs/' + source

    def moved(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match.group(1)))
        target = page_of_notebook(target.removeprefix('docs/'))
        return posixpath.relpath(target, posixpath.dirname(source) or '.')

    if HAS_PLAYGROUND and any(fnmatch.fnmatch(source, pattern) for pattern in RUN_PAGES):
        playground = posixpath.relpath('playground/index.html', posixpath.dirname(source) or '.')
        markdown = playground_links.with_links(markdown, playground)
    return FENCE.sub(highlighted, LINK.sub(moved, markdown))


def on_page_content(html, page, config, files):
    """Warns, which fails the build, if a lexer rejects a part of a program."""
    for rejected in re.findall(r'<span class="err">(.*?)</span>', html):
        logging.getLogger('mkdocs.hooks').warning('%s: no token for %s', page.file.src_uri, rejected)
    return html

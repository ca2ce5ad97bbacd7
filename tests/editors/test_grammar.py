#!/usr/bin/env python3
"""The TextMate grammar and the VS Code extension of editors/vscode: they have all words of the lexer, and colour programs as the
lexer divides them. What colours is a port of VS Code's own tokenizer (textmate-grammar-python in build/python); without it, that
test is skipped.

  build/python/bin/python tests/editors/test_grammar.py [TEST...]
"""
import collections
import glob
import json
import logging
import os
import re
import sys
import unittest

try:
    from textmate_grammar.parsers.base import LanguageParser
except ImportError:
    LanguageParser = None

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXTENSION = os.path.join(ROOT, 'editors', 'vscode')
SUFFIX = '.souffle-datalog'
# What the lexer does not see, or sees as one token: told apart by the first character.
APART = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|^[ \t]*#[^\n]*', re.S | re.M)
WORD = re.compile(r'(?<![\w?.$@])[A-Za-z_?][\w?]*(?:-domain\b)?')


def read(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as file:
        return file.read()


def load(*path):
    return json.loads(read('editors', 'vscode', *path))


def lexer_words(kind):
    return set(re.findall(r'named_kind\{token_kind::%s_\w+, "([^"]+)"' % kind, read('src', 'syntax', 'token.cpp')))


def rules(grammar):
    """All rules with a scope, in the order in which they are tried."""
    for included in grammar['patterns']:
        yield from grammar['repository'][included['include'][1:]]['patterns']


class Grammar(unittest.TestCase):
    def setUp(self):
        self.grammar = load('syntaxes', 'souffle-datalog.tmLanguage.json')

    def scope_of(self, text, at=0):
        """Of the first rule that matches there."""
        for rule in rules(self.grammar):
            if re.compile(rule.get('match', rule.get('begin')), re.M).match(text, at):
                return rule.get('name', '').removesuffix(SUFFIX)
        return None

    def test_all_rules_are_used(self):
        names = [included['include'][1:] for included in self.grammar['patterns']]
        self.assertEqual(sorted(names), sorted(self.grammar['repository']))

    def test_words_of_the_lexer(self):
        words, directives = lexer_words('word'), lexer_words('directive')
        self.assertGreater(len(words), 40)
        self.assertGreater(len(directives), 10)
        for word in words:
            scope = self.scope_of(word + '(')
            self.assertTrue(scope and not scope.startswith(('variable', 'entity')), '%s: %s' % (word, scope))
            self.assertTrue(self.scope_of(word + '_x').startswith('variable'), word)
        for word in directives:
            self.assertEqual(self.scope_of('.' + word), 'keyword.control.directive')
            self.assertEqual(self.scope_of('.' + word + 'x'), 'punctuation.terminator')

    def test_no_other_words(self):
        known = lexer_words('word') | {'choice-domain', 'number', 'symbol', 'unsigned', 'float', '__LINE__', '__FILE__', '__INCL__'}
        for group in ('qualifiers', 'aggregates', 'functors', 'constants', 'types'):
            for rule in self.grammar['repository'][group]['patterns']:
                plain = re.sub(r'\(\?<?!.*?\]\)|\(\?!\\s\*\\\(\)|\(\?:|\)', '', rule['match'])
                self.assertLessEqual(set(plain.split('|')), known, group)
        listed = re.search(r'\(\?:(.*?)\)', self.grammar['repository']['directives']['patterns'][0]['match'])[1]
        self.assertEqual(set(listed.split('|')), lexer_words('directive'))

    def test_punctuation_of_the_lexer(self):
        for text in re.findall(r'named_kind\{token_kind::(?!word_|directive_)\w+, "([^"]+)"', read('src', 'syntax', 'token.cpp')):
            rule = next(rule for rule in rules(self.grammar) if re.match(rule.get('match', rule.get('begin')), text))
            self.assertEqual(re.match(rule['match'], text)[0], text)


@unittest.skipUnless(LanguageParser, 'skipped: textmate-grammar-python is not there (scripts/install_python)')
class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.disable(logging.WARNING)  # it tells of each piece of text without a colour, as those in comments
        cls.parser = LanguageParser(load('syntaxes', 'souffle-datalog.tmLanguage.json'))

    def colours(self, text):
        """The innermost scope of every character."""
        lines = text.split('\n')
        begins = [0]
        for line in lines:
            begins.append(begins[-1] + len(line) + 1)
        scopes = [''] * len(text)
        for (line, column), content, names in self.parser.parse_string(text).flatten():
            at = begins[line] + column
            self.assertEqual(text[at:at + len(content)], content)
            scopes[at:at + len(content)] = [' '.join(names[1:])] * len(content)
        return scopes

    def check(self, text):
        scopes = self.colours(text)
        seen = collections.Counter()
        rest = list(text)
        for apart in APART.finditer(text):
            begin = apart.start() + len(apart[0]) - len(apart[0].lstrip())
            wanted = {'/': 'comment', '"': 'string', '#': 'preprocessor'}[text[begin]]
            self.assertIn(wanted, scopes[begin], apart[0])
            if wanted != 'preprocessor':
                self.assertTrue(all(wanted in scopes[at] for at in range(begin, apart.end()) if text[at] != '\n'), apart[0])
            seen[wanted] += 1
            rest[apart.start():apart.end()] = [' ' if c != '\n' else c for c in apart[0]]
        plain = ''.join(rest)
        for at, character in enumerate(plain):
            if not character.isspace():
                self.assertTrue(scopes[at], 'no colour in %r' % text[max(0, at - 20):at + 20])
                self.assertFalse(re.search('comment|string', scopes[at]), text[max(0, at - 20):at + 20])
        keywords = lexer_words('word') | {'__LINE__', '__FILE__', '__INCL__'}
        for word in WORD.finditer(plain):
            is_plain = bool(re.search('variable|entity|storage.type', scopes[word.start()]))
            self.assertEqual(is_plain, word[0] not in keywords, '%s: %s' % (word[0], scopes[word.start()]))
            seen['word'] += 1
        return seen

    def test_what_is_what(self):
        text = '/// about it\n.decl r(x:number, s:symbol) choice-domain x\nr(x, "a\\n") :- p.q(x, _), x != 0x1f, s = $A(1.5). // end\n'
        scopes = self.colours(text)
        for part, scope in (('/// about', 'comment.line.documentation'), ('.decl', 'keyword.control.directive'),
                            ('r(x:', 'entity.name.function.relation'), ('number', 'storage.type'), ('choice-domain', 'storage.modifier'),
                            ('"a', 'string.quoted.double'), ('\\n', 'constant.character.escape'), (':-', 'keyword.operator.rule'),
                            ('p.q', 'entity.name.function.relation'), ('_)', 'variable.language.wildcard'),
                            ('!=', 'keyword.operator'), ('0x1f', 'constant.numeric.integer'), ('$A', 'entity.name.type.branch'),
                            ('1.5', 'constant.numeric.float'), ('// end', 'comment.line.double-slash')):
            self.assertIn(scope + SUFFIX, scopes[text.index(part)], part)

    def test_programs(self):
        seen = collections.Counter()
        files = sorted(glob.glob(os.path.join(ROOT, 'tests', 'programs', '*', 'program.dl')) +
                       glob.glob(os.path.join(ROOT, 'examples', '*', '*.dl')))
        for path in files:
            text = read(path)
            if 'error' in path:  # their texts may be no programs
                self.colours(text)
                continue
            with self.subTest(path=os.path.relpath(path, ROOT)):
                seen += self.check(text)
        self.assertGreater(seen['word'], 1000)
        self.assertGreater(seen['comment'], 50)
        self.assertGreater(seen['string'], 50)


class Extension(unittest.TestCase):
    def test_manifest(self):
        """What vsce asks for, and that all files are there."""
        manifest = load('package.json')
        for field in ('name', 'displayName', 'description', 'version', 'publisher', 'license', 'engines', 'categories'):
            self.assertTrue(manifest.get(field), field)
        self.assertRegex(manifest['name'], r'^[a-z0-9][a-z0-9-]*$')
        self.assertRegex(manifest['engines']['vscode'], r'^\^1\.\d+\.0$')
        self.assertEqual(manifest['version'], re.search(r'project\(gpulog VERSION (\S+)', read('CMakeLists.txt'))[1])
        language, = manifest['contributes']['languages']
        grammar, = manifest['contributes']['grammars']
        self.assertEqual(language['id'], grammar['language'])
        self.assertEqual(grammar['scopeName'], load(grammar['path'])['scopeName'])
        self.assertEqual([extension.lstrip('.') for extension in language['extensions']], load(grammar['path'])['fileTypes'])
        files = [name for name in manifest['files'] if name != 'node_modules']  # of `npm install`
        for name in [*files, manifest['main'], language['configuration'], grammar['path']]:
            self.assertTrue(os.path.exists(os.path.join(EXTENSION, name)), name)

    def test_language_configuration(self):
        configuration = load('language-configuration.json')
        self.assertEqual(configuration['comments'], {'lineComment': '//', 'blockComment': ['/*', '*/']})
        for pair in configuration['autoClosingPairs']:
            self.assertTrue(pair['open'] and pair['close'])
        word = re.compile(configuration['wordPattern'])
        for text in ('edge', '?x', '_a1'):
            self.assertTrue(word.fullmatch(text), text)


if __name__ == '__main__':
    sys.exit(unittest.main())

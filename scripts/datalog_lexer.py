"""Highlights Datalog on the documentation site: a Pygments lexer made from the TextMate grammar of editors/vscode.

Both therefore have the same words, which tests/editors compares with gpulog's own lexer. Importing this module registers
the lexer under the names `datalog` and `datalog-fragment`.
"""
import json
import os
import re

from pygments import token
from pygments.lexer import RegexLexer
from pygments.lexers import LEXERS

__all__ = ['DatalogLexer']

GRAMMAR = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                       'editors/vscode/syntaxes/souffle-datalog.tmLanguage.json')

# The first prefix of a scope decides.
TOKENS = [
    ('comment', token.Comment),
    ('string', token.String),
    ('constant.numeric', token.Number),
    ('constant', token.Keyword.Constant),
    ('keyword.control.preprocessor', token.Comment.Preproc),
    ('keyword.operator.aggregate', token.Name.Builtin),
    ('keyword.operator.word', token.Name.Builtin),
    ('keyword.operator', token.Operator),
    ('keyword', token.Keyword),
    ('storage.type', token.Keyword.Type),
    ('storage', token.Keyword),
    ('support', token.Name.Builtin),
    ('entity.name.type', token.Name.Class),
    ('entity', token.Name.Function),
    ('variable', token.Name.Variable),
    ('punctuation', token.Punctuation),
]


def token_of(scope):
    return next(kind for prefix, kind in TOKENS if scope.startswith(prefix))


def rules():
    """Returns the rules of the grammar in their order, as pairs of a regular expression and a token."""
    with open(GRAMMAR, encoding='utf-8') as file:
        grammar = json.load(file)
    yield r'\s+', token.Whitespace
    for included in grammar['patterns']:
        for rule in grammar['repository'][included['include'][1:]]['patterns']:
            if 'begin' in rule:
                yield r'%s(?:\\.|(?!%s)[\s\S])*%s' % (rule['begin'], rule['end'], rule['end']), token_of(rule['name'])
            else:
                name = rule['name'] if 'name' in rule else rule['captures']['1']['name']
                yield rule['match'], token_of(name)


class DatalogLexer(RegexLexer):
    name = 'Datalog (Soufflé)'
    aliases = ['datalog', 'datalog-fragment']
    flags = re.MULTILINE
    tokens = {'root': list(rules())}


LEXERS['DatalogLexer'] = (__name__, DatalogLexer.name, tuple(DatalogLexer.aliases), (), ())

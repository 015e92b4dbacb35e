# SPDX-License-Identifier: Apache-2.0
"""Check the English of docstrings, comments, messages, test names and documentation.

``python -m tools.prose [PATH ...]`` prints each place that breaks a rule of ``tools/words.toml``,
with the advice that stands there, and exits with 1 if there is one.
"""
import argparse
import ast
import functools
import io
import pathlib
import re
import subprocess
import sys
import tokenize
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
_RULES = tomllib.loads((ROOT / 'tools' / 'words.toml').read_text())
#: Files that are read as text, line by line; of Python files the prose is read only.
_TEXTS = ('.rst', '.yaml', '.yml', '.j2', '.html', '.sh', 'Makefile', '.conf')
#: Files that are not read: scripts that run on an earlier release, and examples of wrong prose.
_LEFT_OUT = ('tests/functional/db/releases/', 'tests/test_prose.py')
#: The folders of an exported tree, which has no list of its files.
_FOLDERS = ('climate', 'tests', 'tools', 'benchmarks', 'doc/source', 'devstack', 'etc',
            'releasenotes')
#: Words and code that are no prose: ``literals``, `names`, URLs, options, placeholders.
_CODE = re.compile(r'``.*?``|`[^`\s]+`|https?://\S+|--[\w-]+|%\(\w+\)s|\{[^{}]*\}|:\w+:`[^`]*`')


@functools.cache
def _patterns():
    """Return pairs of a compiled expression and its advice, for words in prose."""
    pairs = []
    for key, advice in _RULES['words'].items():
        pairs.append((re.compile(rf'\b(?:{key})\b', 0 if key != key.lower() else re.I), advice))
    return pairs


@functools.cache
def _right():
    return re.compile('|'.join(_RULES['right']['phrases']), re.I)


def words(text):
    """Yield the offset in a text of each refused word, the word, and the advice."""
    kept = _CODE.sub(lambda match: ' ' * len(match[0]), text)
    kept = _right().sub(lambda match: ' ' * len(match[0]), kept)
    for pattern, advice in _patterns():
        for match in pattern.finditer(re.sub(r'\s', ' ', kept)):
            yield match.start(), match[0], advice


def opener(docstring):
    """Return the refused first words of a docstring and the advice; None: it starts well."""
    for key, advice in _RULES['openers'].items():
        if match := re.match(rf'\s*({key})\b', docstring):
            return match[1], advice
    return None


def test_name(name):
    """Return the refused start of a test's name and the advice; None: it starts well."""
    for key, advice in _RULES['tests'].items():
        if match := re.match(rf'test_({key})(?:_|$)', name):
            return match[0], advice
    return None


def _in_python(source):
    """Yield the line and the text of each docstring, comment and message of a module."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip('#: ')
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ' ' in node.value:
            yield node.lineno, node.value


def _names(source):
    """Yield the line, the refused words and the advice of docstrings and names of tests."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if (text := ast.get_docstring(node)) and (refused := opener(text)):
                yield node.body[0].lineno, *refused
            if isinstance(node, ast.FunctionDef) and (refused := test_name(node.name)):
                yield node.lineno, *refused


def check(path):
    """Yield each finding in a file: its line, the refused words, the advice."""
    source = path.read_text()
    if path.suffix == '.py':
        yield from _names(source)
        texts = _in_python(source)
    else:
        texts = [(1, source)]
    for line, text in texts:
        for offset, word, advice in words(text):
            yield line + text.count('\n', 0, offset), word, advice


def files(paths):
    """Return the files below some paths that this check reads; without paths, those of the tree."""
    if (ROOT / '.git').exists():
        listed = subprocess.run(
            ['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard', *paths],
            capture_output=True, text=True, check=True).stdout.split('\n')
    else:
        listed = [str(path.relative_to(ROOT)) for name in paths or _FOLDERS
                  for path in sorted((ROOT / name).rglob('*'))]
    return [ROOT / name for name in listed
            if name.endswith(('.py', *_TEXTS)) and not name.startswith(_LEFT_OUT)]


def main(arguments=None):
    """Check the files that the command line names; return the exit status."""
    parser = argparse.ArgumentParser(prog='tools.prose', description=__doc__.splitlines()[0])
    parser.add_argument('paths', nargs='*', help='files or folders; default: all')
    count = 0
    for path in files(parser.parse_args(arguments).paths):
        for line, word, advice in sorted(check(path)):
            count += 1
            print(f'{path.relative_to(ROOT)}:{line}: "{word}": {advice}')
    print(f'{count} findings')
    return 1 if count else 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""MANIFEST.in and setup.cfg include every file of git, so that no package lacks one.

tests/packages builds the packages, and compares them with the tree.
"""
import configparser
import fnmatch

import pytest
from support import building

# Every sdist has these files without a rule.
_ALWAYS = ('MANIFEST.in', 'pyproject.toml', 'setup.cfg')
# {command of MANIFEST.in: callable(path, words) that returns whether the rule names the path}.
_RULES = {
    'graft': lambda path, words: path.startswith(f'{words[0]}/'),
    'include': lambda path, words: any(
        fnmatch.fnmatch(path, word) and path.count('/') == word.count('/') for word in words),
    'recursive-include': lambda path, words: path.startswith(f'{words[0]}/') and any(
        fnmatch.fnmatch(path.rpartition('/')[2], word) for word in words[1:]),
    'prune': lambda path, words: path.startswith(f'{words[0]}/'),
    'global-exclude': lambda path, words: any(
        fnmatch.fnmatch(path.rpartition('/')[2], word) for word in words)}
_REMOVING = ('prune', 'global-exclude')


@pytest.fixture(scope='module')
def paths():
    """The paths of all files that git has, or would add."""
    if not (building.ROOT / '.git').exists():
        pytest.skip('needs a clone')
    listed = building.run('git', 'ls-files', '-co', '--exclude-standard', cwd=building.ROOT)
    return [path for path in listed.splitlines() if (building.ROOT / path).exists()]


def test_the_manifest_includes_every_file(paths):
    rules = [line.split() for line in (building.ROOT / 'MANIFEST.in').read_text().splitlines()
             if line and not line.startswith('#')]
    included = set(_ALWAYS)
    for path in paths:
        matching = [command for command, *words in rules if _RULES[command](path, words)]
        # The last rule that names a file counts.
        if matching and matching[-1] not in _REMOVING:
            included.add(path)
    assert set(paths) - included == set()


def test_the_data_files_include_every_file_of_etc(paths):
    setup = configparser.ConfigParser()
    setup.read(building.ROOT / 'setup.cfg')
    patterns = ' '.join(setup['options.data_files'].values()).split()
    included = {str(path.relative_to(building.ROOT)) for pattern in patterns
                for path in building.ROOT.glob(pattern)}
    assert {path for path in paths if path.startswith('etc/')} - included == set()

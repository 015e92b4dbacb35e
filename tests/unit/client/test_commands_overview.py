# SPDX-License-Identifier: Apache-2.0
"""The help lists all commands in groups, and the commands of a group with a sentence each."""
import importlib
import re

import pytest

from climate.client import commands
from climate.client.commands import overview

GROUPS = sorted({name.partition(' ')[0] for name in commands.TABLE if ' ' in name})


def test_the_help_has_all_commands_in_groups_at_80_columns(run):
    outcome = run('help')
    assert outcome.code == 0
    for name in commands.TABLE:
        noun, _, verb = name.partition(' ')
        [entry] = [part for part in re.split(r'\n  (?! )', outcome.out)
                   if part.startswith(f'{noun} ')]
        assert verb in entry
    assert max(map(len, outcome.out.splitlines())) < 80, outcome.out
    assert 'Others' not in outcome.out
    for words in ((), ('--help',)):
        assert run(*words).out == outcome.out


def test_every_word_of_the_groups_is_a_command(run):
    words = {word for _heading, nouns in overview.GROUPS for word in nouns}
    assert words - {'help', 'completion'} == {name.partition(' ')[0] for name in commands.TABLE}


@pytest.mark.parametrize('noun', GROUPS)
def test_a_group_lists_its_commands_with_a_sentence_each(run, noun):
    outcome = run(noun)
    assert outcome.code == 0
    assert max(map(len, outcome.out.splitlines())) < 80, outcome.out
    for name in overview.of_word(commands.TABLE, noun):
        assert f'\n  {name.partition(" ")[2]} ' in outcome.out
    for words in ((noun, '--help'), ('help', noun)):
        assert run(*words).out == outcome.out


def test_the_help_has_the_commands_of_a_python_without_docstrings(run, monkeypatch):
    # Python with PYTHONOPTIMIZE=2 leaves them out.
    for target in commands.TABLE.values():
        module, name = target.split(':')
        monkeypatch.setattr(getattr(importlib.import_module(module), name), '__doc__', None)
    assert '\n  usage' in run('help').out
    assert '\n  show' in run('lease').out


def test_the_options_of_all_commands_have_a_help(run):
    out = run('help', 'options').out
    assert '--os-cloud' in out and '--log-file' in out


def test_the_examples_of_the_help_are_understood(run):
    for words, _text in overview._EXAMPLES:
        assert run(*words.split(), '--help').code == 0


def test_the_nearest_commands_are_found():
    assert overview.near(['leases', 'list'], commands.TABLE) == ['lease list']
    assert overview.near(['list', 'host'], commands.TABLE) == ['host list']
    assert overview.near(['lease', 'zzz'], commands.TABLE) == ['lease']
    assert overview.near(['wake'], commands.TABLE) == ['backend wake', 'host wake', 'resource wake']
    assert overview.near(['zzz'], commands.TABLE) == []

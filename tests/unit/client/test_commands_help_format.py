# SPDX-License-Identifier: Apache-2.0
"""The usage of a command has what is required, and its help all options."""
import pytest

from climate.client import commands


@pytest.mark.parametrize(('words', 'usage'), [
    ('lease create', 'usage: climate lease create [options] NAME'),
    ('lease delete', 'usage: climate lease delete [options] LEASE [LEASE ...]'),
    ('property set', 'usage: climate property set (--private | --public) [options] PROPERTY')])
def test_the_usage_has_what_is_required(run, words, usage):
    out = run(*words.split(), '--help').out
    assert out.splitlines()[0] == usage
    assert '\n  --' in out


@pytest.mark.parametrize('name', sorted(commands.TABLE))
def test_the_usage_of_every_command_is_short(run, name):
    usage = run(*name.split(), '--help').out.partition('\n\n')[0]
    assert len(usage.splitlines()) <= 5, usage

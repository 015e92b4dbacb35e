# SPDX-License-Identifier: Apache-2.0
"""Each mistake in the arguments of each command gets one line and one hint."""
import argparse
import importlib.metadata

import pytest

from climate.client import commands
from climate.client import shell
from climate.client.commands import argument_errors

NAMES = sorted(commands.TABLE)


def parser_of(name):
    command = importlib.metadata.EntryPoint(name, commands.TABLE[name], 'climate.cli').load()
    return command(shell.Shell(), None, cmd_name=name).get_parser(f'climate {name}')


def required(parser):
    """The words that a command needs at least, so that only the mistake is wrong."""
    words = []
    groups = [group._group_actions[0] for group in parser._mutually_exclusive_groups
              if group.required]
    for action in parser._actions:
        if action.option_strings and (action.required or action in groups):
            words += [action.option_strings[-1]] + [_value(action)] * (action.nargs is None)
        elif not action.option_strings and action.nargs not in ('?', '*'):
            words.append('2030-05' if action.metavar == 'YYYY-MM' else 'x')
    return words


def _value(action):
    if action.choices:
        return next(iter(action.choices))
    return {'moment': '+1h', 'positive': '3'}.get(getattr(action.type, '__name__', ''), '1h')


def assert_is_explained(outcome, name):
    lines = outcome.err.splitlines()
    assert outcome.code == 2, outcome
    assert outcome.out == ''
    assert len(lines) == 2, outcome.err
    assert lines[0].endswith('.'), lines
    assert lines[1].startswith('Hint: '), lines
    assert f'climate {name}' in lines[1], lines


@pytest.mark.parametrize('name', NAMES)
def test_an_unknown_option_is_explained(run, name):
    outcome = run(*name.split(), *required(parser_of(name)), '--hepl')
    assert_is_explained(outcome, name)
    assert 'Did you mean --help?' in outcome.err or '--hepl' in outcome.err


@pytest.mark.parametrize('name', NAMES)
def test_a_missing_argument_is_explained(run, name):
    words = required(parser_of(name))
    if not words:
        pytest.skip('The command needs no argument.')
    outcome = run(*name.split())
    assert_is_explained(outcome, name)
    assert outcome.err.startswith('Missing: '), outcome.err


@pytest.mark.parametrize('name', NAMES)
def test_a_missing_value_is_explained(run, name):
    parser = parser_of(name)
    # The main command understands its own options first.
    common = {word for action in shell.Shell().parser._actions for word in action.option_strings}
    options = [action.option_strings[0] for action in parser._actions
               if action.option_strings and action.nargs is None and not action.required
               and not isinstance(action, argparse._HelpAction)]
    for option in (each for each in options if each not in common):
        outcome = run(*name.split(), *required(parser), option)
        assert_is_explained(outcome, name)


@pytest.mark.parametrize('name', NAMES)
def test_an_unknown_value_is_explained(run, name):
    parser = parser_of(name)
    for action in parser._actions:
        if action.choices and action.option_strings:
            outcome = run(*name.split(), *required(parser), action.option_strings[0], 'unknown')
            assert_is_explained(outcome, name)
            assert all(str(choice) in outcome.err for choice in action.choices), outcome.err


@pytest.mark.parametrize('name', NAMES)
def test_a_value_of_another_type_is_explained(run, name):
    parser = parser_of(name)
    for action in parser._actions:
        if action.type is int or getattr(action.type, '__name__', '') in (
                'positive', 'moment', 'span', 'seconds', 'count'):
            if not action.option_strings:
                continue
            outcome = run(*name.split(), *required(parser), action.option_strings[0], '?')
            assert_is_explained(outcome, name)


@pytest.mark.parametrize('name', NAMES)
def test_no_help_says_that_a_time_in_the_zone_of_the_user_is_in_utc(name):
    helps = [action.help for action in parser_of(name)._actions
             if getattr(action.type, '__name__', '') in ('moment', 'moment_of_report')]
    assert [text for text in helps if 'UTC' in text] == []


@pytest.mark.parametrize(('words', 'lines'), [
    (('lease', 'create', 'x', '--durration', '1h'), [
        'Unknown option: --durration.',
        'Hint: Did you mean --duration? "climate lease create --help" shows the arguments.']),
    (('lease', 'show', 'a', 'b c'), [
        'Unexpected: "b c". Put a text with spaces in quotes.',
        'Hint: "climate lease show --help" shows the arguments.']),
    (('lease', 'list', '-f', 'tabel'), [
        '--format: "tabel" is not one of csv, json, table, value, yaml.',
        'Hint: Did you mean table? "climate lease list --help" shows the arguments.']),
    (('lease', 'list', '--max-width', 'wide'), [
        '--max-width: "wide" is not a whole number.',
        'Hint: "climate lease list --help" shows the arguments.']),
    (('lease', 'list', '--long=yes'), [
        "--long takes no value: leave out 'yes'.",
        'Hint: "climate lease list --help" shows the arguments.']),
    (('property', 'set', 'x'), [
        'Missing: one of --private, --public.',
        'Hint: "climate property set --help" shows the arguments.']),
    (('offer', 'delete'), [
        'Missing: OFFER.',
        'Hint: Write, for example: climate offer delete 0a9c6a53-4d35-4a17-8b3e-90c1cf0f1c58']),
    (('lease', 'list', '--s', 'x'), [
        '--s is short for several options.',
        'Hint: Write one of --sort-column, --sort-ascending, --sort-descending, --status, --sort, '
        '--sort-by.']),
    (('plan', 'what-if', '--out', 'a'), [
        '--out needs 3 values.', 'Hint: "climate plan what-if --help" shows the arguments.']),
    (('--os-cloud',), [
        '--os-cloud needs a value.', 'Hint: "climate --help" shows the arguments.'])])
def test_mistakes_are_explained_in_words(run, words, lines):
    outcome = run(*words)
    if lines[0].startswith('--s '):
        # Other parts of the client add options with this letter.
        assert outcome.err.splitlines()[0] == lines[0]
        return
    assert (outcome.code, outcome.err.splitlines()) == (2, lines)


def test_a_message_that_argparse_has_not_had_yet_is_printed_as_a_sentence():
    parser = argparse.ArgumentParser(prog='climate x')
    assert argument_errors.explained(parser, 'something else') == (
        'Something else.', '"climate x --help" shows the arguments.')


def test_the_usage_is_printed_with_help_only(run):
    assert 'usage' not in run('lease', 'create').err
    assert run('lease', 'create', '--help').out.startswith('usage: climate lease create')


@pytest.mark.parametrize(('words', 'lines'), [
    (('leese', 'list'), [
        'There is no command "leese list".',
        'Hint: Did you mean "climate lease list"? "climate help" lists all commands and options.']),
    (('create', 'lease'), [
        'There is no command "create lease".',
        'Hint: Did you mean "climate lease create"? '
        '"climate help" lists all commands and options.']),
    (('lease', 'lst', '--long'), [
        'There is no command "lease lst".',
        'Hint: Did you mean "climate lease list"? "climate help" lists all commands and options.']),
    (('help', 'zzz'), [
        'There is no command "zzz".', 'Hint: "climate help" lists all commands and options.']),
    (('swap', 'x'), [
        'There is no command "swap x".',
        'Hint: Did you mean "climate lease swap"? "climate help" lists all commands and options.']),
    (('--os-clod', 'x', 'lease', 'list'), [
        'Unknown option: --os-clod.',
        'Hint: Did you mean --os-cloud? "climate help" lists all commands and options.'])])
def test_an_unknown_command_gets_the_nearest_ones(run, words, lines):
    outcome = run(*words)
    assert (outcome.code, outcome.out, outcome.err.splitlines()) == (2, '', lines)


def test_a_log_file_that_cannot_be_written_is_explained(run, tmp_path):
    path = tmp_path / 'missing' / 'log'
    outcome = run('--log-file', str(path), 'lease', 'list')
    assert outcome.code == 2
    assert outcome.err.splitlines() == [
        f'--log-file: "{path}" cannot be written: No such file or directory.',
        'Hint: "climate --help" shows the arguments.']

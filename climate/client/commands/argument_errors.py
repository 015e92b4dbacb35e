# SPDX-License-Identifier: Apache-2.0
"""Errors about arguments of a command: one line about the mistake and one with a hint."""
import argparse
from collections.abc import Sequence
import difflib
import re
import typing

# The messages of argparse, and the same in the words of this client.
_MISSING = re.compile(r'the following arguments are required: (?P<names>.*)')
_EITHER = re.compile(r'one of the arguments (?P<names>.*) is required')
_UNKNOWN = re.compile(r'unrecognized arguments: (?P<words>.*)', re.DOTALL)
_CHOICE = re.compile(r"invalid choice: (?P<value>.*?) \(choose from (?P<known>.*)\)", re.DOTALL)
_ABOUT = re.compile(r'argument (?P<name>[^:]+): (?P<text>.*)', re.DOTALL)
_AMBIGUOUS = re.compile(r'ambiguous option: (?P<option>\S+) could match (?P<known>.*)')
_NO_VALUE = re.compile(r'expected (?P<count>one|at least one|\d+) arguments?')
_TYPE = re.compile(r"invalid (?P<type>\w+) value: (?P<value>.*)", re.DOTALL)
_CONFLICT = re.compile(r'not allowed with argument (?P<other>.*)')
_IGNORED = re.compile(r'ignored explicit argument (?P<value>.*)', re.DOTALL)


def install(parser: argparse.ArgumentParser, example: str = '') -> None:
    """Replace the messages of a parser: two lines without the usage, and exit code 2.

    :param example: a valid call, which the hint about missing arguments shows.
    """
    def refuse(message: str) -> typing.NoReturn:
        text, hint = explained(parser, message, example)
        parser.exit(2, f'{with_hint(text, hint)}\n')

    # cliff creates the parser, so that a subclass cannot be used.
    parser.error = refuse  # type: ignore[method-assign]


def with_hint(message: str, hint: str | None) -> str:
    """Return a message, and its hint on a line of its own."""
    return f'{message}\nHint: {hint}' if hint else message


def explained(parser: argparse.ArgumentParser, message: str, example: str = ''
              ) -> tuple[str, str]:
    """Convert a message of argparse to one of this client, and a hint."""
    usual = f'"{parser.prog} --help" shows the arguments.'
    usage = f'Write, for example: {example}' if example else usual
    if match := _MISSING.fullmatch(message):
        names = map(_long_name, match['names'].split(', '))
        return f'Missing: {", ".join(names)}.', usage
    if match := _EITHER.fullmatch(message):
        names = map(_long_name, match['names'].split(' '))
        return f'Missing: one of {", ".join(names)}.', usage
    if match := _UNKNOWN.fullmatch(message):
        return _unknown(parser, match['words'].split(' '), usual)
    if match := _AMBIGUOUS.fullmatch(message):
        return (f'{match["option"]} is short for several options.',
                f'Write one of {match["known"]}.')
    if match := _ABOUT.fullmatch(message):
        return _about(_long_name(match['name']), match['text'], usual)
    return message[:1].upper() + message[1:].rstrip('.') + '.', usual


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Return the word of `known` that a mistyped word most likely means; None if none is near."""
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=0.7)), None)


def _unknown(parser: argparse.ArgumentParser, words: Sequence[str], usual: str
             ) -> tuple[str, str]:
    option = next((word for word in words if word.startswith('-') and len(word) > 1), None)
    if option is None:
        return f'Unexpected: "{" ".join(words)}". Put a text with spaces in quotes.', usual
    text, hint = unknown_option(parser, option)
    return text, hint + usual


def unknown_option(parser: argparse.ArgumentParser, option: str) -> tuple[str, str]:
    """Return the message about an unknown option, and the beginning of a hint or ''."""
    near = nearest(option.partition('=')[0], options_of(parser))
    return f'Unknown option: {option}.', f'Did you mean {near}? ' if near else ''


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options that the help of a parser shows."""
    return [option for action in parser._actions if action.help != argparse.SUPPRESS
            for option in action.option_strings if option.startswith('--')]


def _about(name: str, text: str, usual: str) -> tuple[str, str]:
    if match := _CHOICE.fullmatch(text):
        known = [word.strip(' \'"') for word in match['known'].split(',')]
        value = match['value'].strip('\'"')
        near = nearest(value, known)
        return (f'{name}: "{value}" is not one of {", ".join(known)}.',
                f'Did you mean {near}? {usual}' if near else usual)
    if match := _NO_VALUE.fullmatch(text):
        count = match['count']
        return (f'{name} needs {"a value" if count == "one" else f"{count} values"}.', usual)
    if match := _TYPE.fullmatch(text):
        kind = {'int': 'a whole number', 'float': 'a number'}.get(match['type'], match['type'])
        value = match['value'].strip('\'"')
        return f'{name}: "{value}" is not {kind}.', usual
    if match := _CONFLICT.fullmatch(text):
        return f'{name} cannot be combined with {_long_name(match["other"])}.', usual
    if match := _IGNORED.fullmatch(text):
        return f'{name} takes no value: leave out {match["value"]}.', usual
    return f'{name}: {text}', usual


def _long_name(name: str) -> str:
    """Return the longest name of an option, such as --format of -f/--format."""
    return max(name.split('/'), key=len) if name.startswith('-') else name

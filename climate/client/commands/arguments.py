# SPDX-License-Identifier: Apache-2.0
"""Parsers of arguments, whose error messages have an example.

The public functions are for ``type=`` of argparse, which puts the name of the argument before the
message.
"""
import argparse
from collections.abc import Sequence
import json
import re
import typing

from climate import json_text
from climate.client import errors
from climate.client import times
from climate.client.commands import moment_arguments

_COUNT = re.compile(r'([1-9]\d*)(?:-([1-9]\d*))?', re.ASCII)
_REQUIREMENT = re.compile(r'\s*\$?([^\s<>=!$]+)\s*(>=|<=|==|!=|=|<|>)\s*(.+?)\s*', re.DOTALL)
# One of several conditions in a text: a value without quotes ends at a space.
_ONE_OF_SEVERAL = re.compile(
    r'\s*\$?[^\s<>=!$]+\s*(?:>=|<=|==|!=|=|<|>)\s*(?:"[^"]*"|\'[^\']*\'|[^\s<>=!]\S*)(?=\s|$)')
_INTEGER = re.compile(r'0|-?[1-9]\d*', re.ASCII)
_SHORT = {'type': 'resource_type', 'properties': 'resource_properties'}
# These fields are sent as JSON text. JSON values of other fields are sent as JSON.
_CRITERIA = ('resource_properties', 'hypervisor_properties')
_WORDS = {'true': True, 'false': False, 'none': None}
_Value = typing.TypeVar('_Value')
_OPENING, _CLOSING = '[{', ']}'
# Fields of reservations whose values are names that users choose, even "null" or "{a}".
NAME_FIELDS = frozenset({
    'resource_type', 'id', 'label', 'flavor_id', 'network_name', 'external_network', 'keypair',
    'volume_type', 'hint_parameter', 'zone_parameter'})
# Other fields with text, however it looks. For them null means none, and brackets begin JSON.
# Values of other fields, such as those of other vendors' types, are guessed: 2 is a number.
TEXT_FIELDS = frozenset({
    'before_end', 'environment', 'flavor_parameter', 'give', 'hold_room', 'on_end',
    'on_image_failure', 'required_segment', 'subnet', 'template'})

RESERVATION_EXAMPLE = """type=physical:host,min=1,max=2,properties='[">=","$vcpus","16"]'"""


def also_named(parser: typing.Any, option: str, **like: typing.Any) -> None:
    """Add a name that an option has in python-blazarclient; the help does not show it.

    :param parser: the parser, or a group of mutually exclusive arguments.
    :param like: the arguments of add_argument for the option, with its `dest`.
    """
    parser.add_argument(option, help=argparse.SUPPRESS, **like)


def moment(text: str) -> moment_arguments.WrittenMoment:
    """Keep the text of a moment until its command runs, which knows the time zone."""
    return moment_arguments.WrittenMoment(text)


def moment_of_report(text: str) -> moment_arguments.WrittenMoment:
    """Keep the text of a moment, which may be in the past or in the future."""
    return moment_arguments.WrittenMoment(text, of_report=True)


def moment_in_utc(text: str) -> moment_arguments.WrittenMoment:
    """Keep the text of a moment, which is in UTC as in python-blazarclient."""
    return moment_arguments.WrittenMoment(text, in_utc=True)


def span(text: str) -> int:
    """Parse a duration into seconds."""
    return _refused_by_argparse(lambda: int(times.span(text).total_seconds()))


def seconds(text: str) -> float:
    """Parse a timeout: seconds or a duration; 0 does not wait."""
    if re.fullmatch(r'0|\d+\.\d+', text, re.ASCII):
        return float(text)
    return float(span(text))


def positive(text: str) -> int:
    """Parse a whole number of at least 1, of at most nine digits."""
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) < 10**9:
        raise argparse.ArgumentTypeError(
            f'"{text[:40]}" is not a number of at least 1 and at most nine digits, such as 20.')
    return int(text)


def whole(text: str) -> int:
    """Parse a priority, a whole number, which may be below 0."""
    if not _INTEGER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a whole number, such as 10 or -1; a higher one comes first.')
    return int(text)


def count(text: str) -> tuple[int, int]:
    """Parse a count such as "2" or "1-4" into (minimum, maximum)."""
    match = _COUNT.fullmatch(text.strip())
    if match:
        fewest = int(match[1])
        most = int(match[2] or match[1])
        if fewest <= most:
            return fewest, most
    raise argparse.ArgumentTypeError(
        f'"{text}" is not a count. Write 2, or 1-4 for at least 1 and at most 4.')


def requirement(text: str) -> list[str]:
    """Parse a condition into a criterion: 'vcpus>=16' becomes [">=", "$vcpus", "16"]."""
    match = _REQUIREMENT.fullmatch(text)
    if not match:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a condition. Write it in quotes as PROPERTY, then one of '
            "= != < <= > >=, then VALUE: 'vcpus>=16'.")
    name, operator, value = match.groups()
    if value[0] in '<>=!':
        raise argparse.ArgumentTypeError(
            f'"{text}" has the operator "{operator}" and then "{value}", which is not a value. '
            'The operators are = != < <= > >=.')
    if len(value) > 1 and value[0] == value[-1] and value[0] in '"\'':
        # As in 'gpu="True"': the shell has removed the outer quotes only.
        value = value[1:-1]
    return ['==' if operator == '=' else operator, f'${name}', value]


def name_and_value(text: str) -> tuple[str, str]:
    """Parse a property of a resource, such as "gpu=True"."""
    name, equals, value = text.partition('=')
    # "gpu>=1" and "gpu==True" are conditions.
    if not equals or not name.strip(' <>!') or name[-1] in '<>!' or value[:1] == '=':
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a property with its value. Write NAME=VALUE, such as gpu=True.')
    return name.strip(), value


def field(text: str) -> tuple[str, typing.Any]:
    """Parse a field of a new resource, such as "segment=104", whose value is a number."""
    name, equals, value = text.partition('=')
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a field with its value. Write NAME=VALUE, such as segment=104.')
    return name.strip(), _value(name.strip(), value.strip())


def reservation(text: str) -> dict[str, typing.Any]:
    """Parse a new reservation into the form that a lease request has."""
    fields = _pairs(text)
    if 'resource_type' not in fields:
        raise argparse.ArgumentTypeError(
            f'"{text}" does not say the type of resource. Write {RESERVATION_EXAMPLE}.')
    if fields['resource_type'] == 'physical:host':
        for name in ('min', 'max'):
            # Checked here, because the default of each is the value of the other.
            if type(fields.get(name, 0)) is not int:
                raise argparse.ArgumentTypeError(
                    f'{name}: "{fields[name]}" is not a number. Write {RESERVATION_EXAMPLE}.')
        fewest = fields.setdefault('min', fields.get('max', 1))
        fields.setdefault('max', fewest)
    return fields


def changed_reservation(text: str) -> dict[str, typing.Any]:
    """Parse a change of a reservation, which has the id of the reservation."""
    fields = _pairs(text)
    if 'id' not in fields or len(fields) < 2:
        raise argparse.ArgumentTypeError(
            f'"{text}" does not say which reservation and what to change. Write '
            'id=RESERVATION_ID,max=3; "lease show" has the ids.')
    fields['id'] = str(fields['id'])
    return fields


def hosts_reservation(hosts: tuple[int, int], conditions: Sequence[Sequence[str]]
                      ) -> dict[str, typing.Any]:
    """Make a reservation of whole hosts that meet all conditions."""
    return {'resource_type': 'physical:host', 'min': hosts[0], 'max': hosts[1],
            'resource_properties': json.dumps(all_of(conditions)) if conditions else ''}


def all_of(conditions: Sequence[Sequence[str]]) -> list[typing.Any]:
    """Return the criteria that are met if all conditions are; [] for none."""
    return [*conditions[0]] if len(conditions) == 1 else (
        ['and', *conditions] if conditions else [])


def requirements(text: str) -> list[typing.Any]:
    """Parse conditions with spaces between them, such as 'vcpus >= 16 gpu="A 100"', into criteria.

    :raises ArgumentTypeError: a part is not a condition; the message has the way out.
    """
    conditions, rest = [], text.strip()
    while rest:
        match = _ONE_OF_SEVERAL.match(rest)
        # `requirement` has the message for a text that is not a condition.
        conditions.append(requirement(match[0] if match else rest))
        rest = rest[match.end():].strip() if match else ''
    return all_of(conditions)


def _pairs(text: str) -> dict[str, typing.Any]:
    fields: dict[str, typing.Any] = {}
    for part in _split(text):
        name, equals, value = part.partition('=')
        name = name.strip()
        if not equals or not name:
            raise argparse.ArgumentTypeError(
                f'"{part}" is not NAME=VALUE. Write {RESERVATION_EXAMPLE}.')
        name = _SHORT.get(name, name)
        if name in fields:
            raise argparse.ArgumentTypeError(f'"{name}" occurs twice in "{text}".')
        fields[name] = _value(name, value.strip())
    return fields


def _split(text: str) -> list[str]:
    """Split `text` at its commas, except those within brackets or quotes."""
    parts, depth, quote, escaped = [''], 0, '', False
    for letter in text:
        if quote:
            if escaped:
                escaped = False
            elif letter == '\\':
                escaped = True
            elif letter == quote:
                quote = ''
        elif letter in '"\'':
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == ',' and depth == 0:
            parts.append('')
            continue
        parts[-1] += letter
    if quote or depth != 0:
        missing = quote or ('a closing bracket' if depth > 0 else 'an opening bracket')
        raise argparse.ArgumentTypeError(
            f'"{text}" lacks {missing}. Put the whole argument in quotes: '
            f'{RESERVATION_EXAMPLE}.')
    return parts


def _value(name: str, text: str) -> typing.Any:
    if name == 'depends_on':
        return [each.strip(' "\'') for each in text.strip('[]').split(',') if each.strip()]
    if len(text) >= 2 and text[0] == text[-1] and text[0] in '"\'':
        text = text[1:-1] if text[0] == "'" else str(_json(name, text))
        if name not in _CRITERIA:
            return text
    if name in _CRITERIA:
        if text:
            _json(name, text)
        return text
    if name in NAME_FIELDS:
        return text
    if text[:1] in ('[', '{'):
        return _json(name, text)
    if text.lower() == 'null':
        return None
    if name in TEXT_FIELDS or name.endswith('_id'):
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if _INTEGER.fullmatch(text) else text


def _json(name: str, text: str) -> typing.Any:
    try:
        return json.loads(text, object_pairs_hook=json_text.unique,
                          parse_constant=json_text.no_constant)
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f'{name}: {text} is not JSON ({error}). Write it in single quotes, such as '
            """'[">=","$vcpus","16"]'.""") from None


def _refused_by_argparse(read: typing.Callable[[], _Value]) -> _Value:
    # argparse hides the message of every other error.
    try:
        return read()
    except errors.BadValue as error:
        raise argparse.ArgumentTypeError(error.message) from None


def add_key(parser: argparse.ArgumentParser, noun: str) -> None:
    """Add ``--key``, an idempotency key, to the parser of a command that creates something."""
    parser.add_argument('--key', metavar='TEXT',
                        help=f'Idempotency key: the same key never creates a second {noun}. '
                             'Default: a new one.')

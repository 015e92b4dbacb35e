# SPDX-License-Identifier: Apache-2.0
"""Commands about the price book."""
import argparse
import typing

from climate import yaml_text
from climate.client import errors
from climate.client.commands import base
from climate.client.commands import columns

_COLUMNS = ('version', 'currency', 'valid_from', 'valid_until', 'description')
_TIMES = ('valid_from', 'valid_until', 'created_at')
_LARGEST = 512 * 1024


class ListPriceBooks(base.Lister):
    """List the versions of the price book, in the order in which they become valid."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _COLUMNS, [tuple(_cell(name, each.get(name)) for name in _COLUMNS)
                          for each in self.client.price_books.list()]


class ShowPriceBook(base.ShowOne):
    """Show a version of the price book, by default the one that is valid now."""

    parameters = (('version', {
        'metavar': 'VERSION', 'nargs': '?', 'default': 'valid',
        'help': 'Number of the version. Default: the one that is valid now.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.price_books.get(parsed_args.version))


class CreatePriceBook(base.ShowOne):
    """Add a version of the price book; it replaces the previous one from its valid_from on."""

    example = 'price-book create --file book.yaml'

    parameters = (('--file', {
        'metavar': 'FILE', 'required': True, 'help': 'YAML or JSON file with the price book.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.price_books.create(_read(parsed_args.file)))


def _read(path: str) -> dict[str, typing.Any]:
    """Read a price book. Each number stays the text that it is in the file.

    :raises ClientError: the file cannot be read, is too large, or is neither YAML nor JSON.
    """
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise errors.ClientError(f'{path} is larger than {_LARGEST // 1024} KiB: that is no '
                                     'price book.')
        document = yaml_text.read(text, _LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise errors.ClientError(f'{path} cannot be read: {error}.') from error
    except ValueError as error:
        raise errors.ClientError(f'{path} is neither YAML nor JSON: {error}.') from error
    if not isinstance(document, dict):
        raise errors.ClientError(f'{path} has no price book: write "currency: EUR" and rates.')
    return document


def _shown(book: typing.Any) -> typing.Any:
    return list(book), [_cell(name, value) for name, value in book.items()]


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    return columns.Nested(value) if isinstance(value, dict | list) else value

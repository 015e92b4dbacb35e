# SPDX-License-Identifier: Apache-2.0
"""The base classes of the commands about the versions of price books and limit books."""
import argparse
import typing

from climate import yaml_text
from climate.client import errors
from climate.client.commands import base
from climate.client.commands import columns

_TIMES = ('valid_from', 'valid_until', 'created_at')
_LARGEST = 512 * 1024


class ListVersions(base.Lister):
    """A list of the versions of a book.

    :cvar noun: the attribute of the client that has the versions.
    :cvar columns: the names of the columns.
    """

    noun: typing.ClassVar[str]
    columns: typing.ClassVar[tuple[str, ...]]

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return self.columns, [
            tuple(_cell(name, self.value(book, name)) for name in self.columns)
            for book in getattr(self.client, self.noun).list()]

    def value(self, book: typing.Any, name: str) -> typing.Any:
        """Return the value of a column."""
        return book.get(name)


class ShowVersion(base.ShowOne):
    """A version of a book.

    :cvar noun: the attribute of the client that has the versions.
    """

    noun: typing.ClassVar[str]
    parameters = (('version', {
        'metavar': 'VERSION', 'nargs': '?', 'default': 'valid',
        'help': 'Number of the version. Default: the one that is valid now.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(getattr(self.client, self.noun).get(parsed_args.version))


class CreateVersion(base.ShowOne):
    """The addition of a version of a book.

    :cvar noun: the attribute of the client that has the versions.
    :cvar book: the book in words, such as "price book".
    :cvar first_lines: the first lines of a file, for the error about a file that is no mapping.
    """

    noun: typing.ClassVar[str]
    book: typing.ClassVar[str]
    first_lines: typing.ClassVar[str]
    parameters = (
        ('path', {'metavar': 'FILE', 'nargs': '?', 'help': 'YAML or JSON file with the book.'}),
        ('--file', {'metavar': 'FILE', 'help': 'The same as FILE.'}))

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        paths = [path for path in (parsed_args.path, parsed_args.file) if path is not None]
        if len(paths) != 1:
            raise errors.ClientError(f'Write the name of one file with the {self.book}.')
        document = self.converted(self._read(paths[0]), paths[0])
        return _shown(getattr(self.client, self.noun).create(document))

    def converted(self, document: dict[str, typing.Any], path: str) -> dict[str, typing.Any]:
        """Return the document as it is sent.

        :raises ClientError: a part of it cannot be understood.
        """
        return document

    def _read(self, path: str) -> dict[str, typing.Any]:
        """Read a book. Each number stays the text that it is in the file.

        :raises ClientError: the file cannot be read, is too large, or is neither YAML nor JSON.
        """
        try:
            with open(path, encoding='utf-8') as file:
                text = file.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise errors.ClientError(f'{path} is larger than {_LARGEST // 1024} KiB: that is '
                                         f'no {self.book}.')
            document = yaml_text.read(text, _LARGEST)
        except (OSError, UnicodeDecodeError) as error:
            raise errors.ClientError(f'{path} cannot be read: {error}.') from error
        except ValueError as error:
            raise errors.ClientError(f'{path} is neither YAML nor JSON: {error}.') from error
        if not isinstance(document, dict):
            raise errors.ClientError(f'{path} has no {self.book}: write {self.first_lines}.')
        return document


def _shown(book: typing.Any) -> typing.Any:
    return list(book), [_cell(name, value) for name, value in book.items()]


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    return columns.Nested(value) if isinstance(value, dict | list) else value

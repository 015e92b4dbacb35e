# SPDX-License-Identifier: Apache-2.0
"""Commands about the limit book."""
import argparse
import typing

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import book_versions

_NOUN = 'limit_books'
_COUNTED = ('limits', 'extensions')


class ListLimitBooks(book_versions.ListVersions):
    """List the versions of the limit book, with the numbers of their limits and extension rules."""

    noun = _NOUN
    columns = ('version', 'valid_from', 'valid_until', *_COUNTED, 'description')

    def value(self, book: typing.Any, name: str) -> typing.Any:
        return len(book.get(name, ())) if name in _COUNTED else super().value(book, name)


class ShowLimitBook(book_versions.ShowVersion):
    """Show a version of the limit book, by default the one that is valid now."""

    noun = _NOUN


class CreateLimitBook(book_versions.CreateVersion):
    """Add a version of the limit book; it replaces the previous one from its valid_from on."""

    example = 'limit-book create limits.yaml'
    noun, book, first_lines = _NOUN, 'limit book', '"limits:" and a list of limits'

    def converted(self, document: dict[str, typing.Any], path: str) -> dict[str, typing.Any]:
        return with_criteria(document, path)


def with_criteria(book: dict[str, typing.Any], path: str) -> dict[str, typing.Any]:
    """Return a limit book with criteria as lists, where they are conditions as in --require.

    :param path: the name of the file, for errors.
    :raises ClientError: a text is no condition.
    """
    limits = book.get('limits')
    if not isinstance(limits, list):
        return book
    return {**book, 'limits': [_with_criteria(limit, f'{path}: limits.{index}.criteria')
                               for index, limit in enumerate(limits)]}


def _with_criteria(limit: typing.Any, field: str) -> typing.Any:
    """Return a limit with its criteria as a list, if they are conditions as in --require."""
    text = limit.get('criteria') if isinstance(limit, dict) else None
    if not isinstance(text, str) or text.lstrip().startswith('['):
        return limit
    try:
        return {**limit, 'criteria': arguments.requirements(text)}
    except argparse.ArgumentTypeError as error:
        raise errors.ClientError(f'{field}: {error}') from error

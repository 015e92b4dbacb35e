# SPDX-License-Identifier: Apache-2.0
"""Commands about the price book."""
from climate.client.commands import book_versions

_NOUN = 'price_books'


class ListPriceBooks(book_versions.ListVersions):
    """List the versions of the price book, in the order in which they become valid."""

    noun = _NOUN
    columns = ('version', 'currency', 'valid_from', 'valid_until', 'description')


class ShowPriceBook(book_versions.ShowVersion):
    """Show a version of the price book, by default the one that is valid now."""

    noun = _NOUN


class CreatePriceBook(book_versions.CreateVersion):
    """Add a version of the price book; it replaces the previous one from its valid_from on."""

    example = 'price-book create book.yaml'
    noun, book, first_lines = _NOUN, 'price book', '"currency: EUR" and rates'

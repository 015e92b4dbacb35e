# SPDX-License-Identifier: Apache-2.0
"""The price book: list, get and create its versions."""
from climate.client import book_versions


class PriceBooks(book_versions.BookVersions):
    """The versions of the price book; none is ever changed."""

    noun = 'price_book'

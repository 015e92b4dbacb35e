# SPDX-License-Identifier: Apache-2.0
"""The limit book: list, get and create its versions."""
from climate.client import book_versions


class LimitBooks(book_versions.BookVersions):
    """The versions of the limit book; none is ever changed."""

    noun = 'limit_book'

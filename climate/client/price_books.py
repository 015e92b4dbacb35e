# SPDX-License-Identifier: Apache-2.0
"""The price book: list, get and create its versions."""
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import http

_PATH = '/price-books'


class PriceBooks(http.Noun):
    """The versions of the price book; none is ever changed."""

    def list(self) -> Sequence[http.Record]:
        """List the versions, in the order in which they become valid."""
        return [*self._http.pages(_PATH, 'price_books')]

    def get(self, version: str = 'valid') -> http.Record:
        """Get a version by its number; by default the one that is valid now."""
        return self._http.record(
            self._http.call('GET', f'{_PATH}/{http.quoted(version)}'), 'price_book')

    def create(self, book: Mapping[str, typing.Any]) -> http.Record:
        """Add a version."""
        return self._http.record(self._http.call('POST', _PATH, body=book), 'price_book')

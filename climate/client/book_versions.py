# SPDX-License-Identifier: Apache-2.0
"""The versions of a price book or limit book: list, get and create them."""
from collections.abc import Mapping
from collections.abc import Sequence
import typing

from climate.client import http


class BookVersions(http.Noun):
    """The versions of a book; none is ever changed.

    :cvar noun: the noun in responses, such as "price_book".
    """

    noun: typing.ClassVar[str]

    def list(self) -> Sequence[http.Record]:
        """List the versions, in the order in which they become valid."""
        return [*self._http.pages(self._path, f'{self.noun}s')]

    def get(self, version: str = 'valid') -> http.Record:
        """Get a version by its number; by default the one that is valid now."""
        return self._http.record(
            self._http.call('GET', f'{self._path}/{http.quoted(version)}'), self.noun)

    def create(self, book: Mapping[str, typing.Any]) -> http.Record:
        """Add a version."""
        return self._http.record(self._http.call('POST', self._path, body=book), self.noun)

    @property
    def _path(self) -> str:
        return f'/{self.noun.replace("_", "-")}s'

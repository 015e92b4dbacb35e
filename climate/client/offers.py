# SPDX-License-Identifier: Apache-2.0
"""Offers that are held for the caller's project: list, get and delete."""
from collections.abc import Sequence

from climate.client import http
from climate.client import name_lookup


class Offers(http.Noun):
    """The offers that the caller's project holds.

    ``availability.hold`` creates them, and ``leases.create`` takes one.
    """

    def list(self) -> Sequence[http.Record]:
        """List the offers, those that expire first before others."""
        return [*self._http.pages('/offers', 'offers')]

    def full_id(self, text: str) -> str:
        """Return the id of the offer whose id begins with a text, or else the text."""
        return name_lookup.full_id('offer', text, self.list)

    def get(self, offer_id: str) -> http.Record:
        """Get an offer.

        :raises NotFound: it was taken or released, or is not of this project.
        :raises Conflict: it has expired.
        """
        return self._http.record(self._http.call('GET', _path(offer_id)), 'offer')

    def delete(self, offer_id: str) -> None:
        """Release the resources of an offer."""
        self._http.call('DELETE', _path(offer_id))


def _path(offer_id: str) -> str:
    return f'/offers/{http.quoted(offer_id)}'

# SPDX-License-Identifier: Apache-2.0
"""The manager processes of the service: list."""
from collections.abc import Iterator

from climate.client import http


class Services(http.Noun):
    """The manager processes of the service."""

    def list(self) -> Iterator[http.Record]:
        """List the managers by id, with their ``state``, "up" or "down"; for administrators."""
        return self._http.pages('/services', 'services')

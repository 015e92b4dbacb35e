# SPDX-License-Identifier: Apache-2.0
"""The managers' audits: get the newest one."""
from climate.client import http


class Audit(http.Noun):
    """Compares the cloud with the database; one of the managers does so from time to time."""

    def newest(self) -> http.Record:
        """Get the newest audit; for administrators.

        :returns: a record with ``at``, None if no audit was made, ``manager``, ``finding_count``
            and ``findings``, each with ``kind``, ``what``, ``problem`` and ``remedy``.
        """
        return self._http.record(self._http.call('GET', '/audit'), 'audit')

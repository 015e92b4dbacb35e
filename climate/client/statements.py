# SPDX-License-Identifier: Apache-2.0
"""Statements of what leases cost: list them, and their lines."""
from collections.abc import Sequence

from climate.client import http

_PATH = '/statements'


class Statements(http.Noun):
    """The statements of the caller's project, or of others if policy allows it."""

    def list(self, *, month: str | None = None, project_id: str | None = None,
             all_projects: bool = False, lease_id: str | None = None) -> Sequence[http.Record]:
        """List statements by month and project; by default those of the last twelve months."""
        query = _query(project_id, all_projects, lease_id)
        if month is not None:
            query['month'] = month
        return [*self._http.pages(_PATH, 'statements', query)]

    def lines(self, month: str, *, project_id: str | None = None, all_projects: bool = False,
              lease_id: str | None = None) -> Sequence[http.Record]:
        """List the lines of the statements of a month, by lease.

        :raises NotFound: nothing was billed in that month.
        """
        return [*self._http.pages(f'{_PATH}/{http.quoted(month)}', 'lines',
                                  _query(project_id, all_projects, lease_id))]


def _query(project_id: str | None, all_projects: bool, lease_id: str | None) -> dict[str, str]:
    query = {'project_id': project_id, 'lease_id': lease_id,
             'all_projects': 'true' if all_projects else None}
    return {name: value for name, value in query.items() if value is not None}

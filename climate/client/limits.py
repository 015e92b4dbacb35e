# SPDX-License-Identifier: Apache-2.0
"""Limits of a project and of a user: how much of them is used."""
import typing

from climate.client import http


class Limits(http.Noun):
    """Reports the limits of the caller, or of another project or user."""

    _PATH = '/limits'

    def report(self, *, project_id: str | None = None,
               user_id: str | None = None) -> dict[str, typing.Any]:
        """Get the limits, how much of them is used, and the rules for extensions.

        :param project_id: another project than the own one; for administrators.
        :param user_id: another user; for administrators.
        :returns: a mapping with ``limits`` and ``extensions``.
        """
        named = {'project_id': project_id, 'user_id': user_id}
        return self._http.document(self._http.call('GET', self._PATH, query={
            name: value for name, value in named.items() if value is not None}), 'limits')

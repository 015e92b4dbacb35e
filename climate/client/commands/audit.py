# SPDX-License-Identifier: Apache-2.0
"""The command that lists the differences that the newest audit of the managers found."""
import argparse
import typing

from climate.client import times
from climate.client.commands import base

_COLUMNS = ('kind', 'what', 'problem', 'remedy')


class ListFindings(base.Lister):
    """List the findings of the newest audit; by default for administrators."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        self._audit = self.client.audit.newest()
        return _COLUMNS, [
            tuple(finding[name] for name in _COLUMNS) for finding in self._audit['findings']]

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        audit = self._audit
        if audit['at'] is None:
            return ['No manager has made an audit: see [manager] audit_interval_seconds.']
        return [f'{audit["finding_count"]} found by {audit["manager"]} at '
                f'{times.for_people(audit["at"])}.']

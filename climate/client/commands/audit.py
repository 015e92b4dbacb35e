# SPDX-License-Identifier: Apache-2.0
"""The command that lists what the newest audit of the managers found."""
import argparse
import typing

from climate.client import times
from climate.client.commands import base
from climate.client.commands import columns

_COLUMNS = ('kind', 'what', 'problem', 'remedy')
# An id is wrapped nowhere.
_WRAPPED = {'what': columns.wrapped(38), 'problem': columns.wrapped(27),
            'remedy': columns.wrapped(22)}


class ListFindings(base.Lister):
    """List what the newest audit of the managers found; by default for administrators."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        self._found = self.client.audit.newest()
        return _COLUMNS, [
            tuple(_WRAPPED[name](each[name]) if name in _WRAPPED else each[name]
                  for name in _COLUMNS)
            for each in self._found['findings']]

    def produce_output(self, parsed_args: argparse.Namespace, column_names: typing.Any,
                       data: typing.Any) -> int:
        code: int = super().produce_output(parsed_args, column_names, data)
        # Programs, which read other formats, count by themselves.
        if parsed_args.formatter == 'table':
            self.app.stdout.write(f'{_sentence(self._found)}\n')
        return code


def _sentence(found: typing.Any) -> str:
    if found['at'] is None:
        return 'No manager has made an audit: see [manager] audit_interval_seconds.'
    return (f'{found["finding_count"]} found by {found["manager"]} at '
            f'{times.for_people(found["at"])}.')

# SPDX-License-Identifier: Apache-2.0
"""The command about the limits of a project, and the rules for extensions."""
import argparse
from collections.abc import Mapping
import typing

from climate.client.commands import base
from climate.client.commands import columns

# In a table for people; --long and other formats have all.
_COLUMNS = ('name', 'description', 'used', 'remaining', 'until')
_EXTENSION = 'extension'
_ALL = ('name', 'source', 'measure', 'description', 'applies_to', 'per', 'unit', 'most', 'least',
        'used', 'remaining', 'until', 'resource_type', 'pool', 'criteria', 'roles', 'allowed')
_DIGITS = 2


class ListLimits(base.Lister):
    """List the limits of the own project and user, their use, and the rules for extensions."""

    example = 'limit list --project demo'

    parameters = (
        ('--project', {'metavar': 'ID', 'help': 'Another project (administrators).'}),
        ('--user', {'metavar': 'ID', 'help': 'Another user (administrators).'}),
        base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        report = self.client.limits.report(project_id=parsed_args.project,
                                           user_id=parsed_args.user)
        rows = [*report['limits'], *({**rule, 'measure': _EXTENSION}
                                     for rule in report['extensions'])]
        self._missing = [limit['name'] for limit in report['limits'] if limit['allowed'] is False]
        if self.is_narrow(parsed_args):
            return _COLUMNS, [_row_for_people(row) for row in rows]
        return _ALL, [tuple(_cell(name, row.get(name)) for name in _ALL) for row in rows]

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        return 'No limits apply.'

    def summary(self, parsed_args: argparse.Namespace) -> list[str]:
        return [f'You have none of the roles that {name} needs.' for name in self._missing]


def _row_for_people(row: Mapping[str, typing.Any]) -> tuple[typing.Any, ...]:
    return (row['name'], row['description'], _number(row.get('used')),
            _number(row.get('remaining')), _cell('until', row.get('until')))


def _number(value: float | None) -> float | None:
    """Return a number with at most two digits after the point."""
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, _DIGITS)


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name == 'until':
        return columns.Time(value) if value else None
    return columns.Words(value or []) if name == 'roles' else value

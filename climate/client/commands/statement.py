# SPDX-License-Identifier: Apache-2.0
"""Commands about statements of what leases cost."""
import argparse
import typing

from climate.client.commands import base

_COLUMNS = ('month', 'project_id', 'amount', 'currency', 'leases', 'lines', 'closed')
# In a table for people; --long has all.
_LINES = ('lease_id', 'kind', 'pool', 'hours', 'rate', 'percent', 'amount')
_ALL_OF_A_LINE = ('project_id', 'month', 'lease_id', 'number', 'for_month', 'correction', 'kind',
                  'price_book', 'reservation_id', 'resource_type', 'pool', 'hours', 'rate',
                  'percent', 'amount', 'currency', 'created_at')


class _Filtered(base.Lister):
    """The options that both commands have."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--lease', metavar='ID', help='Only this lease.')
        whose = parser.add_mutually_exclusive_group()
        whose.add_argument('--project', metavar='ID', help='Another project (administrators).')
        whose.add_argument('--all-projects', action='store_true',
                           help='All projects (administrators).')
        return parser

    @staticmethod
    def filters(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
        """Return the filters as arguments of the library."""
        return {'project_id': parsed_args.project, 'all_projects': parsed_args.all_projects,
                'lease_id': parsed_args.lease}


class ListStatements(_Filtered):
    """List statements by month and project; by default those of the last twelve months."""

    parameters = (('--month', {'metavar': 'YYYY-MM', 'help': 'Only this month.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        records = self.client.statements.list(month=parsed_args.month, **self.filters(parsed_args))
        return _COLUMNS, [tuple(each[name] for name in _COLUMNS) for each in records]


class ShowStatement(_Filtered):
    """Show the lines of the statement of a month; "-f csv" prints all columns as CSV."""

    example = 'statement show 2030-05 -f csv'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('month', metavar='YYYY-MM', help='Month of the statement.')
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _LINES if self.is_narrow(parsed_args) else _ALL_OF_A_LINE
        records = self.client.statements.lines(parsed_args.month, **self.filters(parsed_args))
        return names, [tuple(each.get(name) for name in names) for each in records]

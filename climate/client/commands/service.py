# SPDX-License-Identifier: Apache-2.0
"""Commands about the manager processes of the service."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns

_COLUMNS = ('id', 'host', 'state', 'since', 'last_seen', 'running_events')
_NARROW = ('host', 'state', 'since', 'last_seen', 'running_events')
_TIMES = ('since', 'last_seen')


class ListServices(base.Lister):
    """List the managers and their states."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _NARROW if self.is_narrow(parsed_args) else _COLUMNS
        return names, [tuple(columns.Time(each[name]) if name in _TIMES else each[name]
                             for name in names) for each in self.client.services.list()]

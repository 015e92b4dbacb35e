# SPDX-License-Identifier: Apache-2.0
"""Commands about the manager processes of the service."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns

_COLUMNS = ('id', 'host', 'state', 'since', 'last_seen', 'running_events')
_TIMES = ('since', 'last_seen')


class ListServices(base.Lister):
    """List the managers and their states."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _COLUMNS, [tuple(columns.Time(each[name]) if name in _TIMES else each[name]
                                for name in _COLUMNS) for each in self.client.services.list()]

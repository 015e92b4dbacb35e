# SPDX-License-Identifier: Apache-2.0
"""Commands about the manager processes of the service."""
import argparse
import typing

from climate.client.commands import base
from climate.client.commands import columns

_NARROW = ('host', 'state', 'since', 'last_seen', 'running_events')
_COLUMNS = ('id', *_NARROW, 'not_ready')
_TIMES = ('since', 'last_seen')


class ListServices(base.Lister):
    """List the managers and their states."""

    parameters = (base.LONG,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        is_narrow = self.is_narrow(parsed_args)
        names = _NARROW if is_narrow else _COLUMNS
        return names, [_row(each, names, is_narrow) for each in self.client.services.list()]


def _row(service: typing.Any, names: typing.Any, is_narrow: bool) -> tuple[typing.Any, ...]:
    if is_narrow and service['state'] == 'up' and service.get('not_ready'):
        service = {**service, 'state': 'not ready'}
    return tuple(columns.Time(service[name]) if name in _TIMES else service.get(name)
                 for name in names)

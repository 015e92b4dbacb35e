# SPDX-License-Identifier: Apache-2.0
"""Commands about maintenance."""
import argparse
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client import times
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns

_NAMES = ('id', 'start', 'end', 'reason', 'resources', 'running', 'rrule')
# In a table for people, "maintenance show" and --long have the resources.
_NARROW = ('id', 'start', 'end', 'reason')
_FIRST = ('id', 'pool', 'resources', 'start', 'end', 'reason', 'running', 'notice_minutes', 'rrule',
          'leases', 'windows')
_TIMES = ('start', 'end', 'created_at')
_MODES = ('left', 'swap', 'end')
_HELP = 'Id of the maintenance; "maintenance list" has the ids.'
#: The meaning of each word of the service for a lease.
_MEANINGS = {'moves': 'gets other resources', 'stuck': 'nothing else fits',
             'stays': 'runs and stays', 'asked': 'its owner is asked to swap', 'ends': 'ends early'}


class NameList(columns.Lines):
    """The names of the first resources in one line, and the number of others."""

    def human_readable(self) -> str:
        names = [resource['name'] for resource in self._value]
        return ', '.join(names[:5]) + (f' and {len(names) - 5} more' if len(names) > 5 else '')


class MaintenanceWindows(columns.Lines):
    """The windows of a maintenance."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        return (f'{times.for_people(element["start"])} to {times.for_people(element["end"])} '
                f'({element["state"]})')


class AffectedLeases(columns.Lines):
    """The leases that a maintenance affects, and what happens to them."""

    @classmethod
    def line(cls, element: Mapping[str, typing.Any]) -> str:
        why = f': {element["why"]}' if element.get('why') else ''
        owner = element.get('project_name') or element['project_id']
        called = f'{element["lease_name"]} ({element["lease_id"]}, project {owner})'
        return f'{called} {_MEANINGS.get(element["what"], element["what"])}{why}'


class CreateMaintenance(base.ShowOne):
    """Plan maintenance: leases are moved, and new leases avoid it."""

    example = ('maintenance create --host compute-17.example.org --start "2030-05-01 20:00" '
               '--end "2030-05-01 23:00" --reason "new firmware" --dry-run')

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument('--host', metavar='HOST', action='append', default=[], dest='hosts',
                           help='Name or id of a host. Repeatable.')
        which.add_argument('--resource', metavar='RESOURCE', action='append', default=[],
                           dest='resources',
                           help='Name or id of a resource of --pool. Repeatable.')
        which.add_argument('--require', metavar='CONDITION', action='append', default=[],
                           type=arguments.requirement, dest='conditions',
                           help='All resources that meet a condition, such as rack=r7. Repeatable.')
        parser.add_argument('--pool', metavar='POOL', help='The pool. Default: host.')
        parser.add_argument('--start', metavar='TIME', required=True, type=arguments.moment,
                            help=f'The start: {times.MOMENT_HELP}.')
        parser.add_argument('--end', metavar='TIME', required=True, type=arguments.moment,
                            help='The end.')
        parser.add_argument('--reason', metavar='TEXT', required=True,
                            help='The reason, which the owners of affected leases can read.')
        parser.add_argument('--running', choices=_MODES, default='left',
                            help='What happens to leases that run: they stay, their owners are '
                                 'asked to swap, or they end. Default: left.')
        parser.add_argument('--notice', metavar='DURATION', type=arguments.span,
                            help='The minimum time between the notification of an owner and the '
                                 'early end of a lease, such as 2h.')
        parser.add_argument('--rrule', metavar='RULE',
                            help='The recurrence, such as "FREQ=WEEKLY".')
        parser.add_argument('--dry-run', action='store_true',
                            help='Only show which leases would move and which cannot.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        if parsed_args.pool not in (None, 'host') and parsed_args.hosts:
            raise errors.BadValue('--host names hosts: write --resource for another pool.')
        conditions = parsed_args.conditions
        criteria = ['and', *conditions] if len(conditions) > 1 else (
            conditions[0] if conditions else None)
        return _shown(self.client.maintenances.create(
            parsed_args.reason, start=parsed_args.start, end=parsed_args.end,
            hosts=parsed_args.hosts, resources=parsed_args.resources, criteria=criteria,
            pool=parsed_args.pool, running=parsed_args.running, notice=parsed_args.notice,
            rrule=parsed_args.rrule, dry_run=parsed_args.dry_run))


class ListMaintenances(base.Lister):
    """List the maintenances that are planned or under way."""

    parameters = (base.LONG,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _NARROW if self.is_narrow(parsed_args) else _NAMES
        return names, [tuple(_cell(name, maintenance[name]) for name in names)
                       for maintenance in self.client.maintenances.list()]


class ShowMaintenance(base.ShowOne):
    """Show a maintenance, with the leases that it affects."""

    parameters = (('maintenance', {'metavar': 'MAINTENANCE', 'help': _HELP}),)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.maintenances.get(
            self.client.maintenances.full_id(parsed_args.maintenance)))


class DeleteMaintenances(base.Silent):
    """Delete maintenances: leases can use the resources again."""

    example = 'maintenance delete 0a9c6a53-4d35-4a17-8b3e-90c1cf0f1c58'

    parameters = (('maintenances', {
        'metavar': 'MAINTENANCE', 'nargs': '+', 'help': f'{_HELP} Repeatable.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        maintenances = self.client.maintenances
        self.for_each(parsed_args.maintenances, 'maintenance',
                      lambda text: maintenances.delete(maintenances.full_id(text)))


def _shown(maintenance: Mapping[str, typing.Any]) -> tuple[list[str], list[typing.Any]]:
    names = columns.in_order(maintenance, _FIRST)
    return names, [_cell(name, maintenance[name]) for name in names]


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    column = {'resources': NameList, 'windows': MaintenanceWindows,
              'leases': AffectedLeases}.get(name)
    if column is not None:
        return column(value)
    return '' if value is None else value

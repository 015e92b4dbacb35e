# SPDX-License-Identifier: Apache-2.0
"""The arguments that select and order the leases of a list."""
import argparse
import typing

from climate.client import status_words
from climate.client.commands import arguments
from climate.client.commands import new_lease

#: The order of a list that does not name one: the newest lease comes first.
NEWEST_FIRST = 'created_at:desc'
# {name of the argument: name of the filter}
_FILTERS = {'limit': 'limit', 'name': 'name', 'search': 'search', 'owner': 'owner',
            'project': 'project', 'all_projects': 'all_projects', 'type': 'resource_type',
            'resource': 'resource', 'since': 'ends_after', 'until': 'starts_before',
            'deleted': 'deleted', 'idle': 'idle'}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to the parser of a command."""
    parser.add_argument('--status', choices=status_words.LEASE, metavar='STATUS',
                        action='append', type=str.lower,
                        help='Only leases with this status: '
                             f'{", ".join(status_words.LEASE)}. Repeatable.')
    parser.add_argument('--search', metavar='TEXT',
                        help='Only leases with this text in their name, or at the beginning of '
                             'their id.')
    parser.add_argument('--name', help='Only leases with exactly this name.')
    parser.add_argument('--owner', metavar='USER', help='Only leases of this user: name or id.')
    parser.add_argument('--project', metavar='PROJECT',
                        help='Only leases of this project: name or id.')
    parser.add_argument('--all-projects', action='store_true',
                        help='Leases of all projects; for administrators.')
    parser.add_argument('--type', metavar='TYPE',
                        help='Only leases with a reservation of this type, such as physical:host.')
    parser.add_argument('--resource', metavar='HOST',
                        help='Only leases of this host, or other resource: its name, for '
                             'administrators, or its id.')
    parser.add_argument('--from', metavar='TIME', dest='since', type=arguments.moment,
                        help='Only leases, or with --resource allocations, that end later than '
                             f'this time: {new_lease.TIME_HELP}')
    parser.add_argument('--to', metavar='TIME', dest='until', type=arguments.moment,
                        help='Only leases, or with --resource allocations, that start earlier.')
    parser.add_argument('--deleted', action='store_true',
                        help='Deleted leases, too; for administrators.')
    parser.add_argument('--idle', action='store_true',
                        help='Only idle leases, with the time since which each is idle, and the '
                             'time at which it is reclaimed.')
    parser.add_argument('--sort', metavar='KEY[:asc|desc],...',
                        help='Sort by these keys, such as end:desc,name: created_at, start, end, '
                             'name, status, owner, project. Default: the newest lease first, '
                             'ended leases last.')
    parser.add_argument('--limit', metavar='COUNT', type=arguments.positive,
                        help='The maximum number of leases.')


def from_args(parsed_args: argparse.Namespace) -> dict[str, typing.Any]:
    """Return the filters, without status and order, as ``Leases.list`` takes them."""
    return {filter_name: getattr(parsed_args, name) for name, filter_name in _FILTERS.items()}


def asks_who(parsed_args: argparse.Namespace) -> bool:
    """Return whether the arguments ask who has something, and when."""
    return bool(parsed_args.resource or parsed_args.since or parsed_args.until)

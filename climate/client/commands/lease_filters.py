# SPDX-License-Identifier: Apache-2.0
"""The arguments that select and order the leases of a list."""
import argparse
from collections.abc import Iterable
from collections.abc import Mapping
import contextlib
import typing

from climate.client import errors
from climate.client import http
from climate.client import leases as client_leases
from climate.client import status_words
from climate.client.commands import arguments
from climate.client.commands import new_lease

#: The order of a list that does not name one: the newest lease comes first.
NEWEST_FIRST = 'created_at:desc'
# {name of the argument: name of the filter}
_FILTERS = {'limit': 'limit', 'name': 'name', 'search': 'search', 'owner': 'owner',
            'project': 'project', 'all_projects': 'all_projects', 'type': 'resource_type',
            'resource': 'resource', 'since': 'ends_after', 'until': 'starts_before',
            'deleted': 'deleted', 'idle': 'idle', 'series': 'series_id'}


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
                        help='Only leases of this host, or other resource, of all projects that '
                             'you may see: its name, for administrators, or its id.')
    parser.add_argument('--series', metavar='ID', help='Only the leases of this series.')
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


def found(leases: client_leases.Leases, parsed_args: argparse.Namespace
          ) -> tuple[Iterable[http.Record], bool]:
    """Return (the leases that the arguments select, whether they are of several projects).

    Who has a resource is a question about all projects. Most callers see only their own.
    """
    filters = {filter_name: getattr(parsed_args, name) for name, filter_name in _FILTERS.items()}
    if parsed_args.resource and not (parsed_args.project or parsed_args.all_projects):
        with contextlib.suppress(errors.Forbidden):
            return list(_listed(leases, parsed_args, {**filters, 'all_projects': True})), True
    return (_listed(leases, parsed_args, filters),
            bool(parsed_args.all_projects or parsed_args.project))


def _listed(leases: client_leases.Leases, parsed_args: argparse.Namespace,
            filters: Mapping[str, typing.Any]) -> Iterable[http.Record]:
    sort = parsed_args.sort
    if parsed_args.status or sort or parsed_args.idle:
        return leases.list(status=parsed_args.status, sort=sort or NEWEST_FIRST, **filters)
    return leases.living_first(sort=NEWEST_FIRST, **filters)


def asks_who(parsed_args: argparse.Namespace) -> bool:
    """Return whether the arguments ask who has something, and when."""
    return bool(parsed_args.resource or parsed_args.since or parsed_args.until)

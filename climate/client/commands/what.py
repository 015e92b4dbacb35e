# SPDX-License-Identifier: Apache-2.0
"""What is to be reserved: the arguments, and what they say on the wire."""
import argparse
import typing

from climate.client import errors
from climate.client.commands import arguments


def add(parser: argparse.ArgumentParser) -> None:
    """The arguments of a command about reservations to be made."""
    parser.add_argument('--hosts', metavar='COUNT', type=arguments.count,
                        help='Reserve so many whole hosts: 2, or 1-4 for at least 1, at most 4. '
                             'Any --reservation comes beside them.')
    parser.add_argument('--require', metavar='CONDITION', action='append', default=[],
                        type=arguments.requirement,
                        help="What each of the hosts must have: 'vcpus>=16'. Repeatable: all "
                             'must hold.')
    parser.add_argument('--reservation', metavar='type=TYPE,KEY=VALUE,...', action='append',
                        default=[], type=arguments.reservation, dest='reservations',
                        help=f'Reserve by type: {arguments.RESERVATION_EXAMPLE}. Repeatable.')


def asked(parsed_args: argparse.Namespace, otherwise: str = '') -> list[dict[str, typing.Any]]:
    """What ``add`` added, as the library takes it.

    :param otherwise: what can be said instead, for the message.
    :raises BadValue: nothing is asked for, or conditions of nothing.
    """
    found = list(parsed_args.reservations)
    if parsed_args.require and found and not parsed_args.hosts:
        raise errors.BadValue('--require tells what the hosts of --hosts must have; for a '
                              f'--reservation write it there: {arguments.RESERVATION_EXAMPLE}.')
    if parsed_args.hosts or parsed_args.require:
        found.append(arguments.hosts_reservation(parsed_args.hosts or (1, 1),
                                                 parsed_args.require))
    if not found:
        raise errors.BadValue('What to reserve? Give --hosts 2, or --reservation '
                              f'{arguments.RESERVATION_EXAMPLE}{otherwise}.')
    return found

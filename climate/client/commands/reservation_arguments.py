# SPDX-License-Identifier: Apache-2.0
"""Arguments about the resources to reserve."""
import argparse
import typing

from climate.client import errors
from climate.client.commands import arguments


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to the parser of a command about new reservations."""
    parser.add_argument('--hosts', metavar='COUNT', type=arguments.count,
                        help='Reserve this number of whole hosts: 2, or 1-4 for at least 1 and at '
                             'most 4. Can be combined with --reservation.')
    parser.add_argument('--require', metavar='CONDITION', action='append', default=[],
                        type=arguments.requirement,
                        help="A condition that each of the hosts must meet: 'vcpus>=16'. "
                             'Repeatable: all must hold.')
    parser.add_argument('--reservation', metavar='type=TYPE,KEY=VALUE,...', action='append',
                        default=[], type=arguments.reservation, dest='reservations',
                        help=f'Reserve by type: {arguments.RESERVATION_EXAMPLE}. Repeatable.')


def from_args(parsed_args: argparse.Namespace, otherwise: str = ''
              ) -> list[dict[str, typing.Any]]:
    """Convert the arguments to the reservations that the library takes.

    :param otherwise: an alternative, for the message.
    :raises BadValue: nothing is to be reserved, or --require lacks its --hosts.
    """
    reservations = list(parsed_args.reservations)
    if parsed_args.require and reservations and not parsed_args.hosts:
        raise errors.BadValue('--require is for --hosts; write the conditions of a '
                              f'--reservation into it: {arguments.RESERVATION_EXAMPLE}.')
    if parsed_args.hosts or parsed_args.require:
        reservations.append(arguments.hosts_reservation(parsed_args.hosts or (1, 1),
                                                        parsed_args.require))
    if not reservations:
        raise errors.BadValue('What to reserve? Give --hosts 2, or --reservation '
                              f'{arguments.RESERVATION_EXAMPLE}{otherwise}.')
    return reservations

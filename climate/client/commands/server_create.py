# SPDX-License-Identifier: Apache-2.0
"""Arguments of ``openstack server create`` that boot a server with a reservation."""
from collections.abc import Mapping
from collections.abc import Sequence
import shlex
import typing

# No server can be booted with reservations in these states.
_OVER = ('deleted', 'error')


def of_lease(lease: Mapping[str, typing.Any]) -> list[dict[str, typing.Any]]:
    """Make a record for each reservation that servers use, or will use.

    It has ``reservation_id``, ``usable``, which is False until the reservation is active, and
    ``arguments``. A reservation that leases an existing server has ``reservation_id`` and
    ``server_id``, which is None as long as the server is not set.
    """
    return [record for reservation in lease['reservations']
            if reservation['status'] not in _OVER and (record := _of_reservation(reservation))]


def _of_reservation(reservation: Mapping[str, typing.Any]) -> dict[str, typing.Any] | None:
    """Make the record of a reservation; None if its type is not for servers."""
    record = {'reservation_id': reservation['id']}
    if 'resource_id' in reservation:
        # Volumes, stacks and clusters have the field, too.
        if reservation['resource_type'] != 'virtual:instance':
            return None
        return {**record, 'server_id': reservation['resource_id']}
    record['usable'] = reservation['status'] == 'active'
    if reservation['resource_type'] == 'physical:host':
        return {**record, 'arguments': ['--hint', f'reservation={reservation["id"]}']}
    if reservation.get('flavor_id'):
        group = reservation.get('server_group_id')
        hint = ['--hint', f'group={group}'] if group else []
        return {**record, 'arguments': ['--flavor', reservation['flavor_id'], *hint]}
    return None


def command(arguments: Sequence[str], separator: str = ' ') -> str:
    """Format the command that boots a server; capital words stand for what the user chooses.

    :param separator: the text before the arguments of the lease.
    """
    flavor = [] if '--flavor' in arguments else ['--flavor', 'FLAVOR']
    words = ['openstack', 'server', 'create', '--image', 'IMAGE', *flavor]
    return f'{" ".join(words)}{separator}{shlex.join(arguments)} NAME'


def line(record: Mapping[str, typing.Any]) -> str:
    """Format one element of ``of_lease`` for people."""
    if 'arguments' in record:
        words = command(record['arguments'])
        return words if record['usable'] else f'not before the lease is active: {words}'
    if record['server_id'] is None:
        return f'nothing: reservation {record["reservation_id"]} waits for its server'
    return f'nothing: server {record["server_id"]} is leased itself'

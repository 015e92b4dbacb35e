# SPDX-License-Identifier: Apache-2.0
"""What to pass to ``openstack server create``, so that a server uses a reservation."""
from collections.abc import Mapping
import typing

# Nothing can be booted with these any more.
_OVER = ('deleted', 'error')


def of_lease(lease: Mapping[str, typing.Any]) -> list[dict[str, typing.Any]]:
    """For each reservation that servers can use: ``reservation_id`` and ``arguments``.

    A reservation that leases a server that exists has ``server_id`` instead of arguments, None as
    long as its server is not known.
    """
    return [found for reservation in lease['reservations']
            if reservation['status'] not in _OVER and (found := _of_reservation(reservation))]


def _of_reservation(reservation: Mapping[str, typing.Any]) -> dict[str, typing.Any] | None:
    """None where no server is booted with a reservation of this type."""
    found = {'reservation_id': reservation['id']}
    if 'resource_id' in reservation:
        return {**found, 'server_id': reservation['resource_id']}
    if reservation['resource_type'] == 'physical:host':
        return {**found, 'arguments': ['--hint', f'reservation={reservation["id"]}']}
    if reservation.get('flavor_id'):
        group = reservation.get('server_group_id')
        hint = ['--hint', f'group={group}'] if group else []
        return {**found, 'arguments': ['--flavor', reservation['flavor_id'], *hint]}
    return None


def line(found: Mapping[str, typing.Any]) -> str:
    """One element of ``of_lease`` for people."""
    if 'arguments' in found:
        return ' '.join(found['arguments'])
    if found['server_id'] is None:
        return f'nothing: reservation {found["reservation_id"]} waits for its server'
    return f'nothing: server {found["server_id"]} is leased itself'

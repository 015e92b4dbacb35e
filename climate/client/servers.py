# SPDX-License-Identifier: Apache-2.0
"""Leased servers: list and lease."""
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import logging
import typing

from climate.client import compute as compute_module
from climate.client import errors
from climate.client import http
from climate.client import leases as leases_module
from climate.client import name_lookup
from climate.client import status_words

LOG = logging.getLogger(__name__)

RESOURCE_TYPE = 'virtual:instance'
_LONGEST_NAME = 80


class Servers:
    """The servers of the cloud that are leased.

    Names come from the compute service. Without a compute service, servers have ids only.
    """

    def __init__(self, leases: leases_module.Leases, compute: compute_module.Compute) -> None:
        self._leases = leases
        self._compute = compute

    def list(self, *, all_projects: bool = False, ended: bool = False) -> Iterator[http.Record]:
        """List leased servers in the order of their leases, one record for each lease.

        A record has ``id``, ``status`` (one of ``status_words.SERVER``), ``lease_id``,
        ``lease_name``, ``reservation_id``, ``start``, ``end``, ``ended_at``, ``on_end``,
        ``project_id``; and from Nova ``name``, ``compute_status``, ``host``, each None if unknown.
        A server that Nova no longer knows keeps the name that Climate saw last.

        :param all_projects: list servers of all projects; for administrators.
        :param ended: also list servers whose lease is over.
        """
        records = [record for lease in self._leases.list(all_projects=all_projects)
                   for record in _leased(lease) if ended or record['status'] != status_words.ENDED]
        known = self._known({record['id'] for record in records}, all_projects)
        for record in records:
            server: Mapping[str, typing.Any] = known.get(record['id'], {})
            yield http.Record(record, name=server.get('name') or record['name'],
                              host=server.get('host'), compute_status=server.get('status'))

    def lease(self, server: str, *, name: str | None = None, on_end: str | None = None,
              **when: typing.Any) -> http.Record:
        """Lease an existing server, and return the new lease.

        :param server: the id or the name of the server.
        :param name: the name of the lease; None: "lease-" and the name of the server.
        :param on_end: snapshot, delete, suspend, shelve or migrate; None: the service's default.
        :param when: start, end, duration, before_end, idempotency_key and dry_run, as for
            ``leases.create``.
        :raises NotFound: the server does not exist.
        :raises Ambiguous: several servers have the name.
        :raises ServiceMissing: `server` is a name, and there is no compute service to look it up.
        """
        found_server = self._find(server, name_needed=name is None)
        reservation = {'resource_type': RESOURCE_TYPE, 'resource_id': found_server['id']}
        if on_end is not None:
            reservation['on_end'] = on_end
        return self._leases.create(name or f'lease-{found_server["name"]}'[:_LONGEST_NAME],
                                   reservations=[reservation], **when)

    def _find(self, server: str, *, name_needed: bool) -> http.Record:
        if not name_lookup.is_id(server):
            return self._compute.find(server)
        itself = http.Record(id=server, name=server)
        if not name_needed:
            return itself
        try:
            return self._compute.find(server)
        except errors.ServiceMissing:
            return itself

    def _known(self, server_ids: Collection[str], all_projects: bool) -> dict[str, http.Record]:
        """Look up servers in Nova, by id; {} if Nova cannot be reached."""
        try:
            return self._compute.look_up(server_ids, all_projects=all_projects)
        except errors.ServiceMissing:
            return {}
        except errors.ClientError as error:
            LOG.warning('The names of servers are missing, because Nova cannot be reached: %s',
                        error)
            return {}


def _leased(lease: Mapping[str, typing.Any]) -> Iterator[dict[str, typing.Any]]:
    """Yield a record for each server that a lease has or had."""
    for reservation in lease['reservations']:
        if reservation['resource_type'] == RESOURCE_TYPE and reservation.get('resource_id'):
            yield {'id': reservation['resource_id'], 'name': reservation.get('resource_name'),
                   'status': _status(lease, reservation),
                   'lease_id': lease['id'], 'lease_name': lease['name'],
                   'reservation_id': reservation['id'], 'on_end': reservation.get('on_end'),
                   **{name: lease.get(name)
                      for name in ('start', 'end', 'ended_at', 'project_id')}}


def _status(lease: Mapping[str, typing.Any], reservation: Mapping[str, typing.Any]) -> str:
    if reservation['status'] == 'deleted' or lease['status'] in status_words.PAST:
        return status_words.ENDED
    if 'error' in (reservation['status'], lease['status']):
        return status_words.ERROR
    if lease['status'] in status_words.OVER:
        return status_words.ENDING
    return status_words.ACTIVE if reservation['status'] == 'active' else status_words.RESERVED

# SPDX-License-Identifier: Apache-2.0
"""Give a future lease, or hosts of it, back: waiting leases get the resources first."""
import dataclasses

from climate import errors
from climate.db import leases
from climate.domain import lease_actions
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.leases import delete
from climate.manager.leases import lease_parts
from climate.manager.leases import update


class GiveBack:
    """The use case of POST /v1/leases/{id}/give-back.

    It is a deletion, or a change, whose resources are kept for waiting leases until these were
    tried.
    """

    def __init__(self, core):
        self._core = core
        self._delete = delete.Delete(core)
        self._update = update.Update(core)

    def give_back(self, context, lease_id, hosts=None, generation=None, dry_run=False):
        """Give a lease back; return the Lease as it is, or would be, afterwards.

        :param hosts: the number of hosts; None: the whole lease.
        :param generation: refuse if the lease has changed since it had this generation.
        :raises LeaseNotFound: no lease has this id, or it was deleted.
        :raises StalePrecondition: the lease has changed since the caller read it.
        :raises GiveBackRefused: the lease has begun, waits for its resources, is a sub-lease or has
            some.
        :raises BadField: the lease has no such part.
        :raises ClimateError: as ``delete.Delete.delete`` and ``update.Update.update``.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        if generation not in (None, lease.generation):
            raise errors.StalePrecondition(lease_id=lease_id)
        self._refuse(lease)
        if hosts is not None:
            reservation, _, stays = lease_parts.split(self._core, lease, hosts)
            return self._update.update(context, lease_id, records.LeaseChanges(
                reservations=(records.ReservationRequest(None, {
                    name: stays[name] for name in ('min', 'max')}, id=reservation.id),),
                generation=generation, dry_run=dry_run, gives_back=True))
        if dry_run:
            return dataclasses.replace(lease, late_cancel=self._delete.price(context, lease_id),
                                       losses=())
        self._delete.delete(context, lease_id, gives_back=True)
        with self._core.database.reader() as connection:
            return leases.get(connection, lease_id)

    def _refuse(self, lease):
        now = self._core.clock()
        lease_actions.refuse(lease, lease_actions.DELETE, now)
        is_future = lease.state == lifecycle.PENDING and lease.start > now
        if not is_future or lease.parent_id is not None or lease.sub_leases:
            raise errors.GiveBackRefused(lease_id=lease.id)

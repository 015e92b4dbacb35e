# SPDX-License-Identifier: Apache-2.0
"""Early creations: what plugins create in the cloud while a request is answered.

A row is written before something is created; the transaction that writes the lease deletes the row.
A row that stays belongs to a request that failed. Its manager deletes at once what was created. If
that manager crashed, any other manager does so when the row is old.
"""
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import early_creations
from climate.db import leases
from climate.db import offers
from climate.domain import records
from climate.manager import core as cores
from climate.manager import lease_cloud

LOG = log.getLogger(__name__)

# Longer than any request takes. If a request takes longer all the same, its lease is not written.
AGE = datetime.timedelta(minutes=10)


class EarlyCreations:
    """The early creations for one new lease. Call its methods in the order given here."""

    def __init__(self, core, lease, offer_id, now):
        self._core = core
        self._lease = lease
        self._bindings = {}
        # The row whose creation has no known result.
        self._unknown = None
        self._rows = [records.EarlyCreation(
            uuidutils.generate_uuid(), each.id, each.resource_type, offer_id, now)
            for each in lease.reservations if _plugin(core, each).creates_early(each.request)]

    def create(self):
        """Create everything; return the lease with the bindings."""
        if not self._rows:
            return self._lease
        self._add_rows()
        cloud = lease_cloud.ActionCloud(self._core.cloud, self._lease)
        by_id = {each.id: each for each in self._lease.reservations}
        for row in self._rows:
            reservation = by_id[row.reservation_id]
            self._unknown = row
            try:
                self._bindings[row.id] = _plugin(self._core, reservation).create_early(
                    cloud, self._lease, reservation)
                self._unknown = None
            except errors.Conflict:
                # The cloud refused, so nothing was created.
                self._unknown = None
                raise
            by_id[reservation.id] = dataclasses.replace(
                reservation, binding=self._bindings[row.id])
        return dataclasses.replace(self._lease, reservations=tuple(by_id.values()))

    @cores.again_after_a_race
    def _add_rows(self):
        with self._core.database.writer() as connection:
            early_creations.add(connection, self._rows)

    def settle(self, connection):
        """Delete the rows, in the transaction that writes the lease.

        :raises LostRace: the request took so long that another manager is deleting the creations.
        """
        ids = [row.id for row in self._rows]
        if ids and early_creations.settle(connection, ids) != len(ids):
            raise errors.LostRace('The cloud took too long to answer. Try again.')

    def undo(self):
        """Delete the creations because the lease was not written; `reap` deletes what fails."""
        if not self._rows:
            return
        try:
            with self._core.database.writer() as connection:
                # If the transaction was committed after all, no row is left.
                left = early_creations.close(connection, [row.id for row in self._rows])
            known = [row for row in self._rows if row.id in left and row is not self._unknown]
            for row in known:
                if row.id in self._bindings:
                    self._core.registry.plugin(row.resource_type).delete_early(
                        self._core.cloud, row.reservation_id, self._bindings[row.id])
            with self._core.database.writer() as connection:
                early_creations.forget(connection, [row.id for row in known])
        except errors.ClimateError as error:
            LOG.warning('Lease %s was not made; what was created for it is left to the reaper: %s',
                        self._lease.id, error.message)


class EarlyChange:
    """The early creations and deletions for a lease that changes.

    No row is written before: the remains of a crash are deleted with the reservation.
    """

    def __init__(self, core, before, after):
        """Keep both leases; nothing is created yet.

        :param before: the Lease before the change.
        :param after: the Lease after the change, with the new requests of its reservations.
        """
        self._core = core
        self._before = {each.id: each for each in before.reservations}
        self._after = after
        self._bindings = {}

    def create(self):
        """Create the objects that the change needs; return the changed lease with new bindings."""
        cloud = lease_cloud.ActionCloud(self._core.cloud, self._after)
        for each in self._after.reservations:
            before, plugin = self._before[each.id], _plugin(self._core, each)
            if each.request == before.request or plugin.was_started(before):
                continue
            if plugin.creates_early(each.request):
                self._bindings[each.id] = plugin.create_early(cloud, self._after, each, before)
            elif plugin.creates_early(before.request):
                self._bindings[each.id] = {}
        return dataclasses.replace(self._after, reservations=tuple(
            dataclasses.replace(each, binding=self._bindings.get(each.id, each.binding))
            for each in self._after.reservations))

    @property
    def _changed(self):
        """{reservation id: its new binding} of the reservations whose binding changes."""
        return {key: binding for key, binding in self._bindings.items()
                if binding != dict(self._before[key].binding)}

    def finish(self):
        """Delete the objects of the earlier bindings that have changed."""
        self._delete({key: self._before[key].binding for key in self._changed})

    def undo(self):
        """Delete the created objects, because the change was not written."""
        if not self._changed:
            return
        try:
            with self._core.database.reader() as connection:
                lease = leases.get(connection, self._after.id)
        except errors.ClimateError as error:
            LOG.warning('Lease %s: it is not known whether the change was written; what was '
                        'created for it stays: %s', self._after.id, error.message)
            return
        written = {each.id: dict(each.binding) for each in lease.reservations}
        self._delete({key: binding for key, binding in self._changed.items()
                      if written.get(key) != binding})

    def _delete(self, bindings):
        for key, binding in bindings.items():
            try:
                _plugin(self._core, self._before[key]).delete_early(
                    self._core.cloud, key, dict(binding))
            except errors.ClimateError as error:
                LOG.warning('Reservation %s: what was created early stays until its end: %s', key,
                            error.message)


class EarlyCreationReaper:
    """The periodic task that deletes old early creations of requests that failed."""

    def __init__(self, core):
        self._core = core

    def find(self, now):
        """Return the old EarlyCreations that no lease has and no request may rely on."""
        with self._core.database.reader() as connection:
            return [each for each in early_creations.older(connection, now - AGE)
                    if each.offer_id is None or not offers.is_held(connection, each.offer_id)]

    def reap(self, now):
        """Delete all that `find` returns; return the ids of the reservations."""
        deleted = []
        for creation in self.find(now):
            with cores.isolated('Reservation %s, created early', creation.reservation_id):
                self.delete(creation)
                deleted.append(creation.reservation_id)
        return deleted

    def delete(self, creation):
        """Delete the objects that one EarlyCreation may have left in the cloud, and its row."""
        with self._core.database.writer() as connection:
            if not early_creations.close(connection, [creation.id]):
                return
        with self._core.database.reader() as connection:
            # Another request may have taken the same offer: then its reservation has that id.
            known = leases.mentioned(connection, {creation.reservation_id})
        if not known:
            self._core.registry.plugin(creation.resource_type).delete_early(
                self._core.cloud, creation.reservation_id)
        with self._core.database.writer() as connection:
            early_creations.forget(connection, [creation.id])
        LOG.info('Reservation %s: no lease has it, what was created early is deleted',
                 creation.reservation_id)


def delete(core, lease):
    """Delete the early creations of the reservations of a lease that is over."""
    for each in lease.reservations:
        plugin = core.registry.plugins.get(each.resource_type)
        if plugin is not None and plugin.creates_early(each.request):
            plugin.delete_early(core.cloud, each.id, dict(each.binding))


def _plugin(core, reservation):
    return core.registry.plugin(reservation.resource_type)

# SPDX-License-Identifier: Apache-2.0
"""Lookup of the resources of reservations, grouped by need as plugins expect them."""
from climate.db import allocations
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import selection


class AllocatedResources:
    """Looks up the resources of reservations."""

    def __init__(self, core):
        self._core = core

    def all_of(self, reservations):
        """Return the Resources that are allocated to any of the reservations."""
        ids = {key for each in reservations for key in each.resource_ids}
        with self._core.database.reader() as connection:
            return resources.enrolled(connection, ids)

    def of(self, reservations, known=None):
        """Return {reservation id: {need key: the Resources allocated for the need}}.

        :param known: the result of `all_of`; None: read it.
        """
        known = self.all_of(reservations) if known is None else known
        return {each.id: self._by_need(each, each.allocated, known) for each in reservations}

    def former(self, reservations):
        """Return {reservation id: Resources that it occupies but that are not allocated to it}.

        An earlier attempt to start, or a start before the last change, may have prepared them.
        """
        with_whole = [each for each in reservations if self._whole(each)]
        if not with_whole:
            return {}
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in with_whole])
        return {each.id: tuple(resource for resource in held if resource.held_by == each.id
                               and resource.id not in each.resource_ids) for each in with_whole}

    def possibly_used(self, lease, reservations):
        """Return the Resources on which each reservation may have objects in the cloud.

        These are the whole resources that the reservation occupies, its shared resources, and
        shared resources that a change removed but that the cloud may not have released yet.

        :returns: {reservation id: {need key: Resources}}.
        """
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in reservations])
            removed = self._removed(connection, lease, reservations, held)
            shared = {allocation.resource_id for allocation in removed if not allocation.whole}
            for each in reservations:
                whole = self._held(lease, each)
                shared.update(*(ids for key, ids in each.allocated.items() if key not in whole))
            known = [*held, *(resources.enrolled(connection, shared) if shared else ())]
        used = {}
        for reservation in reservations:
            whole = self._held(lease, reservation)
            own_ids = {key: list(ids) for key, ids in reservation.allocated.items()}
            for allocation in removed:
                if allocation.reservation_id == reservation.id:
                    own_ids.setdefault(allocation.need, []).append(allocation.resource_id)
            # What a reservation occupies is released even if it has lost its allocation.
            known_ids = {each for ids in own_ids.values() for each in ids}
            for key in sorted(whole)[:1]:
                own_ids.setdefault(key, []).extend(
                    each.id for each in held
                    if each.held_by == reservation.id and each.id not in known_ids)
            used[reservation.id] = {
                key: tuple(resource for resource in allocated
                           if key not in whole or resource.held_by == reservation.id)
                for key, allocated in self._by_need(reservation, own_ids, known).items()}
        return used

    def _removed(self, connection, lease, reservations, held):
        """Return the Allocations that a change removed and that may still be in use."""
        update = lease.event(event_kinds.UPDATE)
        changing = update is not None and update.status != lifecycle.EVENT_DONE
        changed = [each.id for each in reservations if changing or any(
            resource.held_by == each.id and resource.id not in each.resource_ids
            for resource in held)]
        return allocations.taken_out(connection, changed) if changed else []

    def _held(self, lease, reservation):
        """Return the keys of the needs whose resources the reservation itself must hold.

        The parent of a sub-lease holds its resources.
        """
        return set() if lease.parent_id is not None else self._whole(reservation)

    def _whole(self, reservation):
        """Return the keys of the needs for whole resources."""
        return {need.key for need in self._core.registry.needs_of(reservation)
                if need.demand.amount is selection.WHOLE}

    def _by_need(self, reservation, ids, known):
        keys = [*(need.key for need in self._core.registry.needs_of(reservation)), *ids]
        return {key: tuple(each for each in known if each.id in ids.get(key, ()))
                for key in dict.fromkeys(keys)}

# SPDX-License-Identifier: Apache-2.0
"""Lookup of the resources of reservations, grouped by need as plugins expect them."""
from climate.db import allocations
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import selection


class AllocatedResources:
    """Looks up the resources of reservations in the form of ``plugins.base.ResourcePlugin``."""

    def __init__(self, core):
        self._core = core

    def all_of(self, reservations):
        """Return the whole Resource records allocated to any of the reservations."""
        ids = {key for each in reservations for key in each.resource_ids}
        with self._core.database.reader() as connection:
            return resources.enrolled(connection, ids)

    def of(self, reservations, known=None):
        """Return {reservation id: {need key: the Resources allocated for that need}}.

        :param known: those Resources, if they were already read.
        """
        known = self.all_of(reservations) if known is None else known
        return {each.id: self._by_need(each, each.allocated, known) for each in reservations}

    def former(self, reservations):
        """Return {reservation id: Resources that it occupies but that are not allocated to it}.

        An earlier try of a start, or a start before the last change, may have prepared them.
        """
        with_whole = [each for each in reservations if self._whole(each)]
        if not with_whole:
            return {}
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in with_whole])
        return {each.id: tuple(resource for resource in held if resource.held_by == each.id
                               and resource.id not in each.resource_ids) for each in with_whole}

    def left_to(self, lease, reservations):
        """Return the Resources on which each reservation may still have objects in the cloud.

        Whole resources are those that it occupies. Shared resources are the allocated ones, and
        those that a change removed but that the cloud has not released yet.

        :returns: {reservation id: {need key: Resources}}.
        """
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in reservations])
            taken_out = self._taken_out(connection, lease, reservations, held)
            ids = {given.resource_id for each in taken_out for given in taken_out[each]}
            ids |= {key for each in reservations for key in each.resource_ids}
            shared = ids - {each.id for each in held} if self._has_shared(reservations) else ()
            known = [*held, *(resources.enrolled(connection, shared) if shared else ())]
        left = {}
        for reservation in reservations:
            whole = self._whole(reservation)
            own_ids = {key: list(ids) for key, ids in reservation.allocated.items()}
            for removed in taken_out[reservation.id]:
                own_ids.setdefault(removed.need, []).append(removed.resource_id)
            left[reservation.id] = {
                key: tuple(resource for resource in own
                           if key not in whole or resource.held_by == reservation.id)
                for key, own in self._by_need(reservation, own_ids, known).items()}
        return left

    def _taken_out(self, connection, lease, reservations, held):
        """Return {reservation id: Allocations that a change removed but may still be in use}."""
        update = lease.event(event_kinds.UPDATE)
        changing = update is not None and update.status != lifecycle.EVENT_DONE
        changed = [each.id for each in reservations if changing or any(
            resource.held_by == each.id and resource.id not in each.resource_ids
            for resource in held)]
        removed = allocations.taken_out(connection, changed) if changed else []
        return {each.id: [given for given in removed if given.reservation_id == each.id]
                for each in reservations}

    def _whole(self, reservation):
        """Return the keys of the needs of whole resources."""
        return {need.key for need in self._core.registry.needs_of(reservation)
                if need.demand.amount is selection.WHOLE}

    def _has_shared(self, reservations):
        return any(need.demand.amount is not selection.WHOLE
                   for each in reservations for need in self._core.registry.needs_of(each))

    def _by_need(self, reservation, ids, known):
        keys = [*(need.key for need in self._core.registry.needs_of(reservation)), *ids]
        return {key: tuple(each for each in known if each.id in ids.get(key, ()))
                for key in dict.fromkeys(keys)}

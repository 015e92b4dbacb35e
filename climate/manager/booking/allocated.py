# SPDX-License-Identifier: Apache-2.0
"""The resources of reservations by the keys of their needs, in the form that plugins get."""
from climate.db import allocations
from climate.db import resources
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import selection


class Allocated:
    """Looks up the resources of reservations in the form of ``plugins.base.ResourcePlugin``."""

    def __init__(self, core):
        self._core = core

    def all_of(self, reservations):
        """Return the whole Resource records allocated to any of the reservations."""
        ids = {key for each in reservations for key in each.resource_ids}
        with self._core.database.reader() as connection:
            return resources.enrolled(connection, ids)

    def of(self, reservations, found=None):
        """Return {reservation id: {need key: the Resources allocated for that need}}.

        :param found: those Resources, if they were already read.
        """
        found = self.all_of(reservations) if found is None else found
        return {each.id: self._by_need(each, each.allocated, found) for each in reservations}

    def former(self, reservations):
        """Return {reservation id: Resources that it occupies and that are not allocated to it}.

        An earlier try of a start, or a start before the last change, may have handed them over.
        """
        some = [each for each in reservations if self._whole(each)]
        if not some:
            return {}
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in some])
        return {each.id: tuple(one for one in held if one.held_by == each.id
                               and one.id not in each.resource_ids) for each in some}

    def left_to(self, lease, reservations):
        """Return the Resources on which each reservation may still have something in the cloud.

        Of resources that only one reservation may have, these are the ones that it occupies. Of
        shared resources, they are the allocated ones, and the ones that a change removed but that
        the cloud has not released yet.

        :returns: {reservation id: {need key: Resources}}.
        """
        with self._core.database.reader() as connection:
            held = resources.held(connection, [each.id for each in reservations])
            taken_out = self._taken_out(connection, lease, reservations, held)
            ids = {given.resource_id for each in taken_out for given in taken_out[each]}
            ids |= {key for each in reservations for key in each.resource_ids}
            shared = ids - {each.id for each in held} if self._has_shared(reservations) else ()
            found = [*held, *(resources.enrolled(connection, shared) if shared else ())]
        left = {}
        for each in reservations:
            whole = self._whole(each)
            mine = {key: list(ids) for key, ids in each.allocated.items()}
            for given in taken_out[each.id]:
                mine.setdefault(given.need, []).append(given.resource_id)
            left[each.id] = {key: tuple(one for one in some
                                        if key not in whole or one.held_by == each.id)
                             for key, some in self._by_need(each, mine, found).items()}
        return left

    def _taken_out(self, connection, lease, reservations, held):
        """Return {reservation id: the Allocations that a change removed and may be in use yet}."""
        update = lease.event(event_kinds.UPDATE)
        changing = update is not None and update.status != lifecycle.EVENT_DONE
        wanted = [each.id for each in reservations if changing or any(
            one.held_by == each.id and one.id not in each.resource_ids for one in held)]
        found = allocations.taken_out(connection, wanted) if wanted else []
        return {each.id: [given for given in found if given.reservation_id == each.id]
                for each in reservations}

    def _whole(self, reservation):
        """Return the keys of the needs of whole resources."""
        return {need.key for need in self._core.registry.needs_of(reservation)
                if need.demand.amount is selection.WHOLE}

    def _has_shared(self, reservations):
        return any(need.demand.amount is not selection.WHOLE
                   for each in reservations for need in self._core.registry.needs_of(each))

    def _by_need(self, reservation, ids, found):
        keys = [*(need.key for need in self._core.registry.needs_of(reservation)), *ids]
        return {key: tuple(each for each in found if each.id in ids.get(key, ()))
                for key in dict.fromkeys(keys)}

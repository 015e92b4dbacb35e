# SPDX-License-Identifier: Apache-2.0
"""A new lease as its request would have it, before anything is booked or written."""
import dataclasses
import json

from oslo_utils import uuidutils

from climate import errors
from climate.db import events
from climate.domain import acquire
from climate.domain import agenda
from climate.domain import records
from climate.manager import binding
from climate.manager import booking
from climate.manager import criteria
from climate.manager import moments
from climate.manager.acquire import terms
from climate.plugins import base


class Drafts:
    """Drafts leases, and refuses what cannot be meant."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._terms = terms.Terms(core)

    def draft(self, context, lease_id, request, now):
        """The lease of a LeaseRequest as it would be, and the Wishes of its reservations.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises ServerLeased: another reservation leases a server of it.
        """
        lease = self._lease(context, lease_id, request, now)
        lease = dataclasses.replace(lease, events=self._events(lease, request, now))
        wishes = [wish for each in lease.reservations for wish in self._booking.wishes_of(each)]
        criteria.check_wishes(self._core, wishes)
        leased = lease.leased_ids
        if len(set(leased)) < len(leased):
            raise errors.BadField(field='reservations', reason=(
                'two of them lease the same server: name each server once.'))
        binding.refuse_leased(self._core, leased)
        return lease, wishes

    def _lease(self, context, lease_id, request, now):
        conf = self._core.conf.manager
        span = moments.of_request(request, now)
        acquire_type = self._terms.type_of(request, span, now)
        acquisition = (self._terms.settle(lease_id, request, now)
                       if acquire_type in acquire.LASTING else None)
        if len(request.reservations) > conf.max_reservations:
            raise errors.BadField(field='reservations', reason=(
                f'a lease has at most {conf.max_reservations}.'))
        before_end = moments.before_end_of_request(request, span,
                                                   conf.minutes_before_end_lease)
        moments.refuse_notices_outside(request.notify_at, span, now)
        occasion = base.Occasion(context.project_id, starts_now=span.start <= now)
        return records.Lease(
            id=lease_id, name=request.name, project_id=context.project_id,
            user_id=context.user_id, start=span.start, end=span.end, before_end=before_end,
            created_at=now, acquire_type=acquire_type, acquisition=acquisition,
            reservations=tuple(self._reservations(lease_id, request, occasion, now)))

    def _events(self, lease, request, now):
        """The events of a lease that gets its resources in its request, by their moment."""
        happening = [events.new(lease.id, kind, at, now)
                     for kind, at in agenda.moments_of(lease)]
        happening += [events.new(lease.id, agenda.NOTIFY, at, now) for at in request.notify_at]
        if any(self._core.registry.plugin(each.resource_type).prepares(each.request)
               for each in lease.reservations):
            happening.append(events.new(lease.id, agenda.PREPARE, now, now))
        return tuple(sorted(happening, key=lambda event: (event.at, event.id)))

    def _reservations(self, lease_id, request, occasion, now):
        """Yield the Reservations, with their requests as they are to be stored."""
        known = {}
        for asked in request.reservations:
            plugin = self._core.registry.plugin(asked.resource_type)
            if request.offer_id is not None:
                # It was resolved when it was offered, and what is held is what that asks.
                draft = records.Reservation(
                    id=asked.id, lease_id=lease_id, resource_type=asked.resource_type,
                    request=asked.request, created_at=now)
                yield dataclasses.replace(draft, leased_id=plugin.leased_id(draft))
                continue
            # Of a hundred servers that are asked for alike, the cloud is asked about one.
            key = asked.resource_type, json.dumps(asked.request, sort_keys=True)
            if key not in known:
                known[key] = plugin.resolve(self._core.cloud, self._core.registry.checked(
                    asked.resource_type, asked.request, request.lenient), occasion)
            draft = records.Reservation(
                id=uuidutils.generate_uuid(), lease_id=lease_id, resource_type=asked.resource_type,
                request=known[key], created_at=now)
            yield dataclasses.replace(draft, leased_id=plugin.leased_id(draft))

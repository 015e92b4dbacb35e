# SPDX-License-Identifier: Apache-2.0
"""Draft a new lease from its request, before anything is booked or written."""
import dataclasses
import json

from oslo_utils import uuidutils

from climate import errors
from climate.db import events
from climate.domain import acquire
from climate.domain import lease_events
from climate.domain import lease_times
from climate.domain import records
from climate.domain import request_sizes
from climate.domain import start_order
from climate.manager import preparations
from climate.manager.acquisition import terms
from climate.manager.booking import booking
from climate.manager.booking import criteria
from climate.manager.booking import slots
from climate.manager.leases import targets
from climate.plugins import base


class Drafts:
    """Drafts leases, and refuses invalid requests."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._terms = terms.Terms(core)

    def draft(self, context, lease_id, request, now):
        """Return the draft Lease of a LeaseRequest, and the Wishes of its reservations.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises TargetLeased: another reservation leases a server that the request names.
        """
        lease = self._lease(context, lease_id, request, now)
        lease = dataclasses.replace(lease, events=self._events(lease, request, now))
        lease = dataclasses.replace(lease, request_bytes=request_sizes.of_lease(lease))
        wishes = [wish for each in lease.reservations for wish in self._booking.wishes_of(each)]
        slots.refuse_too_many(self._core.conf.manager.max_slots, wishes)
        # The criteria of an offer were checked when it was made.
        criteria.check_wishes(self._core, wishes,
                              request.hidden_criteria or request.offer_id is not None)
        leased = lease.leased_ids
        if len(set(leased)) < len(leased):
            raise errors.BadField(field='reservations', reason=(
                'two of them lease the same server: name each server once.'))
        targets.refuse_leased(self._core, leased)
        return lease, wishes

    def _lease(self, context, lease_id, request, now):
        conf = self._core.conf.manager
        span = lease_times.of_request(request, now)
        acquire_type = self._terms.type_of(request, span, now)
        acquisition = (self._terms.settle(lease_id, request, now)
                       if acquire_type in acquire.LASTING else None)
        if len(request.reservations) > conf.max_reservations:
            raise errors.BadField(field='reservations', reason=(
                f'a lease has at most {conf.max_reservations}, and this one would have '
                f'{len(request.reservations)}: make several leases.'))
        start_order.refuse_bad(request.reservations)
        before_end = lease_times.before_end_of_request(request, span,
                                                       conf.minutes_before_end_lease)
        lease_times.refuse_notices_outside(request.notify_at, span, now)
        occasion = base.Occasion(context.project_id, starts_now=span.start <= now,
                                 caller=context)
        return records.Lease(
            id=lease_id, name=request.name, project_id=context.project_id,
            user_id=context.user_id, start=span.start, end=span.end, before_end=before_end,
            created_at=now, acquire_type=acquire_type, acquisition=acquisition,
            idle_exempt=request.idle_exempt,
            reservations=tuple(self._reservations(lease_id, request, occasion, now)))

    def _events(self, lease, request, now):
        """Return the Events of a lease that gets its resources at once, ordered by moment."""
        planned = lease_events.of_new(lease, request.notify_at, preparations.of(
            self._core, lease.reservations), now)
        return tuple(sorted(events.all_new(lease.id, planned, now),
                            key=lambda event: (event.at, event.id)))

    def _reservations(self, lease_id, request, occasion, now):
        """Yield the Reservations with their requests in the form that is stored."""
        known = {}
        types = {each.label: each.resource_type for each in request.reservations if each.label}
        for asked in request.reservations:
            plugin = self._core.registry.plugin(asked.resource_type)
            if request.offer_id is not None:
                # The request was resolved for the offer, and the offer holds what it asks for.
                draft = records.Reservation(
                    id=asked.id, lease_id=lease_id, resource_type=asked.resource_type,
                    request=asked.request, secrets=asked.secrets, created_at=now,
                    **_place(asked))
                yield dataclasses.replace(draft, leased_id=plugin.leased_id(draft))
                continue
            # The cloud is asked once for equal requests, such as those for a hundred servers.
            depends_on = {label: types[label] for label in asked.depends_on or ()}
            key = asked.resource_type, json.dumps([asked.request, depends_on], sort_keys=True)
            if key not in known:
                known[key] = plugin.resolve(self._core.cloud, self._core.registry.checked(
                    asked.resource_type, asked.request), dataclasses.replace(
                        occasion, depends_on=depends_on))
            draft = self._core.registry.secrets_apart(records.Reservation(
                id=uuidutils.generate_uuid(), lease_id=lease_id, resource_type=asked.resource_type,
                request=known[key], created_at=now, **_place(asked)))
            yield dataclasses.replace(draft, leased_id=plugin.leased_id(draft))


def _place(asked):
    """Return the fields of a Reservation for its label and the reservations it depends on."""
    return {'label': asked.label or None, 'depends_on': asked.depends_on or ()}

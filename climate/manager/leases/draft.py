# SPDX-License-Identifier: Apache-2.0
"""Draft a new lease from its request, before anything is booked or written."""
import dataclasses
import datetime
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
from climate.manager.acquisition import acquire_requests
from climate.manager.booking import criteria
from climate.manager.booking import wish_lists
from climate.manager.leases import targets
from climate.plugins import base


@dataclasses.dataclass(frozen=True)
class Draft:
    """A lease that is not stored yet.

    :ivar wishes: the Wishes of the reservations.
    :ivar now: the moment of the request.
    :ivar roles: the roles of the caller.
    """

    lease: records.Lease
    wishes: list
    now: datetime.datetime
    roles: frozenset = frozenset()

    @property
    def span(self):
        """The Interval for which the resources are booked."""
        return dataclasses.replace(self.lease.interval, start=max(self.lease.start, self.now))


class Drafts:
    """Drafts leases, and refuses invalid requests."""

    def __init__(self, core):
        self._core = core
        self._acquire_requests = acquire_requests.AcquireRequests(core)

    def draft(self, context, lease_id, request, now):
        """Return the Draft of a LeaseRequest.

        :raises BadRequest: the request is wrong; the error names the field.
        :raises TargetLeased: another reservation leases a server that the request names.
        """
        lease = self._lease(context, lease_id, request, now)
        planned = lease_events.of_new(lease, request.notify_at, preparations.of(
            self._core, lease.reservations), now)
        lease = dataclasses.replace(lease, events=tuple(sorted(
            events.all_new(lease.id, planned, now), key=lambda event: (event.at, event.id))))
        lease = dataclasses.replace(lease, request_bytes=request_sizes.of_lease(lease))
        wishes = wish_lists.of(self._core.registry, lease.reservations)
        wish_lists.refuse_too_many(self._core.conf.manager.max_slots, wishes)
        # The criteria of an offer were checked when the offer was made.
        criteria.check_wishes(self._core, wishes,
                              request.hidden_criteria or request.offer_id is not None)
        leased = lease.leased_ids
        if len(set(leased)) < len(leased):
            raise errors.BadField(field='reservations', reason=(
                'two of them lease the same server: name each server once.'))
        targets.refuse_leased(self._core, leased)
        return Draft(lease, wishes, now, frozenset(context.roles))

    def _lease(self, context, lease_id, request, now):
        conf = self._core.conf.manager
        span = lease_times.of_request(request, now)
        acquire_type = self._acquire_requests.type_of(request, span, now)
        acquisition = (self._acquire_requests.acquisition(lease_id, request, now)
                       if acquire_type in acquire.LASTING else None)
        if len(request.reservations) > conf.max_reservations:
            raise errors.BadField(field='reservations', reason=(
                f'a lease may have at most {conf.max_reservations}, but this request has '
                f'{len(request.reservations)}: make several leases.'))
        start_order.refuse_bad(request.reservations)
        before_end = lease_times.before_end_of_request(request, span,
                                                       conf.minutes_before_end_lease)
        lease_times.refuse_notices_outside(request.notify_at, span, now)
        lease_times.refuse_bad_step(request.while_free_seconds)
        before_end = lease_times.before_end_within_step(
            request.before_end, before_end, span.end, request.while_free_seconds)
        occasion = base.Occasion(context.project_id, starts_now=span.start <= now,
                                 caller=context)
        return records.Lease(
            id=lease_id, name=request.name, project_id=context.project_id,
            user_id=context.user_id, start=span.start, end=span.end, before_end=before_end,
            created_at=now, acquire_type=acquire_type, acquisition=acquisition,
            idle_exempt=request.idle_exempt, while_free_seconds=request.while_free_seconds,
            reservations=tuple(self._reservations(lease_id, request, occasion, now)))

    def _reservations(self, lease_id, request, occasion, now):
        """Yield the Reservations of a LeaseRequest, with resolved requests."""
        resolved = {}
        types = {part.label: part.resource_type for part in request.reservations if part.label}
        for part in request.reservations:
            plugin = self._core.registry.plugin(part.resource_type)
            drafted = records.Reservation(
                id=part.id, lease_id=lease_id, resource_type=part.resource_type,
                request=part.request, secrets=part.secrets, created_at=now,
                label=part.label or None, depends_on=part.depends_on or ())
            # The request of an offer was resolved when the offer was made.
            if request.offer_id is None:
                # Resolve equal requests once, because `resolve` calls the cloud.
                depends_on = {label: types[label] for label in part.depends_on or ()}
                key = part.resource_type, json.dumps([part.request, depends_on], sort_keys=True)
                if key not in resolved:
                    checked = self._core.registry.checked(part.resource_type, part.request)
                    resolved[key] = plugin.resolve(self._core.cloud, checked, dataclasses.replace(
                        occasion, depends_on=depends_on))
                drafted = self._core.registry.secrets_apart(dataclasses.replace(
                    drafted, id=uuidutils.generate_uuid(), request=resolved[key]))
            yield dataclasses.replace(drafted, leased_id=plugin.leased_id(drafted))

# SPDX-License-Identifier: Apache-2.0
"""Find the latest end to which a lease can be extended, and what prevents a later one."""
import datetime

from climate import errors
from climate.db import leases
from climate.db import timeline_rows
from climate.domain import health
from climate.domain import latest_end
from climate.domain import lease_actions
from climate.domain import records
from climate.domain import texts
from climate.domain import timeline
from climate.manager.booking import booking
from climate.manager.leases import change_plan
from climate.manager.leases import update
from climate.manager.limits import checking
from climate.manager.limits import subjects

# The errors that refuse an end before anything is booked.
_REFUSALS = (errors.LimitReached, errors.ExtensionRefused, errors.BadField,
             errors.SubLeaseRefused)


class LatestEnds:
    """Answers with exactly those ends that ``update.Update`` would accept."""

    def __init__(self, core):
        self._core = core
        self._update = update.Update(core)
        self._planner = change_plan.ChangePlanner(core)
        self._booking = booking.Booking(core)

    def find(self, context, lease_id):
        """Return the LatestEnd of a lease.

        :raises LeaseNotFound: no lease has this id, or it was deleted.
        :raises ClimateError: the state of the lease forbids every change of its end, as
            ``update.Update.update``.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        horizon = latest_end.horizon(lease.end)
        if horizon is None:
            lease_actions.refuse(lease, lease_actions.CHANGE_END, self._core.clock())
            return latest_end.LatestEnd(lease.end, limited=False)
        if self._refusal(context, lease, horizon) is None:
            return latest_end.LatestEnd(horizon, limited=False)
        end = latest_end.last_fit(
            lambda moment: self._fits(context, lease, moment), lease.end, horizon)
        refusal = self._refusal(context, lease, end + latest_end.STEP)
        return latest_end.LatestEnd(
            end, limited=True, reason=refusal and texts.of_error(refusal),
            **_of_rule(refusal) or {'obstacles': self._obstacles(lease, end)})

    def _refusal(self, context, lease, end):
        """Return the error with which an end is refused because of the end, or None."""
        try:
            self._update.update(context, lease.id, records.LeaseChanges(end=end, dry_run=True))
        except (*_REFUSALS, errors.NotEnough) as error:
            if getattr(error, 'kwargs', {}).get('field', 'end') != 'end':
                raise
            return error
        return None

    def _fits(self, context, lease, end):
        """Return whether an end would be accepted, without the search for an explanation."""
        now = self._core.clock()
        try:
            change = self._planner.plan(context, lease, records.LeaseChanges(end=end), now)
        except _REFUSALS:
            return False
        planned = (self._booking.plan_or_none(change.wishes, change.span, now)
                   if change.wishes else [])
        if planned is None:
            return False
        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)
        return limits.preview([subjects.of_change(self._core, change, planned)]) == [None]

    def _obstacles(self, lease, end):
        """Return the Obstacles on the resources of a lease just after an end."""
        own = {each.id for each in lease.reservations}
        held = {key for each in lease.open_reservations for key in each.resource_ids}
        pools = {pool.name for each in lease.open_reservations
                 for pool in self._core.registry.plugin(each.resource_type).pools}
        # Bookings are kept apart by the time for cleaning.
        until = end + latest_end.STEP + datetime.timedelta(
            minutes=self._core.conf.manager.cleaning_minutes)
        with self._core.database.reader() as connection:
            rows = [row for pool in sorted(pools) for row in timeline_rows.allocated(
                connection, pool, end, until, timeline.MOST_BARS)
                if row.resource_id in held and row.reservation_id not in own]
            names = timeline_rows.leases(connection, [
                row.lease_id for row in rows if row.lease_id is not None])
        return tuple(latest_end.Obstacle(
            row.resource_id, _kind(row, lease), row.start, row.lease_id,
            names[row.lease_id].name if row.lease_id in names else None) for row in rows)


def _of_rule(refusal):
    """Return the fields of a LatestEnd about the rule of extensions that refuses a later end."""
    if not isinstance(refusal, errors.ExtensionRefused):
        return {}
    opens_at = refusal.kwargs['opens_at']
    return {'rule': refusal.kwargs['rule'],
            'opens_at': opens_at and datetime.datetime.fromisoformat(opens_at)}


def _kind(row, lease):
    """Return the kind of the bar that a timeline has for an allocation."""
    if health.is_block(row.reservation_id):
        return timeline.OUT_OF_ORDER
    if row.lease_id is None:
        return timeline.OFFER if row.window_id is None else timeline.MAINTENANCE
    return timeline.OWN if row.project_id == lease.project_id else timeline.OTHERS

# SPDX-License-Identifier: Apache-2.0
"""Extend a lease by a step while nobody else needs its resources.

The transaction that extends the lease also ends the event and schedules the next one. So a crash at
any point neither loses nor repeats a step.
"""
import datetime

from oslo_log import log

from climate import context
from climate import errors
from climate.db import events
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager import ownership
from climate.manager import results
from climate.manager.booking import booking
from climate.manager.booking import contenders
from climate.manager.leases import change_plan
from climate.manager.leases import change_writer
from climate.manager.leases import last_step
from climate.manager.limits import checking
from climate.manager.limits import subjects

LOG = log.getLogger(__name__)

_IN_ERROR = texts.same('the lease is in error.')
_NOT_STARTED = texts.same('It is extended once it has started.')
_IN_CHANGE = texts.same('It is being changed.')


class _LeaseChanged(Exception):
    """A request changed the lease since the event was claimed; nothing was written."""


class LeaseSteps:
    """Carries out the event EXTEND, and writes its result together with the end of the claim."""

    def __init__(self, core):
        self._core = core
        self._booking = booking.Booking(core)
        self._contenders = contenders.Contenders(core)
        self._planner = change_plan.ChangePlanner(core)

    def carry_out(self, claim):
        """Extend the lease of a Claim, or notify its owner of the last step; return an Outcome.

        :raises ClaimLost: another manager has taken the lease over; nothing was written.
        """
        lease = claim.lease
        if lease.while_free_seconds is None or lease.end <= claim.at:
            return results.Outcome(results.MOOT)
        if lease.state == lifecycle.PENDING:
            return results.Outcome(results.BUSY, _NOT_STARTED, patient=True, slow=True)
        try:
            reason = self._obstacle(lease) or self._extend(claim)
            if reason is not None:
                self._end_steps(claim, reason)
        except ownership.Withdrawn:
            return results.Outcome(results.MOOT)
        except (errors.BadTransition, errors.LostRace, _LeaseChanged):
            # Another request changes the lease now, or other bookings were faster.
            return results.Outcome(results.BUSY, _IN_CHANGE, patient=True, slow=True)
        return results.Outcome(results.RECORDED)

    def _obstacle(self, lease):
        """Return why a lease makes way before anything is booked, a ``texts.Text``, or None."""
        if lease.state == lifecycle.ERROR:
            return _IN_ERROR
        waiting = self._contenders.first_for(lease)
        if waiting is None:
            return None
        return texts.Text('another lease waits for such resources.',
                          f'lease {waiting.id} of project {waiting.project_id} waits for such '
                          'resources.')

    def _extend(self, claim):
        """Extend the lease by a step; return why this is not possible, or None.

        :raises BadTransition: the lease cannot be changed now.
        :raises LostRace: each attempt lost a race against another booking.
        :raises Withdrawn: the lease is being deleted.
        """
        lease, now = claim.lease, claim.at
        end = lease.end + datetime.timedelta(seconds=lease.while_free_seconds)

        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)

        def write(connection, chosen):
            limits.refuse_excess(connection, subjects.of_change(self._core, change, chosen))
            ownership.current(connection, lease)
            events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
            return change_writer.write(self._core, connection, change, chosen)
        try:
            change = self._planner.plan(_owner(lease), lease, records.LeaseChanges(end=end), now,
                                        in_steps=True)
            if change.wishes:
                changed = self._booking.book(change.wishes, change.span, now, write)
            else:
                changed = self._write_at_once(write)
        except (errors.NotEnough, errors.LimitReached, errors.ExtensionRefused,
                errors.BadField) as error:
            return texts.of_error(error)
        LOG.info('Lease %s: extended by a step, now until %s', lease.id, changed.end.isoformat())
        return None

    @cores.again_after_a_race
    def _write_at_once(self, write):
        with self._core.database.writer() as connection:
            return write(connection, [])

    @cores.again_after_a_race
    def _end_steps(self, claim, reason):
        """Write that the lease ends at its present end.

        :raises Withdrawn: the lease is being deleted.
        """
        with self._core.database.writer() as connection:
            current = ownership.current(connection, claim.lease)
            if current.generation != claim.lease.generation:
                raise _LeaseChanged()
            events.finish(connection, claim.event, claim.at, lifecycle.EVENT_DONE)
            last_step.write(connection, current, reason, claim.at)


def _owner(lease):
    """Return the context of a change that the owner of a lease has ordered before."""
    return context.RequestContext(project_id=lease.project_id, overwrite=False)

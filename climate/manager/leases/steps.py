# SPDX-License-Identifier: Apache-2.0
"""Extend a lease by a step while nobody else needs its resources.

The transaction that extends the lease also ends the event and schedules the next one. So a crash at
any point neither loses nor repeats a step. Before it, the enforcement service is asked, if there is
one.
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
from climate.manager.enforcement import questions
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
        self._questions = questions.Questions(core)

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
        except (errors.EnforcementUnavailable, errors.EnforcementBusy) as error:
            # The service may answer before the lease ends.
            return results.Outcome(results.BUSY, texts.of_error(error), patient=True, slow=True)
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
        :raises EnforcementUnavailable: the enforcement service gives no answer, and must give one.
        :raises EnforcementBusy: too many requests wait for that service.
        """
        lease, now = claim.lease, claim.at
        end = lease.end + datetime.timedelta(seconds=lease.while_free_seconds)
        try:
            change = self._planner.plan(_owner(lease), lease, records.LeaseChanges(end=end), now,
                                        in_steps=True)
            changed = self._make(claim, change)
        except (errors.NotEnough, errors.LimitReached, errors.ExtensionRefused,
                errors.EnforcementRefused, errors.BadField) as error:
            return texts.of_error(error)
        LOG.info('Lease %s: extended by a step, now until %s', lease.id, changed.end.isoformat())
        return None

    def _make(self, claim, change):
        """Make the LeaseChange of a step and return the changed Lease."""
        lease, now, planned = claim.lease, claim.at, None
        limits = checking.applying(self._core, lease.project_id, lease.user_id, now)
        if self._questions.asks(change.target):
            planned = self._booking.plan_change(change)
            limits.refuse_in_preview(subjects.of_change(self._core, change, planned))
        # A task reports the step, because a refusal then undoes it, and this event is over.
        with self._questions.of_change(change, planned, commits=False) as question:
            def write(connection, chosen):
                limits.refuse_excess(connection, subjects.of_change(self._core, change, chosen))
                ownership.current(connection, lease)
                events.finish(connection, claim.event, now, lifecycle.EVENT_DONE)
                changed = change_writer.write(self._core, connection, change, chosen)
                question.settle(connection, changed, chosen)
                return changed

            return question.book(planned, lambda chosen: self._booking.book_change(
                change, write, chosen))

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

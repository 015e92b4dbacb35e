# SPDX-License-Identifier: Apache-2.0
"""Questions to the enforcement service before a lease is written, and the reports after it.

A row is written before the service is asked, and the transaction that writes the lease settles the
row. So a row that stays ASKING belongs to a failed request, whose charge is reported as ended. The
service is called without a database connection.
"""
import contextlib
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import enforcement_calls
from climate.domain import enforcement
from climate.domain import lifecycle
from climate.manager import core as cores
from climate.manager.enforcement import bodies
from climate.manager.enforcement import calls

LOG = log.getLogger(__name__)

_ALLOW = 'allow'


class OtherResources(Exception):
    """The booking chose other resources than those about which the service was asked."""

    def __init__(self, chosen):
        super().__init__()
        self.chosen = chosen


class NoQuestion:
    """The question about a lease for which no service is asked."""

    def settle(self, connection, lease, chosen):
        """Write nothing."""

    def book(self, planned, book):
        """Return the result of ``book(planned)``."""
        return book(planned)


class Question:
    """A question about one lease. Use it as the result of ``Questions.about``.

    :param describe: returns the body of the lease, by (connection, Lease, chosen Allocations).
    :param cancelled: the DUE EnforcementCalls that are not made any more if the lease is written.
    """

    def __init__(self, core, describe, lease, call, planned, token, cancelled=()):
        self._core = core
        self._calls = calls.Calls(core)
        self._describe = describe
        self._lease = lease
        self._token = token
        self._planned = planned
        self._cancelled = cancelled
        self._was_answered = False
        self.call = call
        self.settled = False

    def ask(self):
        """Write the row of the question, and ask the service.

        :raises EnforcementRefused: the service refuses; the error has its text.
        :raises EnforcementUnavailable: it gives no answer, and [enforcement] on_unavailable is
            refuse.
        """
        self._add()
        if not self.call.asked:
            return
        try:
            self._calls.make('ask', self.call, self._token)
            self._was_answered = True
        except errors.EnforcementRefused as error:
            self._forget()
            LOG.info('Lease %s of project %s: refused by the enforcement service: %s',
                     self.call.lease_id, self._lease.project_id, error.kwargs['reason'])
            raise
        except errors.EnforcementUnavailable as error:
            if self._core.conf.enforcement.on_unavailable != _ALLOW:
                self.withdraw()
                raise
            LOG.warning('Lease %s of project %s: allowed without an answer of the enforcement '
                        'service: %s', self.call.lease_id, self._lease.project_id, error.message)
        except BaseException:
            self.withdraw()
            raise

    def book(self, planned, book):
        """Return the result of ``book(planned)``; ask again if it chooses other resources.

        :raises LostRace: the booking chose other resources each time.
        """
        for _ in range(self._core.conf.manager.booking_attempts):
            try:
                return book(planned)
            except OtherResources as other:
                self.withdraw()
                planned = other.chosen
                self._renew(planned)
                self.ask()
        raise errors.LostRace()

    def settle(self, connection, lease, chosen):
        """Settle the row in the transaction that writes a Lease with Allocations.

        :raises OtherResources: the service was asked about other resources.
        :raises LostRace: the request took so long that the question was withdrawn.
        """
        # An earlier try of this transaction may have been rolled back.
        self.settled = False
        if lease.state == lifecycle.ACQUIRING:
            return
        if _ids(chosen) != _ids(self._planned):
            raise OtherResources(chosen)
        now = self._core.clock()
        reported = self._core.enforcement.charges_when_asked and self._was_answered
        # The request itself reports the lease. Its manager may die, so others may do it later.
        pause = datetime.timedelta(seconds=2 * self._core.conf.enforcement.timeout_seconds)
        self.call = dataclasses.replace(
            self.call, state=enforcement.REPORTED if reported else enforcement.DUE,
            due_at=now + pause, generation=lease.generation)
        if not enforcement_calls.settle(connection, self.call):
            raise errors.LostRace('The enforcement service took too long to answer. Try again.')
        enforcement_calls.forget(connection, self._cancelled)
        self.settled = True

    def withdraw(self):
        """Withdraw the question, because the lease was not written."""
        try:
            calls.withdraw(self._core, dataclasses.replace(self.call, state=enforcement.ASKING))
        except errors.ClimateError as error:
            LOG.warning('Lease %s was not written; a periodic task reports that: %s',
                        self.call.lease_id, error.message)

    def commit(self):
        """Report the lease, if that is due.

        :raises CommitRefused: the service refuses.
        """
        if self.call.state == enforcement.DUE:
            self._calls.commit(self.call)

    def _renew(self, planned):
        with self._core.database.reader() as connection:
            body = {**self.call.body, 'lease': self._describe(connection, self._lease, planned)}
        self._planned = planned
        self.call = dataclasses.replace(self.call, call_id=uuidutils.generate_uuid(), body=body,
                                        state=enforcement.ASKING)

    @cores.again_after_a_race
    def _add(self):
        with self._core.database.writer() as connection:
            enforcement_calls.add(connection, self.call)

    @cores.again_after_a_race
    def _forget(self):
        with self._core.database.writer() as connection:
            enforcement_calls.forget(connection, [self.call])


class Questions:
    """The questions of the use cases that write leases."""

    def __init__(self, core):
        self._core = core
        self._bodies = bodies.Bodies(core)

    def asks(self, lease):
        """Return whether the service is asked about a lease."""
        return self._core.enforcement is not None and self._bodies.is_reported(lease)

    @contextlib.contextmanager
    def of_new(self, context, lease, planned, commits=True):
        """Ask about a new Lease with Allocations; yield the question, and report the lease.

        The block books the lease with ``question.book``, and calls ``question.settle`` in its
        transaction. If it does not, the question is withdrawn.

        :param context: the RequestContext of the caller; None: no user waits for the answer.
        :param planned: None: the lease has no resources yet, so the service is not asked.
        :param commits: whether to report the lease after the block; otherwise a task does it.
        :raises EnforcementRefused: the service refuses; the error has its text.
        :raises EnforcementUnavailable: it gives no answer, and such requests are refused.
        :raises EnforcementBusy: too many requests wait for the service.
        :raises CommitRefused: the lease was written, but the service refuses to charge for it.
        """
        if planned is None or not self.asks(lease):
            yield NoQuestion()
            return
        with self._core.database.reader() as connection:
            body = {'context': self._bodies.context(lease, context and context.user_id),
                    'lease': self._bodies.of_plan(connection, lease, planned)}
        call = self._call(enforcement.CREATE, lease, body)
        yield from self._asked(context, lease, call, planned, self._bodies.of_plan, commits)

    def preview(self, context, lease, planned):
        """Ask about a Lease that is not written, for a dry run or an offer.

        :raises ClimateError: as `of_new`.
        """
        with self.of_new(context, lease, planned):
            """The question is withdrawn, because nothing is booked."""

    @contextlib.contextmanager
    def of_change(self, change, planned, commits=True):
        """Ask about a LeaseChange as `of_new`. A change that only shortens the lease is not asked.

        :param planned: the Allocations of the reservations that are booked again.
        :param commits: as in `of_new`.
        """
        lease, target = change.lease, change.target
        if not self.asks(target) or (lease.interval == target.interval and not change.changed):
            yield NoQuestion()
            return
        with self._core.database.reader() as connection:
            known = enforcement_calls.of_lease(connection, lease.id)
            body = {'context': self._bodies.context(lease, change.context.user_id),
                    'lease': self._bodies.of_lease(connection, target, planned)}
        if target.extended_count != lease.extended_count:
            # The service does not get it. If it refuses the charge, the extension does not count.
            body['extended_count'] = lease.extended_count
        cancelled = enforcement.cancelled(known, body['lease'])
        known = [each for each in known
                 if each.state != enforcement.ASKING and each not in cancelled]
        # The calls about a lease are made in their order, by the task if one was postponed.
        commits = commits and all(each.state == enforcement.REPORTED for each in known)
        known = [each for each in known if each.kind != enforcement.END]
        if known:
            call = self._call(enforcement.UPDATE, target, {
                **body, 'current_lease': known[-1].lease})
            shortened = (not change.changed and target.start == lease.start
                         and target.end <= lease.end)
            call = dataclasses.replace(call, asked=not shortened)
        else:
            # The lease is older than the use of the service, so it is reported from now on.
            target = dataclasses.replace(target, start=max(target.start, change.now))
            call = self._call(enforcement.CREATE, target, {**body, 'lease': enforcement.with_times(
                body['lease'], start_date=target.start)})
        yield from self._asked(change.context, target, call, planned, self._bodies.of_lease,
                               commits, cancelled)

    def _call(self, kind, lease, body):
        now = self._core.clock()
        return enforcement.EnforcementCall(
            call_id=uuidutils.generate_uuid(), lease_id=lease.id, kind=kind,
            state=enforcement.ASKING, body=body, created_at=now, due_at=now,
            generation=lease.generation)

    def _asked(self, context, lease, call, planned, describe, commits, cancelled=()):
        """Ask, yield the question, and report or withdraw it."""
        question = Question(self._core, describe, lease, call, planned,
                            context and context.auth_token, cancelled)
        question.ask()
        try:
            yield question
        except BaseException:
            question.withdraw()
            raise
        if not question.settled:
            question.withdraw()
        elif commits:
            question.commit()


def _ids(allocations):
    return sorted((each.reservation_id, each.resource_id, each.copies, each.need)
                  for each in allocations)

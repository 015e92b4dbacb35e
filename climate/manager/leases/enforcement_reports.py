# SPDX-License-Identifier: Apache-2.0
"""The periodic task that reports leases to the enforcement service.

It compares the leases with the last reports, so no end or change of a lease is missed, whatever
caused it and whenever a manager died.
"""
import dataclasses
import datetime

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.db import enforcement_calls
from climate.db import leases
from climate.domain import enforcement
from climate.domain import event_kinds
from climate.domain import retry_pauses
from climate.manager import core as cores
from climate.manager.enforcement import bodies
from climate.manager.enforcement import calls
from climate.manager.leases import enforced_end
from climate.manager.leases import update

LOG = log.getLogger(__name__)

# The age from which the request of a question has failed. A request that takes longer cannot write
# its lease any more.
AGE = datetime.timedelta(minutes=10)
_BATCH = 100
_FIRST_PAUSE_SECONDS = 2


class EnforcementReports:
    """Finds what the enforcement service does not know yet, and reports it."""

    def __init__(self, core):
        self._core = core
        self._bodies = bodies.Bodies(core)
        self._calls = calls.Calls(core)
        self._update = update.Update(core)

    def step(self, now):
        """Withdraw questions of failed requests, find changes and ends, and make the due calls."""
        self._withdraw_stale(now)
        self._find_changes(now)
        self._find_ends(now)
        self._report(now)

    def _withdraw_stale(self, now):
        with self._core.database.reader() as connection:
            stale = enforcement_calls.stale(connection, now - AGE, _BATCH)
        for call in stale:
            with cores.isolated('Lease %s, question to the enforcement service', call.lease_id):
                calls.withdraw(self._core, call)
                LOG.info('Lease %s: the question of a failed request is withdrawn', call.lease_id)

    def _find_changes(self, now):
        """Order reports of leases that were changed without a question, such as by a swap."""
        with self._core.database.reader() as connection:
            changed = enforcement_calls.of_leases_changed(connection, _BATCH)
        for known in changed:
            with cores.isolated('Lease %s, change for the enforcement service', known.lease_id):
                self._order_change(known, now)

    @cores.again_after_a_race
    def _order_change(self, known, now):
        with self._core.database.writer() as connection:
            lease = leases.get(connection, known.lease_id)
            body = self._bodies.of_lease(connection, lease)
            if lease.started_at is not None:
                # A lease that began before the service was used is reported from a later moment.
                body = {**body, 'start_date': known.lease['start_date']}
            enforcement_calls.seen(connection, known, lease.generation)
            if not body['reservations'] or enforcement.is_alike(body, known.lease):
                return
            enforcement_calls.add(connection, dataclasses.replace(
                _due(known, enforcement.UPDATE, now), generation=lease.generation, body={
                    'context': known.body['context'], 'lease': body,
                    'current_lease': known.lease}))

    def _find_ends(self, now):
        with self._core.database.reader() as connection:
            over = enforcement_calls.of_leases_over(connection, _BATCH)
        for known in over:
            with cores.isolated('Lease %s, end for the enforcement service', known.lease_id):
                self._order_end(known, now)

    @cores.again_after_a_race
    def _order_end(self, known, now):
        with self._core.database.writer() as connection:
            body = known.lease
            found = leases.mentioned(connection, {known.lease_id})
            if found:
                [lease] = found
                deletion = lease.event(event_kinds.DELETE)
                end = enforcement.real_end(lease, deletion and deletion.at)
                start = datetime.datetime.fromisoformat(body['start_date']).replace(
                    tzinfo=datetime.UTC)
                body = enforcement.with_times(body, end_date=max(start, end))
            enforcement_calls.replace(connection, known, dataclasses.replace(
                _due(known, enforcement.END, now), body={
                    'context': known.body['context'], 'lease': body,
                    'current_lease': known.lease}))

    def _report(self, now):
        with self._core.database.reader() as connection:
            due = enforcement_calls.due(connection, now, _BATCH)
        for call in due:
            with cores.isolated('Lease %s, report to the enforcement service', call.lease_id):
                if self._take(call, now):
                    self._make(call)

    @cores.again_after_a_race
    def _take(self, call, now):
        pause = retry_pauses.doubled(
            _FIRST_PAUSE_SECONDS, self._core.conf.enforcement.retry_longest_seconds,
            call.attempts + 1)
        # The pause is also the time in which no other manager makes the call.
        pause = max(pause, 2 * self._core.conf.enforcement.timeout_seconds)
        with self._core.database.writer() as connection:
            return enforcement_calls.take(connection, call,
                                          now + datetime.timedelta(seconds=pause))

    def _make(self, call):
        if call.kind != enforcement.END:
            try:
                self._calls.commit(call)
            except calls.CommitRefused as refused:
                enforced_end.after_refusal(self._core, refused, self._update.update)
            return
        try:
            self._calls.make('end', call)
        except errors.EnforcementRefused as error:
            LOG.warning('Lease %s: the enforcement service refuses the report of its end: %s',
                        call.lease_id, error.kwargs['reason'])
        self._ended(call)
        LOG.info('Lease %s: its end is reported to the enforcement service', call.lease_id)

    @cores.again_after_a_race
    def _ended(self, call):
        with self._core.database.writer() as connection:
            enforcement_calls.forget(connection, [call])
            # A lease that was written since its question was withdrawn is not over.
            enforcement_calls.repeat(connection, call.lease_id, self._core.clock())


def _due(known, kind, now):
    """Return a new DUE call about the lease of a REPORTED call, without a body of its own."""
    return dataclasses.replace(
        known, call_id=uuidutils.generate_uuid(), kind=kind, state=enforcement.DUE, asked=False,
        created_at=now, due_at=now, attempts=0)

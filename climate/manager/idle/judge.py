# SPDX-License-Identifier: Apache-2.0
"""Find the leases that are idle, mark them, tell their owners, and order what is taken back."""
import dataclasses

from oslo_log import log

from climate.db import events
from climate.db import idle_leases
from climate.db import journal
from climate.db import leases
from climate.db import use_samples
from climate.domain import idle
from climate.domain import lease_events
from climate.domain import lifecycle
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.idle import rules
from climate.manager.idle import takings
from climate.manager.notifications import outbox

LOG = log.getLogger(__name__)

_OVER = texts.same('It is not idle any more.')


class Judge:
    """Judges all running leases by their samples. Repeatable: it writes only what changes."""

    def __init__(self, core):
        self._core = core

    def look(self, now):
        """Judge all leases at `now`; return the ids of those whose marks changed."""
        judged = rules.of(self._core.conf)
        with self._core.database.reader() as connection:
            rows = use_samples.running(connection, now)
            samples = use_samples.since(connection, judged.watched_since(now))
            marked = idle_leases.marked(connection)
            verdicts = _verdicts(rows, samples, judged)
            found = leases.mentioned(connection, marked | {
                key for key, verdict in verdicts.items() if verdict.is_idle})
        changed = []
        for lease in found:
            with cores.isolated('Lease %s: its idleness', lease.id):
                verdict = self._verdict(lease, verdicts.get(lease.id, idle.UNKNOWN), judged, now)
                marks = idle.marked(idle.marks_of(lease), verdict, takings.of(
                    self._core, lease, verdict.unused) is not None, judged, now)
                if lease.idle_since is None and marks.since and verdict.percent_used == 0:
                    marks = dataclasses.replace(marks, since=self._unused_since(
                        lease, judged.watched_since(now)))
                # What a task does to a lease now may end its idleness: the next look judges it.
                if marks != idle.marks_of(lease) and lease.task is None:
                    changed += self._write(lease, verdict, marks, now)
        if changed:
            self._core.notify()
        return changed

    def _unused_since(self, lease, watched):
        with self._core.database.reader() as connection:
            used = use_samples.used(connection, [each.id for each in lease.reservations], watched)
        return idle.unused_since(lease.start, used, watched)

    def _verdict(self, lease, verdict, judged, now):
        """Return the Verdict of a lease as it counts: no lease is idle that may not be."""
        counts = (lease.state == lifecycle.ACTIVE and lease.deleted_at is None
                  and now < lease.end and lease.start <= judged.watched_since(now)
                  and not rules.is_exempt(self._core.conf, lease)
                  and takings.measures(self._core, lease))
        return verdict if counts else idle.UNKNOWN

    @cores.again_after_a_race
    def _write(self, seen, verdict, marks, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, seen.id)
            if (lease.generation, lease.claim_no) != (seen.generation, seen.claim_no):
                # It was changed, or marked by another manager, since it was read.
                return []
            leases.change(connection, lease, now, idle_since=marks.since,
                          reclaim_at=marks.reclaim_at)
            before = idle.marks_of(lease)
            if marks.reclaim_at != before.reclaim_at:
                events.change(connection, lease.id,
                              lease_events.reclaimed(lease, marks.reclaim_at), now)
            self._tell(connection, lease, before, verdict, marks, now)
        LOG.info('Lease %s: %s', lease.id, 'idle' if marks.since else 'not idle any more')
        return [lease.id]

    def _tell(self, connection, lease, before, verdict, marks, now):
        """Tell the owner that the lease is idle, when it will be taken back, or that it is used."""
        after = dataclasses.replace(lease, idle_since=marks.since, reclaim_at=marks.reclaim_at)
        if marks.since is None:
            if lease.state == lifecycle.ACTIVE:
                journal.note(connection, lease.id, now, 'climate', 'idle over', _OVER)
                outbox.publish(connection, after, now, 'idle_over')
        elif before.since is None or (marks.reclaim_at and before.reclaim_at is None):
            journal.note(connection, lease.id, now, 'climate', 'idle',
                         texts.same(self._words(verdict, marks)))
            outbox.publish(connection, after, now, 'idle')

    def _words(self, verdict, marks):
        used = 'Nothing ran on it' if verdict.percent_used == 0 else (
            f'Only {verdict.percent_used:.1f} % of it was used')
        told = f'{used} since {_minute(marks.since)}.'
        if marks.reclaim_at is None:
            return told
        what = 'It is ended' if rules.ends(self._core.conf) else (
            'What nothing ran on is taken from it')
        return (f'{told} {what} at {_minute(marks.reclaim_at)}, unless there is something on it '
                'then.')


def _verdicts(rows, samples, judged):
    """Return {lease id: its Verdict by the samples}.

    :param rows: of ``use_samples.running``.
    """
    held = {}
    for reservation, _, resource_id, _ in rows:
        key = reservation.id, resource_id or 0
        held.setdefault(reservation.lease_id, {})[key] = samples.get(key, use_samples.NONE)
    return {key: idle.judge(mine, judged) for key, mine in held.items()}


def _minute(moment):
    return f'{moment:%Y-%m-%d %H:%M} UTC'

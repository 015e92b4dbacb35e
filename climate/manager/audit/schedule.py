# SPDX-License-Identifier: Apache-2.0
"""The audit schedule: one manager audits periodically, and logs and stores the drift."""
import collections
import datetime

from oslo_log import log

from climate.db import managers
from climate.domain import audit
from climate.manager.audit import comparison
from climate.manager.audit import repairs

LOG = log.getLogger(__name__)


def newest(core):
    """Return the ``audit.Result`` of the newest audit; None if no manager has made one."""
    with core.database.reader() as connection:
        return managers.newest_audit(connection)


class AuditSchedule:
    """Audits every [manager] audit_interval_seconds. A drift counts once a later audit confirms it.

    :ivar counts: {kind: number of confirmed drifts after the last audit}; None if another manager
        makes the audits.
    """

    def __init__(self, core, owner):
        self.counts = None
        self._core = core
        self._owner = owner
        self._auditor = comparison.Auditor(core)
        self._repairs = repairs.Repairs(core)
        self._first_seen = {}
        self._next = None

    @property
    def pause_seconds(self):
        """Return the seconds between two calls of `step`; 0 means never."""
        conf = self._core.conf.manager
        return max(min(conf.audit_interval_seconds, conf.audit_grace_seconds or 1), 1) if (
            conf.audit_interval_seconds) else 0

    def step(self, now):
        """Audit if an audit is due; return the confirmed Drifts that were not repaired.

        If a service does not answer, the others are audited, and the next step audits again.

        :raises ClimateError: a service cannot be observed.
        """
        if self._next is not None and now < self._next:
            return []
        with self._core.database.reader() as connection:
            eldest = managers.is_eldest(connection, self._owner, now)
        if not eldest:
            self.counts, self._next, self._first_seen = None, None, {}
            return []
        conf = self._core.conf.manager
        drifts, failures = self._auditor.compare_reachable()
        self._first_seen = {drift.key: self._first_seen.get(drift.key, now) for drift in drifts}
        grace = datetime.timedelta(seconds=conf.audit_grace_seconds)
        confirmed = [drift for drift in drifts if now - self._first_seen[drift.key] >= grace]
        # A new drift may be a change in progress, so the next audit comes earlier.
        pause = conf.audit_interval_seconds if len(confirmed) == len(drifts) else (
            conf.audit_grace_seconds)
        self._next = None if failures else now + datetime.timedelta(seconds=pause)
        remaining = self._report(confirmed, conf.audit_fix)
        if failures:
            raise failures[0]
        self.counts = collections.Counter(drift.kind for drift in remaining)
        with self._core.database.writer() as connection:
            managers.write_audit(connection, audit.result(now, self._owner, remaining))
        return remaining

    def _report(self, confirmed, fix):
        """Repair the drifts if `fix` is set, otherwise log them; return those that remain."""
        if fix:
            outcomes = self._repairs.make(confirmed)
            return [drift for drift in confirmed if outcomes[drift] is not None]
        for drift in confirmed:
            LOG.warning('Audit: %s: %s. A repair: %s', drift.what, drift.problem, drift.remedy)
        if confirmed:
            LOG.warning('Audit: %d differences between the cloud and the database; '
                        '"climate-manager audit --fix" repairs what can be repaired',
                        len(confirmed))
        return confirmed

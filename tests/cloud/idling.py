# SPDX-License-Identifier: Apache-2.0
"""Leases of the real cloud that count as idle because a test says so."""
import datetime

from support import builders

from climate.db import engine
from climate.db import events
from climate.db import leases
from climate.db import use_samples
from climate.domain import event_kinds
from climate.domain import lease_events
from climate.domain import use_sampling
from climate.manager.idle import rules
from tools.cloud import configure


def database():
    """Return the Database of the cloud's Climate."""
    return engine.Database(f'{configure.database_url()}/climate')


def call(found, lease_id):
    """Write samples of a lease without use for a day; its reclaim is due now.

    :param found: the Database.
    """
    now = found.now()
    with found.writer() as connection:
        lease = leases.lock(connection, lease_id)
        for back in range(-2, 26):
            use_samples.add(
                connection, use_sampling.hour_of(now) - datetime.timedelta(hours=back),
                dict.fromkeys(rules.sample_keys(lease), use_sampling.Sample(3600, 3600, 0)))
        leases.change(connection, lease, now, idle_since=builders.NOON, reclaim_at=now)
        events.change(connection, lease_id, lease_events.reclaimed(lease, now), now)


def is_judged(found, lease_id):
    """Return True once the event that reclaims the lease is done."""
    with found.reader() as connection:
        lease = leases.get(connection, lease_id)
    return lease.event(event_kinds.RECLAIM).status == 'DONE' and lease.task is None

# SPDX-License-Identifier: Apache-2.0
"""How looking for the resources of a lease comes to its end, in the transaction that says so."""
import dataclasses

from oslo_log import log

from climate.db import acquisitions
from climate.db import allocations
from climate.db import events
from climate.db import journal
from climate.db import leases
from climate.db import reservations
from climate.domain import acquire
from climate.domain import agenda
from climate.domain import lifecycle
from climate.manager import notify
from climate.manager import trusts
from climate.manager.acquire import line
from climate.manager.acquire import returns
from climate.manager.acquire import words

LOG = log.getLogger(__name__)

_NEWS = {lifecycle.USED_UP: 'error', lifecycle.TOO_LATE: 'timedout'}


def acquired(connection, lease, span, now, prepares):
    """A lease has its resources: it starts now. Its promises were written before.

    :param lease: as it is in this transaction, its claim proved.
    :param prepares: something of it is prepared before it starts.
    """
    near = None
    if lease.before_end is not None:
        # The same distance from the end.
        near = span.end - (lease.end - lease.before_end)
    notices = [(agenda.NOTIFY, at) for at in lease.acquisition.notify_at]
    late = sorted(at for _, at in [*notices, (agenda.BEFORE_END, near)]
                  if at is not None and at < span.start)
    near = None if near in late else near
    lease = dataclasses.replace(lease, start=span.start, end=span.end, before_end=near)
    happening = agenda.moments_of(lease)
    happening += [(kind, at) for kind, at in notices if at not in late]
    if prepares:
        happening.append((agenda.PREPARE, now))
    events.add(connection, [events.new(lease.id, kind, at, now) for kind, at in happening])
    acquisitions.change(connection, lease.id, now, waits_for=None, next_at=None)
    leases.change(connection, lease, now, start=lease.start, end=lease.end, before_end=near,
                  state=lifecycle.ACQUIRING_ENDS[lifecycle.ACQUIRED],
                  reason=trusts.with_notice(lease, None))
    journal.note(connection, lease.id, now, 'climate', lifecycle.ACQUIRED,
                 str(lease.interval))
    if late:
        journal.note(connection, lease.id, now, 'climate', 'notices left out', (
            f'Their time passed before: {", ".join(map(words.shown, late))}'))
    lease = leases.get(connection, lease.id)
    notify.publish(connection, lease, now, 'acquired')
    returns.order(connection, lease, now)
    if lease.acquisition.type in acquire.QUEUED:
        # What is left may be enough for who comes next; for those before it it was too little.
        line.pass_on(connection, lease.acquisition, now)


def give_up(connection, lease, how, reason, now):
    """A lease did not get its resources and is not tried any more.

    :param lease: as it is in this transaction, its claim proved or its row locked.
    :param how: USED_UP or TOO_LATE, of ``lifecycle.ACQUIRING_ENDS``.
    """
    ids = [each.id for each in lease.reservations]
    allocations.delete(connection, ids)
    reservations.change(connection, ids, now, state=lifecycle.RESERVATION_DELETED)
    acquisitions.change(connection, lease.id, now, waits_for=None, next_at=None)
    state = lifecycle.ACQUIRING_ENDS[how]
    leases.change(connection, lease, now, state=state, reason=reason, ended_at=now)
    if lease.trust_id is not None:
        events.add(connection, [events.new(lease.id, agenda.DROP_TRUST, now, now)])
    journal.note(connection, lease.id, now, 'climate', how, reason)
    lease = leases.get(connection, lease.id)
    notify.publish(connection, lease, now, _NEWS[how])
    returns.order(connection, lease, now)
    line.wake(connection, now)
    LOG.warning('Lease %s: %s, given up, now %s: %s', lease.id, how, state, reason)

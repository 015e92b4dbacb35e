# SPDX-License-Identifier: Apache-2.0
"""The consequence if the enforcement service refuses to charge for a lease that is written."""
import dataclasses

from oslo_log import log
from oslo_utils import uuidutils

from climate import context as contexts
from climate import errors
from climate.db import allocations
from climate.db import enforcement_calls
from climate.db import journal
from climate.db import leases
from climate.domain import enforcement
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.manager import core as cores
from climate.manager.enforcement import calls
from climate.manager.leases import lease_end
from climate.manager.notifications import outbox
from climate.manager.queue import wakeups
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)

# The entry in the history of a lease whose request was refused after it had been written.
_CHARGE_REFUSED = 'charge refused'


def repeat_refusal(core, lease):
    """Refuse a repeated request for a new lease as the first request was refused.

    If the service has not answered to the first request yet, it is called again with the same id,
    so that both requests get the same answer.

    :raises EnforcementRefused: the service refuses to charge for the lease.
    """
    with core.database.reader() as connection:
        _raise_earlier_refusal(connection, lease)
        unanswered = [call for call in enforcement_calls.of_lease(connection, lease.id) if (
            call.kind, call.state, call.asked) == (enforcement.CREATE, enforcement.DUE, True)]
    for call in unanswered:
        try:
            calls.Calls(core).commit(call)
        except calls.CommitRefused as refused:
            after_refusal(core, refused)
            raise refused.error from refused
    if unanswered:
        with core.database.reader() as connection:
            _raise_earlier_refusal(connection, lease)


def _raise_earlier_refusal(connection, lease):
    entry = journal.last(connection, lease.id, _CHARGE_REFUSED)
    if entry is not None:
        raise errors.EnforcementRefused(reason=entry.why)


def after_refusal(core, refused, update=None):
    """End the lease of a CommitRefused, or only undo its extension.

    A change that Climate made itself stays, because its owner did not request it.

    :param update: the method ``update.Update.update``; None for a new lease.
    """
    call = refused.call
    if not call.asked:
        _forget(core, call)
        LOG.warning('Lease %s: its change stays, although the enforcement service refuses it: %s',
                    call.lease_id, refused.error.kwargs['reason'])
        return
    earlier_end = _earlier_end(core, call)
    if earlier_end is not None and update is not None and _shorten(core, call, earlier_end, update):
        LOG.warning('Lease %s: its extension is undone, because the enforcement service refuses '
                    'it: %s', call.lease_id, refused.error.kwargs['reason'])
        return
    _end(core, call, refused.error, is_new=update is None)
    core.notify()


def _earlier_end(core, call):
    """Return the end that a lease had before its extension; None: it is over, or more changed."""
    if call.kind != enforcement.UPDATE:
        return None
    before = call.body['current_lease']
    end = enforcement.end_of(before)
    extended = enforcement.is_alike(call.lease, enforcement.with_times(
        before, end_date=enforcement.end_of(call.lease)))
    return end if extended and end > core.clock() else None


def _shorten(core, call, end, update):
    """Undo the extension of a lease; return whether that was possible.

    The call stays until then. If the manager dies before, the service refuses the call again.
    """
    try:
        update(contexts.RequestContext.internal(), call.lease_id, records.LeaseChanges(end=end))
    except errors.ClimateError as error:
        LOG.warning('Lease %s: its extension cannot be undone, so it ends: %s', call.lease_id,
                    error.message)
        return False
    if 'extended_count' in call.body:
        _uncount(core, call.lease_id, end, call.body['extended_count'])
    _forget(core, call)
    return True


@cores.again_after_a_race
def _uncount(core, lease_id, end, count):
    """Write the number of extensions that a lease had before the one that is undone.

    :param end: its end before that extension; if it has another one, its owner has changed it.
    """
    with core.database.writer() as connection:
        lease = leases.lock(connection, lease_id)
        if lease.end == end and lease.extended_count > count:
            leases.change(connection, lease, core.clock(), extended_count=count)


@cores.again_after_a_race
def _forget(core, call):
    with core.database.writer() as connection:
        enforcement_calls.replace(connection, call)


@cores.again_after_a_race
def _end(core, call, error, is_new):
    """End a lease now, because the service refuses to charge for it.

    :param is_new: the request for the lease is refused, as are repetitions of it.
    """
    now = core.clock()
    with core.database.writer() as connection:
        is_ended = _end_in(connection, call.lease_id, now, error, is_new)
        # If the service charged before it refused, the report of the end returns the charge.
        enforcement_calls.replace(connection, call, dataclasses.replace(
            call, call_id=uuidutils.generate_uuid(), kind=enforcement.END, state=enforcement.DUE,
            asked=False, created_at=now, due_at=now, attempts=0)
            if call.kind == enforcement.CREATE else None)
    if is_ended:
        LOG.warning('Lease %s: ended, because the enforcement service refuses to charge for it: %s',
                    call.lease_id, error.kwargs['reason'])


def _end_in(connection, lease_id, now, error, is_new):
    """End a lease in a transaction; return False if it is over already."""
    try:
        lease = leases.lock(connection, lease_id)
    except errors.LeaseNotFound:
        return False
    if is_new:
        if journal.last(connection, lease.id, _CHARGE_REFUSED) is not None:
            # A concurrent copy of the request has ended the lease.
            return False
        journal.note(connection, lease.id, now, 'climate', _CHARGE_REFUSED,
                     texts.same(error.kwargs['reason']))
    if lease.deleted_at is not None or lease.ended_at is not None or lease.end <= now:
        return False
    text = texts.same(error.message)
    division.lock_family(connection, lease)
    wakeups.lock(connection, lease)
    lease_end.end_early(connection, lease.id, now, text)
    allocations.cut(connection, [each.id for each in lease.reservations], now)
    division.settle(connection, lease, now)
    lease = leases.get(connection, lease.id)
    leases.change(connection, lease, now, reason=text)
    outbox.publish(connection, leases.get(connection, lease.id), now, 'error')
    if lease.state == lifecycle.PENDING:
        wakeups.wake(connection, now)
    return True

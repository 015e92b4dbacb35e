# SPDX-License-Identifier: Apache-2.0
"""The actions of users on a lease, and the states of the lease that allow them.

Requests are refused by these rules, and responses list the actions that they allow. So the console
and other clients offer only actions that the service accepts.
"""
from collections.abc import Callable
import datetime

from climate import errors
from climate.domain import acquire
from climate.domain import due_events
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import status_words

RENAME = 'rename'
CHANGE_START = 'change_start'
CHANGE_END = 'change_end'
RESIZE = 'resize'
END = 'end'
SHARE = 'share'
UNSHARE = 'unshare'
SUB_LEASE = 'sub_lease'
LEAVE = 'leave'
SWAP = 'swap'
DELETE = 'delete'

_Refusal = errors.ClimateError | None


def refusal(lease: records.Lease, action: str, now: datetime.datetime) -> _Refusal:
    """Return the error of a request for an action that the state forbids; None: it is possible."""
    return _RULES[action](lease, now)


def refuse(lease: records.Lease, action: str, now: datetime.datetime) -> None:
    """Refuse an action that the state of a lease forbids.

    :raises ClimateError: the error of `refusal`.
    """
    error = refusal(lease, action, now)
    if error is not None:
        raise error


def possible(lease: records.Lease, now: datetime.datetime) -> list[str]:
    """Return the actions that the state of a lease allows, in the order of `ALL`."""
    return [action for action in ALL if refusal(lease, action, now) is None]


def not_begun(start: datetime.datetime) -> errors.BadPeriod:
    """Return the error of a request to end a lease before its start."""
    return errors.BadPeriod(
        'End date must be later than start date. end: the lease has not started, so it cannot be '
        'ended; delete it instead.', start=start.isoformat(), end='now')


def begun(start: datetime.datetime) -> errors.BadField:
    """Return the error of a request for another start after the start."""
    return errors.BadField(field='start', reason=(
        f'the lease has started at {start:%Y-%m-%d %H:%M} UTC; its start stays.'))


def _deleted(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    if lease.deleted_at is not None:
        return errors.LeaseNotFound(lease_id=lease.id)
    return None


def _over(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    if lease.end <= now or lease.state in lifecycle.OVER:
        return errors.LeaseEnded(lease_id=lease.id)
    return None


def _end_fixed(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    """Return the error of a request to change the end of a lease, or None."""
    if lease.state == lifecycle.ACQUIRING or due_events.acquisition_given_up(lease):
        return errors.BadTransition(
            f'Lease {lease.id} has no resources: you can change only its name, or delete the '
            'lease and create another one.', lease_id=lease.id)
    if error := _over(lease, now):
        return error
    if lease.task is not None:
        return errors.BadTransition(lease_id=lease.id, task='be changed', status=_status(lease))
    if due_events.deletion_ordered(lease):
        return errors.BadTransition(
            f'The deletion of lease {lease.id} is not finished: you can change only its name, or '
            'delete the lease again.', lease_id=lease.id)
    return None


def _fixed(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    """Return the error of a request to change more than the end of a lease, or None."""
    error = _end_fixed(lease, now)
    if error is None and lease.state == lifecycle.ERROR:
        return errors.BadTransition(
            f'Lease {lease.id} is in error: you can change only its name and its end, or delete '
            'the lease.', lease_id=lease.id)
    return error


def _start_fixed(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    return _fixed(lease, now) or (begun(lease.start) if lease.start <= now else None)


def _not_endable(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    return _end_fixed(lease, now) or (not_begun(lease.start) if lease.start >= now else None)


def _not_swappable(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    if error := _deleted(lease, now) or _over(lease, now):
        return error
    if lease.parent_id is not None:
        return errors.SubLeaseRefused(reason=(
            f'Lease {lease.id} is a sub-lease, so its hosts are not swapped: ask the project that '
            'gave them to you.'))
    if lease.state == lifecycle.PENDING and lease.task is None:
        return errors.BadTransition(
            f'Lease {lease.id} has not started: Climate replaces broken resources by itself, '
            'before the start or at the start.', lease_id=lease.id, status=_status(lease))
    if (lease.state != lifecycle.ACTIVE or lease.task is not None
            or due_events.deletion_ordered(lease)):
        return errors.BadTransition(lease_id=lease.id, task='get another resource',
                                    status=_status(lease))
    return None


def _not_shareable(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    if error := _deleted(lease, now):
        return error
    if lease.state in lifecycle.OVER or due_events.deletion_ordered(lease):
        return errors.ShareRefused(lease_id=lease.id)
    return None


def _not_sub_leasable(lease: records.Lease, now: datetime.datetime) -> _Refusal:
    if error := _deleted(lease, now) or _over(lease, now):
        return error
    if lease.parent_id is not None:
        return errors.SubLeaseRefused(reason=(
            f'Lease {lease.id} is a sub-lease, and a sub-lease has no sub-leases: share it with '
            'the other project instead.'))
    if lease.acquire_type == acquire.BEST_EFFORT or lease.state == lifecycle.ACQUIRING:
        return errors.SubLeaseRefused(reason=(
            f'Lease {lease.id} waits for its hosts, or has them only on a best-effort basis, so '
            'it has no sub-leases: create a lease with fixed hosts for that.'))
    if lease.state == lifecycle.ERROR or due_events.deletion_ordered(lease):
        return errors.BadTransition(lease_id=lease.id, task='be sub-leased', status=_status(lease))
    return None


def _status(lease: records.Lease) -> str:
    return status_words.word_1_0(lease.state, lease.task)


_RULES: dict[str, Callable[[records.Lease, datetime.datetime], _Refusal]] = {
    RENAME: _deleted, CHANGE_START: _start_fixed, CHANGE_END: _end_fixed, RESIZE: _fixed,
    END: _not_endable, SHARE: _not_shareable, UNSHARE: _deleted, LEAVE: _deleted,
    SUB_LEASE: _not_sub_leasable, SWAP: _not_swappable, DELETE: _deleted}
ALL = tuple(_RULES)

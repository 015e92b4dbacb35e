# SPDX-License-Identifier: Apache-2.0
"""The texts in which users read how the acquisition of a lease goes on."""
import datetime

from climate import errors
from climate.domain import acquire
from climate.domain import records
from climate.domain import texts


def of_shortage(lease: records.Lease, error: errors.ClimateError) -> texts.Text:
    """Return why a try failed, with a warning if nothing fits before the lease is given up.

    :param error: a NotEnough.
    """
    limit = lease.given_up_at

    def warned(text: str, nearest: str | None) -> str:
        if limit is None or nearest is None or datetime.datetime.fromisoformat(nearest) <= limit:
            return text
        return (f'{text} This is later than {shown(limit)}, when the request is given up. It can '
                'only succeed if other leases end earlier.')
    nearest = error.kwargs.get('nearest')
    return texts.Text(warned(error.owner_message, error.kwargs.get('owner_nearest', nearest)),
                      warned(error.message, nearest))


def with_held(reason: texts.Text, held: str) -> texts.Text:
    """Return the reason of a failed try, with the held-back resources, such as "2 hosts"."""
    return reason.within('', f' Held back for it meanwhile: {held}.') if held else reason


def in_queue(reason: texts.Text) -> texts.Text:
    """Return the reason of a lease of the type wait while it is in the queue."""
    return reason.within('Waits in the queue: ')


def attempt(lease: records.Lease, attempts: int, next_at: datetime.datetime | None,
            reason: texts.Text) -> texts.Text:
    """Return the reason of a failed try, with its number if tries are limited.

    :param next_at: the time of the next timed try; None: there is none.
    """
    acquisition = lease.acquisition
    assert acquisition is not None
    if acquisition.type == acquire.WAIT:
        return in_queue(reason)
    if acquisition.type == acquire.BEST_EFFORT:
        return reason.within('Hosts are being cleared: ')
    if next_at is None:
        following = 'the last one'
    elif lease.given_up_at is not None and lease.given_up_at <= next_at:
        following = 'the last one in its time'
    else:
        following = f'next at {shown(next_at)}'
    return reason.within(
        f'Attempt {attempts} of {(acquisition.retries or 0) + 1}, {following}: ')


def no_plan(lease: records.Lease, error: errors.ClimateError) -> texts.Text:
    """Return why host clearing cannot go on, without details of other projects' servers.

    :param error: a NotEnough.
    """
    return attempt(lease, 0, None, texts.same(
        f'Only {error.kwargs["free"]} of {error.kwargs["wanted"]} hosts can be acquired now.'))


def not_undone(lease: records.Lease, error: errors.ClimateError) -> texts.Text:
    """Return why a lease past its time limit is not over yet, without other projects' details."""
    return too_late(lease, (
        texts.of_error(error).within('Changes for it are being undone: ')
        if isinstance(error, errors.StillBusy) else texts.same(
            'Changes for it could not be undone yet. Climate tries again and again.')))


def too_late(lease: records.Lease, achieved: texts.Text | None = None) -> texts.Text:
    """Return the reason of a lease that reached its time limit.

    :param achieved: the progress until then; None: the present reason of the lease.
    """
    assert lease.given_up_at is not None
    text = f'It did not get its resources by {shown(lease.given_up_at)}.'
    reason = achieved or lease.reason_text
    return texts.same(text) if reason is None else reason.within(f'{text} ')


def shown(moment: datetime.datetime) -> str:
    """Return a moment in the format of messages."""
    return f'{moment:%Y-%m-%d %H:%M:%S} UTC'

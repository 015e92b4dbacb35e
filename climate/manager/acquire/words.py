# SPDX-License-Identifier: Apache-2.0
"""What users read of a lease that is being acquired."""
from climate import errors
from climate.domain import acquire


def not_yet(error, held=0):
    """Why a try failed, and how much is held back for the lease meanwhile."""
    if not held:
        return error.message
    return f'{error.message} Held back for it meanwhile: {held}.'


def attempt(lease, attempts, next_at, reason):
    """The reason of a try that failed, with its number where that is limited.

    :param next_at: when the next one is by the clock; None: there is none.
    """
    acquisition = lease.acquisition
    if acquisition.type == acquire.WAIT:
        return f'Waits in line: {reason}'
    if acquisition.type == acquire.BEST_EFFORT:
        return f'Hosts are being cleared: {reason}'
    if next_at is None:
        following = 'the last one'
    elif lease.given_up_at is not None and lease.given_up_at <= next_at:
        following = 'the last one in its time'
    else:
        following = f'next at {shown(next_at)}'
    return f'Attempt {attempts} of {acquisition.retries + 1}, {following}: {reason}'


def no_plan(lease, error):
    """Why a hunt goes no further just now; a NotEnough. Of whose servers it does not tell."""
    return attempt(lease, 0, None, (
        f'Of {error.kwargs["wanted"]} hosts only {error.kwargs["free"]} can be had now.'))


def not_undone(lease, error):
    """Why a lease whose time passed is not over yet. Of whose servers it does not tell."""
    return too_late(lease, (
        f'What was done for it is being undone: {error.message}'
        if isinstance(error, errors.StillBusy) else
        'What was done for it could not be undone yet; it is tried again and again.'))


def too_late(lease, achieved=None):
    """Why a lease was given up whose time passed, and what was achieved until then."""
    text = f'It did not get its resources by {shown(lease.given_up_at)}.'
    return ' '.join(filter(None, (text, achieved or lease.reason)))


def shown(moment):
    """A moment as it stands in texts."""
    return f'{moment:%Y-%m-%d %H:%M:%S} UTC'

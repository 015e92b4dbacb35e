# SPDX-License-Identifier: Apache-2.0
"""What users read of a lease that is being acquired."""
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
        following = f'next at {_shown(next_at)}'
    return f'Attempt {attempts} of {acquisition.retries + 1}, {following}: {reason}'


def too_late(lease, achieved=None):
    """Why a lease was given up whose time passed, and what was achieved until then."""
    text = f'It did not get its resources by {_shown(lease.given_up_at)}.'
    return ' '.join(filter(None, (text, achieved or lease.reason)))


def _shown(moment):
    return f'{moment:%Y-%m-%d %H:%M:%S} UTC'

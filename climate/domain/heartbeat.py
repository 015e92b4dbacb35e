# SPDX-License-Identifier: Apache-2.0
"""How often a manager says that it lives, and after which silence it counts as gone."""
import datetime

_LONGEST_SECONDS = 10
_MISSED = 3


def pause_seconds(claim_seconds: float) -> float:
    """The time between two heartbeats, of which each prolongs the claims to `claim_seconds`."""
    return min(_LONGEST_SECONDS, claim_seconds / _MISSED)


def is_up(last_seen: datetime.datetime, now: datetime.datetime, claim_seconds: float) -> bool:
    """True unless the last three heartbeats are missing."""
    silence = datetime.timedelta(seconds=_MISSED * pause_seconds(claim_seconds))
    return now - last_seen <= silence

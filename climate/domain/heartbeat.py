# SPDX-License-Identifier: Apache-2.0
"""The heartbeat of managers: its interval, and when a manager counts as down."""
from collections.abc import Iterable
import dataclasses
import datetime

from climate.domain import records

_LONGEST_SECONDS = 10
_MISSED = 3


def pause_seconds(claim_seconds: float) -> float:
    """Return the seconds between heartbeats. A heartbeat prolongs claims to `claim_seconds`."""
    return min(_LONGEST_SECONDS, claim_seconds / _MISSED)


def judged(services: Iterable[records.Service], now: datetime.datetime,
           claim_seconds: float) -> list[records.Service]:
    """Return the services; each is `up` unless its last three heartbeats are missing at `now`."""
    silence = datetime.timedelta(seconds=_MISSED * pause_seconds(claim_seconds))
    return [dataclasses.replace(each, up=now - each.last_seen <= silence) for each in services]

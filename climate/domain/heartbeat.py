# SPDX-License-Identifier: Apache-2.0
"""The heartbeat of managers: its interval, and when a manager counts as down."""
from collections.abc import Iterable
import dataclasses
import datetime

_LONGEST_SECONDS = 10
_MISSED = 3
#: The longest time after its last heartbeat for which a manager counts as up.
SILENCE_SECONDS = _MISSED * _LONGEST_SECONDS


@dataclasses.dataclass(frozen=True)
class Service:
    """A manager at its last heartbeat. `id` has its host, its process number and a random part.

    :ivar running: the number of events that the manager was carrying out.
    :ivar not_ready: why the manager was not ready, or None.
    :ivar tables_revision: the revision of the tables that its release needs; None: its release does
        not report it.
    :ivar up: whether the manager is alive; see `with_liveness`.
    """

    id: str
    host: str
    since: datetime.datetime
    last_seen: datetime.datetime
    running: int = 0
    not_ready: str | None = None
    tables_revision: str | None = None
    up: bool = True


def pause_seconds(claim_seconds: float) -> float:
    """Return the seconds between two heartbeats. A heartbeat prolongs claims to `claim_seconds`."""
    return min(_LONGEST_SECONDS, claim_seconds / _MISSED)


def with_liveness(services: Iterable[Service], now: datetime.datetime,
                  claim_seconds: float) -> list[Service]:
    """Return the services with `up` set: False if the last three heartbeats are missing."""
    silence = datetime.timedelta(seconds=_MISSED * pause_seconds(claim_seconds))
    return [dataclasses.replace(service, up=now - service.last_seen <= silence)
            for service in services]

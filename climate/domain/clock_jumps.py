# SPDX-License-Identifier: Apache-2.0
"""Jumps of the database's clock: when its time is doubted, and when it is believed again."""
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class Look:
    """Three clocks, read at one moment.

    :ivar database: the time of the database.
    :ivar machine: the time of this machine.
    :ivar own_seconds: seconds of a clock that nobody can set; it stands while a virtual machine is
        suspended.
    """

    database: datetime.datetime
    machine: datetime.datetime
    own_seconds: float


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What a manager thinks of the database's clock after a look.

    :ivar believed: the last look at which the time was believed; None before the first one.
    :ivar doubted: the look at which the doubt began; None if the time is believed.
    :ivar ahead_seconds: how far a doubted time is ahead of what was expected; below 0: behind.
    """

    believed: Look | None = None
    doubted: Look | None = None
    ahead_seconds: float = 0

    @property
    def is_ahead(self) -> bool:
        """True if the time is doubted because it came too early: what it makes due must wait."""
        return self.doubted is not None and self.ahead_seconds > 0


def judge(before: Judgement, look: Look, limit_seconds: float,
          confirmed: bool = False) -> Judgement:
    """Return the Judgement after a look.

    The database's clock should go as far as the clock that nobody can set. Before the first look
    that was believed, it should be where the clock of this machine is. A difference of more than
    `limit_seconds` is doubted. A doubted time is believed again if the clock came back; or if,
    `limit_seconds` later, it still goes on from there and the clock of this machine agrees; or if
    it was confirmed.
    """
    ahead = (_apart(look) if before.believed is None else _drift(before.believed, look))
    if confirmed or abs(ahead) <= limit_seconds:
        return Judgement(believed=look)
    doubted = before.doubted
    if doubted is None or abs(_drift(doubted, look)) > limit_seconds:
        # It is the first doubt, or the clock jumped again.
        doubted = look
    if (look.own_seconds - doubted.own_seconds >= limit_seconds
            and abs(_apart(look)) <= limit_seconds):
        return Judgement(believed=look)
    return Judgement(before.believed, doubted, ahead)


def _apart(look: Look) -> float:
    return (look.database - look.machine).total_seconds()


def _drift(earlier: Look, later: Look) -> float:
    """Return how many seconds more the database's clock went than the one that nobody can set."""
    went = (later.database - earlier.database).total_seconds()
    return went - (later.own_seconds - earlier.own_seconds)

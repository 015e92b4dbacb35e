# SPDX-License-Identifier: Apache-2.0
"""Jumps of the database's clock: when its time is doubted, and when it is believed again."""
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class Look:
    """Three clocks, read at one moment.

    :ivar database: the time of the database.
    :ivar machine: the time of this machine.
    :ivar monotonic_seconds: the monotonic clock of this machine, which nobody can set. It stands
        while a virtual machine is suspended.
    """

    database: datetime.datetime
    machine: datetime.datetime
    monotonic_seconds: float


@dataclasses.dataclass(frozen=True)
class Judgement:
    """Whether a manager believes the database's clock after a look.

    :ivar believed: the last look at which the time was believed; None before the first one.
    :ivar doubted: the look at which the doubt began; None if the time is believed.
    :ivar ahead_seconds: how far a doubted time is ahead of what was expected; below 0: behind.
    """

    believed: Look | None = None
    doubted: Look | None = None
    ahead_seconds: float = 0

    @property
    def is_ahead(self) -> bool:
        """True if the time is doubted because it came too early, so nothing is due by it."""
        return self.doubted is not None and self.ahead_seconds > 0


def judge(before: Judgement, look: Look, limit_seconds: float,
          confirmed: bool = False) -> Judgement:
    """Return the Judgement after a look.

    Since the last look that was believed, the database's clock should have gone as far as the
    monotonic clock. Before there is such a look, it should show the time of this machine. A
    difference of more than `limit_seconds` is doubted. A doubted time is believed again if

    * the difference is gone,
    * the clock went on steadily for `limit_seconds`, and this machine shows the same time, or
    * it was confirmed.
    """
    ahead = (_apart(look) if before.believed is None else _drift(before.believed, look))
    if confirmed or abs(ahead) <= limit_seconds:
        return Judgement(believed=look)
    doubted = before.doubted
    if doubted is None or abs(_drift(doubted, look)) > limit_seconds:
        # It is the first doubt, or the clock jumped again.
        doubted = look
    if (look.monotonic_seconds - doubted.monotonic_seconds >= limit_seconds
            and abs(_apart(look)) <= limit_seconds):
        return Judgement(believed=look)
    return Judgement(before.believed, doubted, ahead)


def _apart(look: Look) -> float:
    """Return how many seconds the database's clock is ahead of that of this machine."""
    return (look.database - look.machine).total_seconds()


def _drift(earlier: Look, later: Look) -> float:
    """Return how many seconds further the database's clock went than the monotonic clock."""
    went = (later.database - earlier.database).total_seconds()
    return went - (later.monotonic_seconds - earlier.monotonic_seconds)

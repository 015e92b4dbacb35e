# SPDX-License-Identifier: Apache-2.0
"""Jumps of the database's clock: the rules by which a manager doubts its time or trusts it."""
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class ClockReading:
    """Three clocks, read at one moment.

    :ivar database: the time of the database.
    :ivar machine: the time of this machine.
    :ivar monotonic_seconds: the monotonic clock of this machine. Nobody can set it, and it stops
        while the machine is suspended.
    """

    database: datetime.datetime
    machine: datetime.datetime
    monotonic_seconds: float


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The trust of a manager in the database's clock.

    :ivar believed: the last trusted reading; None: there is none yet.
    :ivar doubted: the reading at which the doubt began; None if the time is trusted.
    :ivar ahead_seconds: how far a doubted time is ahead of the expected time; below 0: behind it.
    """

    believed: ClockReading | None = None
    doubted: ClockReading | None = None
    ahead_seconds: float = 0

    @property
    def is_ahead(self) -> bool:
        """True if a doubted time is ahead of the expected time, so no event may be due by it."""
        return self.doubted is not None and self.ahead_seconds > 0


def judge(before: Judgement, reading: ClockReading, limit_seconds: float,
          confirmed: bool = False) -> Judgement:
    """Return the Judgement after a reading of the clocks.

    The expected time of the database is the last trusted reading, advanced by the monotonic clock,
    or the time of this machine before the first trusted reading. If the database differs from it by
    more than `limit_seconds`, its time is doubted. A doubted time is trusted again if

    * the difference is gone,
    * the database's clock advanced steadily for `limit_seconds`, and this machine shows the same
      time, or
    * an operator has confirmed it.
    """
    ahead = _apart(reading) if before.believed is None else _drift(before.believed, reading)
    if confirmed or abs(ahead) <= limit_seconds:
        return Judgement(believed=reading)
    doubted = before.doubted
    if doubted is None or abs(_drift(doubted, reading)) > limit_seconds:
        # The doubt begins here, or the clock jumped again.
        doubted = reading
    if (reading.monotonic_seconds - doubted.monotonic_seconds >= limit_seconds
            and abs(_apart(reading)) <= limit_seconds):
        return Judgement(believed=reading)
    return Judgement(before.believed, doubted, ahead)


def _apart(reading: ClockReading) -> float:
    """Return how many seconds the database's clock is ahead of the clock of this machine."""
    return (reading.database - reading.machine).total_seconds()


def _drift(earlier: ClockReading, later: ClockReading) -> float:
    """Return how many seconds more the database's clock advanced than the monotonic clock."""
    database_seconds = (later.database - earlier.database).total_seconds()
    return database_seconds - (later.monotonic_seconds - earlier.monotonic_seconds)

# SPDX-License-Identifier: Apache-2.0
"""Jumps of the database's clock: when its time is not trusted, and when it is trusted again."""
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class ClockReading:
    """Three clocks, read at one moment.

    :ivar database: the time of the database.
    :ivar machine: the time of this machine.
    :ivar monotonic_seconds: the monotonic clock of this machine, which nobody can set. It stops
        while a virtual machine is suspended.
    """

    database: datetime.datetime
    machine: datetime.datetime
    monotonic_seconds: float


@dataclasses.dataclass(frozen=True)
class Judgement:
    """The trust of a manager in the database's clock.

    :ivar believed: the last reading that was trusted; None before the first one.
    :ivar doubted: the reading with which the doubt began; None if the time is trusted.
    :ivar ahead_seconds: how far a doubted time is ahead of the expected one; below 0: behind.
    """

    believed: ClockReading | None = None
    doubted: ClockReading | None = None
    ahead_seconds: float = 0

    @property
    def is_ahead(self) -> bool:
        """True if the time is doubted because it came too early, so nothing is due by it."""
        return self.doubted is not None and self.ahead_seconds > 0


def judge(before: Judgement, reading: ClockReading, limit_seconds: float,
          confirmed: bool = False) -> Judgement:
    """Return the Judgement after a reading of the clocks.

    Since the last trusted reading, the database's clock should have advanced as far as the
    monotonic clock. Before there is such a reading, it should show the time of this machine. A
    difference of more than `limit_seconds` is doubted. A doubted time is trusted again if

    * the difference is gone,
    * the clock advanced steadily for `limit_seconds`, and this machine shows the same time, or
    * it was confirmed.
    """
    ahead = _apart(reading) if before.believed is None else _drift(before.believed, reading)
    if confirmed or abs(ahead) <= limit_seconds:
        return Judgement(believed=reading)
    doubted = before.doubted
    if doubted is None or abs(_drift(doubted, reading)) > limit_seconds:
        # It is the first doubt, or the clock jumped again.
        doubted = reading
    if (reading.monotonic_seconds - doubted.monotonic_seconds >= limit_seconds
            and abs(_apart(reading)) <= limit_seconds):
        return Judgement(believed=reading)
    return Judgement(before.believed, doubted, ahead)


def _apart(reading: ClockReading) -> float:
    """Return how many seconds the database's clock is ahead of that of this machine."""
    return (reading.database - reading.machine).total_seconds()


def _drift(earlier: ClockReading, later: ClockReading) -> float:
    """Return how many seconds more the database's clock advanced than the monotonic clock."""
    went = (later.database - earlier.database).total_seconds()
    return went - (later.monotonic_seconds - earlier.monotonic_seconds)

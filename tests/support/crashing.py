# SPDX-License-Identifier: Apache-2.0
"""Points at which a process may die, and a database that has such points."""
import contextlib

from climate.db import engine


class Crash(BaseException):
    """The process dies here: nothing may catch it and go on."""


class Points:
    """Count the moments at which a process may die, and let it die at one of them."""

    def __init__(self, crash_at=0):
        self.begin(crash_at)

    def begin(self, crash_at):
        """Count from 0 again. At 0, the process does not die."""
        self.count, self.crash_at = 0, crash_at

    def reach(self, *_where):
        self.count += 1
        if self.count == self.crash_at:
            raise Crash


class Fragile(engine.Database):
    """A database with a moment to die before and after each commit."""

    def __init__(self, url, points):
        super().__init__(url)
        self._points = points

    @contextlib.contextmanager
    def writer(self):
        with super().writer() as connection:
            yield connection
            self._points.reach()
        self._points.reach()


def dies_at(cloud, number, work, before_death=lambda: None):
    """Call `work` in a process that dies at the point of the simulated cloud with that number.

    The points are before and after each call of the cloud.

    :param before_death: called just before the process dies.
    :returns: whether `work` reached that point.
    """
    points = Points(number)

    def on_point(*_where):
        try:
            points.reach()
        except Crash:
            cloud.faults.on_point = None
            before_death()
            raise
    cloud.faults.on_point = on_point
    try:
        work()
    except Crash:
        return True
    finally:
        cloud.faults.on_point = None
    return False


def dies_after(cloud, call, work):
    """Call `work` in a process that dies after that call of the simulated cloud."""
    def on_point(*where):
        if where == (call, 'after'):
            raise Crash
    cloud.faults.on_point = on_point
    try:
        work()
    except Crash:
        return
    finally:
        cloud.faults.on_point = None
    raise AssertionError(f'There was no call of {call}.')

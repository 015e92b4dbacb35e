# SPDX-License-Identifier: Apache-2.0
"""The moments at which a process of the model may die or stand still, and a database with them."""
import contextlib
import shutil

from climate.db import engine

#: What happens at a point, and where it can: anywhere; where no transaction is open; in a call of
#: the cloud; in a transaction.
DIES, HAPPENS, LOSES, DEADLOCKS = 'dies', 'happens', 'loses', 'deadlocks'
_DATABASE = 'database'


class Points:
    """The moments at which a process may die or stand still, and what happens at the next one.

    They are before and after each call of the cloud, before and after each transaction, and before
    each commit, where a process may die and nothing else can happen.
    """

    def __init__(self):
        self._left = 0
        self._deed = self._kind = None

    @property
    def armed(self):
        return self._deed is not None

    def arm(self, number, deed, kind):
        """Call `deed(whether a call of the cloud is about to be made)` at a later point."""
        self._left, self._deed, self._kind = number, deed, kind

    def disarm(self):
        self._deed = None

    def reach(self, where=None, when=None):
        here = {DIES: True, HAPPENS: where is not None, DEADLOCKS: where is None,
                LOSES: where not in (None, _DATABASE)}
        if self._deed is None or not here[self._kind]:
            return
        self._left -= 1
        if self._left == 0:
            deed, self._deed = self._deed, None
            deed(where != _DATABASE and when == 'before')


class Database(engine.Database):
    """A database with points in and around each transaction that writes."""

    def __init__(self, url, points):
        super().__init__(url)
        self._points = points

    @contextlib.contextmanager
    def writer(self, counted=True):
        self._points.reach(_DATABASE, 'before')
        with super().writer(counted) as connection:
            yield connection
            self._points.reach()
        self._points.reach(_DATABASE, 'after')


def copy_of(migrated, folder, points):
    """Return a Database on a copy of a SQLite file with Climate's tables."""
    return Database(f'sqlite:///{shutil.copy(migrated, folder / "climate.sqlite")}', points)

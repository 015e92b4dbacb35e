# SPDX-License-Identifier: Apache-2.0
"""The versions of price books and limit books: add one, find them, and cache them."""
import collections.abc
import dataclasses
import functools
import json
import typing
import zoneinfo

from climate import errors
from climate.db import engine
from climate.manager import core as cores

# The names of time zones that are different on each machine.
_OF_MACHINES = ('localtime', 'posixrules')


@dataclasses.dataclass(frozen=True)
class BookKind:
    """A kind of book.

    :ivar find: callable(connection) that returns all versions, in the order in which they become
        valid.
    :ivar add: callable(connection, version) that inserts a version.
    :ivar past: what the error about a `valid_from` in the past says about the past.
    :ivar overlaps: the error about two versions that are valid from the same moment.
    :ivar none_valid: the error that no version is valid now.
    :ivar not_found: the error that no version has a number.
    """

    find: collections.abc.Callable[..., list[typing.Any]]
    add: collections.abc.Callable[..., None]
    past: str
    overlaps: type[errors.ClimateError]
    none_valid: type[errors.ClimateError]
    not_found: type[errors.ClimateError]


class Versions:
    """Adds and reads the versions of a BookKind."""

    def __init__(self, core, kind):
        self._core = core
        self._kind = kind

    @cores.again_after_a_race
    def create(self, requested_from, make, check):
        """Add a version; return it as it was stored.

        :param requested_from: the moment from which the version is valid; None means now.
        :param make: callable(version, valid_from, now) that returns the record of the new version.
        :param check: callable(connection, new version, other versions) that refuses a version.
        :raises BadField: the version would change the past, or `check` refuses it.
        :raises Conflict: another version is valid from the same moment.
        """
        try:
            with self._core.database.writer() as connection:
                # Read the clock here, because what was valid before the transaction is fixed.
                now = self._core.clock()
                valid_from = now if requested_from is None else requested_from
                if valid_from < now:
                    raise errors.BadField(field='valid_from', reason=(
                        f'{valid_from:%Y-%m-%d %H:%M:%S} UTC is in the past, {self._kind.past}: '
                        'write a later moment, or "now".'))
                versions = self._kind.find(connection)
                number = max((book.version for book in versions), default=0) + 1
                new_book = make(number, valid_from, now)
                self._refuse_same_moment(new_book, versions)
                check(connection, new_book, versions)
                self._kind.add(connection, new_book)
                return next(book for book in self._kind.find(connection) if book.version == number)
        except engine.Duplicate as error:
            # Another version was added meanwhile. The next attempt checks it, too.
            raise errors.LostRace() from error

    def _refuse_same_moment(self, new_book, versions):
        for book in versions:
            if book.valid_from == new_book.valid_from:
                raise self._kind.overlaps(version=book.version, valid_from=(
                    f'{new_book.valid_from:%Y-%m-%d %H:%M:%S} UTC'))

    def find(self):
        """Return all versions, in the order in which they become valid."""
        with self._core.database.reader() as connection:
            return self._kind.find(connection)

    def get(self, version):
        """Return a version, or the one that is valid now if `version` is None.

        :raises NotFound: there is no such version.
        """
        now = self._core.clock()
        for book in self.find():
            is_valid = book.valid_from <= now and (
                book.valid_until is None or now < book.valid_until)
            if book.version == version or (version is None and is_valid):
                return book
        raise self._kind.none_valid() if version is None else self._kind.not_found(version=version)


@dataclasses.dataclass(frozen=True)
class _Keyed:
    """A stored version, which equals another one with the same text."""

    text: str
    book: object = dataclasses.field(compare=False)


def cached(read):
    """Return `read`, a function of a stored version, with a cache.

    Parsing 500 rates takes a second.
    """
    # All versions must fit: they are always read in order, so a smaller cache would never hit.
    @functools.lru_cache(maxsize=1024)
    def read_keyed(keyed):
        return read(keyed.book)

    def of_stored(book):
        fields = dataclasses.asdict(book) | {'valid_until': None}
        return read_keyed(_Keyed(json.dumps(fields, sort_keys=True, default=str), book))
    return of_stored


def zone_of(name):
    """Return the time zone of a name, such as "Europe/Berlin"; None if there is none."""
    if name in _OF_MACHINES:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None

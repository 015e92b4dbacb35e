# SPDX-License-Identifier: Apache-2.0
"""The use cases of the price book: add a version, list and show versions."""
import difflib
import functools
import json
import zoneinfo

from oslo_log import log

from climate import errors
from climate.db import engine
from climate.db import price_books as stored
from climate.db import resource_properties
from climate.domain import price_books
from climate.domain import prices
from climate.manager import core as cores

LOG = log.getLogger(__name__)

# The time for which `KnownBooks` caches the versions.
_KNOWN_SECONDS = 5
# The names of time zones that are different on each machine.
_OF_MACHINES = ('localtime', 'posixrules')


class Books:
    """Adds and reads the versions of the price book."""

    def __init__(self, core):
        self._core = core

    def create(self, context, valid_from, document):
        """Add a version of the price book; return it as a StoredBook.

        :param valid_from: the moment from which the version is valid; None means now.
        :param document: the price book as the caller gave it, checked against its schema.
        :raises BadField: the document has an error, or the version would change past prices.
        :raises PriceBookOverlaps: another version is valid from the same moment.
        """
        self._refuse_unknown(document)
        new_book = self._create(context, valid_from, document)
        LOG.info('Price book %s: created by %s, valid from %s', new_book.version,
                 new_book.created_by, new_book.valid_from.isoformat())
        return new_book

    def _refuse_unknown(self, document):
        """Refuse a rate for a type or pool that is not enabled, because it would apply to no lease.

        :raises BadField: the error lists the enabled types or pools.
        """
        registry = self._core.registry
        for number, rate in enumerate(document.get('rates', ())):
            for name, enabled in (('resource_type', registry.plugins), ('pool', registry.pools)):
                if rate.get(name, next(iter(enabled), None)) not in enabled:
                    raise errors.BadField(field=f'rates.{number}.{name}', reason=(
                        f'"{rate[name][:80]}" is not enabled; choose from '
                        f'{", ".join(sorted(enabled))}.'))

    def _refuse_unmatchable(self, connection, document):
        """Refuse a rate that applies to no lease because of its pool or of a property.

        :raises BadField: the error names the field, and similar names.
        """
        plugins = self._core.registry.plugins
        names_of_pools = {name: frozenset().union(*resource_properties.names(connection, name))
                          for name in self._core.registry.pools}
        for number, rate in enumerate(document.get('rates', ())):
            pools = ({pool.name for pool in plugins[rate['resource_type']].pools}
                     if 'resource_type' in rate else set(names_of_pools))
            if 'pool' in rate:
                if rate['pool'] not in pools:
                    raise errors.BadField(field=f'rates.{number}.pool', reason=(
                        f'{rate["resource_type"]} has no resources of "{rate["pool"]}"; it has '
                        f'resources of {", ".join(sorted(pools)) or "no pool"}.'))
                pools = {rate['pool']}
            property_names = sorted(frozenset().union(*(names_of_pools[pool] for pool in pools)))
            for name in sorted(rate.get('properties', {}).keys() - set(property_names)):
                similar = difflib.get_close_matches(name, property_names, n=5) or (
                    property_names[:12])
                raise errors.BadField(field=f'rates.{number}.properties', reason=(
                    f'no resource has the property "{name[:80]}", so the rate would never apply; '
                    f'the properties are {", ".join(similar) or "none"}. Set it first.'))

    @cores.again_after_a_race
    def _create(self, context, requested_from, document):
        try:
            with self._core.database.writer() as connection:
                # Read the clock here, because prices before the transaction are fixed.
                now = self._core.clock()
                valid_from = now if requested_from is None else requested_from
                if valid_from < now:
                    raise errors.BadField(field='valid_from', reason=(
                        f'{valid_from:%Y-%m-%d %H:%M:%S} UTC is in the past, whose prices are '
                        'fixed: write a later moment, or "now".'))
                versions = stored.every(connection)
                new_book = prices.StoredBook(
                    max((book.version for book in versions), default=0) + 1, document['currency'],
                    valid_from, document, now, context.user_id or 'climate')
                _refuse_bad(new_book, versions)
                self._refuse_unmatchable(connection, document)
                stored.add(connection, new_book)
                return next(book for book in stored.every(connection)
                            if book.version == new_book.version)
        except engine.Duplicate as error:
            # Another version was added meanwhile. The next attempt checks it, too.
            raise errors.LostRace() from error

    def find(self):
        """Return all versions as StoredBooks, in the order in which they become valid."""
        with self._core.database.reader() as connection:
            return stored.every(connection)

    def get(self, version):
        """Return a version, or the one that is valid now if `version` is None.

        :raises NoPriceBook: no version is valid now.
        :raises PriceBookNotFound: no version has that number.
        """
        now = self._core.clock()
        for book in self.find():
            is_valid = book.valid_from <= now and (
                book.valid_until is None or now < book.valid_until)
            if book.version == version or (version is None and is_valid):
                return book
        if version is None:
            raise errors.NoPriceBook()
        raise errors.PriceBookNotFound(version=version)


class KnownBooks:
    """A cache of the versions of the price book. Use it only for estimated prices."""

    def __init__(self, core):
        self._core = core
        self._read_at, self._books = float('-inf'), []

    def every(self):
        """Return all versions as PriceBooks, in order."""
        now = self._core.monotonic()
        if now - self._read_at > _KNOWN_SECONDS:
            with self._core.database.reader() as connection:
                self._books = read_all(connection)
            self._read_at = now
        return self._books


def read_all(connection):
    """Return all versions as PriceBooks, in the order in which they become valid."""
    return [_read(book.version, book.currency, book.valid_from,
                  json.dumps(book.document, sort_keys=True, default=str))
            for book in stored.every(connection)]


# All versions must fit: they are always read in order, so a smaller cache would never hit.
@functools.lru_cache(maxsize=1024)
def _read(version, currency, valid_from, document):
    """Return a version as a PriceBook. It is cached, because parsing 500 rates takes a second.

    :param document: the JSON text of the document, which is part of the cache key.
    """
    return price_books.read(prices.StoredBook(
        version, currency, valid_from, json.loads(document), valid_from, ''), zone_of)


def zone_of(name):
    """Return the time zone of a name, such as "Europe/Berlin"; None if there is none."""
    if name in _OF_MACHINES:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _refuse_bad(new_book, versions):
    """Refuse a version that has an error, or that conflicts with another version.

    :raises BadField: the error names the field.
    :raises PriceBookOverlaps: another version is valid from the same moment.
    """
    price_books.read(new_book, zone_of)
    for book in versions:
        if book.valid_from == new_book.valid_from:
            raise errors.PriceBookOverlaps(
                version=book.version, valid_from=f'{new_book.valid_from:%Y-%m-%d %H:%M:%S} UTC')
        if book.currency != new_book.currency:
            raise errors.BadField(field='currency', reason=(
                f'it must stay {book.currency}, the currency of all versions, because a lease may '
                'last through several of them.'))

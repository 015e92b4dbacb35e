# SPDX-License-Identifier: Apache-2.0
"""The use cases of the price book: add a version, list and show versions."""
from oslo_log import log

from climate import errors
from climate.db import price_books as stored
from climate.domain import price_books
from climate.domain import prices
from climate.manager import book_versions
from climate.manager import enabled_names
from climate.manager import known_versions

LOG = log.getLogger(__name__)

_KIND = book_versions.BookKind(
    stored.every, stored.add, 'whose prices are fixed', errors.PriceBookOverlaps,
    errors.NoPriceBook, errors.PriceBookNotFound)


class Books:
    """Adds and reads the versions of the price book."""

    def __init__(self, core):
        self._core = core
        self._versions = book_versions.Versions(core, _KIND)

    def create(self, context, valid_from, document):
        """Add a version of the price book; return it as a StoredBook.

        :param valid_from: the moment from which the version is valid; None means now.
        :param document: the price book as the caller gave it, checked against its schema.
        :raises BadField: the document has an error, or the version would change past prices.
        :raises PriceBookOverlaps: another version is valid from the same moment.
        """
        for number, rate in enumerate(document.get('rates', ())):
            enabled_names.refuse_unknown(self._core.registry, f'rates.{number}', rate)
        new_book = self._versions.create(
            valid_from, lambda version, moment, now: prices.StoredBook(
                version, document['currency'], moment, document, now,
                context.user_id or 'climate'), self._refuse_bad)
        LOG.info('Price book %s: created by %s, valid from %s', new_book.version,
                 new_book.created_by, new_book.valid_from.isoformat())
        return new_book

    def _refuse_bad(self, connection, new_book, versions):
        _refuse_bad(new_book, versions)
        self._refuse_unmatchable(connection, new_book.document)

    def _refuse_unmatchable(self, connection, document):
        """Refuse a rate that applies to no lease because of its pool or of a property.

        :raises BadField: the error names the field, and similar names.
        """
        registry = self._core.registry
        properties = enabled_names.properties_of(registry, connection)
        for number, rate in enumerate(document.get('rates', ())):
            pools = enabled_names.pools_of(registry, f'rates.{number}', rate)
            enabled_names.refuse_unknown_properties(
                f'rates.{number}.properties', rate.get('properties', ()),
                frozenset().union(*(properties[pool] for pool in pools)), rule='rate')

    def find(self):
        """Return all versions as StoredBooks, in the order in which they become valid."""
        return self._versions.find()

    def get(self, version):
        """Return a version, or the one that is valid now if `version` is None.

        :raises NoPriceBook: no version is valid now.
        :raises PriceBookNotFound: no version has that number.
        """
        return self._versions.get(version)


class KnownBooks:
    """A cache of the versions of the price book. Use it only for estimated prices."""

    def __init__(self, core):
        self._core = core
        self._known = known_versions.KnownVersions()

    def every(self):
        """Return all versions as PriceBooks, in order."""
        return self._known.every(self._core, read_all)


def read_all(connection):
    """Return all versions as PriceBooks, in the order in which they become valid."""
    return [_read(book) for book in stored.every(connection)]


@book_versions.cached
def _read(book):
    return price_books.read(book, book_versions.zone_of)


def _refuse_bad(new_book, versions):
    """Refuse a version that has an error, or another currency than the other versions.

    :raises BadField: the error names the field.
    """
    price_books.read(new_book, book_versions.zone_of)
    for book in versions:
        if book.currency != new_book.currency:
            raise errors.BadField(field='currency', reason=(
                f'it must stay {book.currency}, the currency of all versions, because a lease may '
                'last through several of them.'))

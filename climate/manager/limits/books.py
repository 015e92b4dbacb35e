# SPDX-License-Identifier: Apache-2.0
"""The use cases of the limit book: add a version, list and show versions, read the valid one."""
import functools

from oslo_log import log

from climate import errors
from climate.db import limit_books as stored
from climate.db import resource_properties
from climate.domain import requirement
from climate.domain.limits import reading
from climate.domain.limits import rules
from climate.manager import book_versions
from climate.manager import enabled_names

LOG = log.getLogger(__name__)

_KIND = book_versions.BookKind(
    stored.every, stored.add, 'in which other limits were valid', errors.LimitBookOverlaps,
    errors.NoLimitBook, errors.LimitBookNotFound)


class LimitBooks:
    """Adds and reads the versions of the limit book."""

    def __init__(self, core):
        self._core = core
        self._versions = book_versions.Versions(core, _KIND)

    def create(self, context, valid_from, document):
        """Add a version of the limit book; return it as a StoredLimitBook.

        :param valid_from: the moment from which the version is valid; None means now.
        :param document: the limit book as the caller gave it, checked against its schema.
        :raises BadField: the document has an error, or the version would change the past.
        :raises LimitBookOverlaps: another version is valid from the same moment.
        """
        new_book = self._versions.create(
            valid_from, lambda version, moment, now: rules.StoredLimitBook(
                version, moment, document, now, context.user_id or 'climate'), self._refuse_bad)
        self._core.limit_books.forget()
        LOG.info('Limit book %s: created by %s, valid from %s', new_book.version,
                 new_book.created_by, new_book.valid_from.isoformat())
        return new_book

    def _refuse_bad(self, connection, new_book, _versions):
        """Refuse a version that has an error, or a rule that would never apply.

        :raises BadField: the error names the field.
        """
        book = reading.read(new_book, book_versions.zone_of)
        names = _Names(self._core.registry, connection)
        for index, limit in enumerate(book.limits):
            names.check_limit(f'limits.{index}', limit)
        for index, extension in enumerate(book.extensions):
            names.pools_of(f'extensions.{index}', extension)

    def find(self):
        """Return all versions as StoredLimitBooks, in the order in which they become valid."""
        return self._versions.find()

    def get(self, version):
        """Return a version, or the one that is valid now if `version` is None.

        :raises NoLimitBook: no version is valid now.
        :raises LimitBookNotFound: no version has that number.
        """
        return self._versions.get(version)


def known(core, now):
    """Return the LimitBook that is valid at a moment; None: no version is valid.

    The versions are cached. A version that this manager adds is used at once, one that another
    manager adds after some seconds. Do not call it in a transaction.
    """
    valid = None
    for book in core.limit_books.every(core, _read_all):
        if book.valid_from <= now:
            valid = book
    return valid


def _read_all(connection):
    return [_read(book) for book in stored.every(connection)]


@book_versions.cached
def _read(book):
    return reading.read(book, book_versions.zone_of)


class _Names:
    """The names that rules may use: types, pools, properties and units."""

    def __init__(self, registry, connection):
        self._registry = registry
        self._connection = connection

    def pools_of(self, field, rule):
        """Return the names of the pools that a rule is about.

        :raises BadField: its type or pool is not enabled, or the type does not use the pool.
        """
        document = {'resource_type': rule.resource_type, 'pool': rule.pool}
        enabled_names.refuse_unknown(self._registry, field, document)
        return enabled_names.pools_of(self._registry, field, document)

    def check_limit(self, field, limit):
        """Refuse a limit that would never apply because of its type, pool, unit or criteria.

        :raises BadField: the error names the field, and lists existing names.
        """
        pools = self.pools_of(field, limit)
        units = frozenset().union(*(self._units[pool] for pool in pools))
        if limit.unit != rules.RESOURCES and limit.unit not in units:
            raise errors.BadField(field=f'{field}.unit', reason=(
                f'"{limit.unit[:80]}" is no capacity of these resources; choose from '
                f'{", ".join([rules.RESOURCES, *sorted(units)])}.'))
        wanted = {name for name in requirement.names(limit.criteria)
                  if not any(self._has_prefix(pool, name) for pool in pools)}
        enabled_names.refuse_unknown_properties(
            f'{field}.criteria', wanted,
            frozenset().union(*(self._properties[pool] for pool in pools)), rule='limit')
        if limit.measure is rules.Measure.POOL_SHARE:
            self._refuse_share_of_names(field, limit)

    def _refuse_share_of_names(self, field, limit):
        """Refuse a share of resources with some name, because capacities are read without names."""
        name = self._registry.pools[limit.pool].name_fact
        if name in limit.property_names:
            raise errors.BadField(field=f'{field}.criteria', reason=(
                f'a share of a pool cannot depend on "{name}": use another property, or the '
                'measure "resources".'))

    def _has_prefix(self, pool, name):
        return name.startswith(tuple(self._registry.pools[pool].fact_prefixes))

    @functools.cached_property
    def _properties(self):
        properties = enabled_names.properties_of(self._registry, self._connection)
        return {name: properties[name] | pool.own_names() for name, pool in
                self._registry.pools.items()}

    @functools.cached_property
    def _units(self):
        classes = resource_properties.capacity_classes(self._connection)
        return {name: {*pool.capacity_names, *classes.get(name, ())}
                for name, pool in self._registry.pools.items()}

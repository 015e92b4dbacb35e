# SPDX-License-Identifier: Apache-2.0
"""Criteria as SQL, to rule out resources before they are read.

A condition selects every resource that meets the requirement. It may also select other resources,
because comparisons that are hard to express in SQL are left out. So the caller checks each row with
``requirement.matches``, which defines the language of criteria.
"""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import itertools
import math

import sqlalchemy as sa

from climate.db import tables
from climate.domain import requirement

PROPERTIES = tables.PROPERTIES
RESOURCES = tables.RESOURCES
VALUES = tables.PROPERTY_VALUES

# The database stores rounded numbers, so a smaller number may be stored as an equal one.
_ROUNDED = {'<': '<=', '<=': '<=', '>': '>=', '>=': '>='}
# Longer criteria are checked only after reading, because planning the SQL would take longer.
_MOST_VALUES = 50
_MOST_COMPARISONS = 8


@dataclasses.dataclass(frozen=True)
class Condition:
    """The condition of a statement on resources.

    :ivar form: nested tuples of words, equal for requirements that differ only in names and
        values; None: no condition.
    :ivar values: {name of a parameter: its value}.
    """

    form: tuple | None
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)


NONE = Condition(None)


def of(wanted: requirement.Requirement, name: str, others: Collection[str] = ()) -> Condition:
    """Return a Condition that selects at least the resources that meet the requirement.

    :param name: the variable that stands for the name of a resource.
    :param others: the variables that stand for neither the name nor a property.
    """
    maker = _Maker(name, others)
    form = maker.form(wanted)
    return Condition(form, maker.values)


def clause(form):
    """Return the SQL of a Condition's form; it also needs the parameter ``pool``."""
    word, *rest = form
    if word in ('all', 'any'):
        joined = sa.and_ if word == 'all' else sa.or_
        return joined(*(clause(part) for part in rest))
    if word == 'name':
        return RESOURCES.c.name.in_(sa.bindparam(*rest, expanding=True))
    name, value = rest
    met = {
        'has': lambda: sa.true(),
        'text': lambda: VALUES.c.text.in_(sa.bindparam(value, expanding=True)),
        'number': lambda: VALUES.c.number.in_(sa.bindparam(value, expanding=True)),
        '<=': lambda: _or_unknown(VALUES.c.number <= sa.bindparam(value)),
        '>=': lambda: _or_unknown(VALUES.c.number >= sa.bindparam(value)),
    }[word]()
    return RESOURCES.c.id.in_(
        sa.select(VALUES.c.resource_id).where(VALUES.c.property_id == property_id(name), met))


def property_id(name):
    """Return SQL for the id of a property.

    :param name: the name of the SQL parameter with the property's name; the pool is the SQL
        parameter ``pool``.
    """
    return (sa.select(PROPERTIES.c.id)
            .where(PROPERTIES.c.pool == sa.bindparam('pool'),
                   PROPERTIES.c.name == sa.bindparam(name))
            .scalar_subquery())


def _or_unknown(met):
    # Numbers too large for the database are stored as NULL.
    return sa.or_(met, VALUES.c.number.is_(None))


class _Maker:
    """Builds the form of one requirement and collects its values."""

    def __init__(self, name, others):
        self.values = {}
        self._name = name
        self._others = others
        self._numbers = itertools.count()

    def form(self, wanted):
        """Return the form, or None if every resource might meet the requirement."""
        match wanted:
            case requirement.All():
                parts = [form for part in wanted.parts if (form := self.form(part)) is not None]
                return ('all', *parts) if parts else None
            case requirement.Any_():
                parts = [self.form(part) for part in wanted.parts]
                return None if None in parts else ('any', *parts)
            case requirement.Leaf() | requirement.In() if wanted.name not in self._others:
                return self._compared(wanted)
        return None

    def _compared(self, wanted):
        number = next(self._numbers)
        name, value = f'c{number}_name', f'c{number}_value'
        word, operand = _operand(wanted)
        if number >= _MOST_COMPARISONS or (wanted.name == self._name and word != 'text'):
            return None
        if wanted.name == self._name:
            self.values[value] = operand
            return 'name', value
        self.values[name] = wanted.name
        if word != 'has':
            self.values[value] = operand
        return word, name, value


def _operand(wanted):
    """Return (the word of a form, the value to compare with) for one comparison."""
    if wanted.name == requirement.TRAITS:
        # The traits are a list in one text, which SQL does not search.
        return 'has', None
    if isinstance(wanted, requirement.In):
        return _one_of(wanted.typed_values)
    if wanted.operator == '==':
        return _one_of({wanted.typed_value})
    if wanted.operator == 's==':
        return 'text', [str(wanted.value)]
    kind, key = wanted.typed_value
    if wanted.operator in _ROUNDED and kind == 'number' and (exact := _double(key)) is not None:
        return _ROUNDED[wanted.operator], exact
    return 'has', None


def _one_of(wanted):
    """Return (the word of a form, the values) for equality with one of some ``values.Typed``."""
    kinds = {kind for kind, _ in wanted}
    if len(wanted) <= _MOST_VALUES:
        if kinds == {'text'}:
            return 'text', sorted(key for _, key in wanted)
        doubles = [_double(key) for kind, key in wanted if kind == 'number']
        if kinds == {'number'} and None not in doubles:
            return 'number', doubles
    return 'has', None


def _double(number):
    """Return a number as the database stores it, or None if it is too large."""
    try:
        double = float(number)
    except OverflowError:
        return None
    return double if math.isfinite(double) else None

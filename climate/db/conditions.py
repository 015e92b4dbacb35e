# SPDX-License-Identifier: Apache-2.0
"""Criteria as SQL: what rules resources out before they are read.

A condition is met by every resource that meets the requirement it was made of, and by as few
others as an index can tell; who reads them asks ``requirement.matches``. So what the language means
is written there alone, and what is hard to say in SQL is left out here.
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

# A number may be rounded in the database, so those that are less may be stored as equal.
_ROUNDED = {'<': '<=', '<=': '<=', '>': '>=', '>=': '>='}
# What is longer than this is left to be asked later: planning it would cost more than it spares.
_MOST_VALUES = 50
_MOST_COMPARISONS = 8


@dataclasses.dataclass(frozen=True)
class Condition:
    """What a statement asks of resources.

    :ivar form: nested tuples of words, alike for requirements that differ in names and values only;
        None where nothing is asked.
    :ivar values: {name of a parameter: its value}.
    """

    form: tuple | None
    values: Mapping[str, object] = dataclasses.field(default_factory=dict)


NONE = Condition(None)


def of(wanted: requirement.Requirement, name: str, others: Collection[str] = ()) -> Condition:
    """The Condition that all resources meet which meet a requirement.

    :param name: what the requirement calls the name of a resource.
    :param others: what it calls what is known of a resource beside that and its properties.
    """
    maker = _Maker(name, others)
    form = maker.form(wanted)
    return Condition(form, maker.values)


def clause(form):
    """The SQL of a Condition's form, beside the parameter ``pool``."""
    word, *rest = form
    if word in ('all', 'any'):
        joined = sa.and_ if word == 'all' else sa.or_
        return joined(*(clause(each) for each in rest))
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
    """The id of the property that the parameter `name` names, of the parameter ``pool``."""
    return (sa.select(PROPERTIES.c.id)
            .where(PROPERTIES.c.pool == sa.bindparam('pool'),
                   PROPERTIES.c.name == sa.bindparam(name))
            .scalar_subquery())


def _or_unknown(met):
    # The largest numbers have none in the database.
    return sa.or_(met, VALUES.c.number.is_(None))


class _Maker:
    """Makes the form of one requirement and gathers its values."""

    def __init__(self, name, others):
        self.values = {}
        self._name = name
        self._others = others
        self._numbers = itertools.count()

    def form(self, wanted):
        """The form, or None where every resource could meet it."""
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
        word, said = _asked(wanted)
        if number >= _MOST_COMPARISONS or (wanted.name == self._name and word != 'text'):
            return None
        if wanted.name == self._name:
            self.values[value] = said
            return 'name', value
        self.values[name] = wanted.name
        if word != 'has':
            self.values[value] = said
        return word, name, value


def _asked(wanted):
    """(word of a form, what it compares with) of one comparison."""
    if wanted.name == requirement.TRAITS:
        # A list in one text.
        return 'has', None
    if isinstance(wanted, requirement.In):
        return _one_of(wanted.wanted)
    if wanted.operator == '==':
        return _one_of({wanted.wanted})
    if wanted.operator == 's==':
        return 'text', [str(wanted.value)]
    kind, key = wanted.wanted
    if wanted.operator in _ROUNDED and kind == 'number' and (exact := _double(key)) is not None:
        return _ROUNDED[wanted.operator], exact
    return 'has', None


def _one_of(wanted):
    """The same of what equals one of some ``values.Typed``."""
    kinds = {kind for kind, _ in wanted}
    if len(wanted) <= _MOST_VALUES:
        if kinds == {'text'}:
            return 'text', sorted(key for _, key in wanted)
        doubles = [_double(key) for kind, key in wanted if kind == 'number']
        if kinds == {'number'} and None not in doubles:
            return 'number', doubles
    return 'has', None


def _double(number):
    """A number as the database keeps it, or None where it is too large for that."""
    try:
        found = float(number)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None

# SPDX-License-Identifier: Apache-2.0
"""The language in which users write the requirements for a resource.

A requirement is a list, or its JSON text. Null, an empty list and an empty text require nothing::

    [">=", "$vcpus", "4"]
    ["in", "$gpu", ["A100", "H100"]]
    ["and", ["=", "$trait:HW_CPU_X86_AVX2", "required"], ["not", ["<", "$memory_mb", 65536]]]

* ``==`` (or ``=``), ``!=``, ``<``, ``<=``, ``>``, ``>=`` compare numbers if both sides look like
  numbers, booleans if both are "true" or "false" in any case, and text otherwise. Values of
  different kinds are never equal and have no order.
* ``s==`` ``s!=`` ``s<`` ``s<=`` ``s>`` ``s>=`` always compare text. ``contains`` finds a part of a
  text, or a member of a list.
* A property that is a list equals each of its members, and has no order.
* Every comparison is false for a host without the property, even ``!=``. ``not`` negates, so
  ``["not", ["==", "$gpu", "A100"]]`` is true for a host without the property ``gpu``.
  ``["!=", "$gpu", null]`` is true for every host that has the property.
"""
from collections.abc import Collection
from collections.abc import Mapping
import dataclasses
import difflib
import functools
import json
import re
from typing import Any
from typing import NoReturn
from typing import TypeAlias
import unicodedata

from climate import errors
from climate.domain import values

Requirement: TypeAlias = 'Leaf | In | All | Any_ | Not'

# The maximum number of names that the error about an unknown name lists.
_MOST_NAMES = 12

ALIASES = {'cores': 'vcpus', 'ram': 'memory_mb', 'disk': 'local_gb'}
TRAITS = 'traits'

MAX_DEPTH = 16
MAX_LEAVES = 200
MAX_VALUES = 1000
MAX_NAME = 128
# Names of properties may have tabs and line breaks.
_CONTROL = re.compile(r'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]')
MAX_TEXT = 65536

_OPERATORS = (*values.COMPARE, *(f's{sign}' for sign in values.COMPARE), 'contains')
_WORDS = ('=', *_OPERATORS, 'in', 'and', 'or', 'not')
_EXAMPLE = '[">=", "$vcpus", "4"]'
_REQUIRED = {'required': True, 'true': True, 'forbidden': False, 'false': False}


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The comparison of the property `name` with `value`."""

    operator: str
    name: str
    value: values.Value

    @functools.cached_property
    def typed_value(self) -> values.Typed:
        return values.typed(self.value)

    def __str__(self) -> str:
        return f'{self.name} {self.operator} {values.readable(self.value)}'


@dataclasses.dataclass(frozen=True)
class In:
    """The condition that the property `name` equals one of `values`."""

    name: str
    values: tuple[values.Value, ...]

    @functools.cached_property
    def typed_values(self) -> 'frozenset[tuple[str, Any]]':
        return frozenset(values.typed(value) for value in self.values)

    def __str__(self) -> str:
        return f'{self.name} in ({", ".join(values.readable(value) for value in self.values)})'


@dataclasses.dataclass(frozen=True)
class All:
    """The conjunction of `parts`. Without parts, all resources meet it."""

    parts: 'tuple[Requirement, ...]' = ()

    def __str__(self) -> str:
        return ' and '.join(_bracketed(part) for part in self.parts) or 'anything'


@dataclasses.dataclass(frozen=True)
class Any_:  # noqa: N801 (beside typing.Any)
    """The disjunction of `parts`."""

    parts: 'tuple[Requirement, ...]'

    def __str__(self) -> str:
        return ' or '.join(_bracketed(part) for part in self.parts)


@dataclasses.dataclass(frozen=True)
class Not:
    """The negation of `part`."""

    part: 'Requirement'

    def __str__(self) -> str:
        return f'not ({self.part})'


NOTHING = All()


def parse(text_or_value: object) -> Requirement:
    """Return the requirement of a JSON text or of a list.

    Names are made canonical: aliases are replaced, ``capabilities:`` is removed, and ``$trait:X``
    becomes a condition on the property ``traits``.

    :raises MalformedRequirement: the input is malformed; no input raises another error.
    """
    value = _decoded(text_or_value) if isinstance(text_or_value, str) else text_or_value
    if value is None or (isinstance(value, str | list | tuple) and not value):
        return NOTHING
    return _Reader().read(value, 1)


def matches(requirement: Requirement, properties: Mapping[str, object]) -> bool:
    """Return whether a resource with these property values meets the requirement.

    :param properties: {canonical name: text, number, boolean, or a collection of them}; None
        counts as absent. ``traits`` is a collection of names.
    """
    match requirement:
        case Leaf():
            value = properties.get(requirement.name)
            return value is not None and values.compare(
                value, requirement.operator, requirement.value, requirement.typed_value)
        case In():
            value = properties.get(requirement.name)
            return value is not None and any(values.typed(member) in requirement.typed_values
                                             for member in values.members(value))
        case All():
            return all(matches(part, properties) for part in requirement.parts)
        case Any_():
            return any(matches(part, properties) for part in requirement.parts)
        case Not():
            return not matches(requirement.part, properties)


def names(requirement: Requirement) -> frozenset[str]:
    """Return the canonical names of the properties that `matches` reads."""
    match requirement:
        case Leaf() | In():
            return frozenset({requirement.name})
        case Not():
            return names(requirement.part)
        case All() | Any_():
            return frozenset().union(*(names(part) for part in requirement.parts))


def check_names(requirement: Requirement, known: Collection[str],
                hidden: Collection[str] = (), pool: str = 'resource') -> None:
    """Refuse a requirement about properties that are neither `known` nor `hidden`.

    :param hidden: names that may be used, but are not listed in the error.
    :param pool: the name of the resources in the error.
    :raises UnknownProperty: a name is unknown. The error has the alphabetically first unknown name,
        and known names, similar ones first.
    """
    for name in sorted(names(requirement) - frozenset(known) - frozenset(hidden)):
        # The many facts with a prefix, such as max_unit:VCPU, come last.
        listed = sorted(known, key=lambda each: (':' in each, each))
        near = difflib.get_close_matches(name, listed, n=5, cutoff=0.5)
        near += [each for each in listed if each not in near]
        if len(near) > _MOST_NAMES:
            near = [*near[:_MOST_NAMES], '…']
        raise errors.UnknownProperty(pool=pool, name=name,
                                     near=', '.join(near) or 'there are none')


def criteria(requirement: Requirement) -> list[Requirement]:
    """Return the conditions that must all be met. ``str`` makes a condition readable."""
    return list(requirement.parts) if isinstance(requirement, All) else [requirement]


def conjunction(*requirements: Requirement) -> Requirement:
    """Return the requirement that is met if all `requirements` are met."""
    parts = tuple(part for requirement in requirements for part in criteria(requirement))
    return parts[0] if len(parts) == 1 else All(parts)


def to_json(requirement: Requirement) -> list[Any]:
    """Return the JSON-ready list that `parse` reads as this requirement."""
    match requirement:
        case Leaf():
            return [requirement.operator, f'${requirement.name}', requirement.value]
        case In():
            return ['in', f'${requirement.name}', list(requirement.values)]
        case Not():
            return ['not', to_json(requirement.part)]
        case Any_():
            return ['or', *(to_json(part) for part in requirement.parts)]
        case All():
            parts = [to_json(part) for part in requirement.parts]
            return ['and', *parts] if parts else []


class _Reader:
    """A parser of one requirement, which counts its comparisons."""

    def __init__(self) -> None:
        self._leaves = 0

    def read(self, part: object, depth: int) -> Requirement:
        if not isinstance(part, list | tuple) or not part:
            _refuse(part, f'a list is expected, such as {_EXAMPLE}.')
        if depth > MAX_DEPTH:
            _refuse(part, f'it is nested more than {MAX_DEPTH} deep.')
        word, *rest = part
        if not isinstance(word, str) or word not in _WORDS:
            _refuse(part, f'it must begin with one of {" ".join(_WORDS)}, as in {_EXAMPLE}.')
        if word in ('and', 'or', 'not'):
            return self._connected(part, word, rest, depth)
        self._leaves += 1
        if self._leaves > MAX_LEAVES:
            _refuse(part, f'there are more than {MAX_LEAVES} comparisons.')
        return _membership(part, rest) if word == 'in' else _comparison(part, word, rest)

    def _connected(self, whole: object, word: str, rest: list[object],
                   depth: int) -> Requirement:
        if not rest or (word == 'not' and len(rest) != 1):
            counts = 'exactly one requirement' if word == 'not' else 'one requirement or more'
            _refuse(whole, f'"{word}" takes {counts}, as in ["{word}", {_EXAMPLE}].')
        parts = tuple(self.read(part, depth + 1) for part in rest)
        if word == 'not':
            return Not(parts[0])
        return conjunction(*parts) if word == 'and' or len(parts) == 1 else Any_(parts)


def _comparison(whole: object, word: str, rest: list[object]) -> Requirement:
    if len(rest) != 2:
        _refuse(whole, f'a comparison has three items, as in {_EXAMPLE}.')
    sign = '==' if word == '=' else word
    name, value = _name(whole, rest[0]), _value(whole, rest[1])
    if not name.startswith('trait:'):
        return Leaf(sign, ALIASES.get(name, name), value)
    required = _REQUIRED.get(str(value).strip().lower())
    trait = name.removeprefix('trait:')
    if sign not in ('==', '!=') or required is None or not trait:
        _refuse(whole, 'a trait is "required" or "forbidden", as in '
                       '["=", "$trait:HW_CPU_X86_AVX2", "required"].')
    has_it = Leaf('contains', TRAITS, trait)
    return has_it if required == (sign == '==') else Not(has_it)


def _membership(whole: object, rest: list[object]) -> Requirement:
    example = '["in", "$gpu", ["A100", "H100"]]'
    if len(rest) < 2:
        _refuse(whole, f'"in" takes a name and one value or more, as in {example}.')
    listed = rest[1] if len(rest) == 2 and isinstance(rest[1], list | tuple) else rest[1:]
    name = _name(whole, rest[0])
    if name.startswith('trait:') or not listed or len(listed) > MAX_VALUES:
        _refuse(whole, f'"in" takes a name that is no trait, and 1 to {MAX_VALUES} values, '
                       f'as in {example}.')
    return In(ALIASES.get(name, name), tuple(_value(whole, value) for value in listed))


def _name(whole: object, text: object) -> str:
    """Return the name without `$` and without a scope other than ``trait:``."""
    if not isinstance(text, str) or not text.startswith('$'):
        _refuse(whole, f'the second item must be a name that begins with $, as in {_EXAMPLE}.')
    # Properties have their names in this form of Unicode.
    name = unicodedata.normalize('NFC', re.sub('^(capabilities:)+', '', text[1:]))
    if not 0 < len(name) <= MAX_NAME or not values.storable(name):
        _refuse(whole, f'a name has 1 to {MAX_NAME} characters, as in {_EXAMPLE}.')
    if _CONTROL.search(name):
        # No property has such a name. A message with the name could change the terminal of a user.
        raise errors.MalformedRequirement(
            part=json.dumps(name), reason=f'a name has no control characters, as in {_EXAMPLE}.')
    return name


def _value(whole: object, value: object) -> values.Value:
    if not (value is None or isinstance(value, str | int | float)) or not values.bounded(value):
        _refuse(whole, f'{values.shown(value)} is no value; text, a number, true, false or null is '
                       f'expected, as in {_EXAMPLE}.')
    return value


def _decoded(text: str) -> object:
    if not text.strip():
        return None
    if len(text) > MAX_TEXT:
        _refuse(text, f'it has more than {MAX_TEXT} characters.')
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # The message of the JSON parser would not help more than the example does.
        _refuse(text, f'it is not JSON; a list is expected, such as {_EXAMPLE}.')


def _refuse(part: object, reason: str) -> NoReturn:
    raise errors.MalformedRequirement(part=values.shown(part), reason=reason)


def _bracketed(part: Requirement) -> str:
    return f'({part})' if isinstance(part, All | Any_) else str(part)

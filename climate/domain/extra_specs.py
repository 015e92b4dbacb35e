# SPDX-License-Identifier: Apache-2.0
"""The translation of extra specs of a flavor, or of criteria in this format, to a requirement.

The operators are those of Nova's scheduler (module ``extra_specs_ops``, and "ComputeCapabilities
filter" in Nova's guide to scheduling). The first word of a value is the operator:

=============================  =================================================================
``=``, ``>=``                  the host has at least this number
``==`` ``!=`` ``<=``           the values are compared as numbers
``s==`` ``s!=`` ``s<`` ``s<=`` the values are compared as text, as with ``s>`` and ``s>=``
``<in> a``                     the text `a` is part of the host's text, or a member of its list
``<all-in> a b``               as ``<in>``, for each of the words
``<or> a <or> b``              the host's text is one of the words
no operator                    the host's text is this text
=============================  =================================================================

This module refuses values for which Nova fails, and values that Nova reads only in part: an
operator without a word, too many words, text instead of a number, ``>=4`` without a space.
"""
from collections.abc import Mapping
import re

from climate import errors
from climate.domain import requirement
from climate.domain import values

_CAPABILITIES = 'capabilities'
_TRAIT = 'trait'

_NUMBERS = {'=': '>=', '>=': '>=', '==': '==', '!=': '!=', '<=': '<='}
_TEXTS = ('s==', 's!=', 's<', 's<=', 's>', 's>=')
_OPERATORS = (*_NUMBERS, *_TEXTS, '<in>', '<all-in>', '<or>')
_LIKE_AN_OPERATOR = re.compile(r's?[<>]|s?[=!]=|=')


def from_extra_specs(specs: Mapping[str, str]) -> requirement.Requirement:
    """Return the requirement that a host meets if it meets every one of `specs`.

    :param specs: {key: value}; a key is the name of a property, with or without the prefix
        ``capabilities:``, or ``trait:`` and the name of a trait (value ``required`` or
        ``forbidden``).
    :raises BadField: a key has another scope, or a value is malformed. The error has the key.
    """
    return requirement.conjunction(*(_one(key, value) for key, value in specs.items()))


def _one(key: str, value: str) -> requirement.Requirement:
    if not isinstance(key, str) or not isinstance(value, str):
        raise _refused(key, 'key and value must be text, as in {"capabilities:vcpus": ">= 8"}.')
    scope, colon, _ = key.partition(':')
    if colon and scope not in (_CAPABILITIES, _TRAIT):
        raise _refused(key, f'the scope "{scope}" cannot be a criterion for a host; use '
                            '"capabilities:", "trait:", or a name without a scope.')
    criterion = ['==', f'${key}', value] if scope == _TRAIT and colon else _as_list(key, value)
    try:
        return requirement.parse(criterion)
    except errors.MalformedRequirement as error:
        raise _refused(key, error.message) from error


def _as_list(key: str, value: str) -> list[object]:
    """Return the criterion as ``requirement.parse`` reads it."""
    word, *rest = value.split() or ['']
    if word not in _OPERATORS:
        if _LIKE_AN_OPERATOR.match(word):
            raise _refused(key, f'"{word}" is not an operator; write one of '
                                f'{", ".join(_OPERATORS)}, then a space, then what to compare '
                                'with.')
        return ['s==', f'${key}', value]
    if word == '<or>':
        return ['or', *(['s==', f'${key}', text] for text in _alternatives(key, rest))]
    if not rest or (word != '<all-in>' and len(rest) > 1):
        raise _refused(key, f'"{word}" takes exactly one word, as in "{word} 8"; '
                            '"<all-in>" takes one or more.')
    if word in ('<in>', '<all-in>'):
        return ['and', *(['contains', f'${key}', text] for text in rest)]
    if word in _NUMBERS and values.number(rest[0]) is None:
        raise _refused(key, f'"{word}" compares numbers, and "{rest[0]}" is not a number; '
                            'the operators for text begin with s, as in "s== text".')
    return [_NUMBERS.get(word, word), f'${key}', rest[0]]


def _alternatives(key: str, words: list[str]) -> list[str]:
    if len(words) % 2 == 0 or any(word != '<or>' for word in words[1::2]):
        raise _refused(key, 'alternatives are single words, as in "<or> fpu <or> gpu".')
    return words[::2]


def _refused(key: object, reason: str) -> errors.BadField:
    return errors.BadField(field=f'extra_specs {values.shown(key)}', reason=reason)

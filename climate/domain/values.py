# SPDX-License-Identifier: Apache-2.0
"""Values of properties and of JSON: their comparison, and their format in messages.

A value is a number, a boolean or text. Text that looks like a number counts as a number, and "true"
or "false" in any case as a boolean. Values of different kinds are never equal and have no order.
"""
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
import decimal
import json
import math
import operator
import re
from typing import Any
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None
Typed: TypeAlias = tuple[str, Any]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    '==': operator.eq, '!=': operator.ne, '<': operator.lt, '<=': operator.le,
    '>': operator.gt, '>=': operator.ge}

_MANY = (list, tuple, set, frozenset)
_NUMBER = re.compile(r'[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?', re.ASCII)
_UNSTORABLE = re.compile('[\0\ud800-\udfff]')
_PLAIN = re.compile(r'[\w.:/+-]+')
_BOOLEANS = {'true': True, 'false': False}


def compare(value: object, sign: str, wanted: Value, wanted_typed: Typed) -> bool:
    """Return whether the comparison "`value` `sign` `wanted`" is true.

    :param value: the value of a property. A collection equals each of its members and has no order.
    :param sign: a key of COMPARE. With the prefix ``s`` both sides are compared as text.
        ``contains`` finds a part of a text, or a member of a list.
    :param wanted_typed: ``typed(wanted)``, which the caller computes once.
    """
    text_only = sign.startswith('s')
    sign = sign.removeprefix('s')
    if sign == 'contains':
        text = str(wanted)
        return any(str(member) == text for member in value) if isinstance(value, _MANY) else (
            text in str(value))
    read = _as_text if text_only else typed
    kind, key = wanted_typed = _as_text(wanted) if text_only else wanted_typed
    if sign in ('==', '!='):
        return any(read(member) == wanted_typed for member in members(value)) == (sign == '==')
    own_kind, own = ('list', None) if isinstance(value, _MANY) else read(value)
    return own_kind == kind and own is not None and COMPARE[sign](own, key)


def typed(value: object) -> Typed:
    """Return (kind, key) of a value. Values of one kind are compared by their keys."""
    if value is None:
        return 'null', None
    if (exact := number(value)) is not None:
        return 'number', exact
    text = str(value)
    boolean = _BOOLEANS.get(text.strip().lower())
    return ('text', text) if boolean is None else ('boolean', boolean)


def _as_text(value: object) -> Typed:
    return 'text', str(value)


def members(value: object) -> Collection[object]:
    """Return the members of a list, or the single value in a tuple."""
    return value if isinstance(value, _MANY) else (value,)


def number(value: object) -> int | decimal.Decimal | None:
    """Return the exact value of a number, or of text that looks like one; otherwise None."""
    if isinstance(value, str):
        text = value.strip()
        return decimal.Decimal(text) if len(text) <= 64 and _NUMBER.fullmatch(text) else None
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        # The shortest decimal text of the number, so that 0.1 equals "0.1".
        return decimal.Decimal(repr(float(value))) if math.isfinite(value) else None
    return value if isinstance(value, int) else None


def bounded(value: Value) -> bool:
    """Return whether JSON and databases can store a value: no huge numbers, no broken text."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int):
        return value.bit_length() <= 200
    return value is None or math.isfinite(value)


def storable(text: str) -> bool:
    """Return whether databases can store a text: no lone surrogates, no character 0."""
    return _UNSTORABLE.search(text) is None


def readable(value: Value) -> str:
    """Return a value in the format of messages."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def shown(part: object) -> str:
    """Return any object as a short JSON text for a message."""
    text = json.dumps(_abridged(part, 3), ensure_ascii=False)
    text = text if len(text) <= 100 else f'{text[:99]}…'
    return text.encode('utf-8', 'replace').decode()


def texts_in(value: Any) -> Iterator[str]:
    """Yield each text, and each number as text, of a JSON value."""
    # A list instead of recursion, because users determine how deep the value is.
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)
        elif item is not None and not isinstance(item, bool):
            yield str(item)


def _abridged(part: object, depth: int) -> object:
    """Return a small copy of any object that can be written as JSON."""
    if isinstance(part, list | tuple):
        return ['…'] if depth == 0 else [*(_abridged(item, depth - 1) for item in part[:5]),
                                         *(['…'] if len(part) > 5 else [])]
    if isinstance(part, dict):
        return {_abridged_key(key): _abridged(part[key], depth - 1)
                for key in list(part)[:3]} if depth else '{…}'
    if isinstance(part, str):
        return part if len(part) <= 60 else f'{part[:59]}…'
    if part is None or isinstance(part, bool | float):
        return part
    if isinstance(part, int) and part.bit_length() <= 200:
        return part
    return f'<{type(part).__name__}>'


def _abridged_key(key: object) -> str:
    return str(_abridged(key, 0)) if isinstance(key, str | int) else f'<{type(key).__name__}>'

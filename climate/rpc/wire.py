# SPDX-License-Identifier: Apache-2.0
"""Records as they travel over the bus: JSON-ready, with moments as ISO text."""
import dataclasses
import datetime
import functools
import types
import typing

from climate.domain import availability
from climate.domain import records

# Where the records are of which others consist.
_MODULES = (records.__name__, availability.__name__)


def pack(value):
    """A record, moment, or collection of them, as JSON-ready data."""
    if dataclasses.is_dataclass(value):
        packed = vars(value).copy()
        for name in _written(type(value)):
            packed[name] = pack(packed[name])
        return packed
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [pack(item) for item in value]
    return value


def unpack(cls, data):
    """The record of class `cls` that `pack` made `data` from; None stays None, and a record itself.

    Fields that a newer sender added are dropped, so that API and manager may differ by a release.
    """
    # A record was in this process all the time.
    if data is None or isinstance(data, cls):
        return data
    readers = _readers(cls)
    return cls(**{name: value if readers[name] is _as_it_is else readers[name](value)
                  for name, value in data.items() if name in readers})


def unpack_all(cls, items):
    """A list of records."""
    return [unpack(cls, item) for item in items]


@functools.cache
def _written(cls):
    """The names of the fields that JSON knows no form of, or knows no form of what is in them."""
    return tuple(name for name, read in _readers(cls).items() if read is not _as_it_is)


def _as_it_is(value):
    return value


@functools.cache
def _readers(cls):
    hints = typing.get_type_hints(cls)
    return {field.name: _reader(hints[field.name]) for field in dataclasses.fields(cls)}


def _reader(hint):
    """A function that reads one value of the type `hint` back from JSON-ready data."""
    if isinstance(hint, types.UnionType):
        [inner] = [_reader(part) for part in typing.get_args(hint) if part is not type(None)]
        if inner is _as_it_is:
            return inner
        return lambda value: None if value is None else inner(value)
    if hint is datetime.datetime:
        return datetime.datetime.fromisoformat
    if dataclasses.is_dataclass(hint) and hint.__module__ in _MODULES:
        return functools.partial(unpack, hint)
    if typing.get_origin(hint) is tuple:
        parts = typing.get_args(hint)
        if parts[-1] is Ellipsis:
            item = _reader(parts[0])
            if item is _as_it_is:
                return tuple
            return lambda values: tuple(item(value) for value in values)
        readers = [_reader(part) for part in parts]
        return lambda values: tuple(read(value)
                                    for read, value in zip(readers, values, strict=True))
    return _as_it_is

# SPDX-License-Identifier: Apache-2.0
"""Convert records to JSON-ready data for the bus, with moments as ISO text, and back."""
from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import datetime
import functools
import types
import typing
from typing import Any

# The package of the modules of records.
_RECORDS = 'climate.domain.'

_SCALARS = {int, float, str, bool, types.NoneType}

_Record = typing.TypeVar('_Record')
_Reader = Callable[[Any], Any]


def pack(value: Any) -> Any:
    """Return a record, a moment or a collection of them as JSON-ready data."""
    if dataclasses.is_dataclass(value):
        packed = vars(value).copy()
        # mypy considers classes of records unhashable, here and below.
        for name in _staying(type(value)):  # type: ignore[arg-type]
            del packed[name]
        for name in _written(type(value)):  # type: ignore[arg-type]
            packed[name] = pack(packed[name])
        return packed
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, (list, tuple)):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        return {key: pack(item) for key, item in value.items()}
    return value


def unpack(cls: type[_Record], data: Any) -> _Record:
    """Return the record of class `cls` that `pack` converted to `data`.

    None and records are returned unchanged. Unknown fields are dropped, because API and manager may
    differ by a release.
    """
    # Inside a process, records are passed unpacked.
    if data is None or isinstance(data, cls):
        return typing.cast(_Record, data)
    readers = _readers(cls)  # type: ignore[arg-type]
    return cls(**{name: value if readers[name] is _unchanged else readers[name](value)
                  for name, value in data.items() if name in readers})


@functools.cache
def answer_reader(method: Callable[..., Any]) -> _Reader:
    """Return a function that unpacks an answer by the return annotation of a method."""
    return _reader(typing.get_type_hints(method)['return'])


@functools.cache
def argument_readers(method: Callable[..., Any]) -> dict[str, _Reader]:
    """Return {name: a function that unpacks the argument} by the annotations of a method.

    Arguments that stay as they are have no function.
    """
    readers = {name: _reader(hint) for name, hint in typing.get_type_hints(method).items()}
    return {name: read for name, read in readers.items() if read is not _unchanged}


def _moment(data: Any) -> datetime.datetime:
    """Return the moment that `pack` converted to `data`; a moment stays unchanged."""
    return datetime.datetime.fromisoformat(data) if isinstance(data, str) else data


@functools.cache
def _written(cls: type) -> tuple[str, ...]:
    """Return the names of the fields that must be converted for JSON."""
    hints = typing.get_type_hints(cls)
    return tuple(name for name, read in _readers(cls).items()
                 if read is not _unchanged and name not in _staying(cls)
                 and not _is_json(hints[name]))


def _is_json(hint: Any) -> bool:
    """Return whether values of a type are sequences of plain values, which JSON has itself.

    To convert each element takes a second for the columns of a large timeline.
    """
    parts = [part for part in typing.get_args(hint) if part is not Ellipsis]
    if typing.get_origin(hint) not in (list, tuple) or not parts:
        return False
    return {scalar for part in parts for scalar in (
        typing.get_args(part) if isinstance(part, types.UnionType) else (part,))} <= _SCALARS


@functools.cache
def _staying(cls: type) -> tuple[str, ...]:
    """Return the names of the fields that stay in the process, such as secrets."""
    return tuple(field.name for field in dataclasses.fields(cls) if 'stays' in field.metadata)


def _unchanged(value: Any) -> Any:
    return value


@functools.cache
def _readers(cls: Any) -> dict[str, _Reader]:
    hints = typing.get_type_hints(cls)
    return {field.name: _reader(hints[field.name]) for field in dataclasses.fields(cls)}


def _reader(hint: Any) -> _Reader:
    """Return a function that reads a value of the type `hint` back from JSON-ready data."""
    if isinstance(hint, types.UnionType):
        [inner] = [_reader(part) for part in typing.get_args(hint) if part is not type(None)]
        if inner is _unchanged:
            return inner
        return lambda value: None if value is None else inner(value)
    if hint is datetime.datetime:
        return _moment
    if dataclasses.is_dataclass(hint) and hint.__module__.startswith(_RECORDS):
        return functools.partial(unpack, typing.cast(type, hint))
    if typing.get_origin(hint) is Mapping:
        item = _reader(typing.get_args(hint)[1])
        if item is _unchanged:
            return item
        return lambda values: {key: item(value) for key, value in values.items()}
    if typing.get_origin(hint) is list:
        item = _reader(typing.get_args(hint)[0])
        return list if item is _unchanged else lambda values: [item(value) for value in values]
    if typing.get_origin(hint) is tuple:
        parts = typing.get_args(hint)
        if parts[-1] is Ellipsis:
            item = _reader(parts[0])
            if item is _unchanged:
                return tuple
            return lambda values: tuple(item(value) for value in values)
        readers = [_reader(part) for part in parts]
        return lambda values: tuple(read(value)
                                    for read, value in zip(readers, values, strict=True))
    return _unchanged

# SPDX-License-Identifier: Apache-2.0
"""Validation against JSON schemas, in a time that grows with the size of the data only."""
from collections.abc import Iterator
import itertools
from typing import Any

import jsonschema

# A body of 1 MiB can have a hundred thousand wrong values. An error names one of the first.
_MOST_PROBLEMS = 100


def validator(schema: dict[str, Any]) -> Any:
    """Return a validator of a schema, for `problems`; making one costs more than using it."""
    return _Validator(schema)


def problems(of: Any, data: Any) -> Iterator[jsonschema.ValidationError]:
    """Return the first problems of data.

    Their text (``str``) shows all of the data, which takes seconds; `message` does not.
    """
    return itertools.islice(of.iter_errors(data), _MOST_PROBLEMS)


def _items(of: Any, items: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    """Validate the items of a list, unless maxItems refuses it anyway."""
    if not _is_too_long(instance, schema):
        yield from jsonschema.Draft202012Validator.VALIDATORS['items'](of, items, instance, schema)


def _unique_items(of: Any, unique: bool, instance: Any, schema: Any
                  ) -> Iterator[jsonschema.ValidationError]:
    """Refuse a text that a list has twice. Climate's schemas have no other unique items.

    jsonschema compares each item with each other one if they cannot be sorted.
    """
    if unique and isinstance(instance, list) and not _is_too_long(instance, schema):
        texts = [each for each in instance if isinstance(each, str)]
        if len(set(texts)) < len(texts):
            yield jsonschema.ValidationError(f'{instance!r} has non-unique elements')


def _is_too_long(instance: Any, schema: Any) -> bool:
    return isinstance(instance, list) and len(instance) > schema.get('maxItems', len(instance))


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator, {'items': _items, 'uniqueItems': _unique_items})

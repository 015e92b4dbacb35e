# SPDX-License-Identifier: Apache-2.0
"""Read request bodies, and validate them against their JSON schemas."""
import json
import math
import unicodedata

from climate import errors
from climate import json_text
from climate import schema_validation
from climate.api import hooks

# Each value costs some microseconds here, in the validation and on the message bus.
_MOST_VALUES = 50_000
# Criteria may be nested 16 levels deep. No other field is nested deeper.
_DEEPEST = 32
# The keys are the ids of the schemas, because a dict is not hashable. An id is not reused, because
# each validator keeps a reference to its schema.
_VALIDATORS = {}


def read(request, schemas, limit):
    """Read the body of a request and validate it.

    :param schemas: the pair of schemas for REST 1.0 and from 1.1.
    :param limit: the maximum size of the body in bytes.
    :returns: the JSON object as a dict.
    :raises UnsupportedMediaType: the Content-Type is not JSON.
    :raises BodyTooLarge: the body is larger than `limit`.
    :raises BadRequest: the body is not a JSON object that matches the schema; the error names the
        field.
    """
    content_type = request.content_type
    if content_type and content_type.split(';')[0].strip().lower() != 'application/json':
        raise errors.UnsupportedMediaType(content_type=content_type[:80])
    if (request.content_length or 0) > limit:
        raise errors.BodyTooLarge(limit=limit)
    raw = request.body_file.read(limit + 1)
    if len(raw) > limit:
        raise errors.BodyTooLarge(limit=limit)
    try:
        data = load(raw.decode('utf-8'), 'body')
    except ValueError as error:
        raise errors.BadRequest(reason=f'The body is not JSON: {error}.') from error
    if not isinstance(data, dict):
        raise errors.BadRequest(reason='The body must be a JSON object: {"name": …}.')
    check(data, schemas[0] if hooks.is_lenient(request) else schemas[1])
    return data


def load(text, field):
    """Parse a JSON text.

    :param field: the name for errors.
    :raises ValueError: the text is not JSON.
    :raises BadField: a value has characters that cannot be stored, or is nested too deep; or there
        are too many values.
    """
    try:
        data = json.loads(text, parse_constant=json_text.no_constant, parse_float=_number,
                          object_pairs_hook=json_text.unique)
    except RecursionError as error:
        # The message of the parser is not used, because it depends on the depth of the stack.
        raise ValueError('it is nested too deep') from error
    refuse_unprintable(data, field, _DEEPEST)
    if _values(data) > _MOST_VALUES:
        raise errors.BadField(field=field, reason=f'it has more than {_MOST_VALUES:,} values.')
    return data


def _values(data):
    """Return the number of values and keys in a value that is not nested too deep."""
    if isinstance(data, dict):
        return 1 + len(data) + sum(map(_values, data.values()))
    return 1 + (sum(map(_values, data)) if isinstance(data, list) else 0)


def _number(text):
    """Parse a number with a point or an exponent; 2.0 becomes the integer 2, as in JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f'{text[:40]} is too large')
    return int(number) if number.is_integer() and abs(number) < 2 ** 53 else number


def check(data, schema):
    """Validate data against a JSON schema.

    :raises BadRequest: the data do not match; the error names the field.
    """
    problem = min(schema_validation.problems(_validator(schema), data),
                  key=lambda error: (error.validator != 'required', str(error.absolute_path)),
                  default=None)
    if problem is None:
        return
    path = '.'.join(str(step) for step in problem.absolute_path)
    if problem.validator == 'required':
        missing = [name for name in problem.validator_value if name not in problem.instance]
        raise errors.MissingFields(fields=', '.join(missing) + (f' (in {path})' if path else ''))
    if problem.validator == 'additionalProperties':
        # The known properties are those of the object that has the unknown property.
        known = ', '.join(problem.schema['properties'])
        raise errors.BadField(field=path or 'body', reason=(
            f'{problem.message[:300]}. Known are: {known}.'))
    if problem.validator in ('minLength', 'maxLength'):
        bound = 'at least' if problem.validator == 'minLength' else 'at most'
        raise errors.BadField(field=path or 'body', reason=(
            f'it has {len(problem.instance)} characters; give {bound} '
            f'{problem.validator_value}.'))
    raise errors.BadField(field=path or 'body', reason=problem.message[:300] + '.')


def _validator(schema):
    """Return the validator of a schema, which is cached because building it is slow."""
    if id(schema) not in _VALIDATORS:
        _VALIDATORS[id(schema)] = schema_validation.validator(schema)
    return _VALIDATORS[id(schema)]


def refuse_unprintable(value, path, deeper):
    """Refuse text that a database or a terminal would change.

    :param deeper: how many levels `value` may be nested.
    :raises BadField: a text has a control character or half a surrogate pair, or `value` is
        nested too deep.
    """
    if isinstance(value, str):
        for character in value:
            if unicodedata.category(character) in ('Cc', 'Cs') and character not in '\t\r\n':
                raise errors.BadField(field=path, reason=(
                    f'the character U+{ord(character):04X} is not allowed in text.'))
        return
    if deeper == 0:
        raise errors.BadField(field=path, reason='it is nested too deep.')
    if isinstance(value, dict):
        for key, item in value.items():
            refuse_unprintable(key, path, deeper - 1)
            refuse_unprintable(item, key, deeper - 1)
    elif isinstance(value, list):
        for item in value:
            refuse_unprintable(item, path, deeper - 1)

# SPDX-License-Identifier: Apache-2.0
"""The secret fields of requests: read for starts and changes, and masked in messages."""
import json
import re

from climate import errors
from climate.db import reservations as rows
from climate.domain import texts

# Shorter values, such as "1" or "true", would mask ordinary words.
_SHORTEST = 5
_MASK = '***'
# The maximum number of secrets to mask in a message. A request may have a hundred thousand.
_MOST = 10_000
_WORD = re.compile('[A-Za-z0-9]+')
# The maximum length of a message. Cut a message only after masking, so that no secret is cut.
_LONGEST = 2_000


def read(core, reservations):
    """Return {reservation id: {name: value}} of the reservations with secret fields.

    The value of a field is None if the request lacks it, and after the start. A manager of an
    earlier release stored the values in the request.
    """
    plugins = core.registry.plugins
    fields_of = {reservation.id: {name: reservation.request.get(name)
                                  for name in plugins[reservation.resource_type].secret_fields}
                 for reservation in reservations
                 if reservation.resource_type in plugins
                 and plugins[reservation.resource_type].secret_fields}
    if not fields_of:
        return {}
    with core.database.reader() as connection:
        stored = rows.secrets_of(connection, fields_of)
    return {key: {**fields, **stored.get(key, {})} for key, fields in fields_of.items()}


def masked(plugin, secrets, error: errors.ClimateError) -> texts.Text:
    """Return the text of an error without the secrets of a reservation.

    Only the beginning of a long message is returned.

    :param secrets: the secret fields of the request, {name: value}.
    """
    message = texts.of_error(error)
    candidates = [text for text in (plugin.secret_texts(secrets) if secrets else ())
                  if len(text) >= _SHORTEST and _may_be_in(text, message)]
    if len(candidates) > _MOST:
        return texts.same('The message may repeat parts of the request and is not shown.')
    # Longer texts come first, because a secret may contain another one.
    forms = sorted({form for text in candidates for form in _forms(text)}, key=len, reverse=True)
    return texts.Text(_without(message.owner, forms), _without(message.operator, forms))


def _may_be_in(text, message):
    """Return whether a message has the longest word of a secret, which all its forms contain."""
    longest = max(_WORD.findall(text), key=len, default='')
    return longest in message.owner or longest in message.operator


def _forms(text):
    """Yield the forms in which a service may repeat a text, such as quoted or on one line."""
    for form in (text, repr(text)[1:-1], ascii(text)[1:-1], json.dumps(text)[1:-1],
                 json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form
        yield ' '.join(form.split())


def _without(message, secrets):
    for secret in secrets:
        message = message.replace(secret, _MASK)
    return message if len(message) <= _LONGEST else f'{message[:_LONGEST]}…'

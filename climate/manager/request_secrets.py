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
# The number of texts that are searched for in a message. A request may have a hundred thousand.
_MOST = 10_000
_WORD = re.compile('[A-Za-z0-9]+')
# The maximum length of a message. Cut it only after masking, or the beginning of a secret would
# remain.
_LONGEST = 2_000


def read(core, reservations):
    """Return {reservation id: {name: value}} of the reservations with secret fields.

    A field that the request lacks is None, and so are all fields after the start. A manager of an
    earlier release stored them in the request.
    """
    plugins = core.registry.plugins
    known = {reservation.id: {name: reservation.request.get(name)
                              for name in plugins[reservation.resource_type].secret_fields}
             for reservation in reservations
             if reservation.resource_type in plugins
             and plugins[reservation.resource_type].secret_fields}
    if not known:
        return {}
    with core.database.reader() as connection:
        stored = rows.secrets_of(connection, known)
    return {key: {**fields, **stored.get(key, {})} for key, fields in known.items()}


def masked(plugin, secrets, error: errors.ClimateError) -> texts.Text:
    """Return the text of an error without the secrets of a reservation.

    Only the beginning of a long message is returned.

    :param secrets: the secret fields of the request, {name: value}.
    """
    message = texts.of_error(error)
    known = plugin.secret_texts(secrets) if secrets else ()
    candidates = [text for text in known if len(text) >= _SHORTEST and _may_be_in(text, message)]
    if len(candidates) > _MOST:
        return texts.same('The message may repeat parts of the request and is not shown.')
    # A secret may be a part of another one.
    by_length = sorted({form for text in candidates for form in _forms(text)},
                       key=len, reverse=True)
    return texts.Text(_without(message.owner, by_length), _without(message.operator, by_length))


def _may_be_in(text, message):
    """Return whether a Text may contain a form of a text: all forms have its longest word."""
    longest = max(_WORD.findall(text), key=len, default='')
    return longest in message.owner or longest in message.operator


def _forms(text):
    """Yield the forms in which a service may repeat a text: unchanged, quoted, on one line."""
    for form in (text, repr(text)[1:-1], ascii(text)[1:-1], json.dumps(text)[1:-1],
                 json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form
        yield ' '.join(form.split())


def _without(message, secrets):
    for secret in secrets:
        message = message.replace(secret, _MASK)
    return message if len(message) <= _LONGEST else f'{message[:_LONGEST]}…'

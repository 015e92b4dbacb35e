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
# How many texts are searched for in a message. A request may have a hundred thousand.
_MOST = 10_000
_WORD = re.compile('[A-Za-z0-9]+')
# The maximum length of a message. It is cut after the secrets are masked: the beginning of a secret
# would not be found.
_LONGEST = 2_000


def read(core, reservations):
    """Return {reservation id: {name: value}} of those whose plugin calls fields secret.

    A field that the request does not have is None. So are all once the reservation was started. A
    manager of an earlier release stored them in the request.
    """
    plugins = core.registry.plugins
    known = {each.id: {name: each.request.get(name)
                       for name in plugins[each.resource_type].secret_fields}
             for each in reservations
             if each.resource_type in plugins and plugins[each.resource_type].secret_fields}
    if not known:
        return {}
    with core.database.reader() as connection:
        found = rows.secrets_of(connection, known)
    return {key: {**fields, **found.get(key, {})} for key, fields in known.items()}


def masked(plugin, secrets, error: errors.ClimateError) -> texts.Text:
    """Return the text of an error without the secrets of a reservation.

    Only the beginning of a long message is returned.

    :param secrets: the secret fields of the request, {name: value}.
    """
    found = texts.of_error(error)
    known = plugin.secret_texts(secrets) if secrets else ()
    candidates = [text for text in known if len(text) >= _SHORTEST and _may_be_in(text, found)]
    if len(candidates) > _MOST:
        return texts.same('The message may repeat parts of the request and is not shown.')
    # A secret may be a part of another one.
    by_length = sorted({form for text in candidates for form in _forms(text)},
                       key=len, reverse=True)
    return texts.Text(_without(found.owner, by_length), _without(found.operator, by_length))


def _may_be_in(text, found):
    """Return whether a Text may have any form of a text: its longest word is the same in each."""
    longest = max(_WORD.findall(text), key=len, default='')
    return longest in found.owner or longest in found.operator


def _forms(text):
    """Yield the forms in which a service may repeat a text: as it is, quoted, on one line."""
    for form in (text, repr(text)[1:-1], ascii(text)[1:-1], json.dumps(text)[1:-1],
                 json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form
        yield ' '.join(form.split())


def _without(message, secrets):
    for each in secrets:
        message = message.replace(each, _MASK)
    return message if len(message) <= _LONGEST else f'{message[:_LONGEST]}…'

# SPDX-License-Identifier: Apache-2.0
"""The secret fields of requests: read for starts and changes, and masked in messages."""
from climate import errors
from climate.db import reservations as rows
from climate.domain import texts

# Shorter values, such as "1" or "true", would mask ordinary words.
_SHORTEST = 5
_MASK = '***'


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


class Masked:
    """Masks the secrets of one reservation in the messages of errors."""

    def __init__(self, plugin, secrets):
        known = {text for text in plugin.secret_texts(secrets) if len(text) >= _SHORTEST
                 } if secrets else ()
        # A secret may be a part of another one.
        self._texts = sorted(known, key=len, reverse=True)

    def text(self, error: errors.ClimateError):
        """Return the ``texts.Text`` of an error without secrets."""
        found = texts.of_error(error)
        return texts.Text(self._masked(found.owner), self._masked(found.operator))

    def _masked(self, message):
        for each in self._texts:
            message = message.replace(each, _MASK)
        return message

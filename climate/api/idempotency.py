# SPDX-License-Identifier: Apache-2.0
"""The header Idempotency-Key, which makes a request safe to repeat."""
import hashlib
import json

from climate import errors

_LONGEST = 255
#: The header in OpenAPI.
PARAMETER = {'name': 'Idempotency-Key', 'in': 'header', 'schema': {
    'type': 'string', 'minLength': 1, 'maxLength': _LONGEST}}


def key_of(request):
    """Return the key of a request, or None.

    :raises BadField: the key has characters that are not allowed, or too many.
    """
    key = request.headers.get('Idempotency-Key')
    if key is not None and not (key.isascii() and key.isprintable() and 0 < len(key) <= _LONGEST):
        raise errors.BadField(field='Idempotency-Key', reason=(
            f'it must have 1 to {_LONGEST} printable ASCII characters, such as a UUID.'))
    return key


def hash_of(data):
    """Return the hash of a body as it was sent, so a repeated "+2h" is the same request."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()

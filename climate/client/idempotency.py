# SPDX-License-Identifier: Apache-2.0
"""Idempotency keys, with which a request that makes something can be repeated."""
import uuid

from climate.client import errors


def headers(given: str | None) -> dict[str, str]:
    """Return the header with a key; None: a new one.

    :raises BadValue: the key has characters that are not allowed.
    """
    if given is None:
        return {'Idempotency-Key': str(uuid.uuid4())}
    if not (given.isascii() and given.isprintable() and given):
        raise errors.BadValue(f'--key: "{given}" is not a key: write printable ASCII characters.')
    return {'Idempotency-Key': given}

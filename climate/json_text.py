# SPDX-License-Identifier: Apache-2.0
"""Hooks for ``json.loads`` that refuse what JSON does not have, or would lose."""
from collections.abc import Sequence
import json
from typing import Any
from typing import NoReturn


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object as a dict, as its ``object_pairs_hook``.

    :raises ValueError: a key is given twice, so that one of its values would be lost.
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key {json.dumps(key[:40])} is given twice')
        found[key] = value
    return found


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, as its ``parse_constant``.

    :raises ValueError: always.
    """
    raise ValueError(f'{name} is not a JSON number')

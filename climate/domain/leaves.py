# SPDX-License-Identifier: Apache-2.0
"""The texts in a JSON value, without the keys of its objects."""
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any


def of(value: Any) -> Iterator[str]:
    """Yield each text, and each number as text, of a JSON value."""
    # A list instead of recursion, because users decide how deep the value is.
    left = [value]
    while left:
        found = left.pop()
        if isinstance(found, Mapping):
            left.extend(found.values())
        elif isinstance(found, list | tuple):
            left.extend(found)
        elif found is not None and not isinstance(found, bool):
            yield str(found)

# SPDX-License-Identifier: Apache-2.0
"""The names of pools, and numbers, in sentences."""


def plural(noun: str) -> str:
    """Return the plural of the name of a pool, such as "hosts" or "addresses"."""
    return f'{noun}es' if noun.endswith('s') else f'{noun}s'


def counted(count: int, one: str, many: str) -> str:
    """Return a number and the words that agree with it: `one` for 1, otherwise `many`."""
    return f'{count} {one if count == 1 else many}'

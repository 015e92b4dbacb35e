# SPDX-License-Identifier: Apache-2.0
"""The names of pools in sentences."""


def plural(noun: str) -> str:
    """Return the plural of the name of a pool, such as "hosts" or "addresses"."""
    return f'{noun}es' if noun.endswith('s') else f'{noun}s'

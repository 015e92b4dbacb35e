# SPDX-License-Identifier: Apache-2.0
"""What a server requires of its host."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Shape:
    """The resources and traits that a server requires of a host.

    :ivar resources: pairs (resource class, units), sorted.
    :ivar traits: names of the required traits.
    """

    resources: tuple[tuple[str, int], ...]
    traits: frozenset[str] = frozenset()

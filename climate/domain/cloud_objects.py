# SPDX-License-Identifier: Apache-2.0
"""Names and records of objects in the cloud that adapters and plugins share."""
import dataclasses

#: The extra spec of a volume type that names the back end of its volumes.
BACKEND_SPEC = 'volume_backend_name'
#: The extra spec with the availability zones of the volumes of a type. Without it, Cinder creates a
#: volume only in the requested zone, or in its default zone.
ZONES_SPEC = 'RESKEY:availability_zones'


@dataclasses.dataclass(frozen=True)
class Shape:
    """The resources and traits that a server requires of a host.

    :ivar resources: pairs (resource class, units), sorted.
    :ivar traits: names of the required traits.
    """

    resources: tuple[tuple[str, int], ...]
    traits: frozenset[str] = frozenset()

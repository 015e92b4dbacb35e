# SPDX-License-Identifier: Apache-2.0
"""Frozen records of the objects of Cinder."""
import dataclasses
import math
import typing


@dataclasses.dataclass(frozen=True)
class Backend:
    """A storage back end, which Cinder calls a pool.

    :ivar name: ``host@backend#pool``.
    :ivar backend_name: the name by which volume types choose it.
    :ivar usable_gb: the capacity for volumes, free or not; None if the driver does not report it.
    """

    name: str
    backend_name: str
    usable_gb: int | None


@dataclasses.dataclass(frozen=True)
class StorageService:
    """A service of Cinder.

    :ivar host: ``host@backend`` of a service of volumes.
    :ivar enabled: whether it gets new volumes.
    :ivar reason: the reason given when it was disabled; None if none was given.
    :ivar frozen: whether an administrator has frozen it; it then gets no new volumes either.
    :ivar zone: its availability zone; None if it is not known.
    """

    binary: str
    host: str
    enabled: bool
    up: bool
    reason: str | None = None
    frozen: bool = False
    zone: str | None = None


@dataclasses.dataclass(frozen=True)
class VolumeType:
    """A volume type.

    :ivar extra_specs: {key: text}.
    """

    id: str
    name: str
    is_public: bool
    extra_specs: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Volume:
    """A volume.

    :ivar status: Cinder's status: creating, available, in-use, error …
    :ivar type_name: the name of its volume type.
    :ivar server_ids: the servers to which it is attached.
    :ivar backend: the name of its back end; None if it never got one, or the caller may not see it.
    :ivar zone: its availability zone; None if Cinder does not show it.
    """

    id: str
    name: str
    size_gb: int
    status: str
    project_id: str
    type_name: str
    server_ids: tuple[str, ...] = ()
    backend: str | None = None
    zone: str | None = None


@dataclasses.dataclass(frozen=True)
class VolumeSnapshot:
    """A snapshot of a volume.

    :ivar status: Cinder's status: creating, available, error …
    """

    id: str
    name: str
    status: str


def usable_gb(capabilities: dict[str, typing.Any]) -> int | None:
    """Return the capacity of a back end for volumes, from its capabilities as Cinder shows them.

    Cinder admits volumes up to the total without the reserved share, times the over-subscription
    ratio if the driver provisions thinly. The free figure is as old as the last poll and not used.
    """
    total: typing.Any = capabilities.get('total_capacity_gb')
    try:
        total_gb = float(total)
        reserved = float(capabilities.get('reserved_percentage') or 0)
        ratio = float(capabilities.get('max_over_subscription_ratio') or 1)
    except (TypeError, ValueError):
        # "infinite" and "unknown" are not numbers; "auto" is not a ratio.
        return None
    if not math.isfinite(total_gb * ratio):
        return None
    is_thin = str(capabilities.get('thin_provisioning_support')).lower() == 'true'
    return int(total_gb * (1 - reserved / 100) * (ratio if is_thin else 1))

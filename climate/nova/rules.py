# SPDX-License-Identifier: Apache-2.0
"""Whether a server may be placed on a host, as a pure decision.

A host is fenced while it is in the freepool or in the aggregate of a reservation. A fenced host
takes servers of its reservation only, and a server that names a reservation goes nowhere else.
"""
import dataclasses

#: Extra spec by which a flavor belongs to a reservation.
FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'


@dataclasses.dataclass(frozen=True)
class Options:
    """The names that Climate gives to things in Nova; the same as in its own [nova]."""

    freepool: str = 'freepool'
    owner_key: str = 'climate:owner'
    zone_prefix: str = 'climate_'


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """One of the aggregates of a host.

    :ivar zone: its availability zone or None.
    :ivar metadata: {key: text}.
    """

    name: str
    zone: str | None
    metadata: dict


def hinted(value):
    """The reservations that a scheduler hint names, as a list; None without the hint."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [str(value)]


def passes(reservations, project_id, aggregates, options, flavor_reserved=False):
    """Whether a server may be placed on the host with these aggregates.

    :param reservations: the ids in the hint `reservation`; None if the request has no such hint.
    :param flavor_reserved: the flavor has the extra spec FLAVOR_KEY.
    """
    return refusal(reservations, project_id, aggregates, options, flavor_reserved) is None


def refusal(reservations, project_id, aggregates, options, flavor_reserved=False):
    """As `passes`, but in words why not; None if the server may be placed there."""
    fences = [each for each in aggregates if _is_fence(each, options)]
    if reservations is not None:
        return _refusal_of_hint(reservations, project_id, fences, options)
    if flavor_reserved or not fences:
        # The flavor needs a resource class that only hosts of its reservation have.
        return None
    return 'reserved for others'


def _refusal_of_hint(reservations, project_id, fences, options):
    for fence in fences:
        if fence.name in reservations:
            if _may_use(project_id, fence.metadata, options):
                return None
            return 'its reservation is not for this project, or not active'
    return 'not in the reservation'


def _is_fence(aggregate, options):
    if aggregate.name == options.freepool:
        return True
    return bool(options.zone_prefix) and (aggregate.zone or '').startswith(options.zone_prefix)


def _may_use(project_id, metadata, options):
    """The owner may, and each project that has a key of its own in the metadata."""
    if not project_id:
        return False
    return metadata.get(options.owner_key) == project_id or bool(metadata.get(project_id))

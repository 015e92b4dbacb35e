# SPDX-License-Identifier: Apache-2.0
"""Frozen records of networks on segments, and of ports, routers and trunks."""
import dataclasses

#: A segment: the name of its physical network, its type such as "vlan", and its id.
Segment = tuple[str, str, int]


@dataclasses.dataclass(frozen=True)
class SegmentNetwork:
    """A network with the segment that only administrators see.

    :ivar segment: the Segment that it is on; None: Neutron names none, or several.
    """

    id: str
    name: str
    project_id: str
    segment: Segment | None
    description: str = ''
    tags: tuple[str, ...] = ()
    subnet_ids: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Port:
    """A port of a network.

    :ivar owner: its user, such as "compute:nova" or "network:router_interface"; empty: nothing.
    :ivar device_id: the id of the server or router that uses it; empty: none.
    """

    id: str
    network_id: str
    project_id: str
    owner: str
    device_id: str = ''


@dataclasses.dataclass(frozen=True)
class Router:
    """A router of a project.

    :ivar external_network_id: the network of its gateway; None: it has none.
    """

    id: str
    name: str
    project_id: str
    external_network_id: str | None = None
    description: str = ''


@dataclasses.dataclass(frozen=True)
class Trunk:
    """A trunk: a port that carries the traffic of other ports, its sub-ports."""

    id: str
    port_id: str
    sub_port_ids: tuple[str, ...] = ()

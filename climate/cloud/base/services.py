# SPDX-License-Identifier: Apache-2.0
"""The faces of the connected services under one identity, created on first use."""
from collections.abc import Callable
from collections.abc import Container
import threading
from typing import Any

from climate.cloud.base import attachments as _attachments
from climate.cloud.base import clusters as _clusters
from climate.cloud.base import computes as _computes
from climate.cloud.base import face
from climate.cloud.base import flavors as _flavors
from climate.cloud.base import floating_ips as _floating_ips
from climate.cloud.base import images as _images
from climate.cloud.base import interfaces as _interfaces
from climate.cloud.base import keystone as _keystone
from climate.cloud.base import network_parts as _network_parts
from climate.cloud.base import networks as _networks
from climate.cloud.base import nova as _nova
from climate.cloud.base import placement as _placement
from climate.cloud.base import segments as _segments
from climate.cloud.base import servers as _servers
from climate.cloud.base import stacks as _stacks
from climate.cloud.base import storage_hosts as _storage_hosts
from climate.cloud.base import volumes as _volumes


class Services:
    """The faces of the connected services, as attributes.

    Adapters name the attributes, so a new adapter needs no line here. The attributes of the
    adapters in this tree are declared for readers and type checkers.

    :param names: the names of the faces.
    :param make: callable(name) → the Face; called once for each name.
    """

    nova: _nova.Nova
    flavors: _flavors.Flavors
    servers: _servers.Servers
    computes: _computes.Computes
    placement: _placement.Placement
    images: _images.Images
    stacks: _stacks.Stacks
    networks: _networks.Networks
    floating_ips: _floating_ips.FloatingIPs
    segments: _segments.Segments
    network_parts: _network_parts.NetworkParts
    interfaces: _interfaces.Interfaces
    keystone: _keystone.Keystone
    attachments: _attachments.Attachments
    volumes: _volumes.Volumes
    storage_hosts: _storage_hosts.StorageHosts
    clusters: _clusters.Clusters

    def __init__(self, names: Container[str], make: Callable[[str], face.Face]) -> None:
        self._names = names
        self._make = make
        self._lock = threading.Lock()

    def __contains__(self, name: str) -> bool:
        """Return whether a connected service has this face."""
        return name in self._names

    def __getattr__(self, name: str) -> Any:
        # Python calls this only until the face is stored as an ordinary attribute.
        if name not in self.__dict__.get('_names', ()):
            raise AttributeError(
                f'No adapter with the face "{name}" is connected. A plugin must list the adapters '
                'that it uses in `services`.')
        with self._lock:
            if name not in self.__dict__:
                self.__dict__[name] = self._make(name)
            return self.__dict__[name]

# SPDX-License-Identifier: Apache-2.0
"""The interfaces of the cloud, which the real and the simulated one both implement.

Every method is thread-safe. It raises CloudError, or one of its subclasses, if the service fails,
and TrustDead if it acts for a user whose trust gives no token any more.
"""
import abc
from collections.abc import Callable
from collections.abc import Container
from collections.abc import Mapping
import threading
from typing import Any

from climate.cloud.base import attachments as _attachments
from climate.cloud.base import cinder as _cinder
from climate.cloud.base import computes as _computes
from climate.cloud.base import flavors as _flavors
from climate.cloud.base import heat as _heat
from climate.cloud.base import images as _images
from climate.cloud.base import interface as _interface
from climate.cloud.base import keystone as _keystone
from climate.cloud.base import magnum as _magnum
from climate.cloud.base import neutron as _neutron
from climate.cloud.base import neutron_networks as _neutron_networks
from climate.cloud.base import nova as _nova
from climate.cloud.base import placement as _placement
from climate.cloud.base import servers as _servers
from climate.cloud.base import storage_hosts as _storage_hosts

Adapter = _interface.Adapter
ServiceInterface = _interface.ServiceInterface
read = _interface.read

Attachments = _attachments.Attachments
CloudServers = _servers.CloudServers
Clusters = _magnum.Clusters
Computes = _computes.Computes
Flavors = _flavors.Flavors
FloatingIPs = _neutron.FloatingIPs
Images = _images.Images
Keystone = _keystone.Keystone
NetworkParts = _neutron_networks.NetworkParts
Networks = _neutron.Networks
Nova = _nova.Nova
Placement = _placement.Placement
Segments = _neutron_networks.Segments
Stacks = _heat.Stacks
StorageHosts = _storage_hosts.StorageHosts
Volumes = _cinder.Volumes

CinderAdapter = _cinder.CinderAdapter
GlanceAdapter = _images.GlanceAdapter
HeatAdapter = _heat.HeatAdapter
KeystoneAdapter = _keystone.KeystoneAdapter
MagnumAdapter = _magnum.MagnumAdapter
NeutronAdapter = _neutron.NeutronAdapter
NovaAdapter = _nova.NovaAdapter
PlacementAdapter = _placement.PlacementAdapter


class CloudServices:
    """The interfaces to the connected services under one identity, each created on first use.

    Adapters name the attributes, so a new adapter needs no line here. The attributes of the
    adapters in this tree are declared for readers and type checkers.

    :param names: the names of the interfaces.
    :param make: callable(name) → the ServiceInterface; called once for each name.
    """

    attachments: Attachments
    clusters: Clusters
    computes: Computes
    flavors: Flavors
    floating_ips: FloatingIPs
    images: Images
    keystone: Keystone
    network_parts: NetworkParts
    networks: Networks
    nova: Nova
    placement: Placement
    segments: Segments
    servers: CloudServers
    stacks: Stacks
    storage_hosts: StorageHosts
    volumes: Volumes

    def __init__(self, names: Container[str], make: Callable[[str], ServiceInterface]) -> None:
        self._names = names
        self._make = make
        self._lock = threading.Lock()

    def __contains__(self, name: str) -> bool:
        """Return whether a connected service has this interface."""
        return name in self._names

    def __getattr__(self, name: str) -> Any:
        # Python calls this only until the interface is stored as an ordinary attribute.
        if name not in self.__dict__.get('_names', ()):
            raise AttributeError(
                f'No adapter with the interface "{name}" is connected. A plugin must list the '
                'adapters that it uses in `services`.')
        with self._lock:
            if name not in self.__dict__:
                self.__dict__[name] = self._make(name)
            return self.__dict__[name]


class CloudDriver(abc.ABC):
    """The cloud, under any identity that Climate uses. A process has one instance.

    :ivar adapters: {name: Adapter class} of the connected services.
    """

    adapters: Mapping[str, type[Adapter]]

    @abc.abstractmethod
    def log_in(self) -> None:
        """Log in as Climate itself with each login of the configuration that has no valid token.

        :raises CloudUnreachable: Keystone does not answer.
        :raises CloudError: Keystone refuses a login; the message names its option group.
        """

    @abc.abstractmethod
    def check(self) -> None:
        """Log in, and check that each connected service answers Climate itself.

        :raises CloudUnreachable: some services do not answer; none refuses.
        :raises CloudError: some services refuse; the message names their option groups.
        """

    @abc.abstractmethod
    def as_service(self) -> CloudServices:
        """Return the CloudServices that act as Climate itself."""

    @abc.abstractmethod
    def as_user(self, trust_id: str | None) -> CloudServices:
        """Return the CloudServices that act on behalf of the user who gave this trust.

        :raises TrustDead: the trust gives no token: the user, the role or the trust is gone.
        """

    @abc.abstractmethod
    def as_caller(self, context: Any) -> CloudServices:
        """Return the CloudServices that act with the token of a request, while it is answered.

        :param context: the RequestContext of the caller.
        :raises TrustRefused: the request carries no token.
        """

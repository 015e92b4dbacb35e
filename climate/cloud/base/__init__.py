# SPDX-License-Identifier: Apache-2.0
"""The interfaces of the cloud, which the real and the simulated one both implement.

Every method is thread-safe. It raises CloudError, or one of its subclasses, if the service fails,
and TrustDead if it acts for a user whose trust gives no token any more.
"""
import abc
from collections.abc import Mapping

from climate.cloud.base import adapter as _adapter
from climate.cloud.base import attachments as _attachments
from climate.cloud.base import clusters as _clusters
from climate.cloud.base import computes as _computes
from climate.cloud.base import face as _face
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
from climate.cloud.base import services as _services
from climate.cloud.base import stacks as _stacks
from climate.cloud.base import storage_hosts as _storage_hosts
from climate.cloud.base import volumes as _volumes

Adapter = _adapter.Adapter
Attachments = _attachments.Attachments
Clusters = _clusters.Clusters
Computes = _computes.Computes
Face = _face.Face
Flavors = _flavors.Flavors
FloatingIPs = _floating_ips.FloatingIPs
Images = _images.Images
Interfaces = _interfaces.Interfaces
Keystone = _keystone.Keystone
NetworkParts = _network_parts.NetworkParts
Networks = _networks.Networks
Nova = _nova.Nova
Placement = _placement.Placement
Segments = _segments.Segments
Servers = _servers.Servers
Services = _services.Services
Stacks = _stacks.Stacks
StorageHosts = _storage_hosts.StorageHosts
Volumes = _volumes.Volumes
read = _face.read


class Cloud(abc.ABC):
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
    def as_service(self) -> Services:
        """Return the Services that act as Climate itself."""

    @abc.abstractmethod
    def as_user(self, trust_id: str | None) -> Services:
        """Return the Services that act on behalf of the user who gave this trust.

        :raises TrustDead: the trust gives no token: the user, the role or the trust is gone.
        """

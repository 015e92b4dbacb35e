# SPDX-License-Identifier: Apache-2.0
"""The faces of the cloud: what the real and the simulated one both promise.

Every method may be called by many threads at once, raises CloudError (or one of its kinds) when
the other service fails, and TrustDead when it acts for a user whose trust gives no token any more.
"""
import abc
import dataclasses

from climate.cloud.base import computes as _computes
from climate.cloud.base import flavors as _flavors
from climate.cloud.base import images as _images
from climate.cloud.base import keystone as _keystone
from climate.cloud.base import nova as _nova
from climate.cloud.base import placement as _placement
from climate.cloud.base import servers as _servers

Computes = _computes.Computes
Flavors = _flavors.Flavors
Images = _images.Images
Keystone = _keystone.Keystone
Nova = _nova.Nova
Placement = _placement.Placement
Servers = _servers.Servers


@dataclasses.dataclass(frozen=True)
class Services:
    """The services of the cloud, used under one identity."""

    nova: Nova
    flavors: Flavors
    placement: Placement
    keystone: Keystone
    servers: Servers
    images: Images
    computes: Computes


class Cloud(abc.ABC):
    """The cloud, under any identity that Climate has. One instance serves a whole process."""

    @abc.abstractmethod
    def as_service(self):
        """The Services, used as Climate itself."""

    @abc.abstractmethod
    def as_user(self, trust_id):
        """The Services, used on behalf of the user who gave this trust.

        :raises TrustDead: the trust gives no token: user, role or the trust itself is gone.
        """

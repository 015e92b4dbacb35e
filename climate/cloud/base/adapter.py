# SPDX-License-Identifier: Apache-2.0
"""The contract of an adapter, by which Climate reaches one service of the cloud."""
import abc
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate.cloud.base import face
from climate.conf import client


class Adapter(abc.ABC):
    """One service of the cloud, real or simulated. The class is used, never an instance.

    An entry point of ``climate.cloud.openstack`` or ``climate.cloud.simulated`` names it. Plugins
    that use it list this name, which is also the name of its option group.
    """

    #: The option group that says how the service is found and reached.
    options: ClassVar[client.Client]
    #: {attribute of Services: its Face class}. A real face is created from a ``cloud.link.Link``,
    #: a simulated one from a ``cloud.simulated.link.Link``.
    faces: ClassVar[Mapping[str, type[face.Face]]]
    #: Errors of its library, other than those of keystoneauth, that become CloudError.
    foreign: ClassVar[tuple[type[Exception], ...]] = ()
    #: For a simulated adapter: SQL statements that create its tables if they do not exist.
    tables: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    @abc.abstractmethod
    def probe(services: Any) -> object:
        """Make one cheap call that proves that the service answers and accepts Climate's login.

        :param services: the Services that act as Climate itself.
        """

# SPDX-License-Identifier: Apache-2.0
"""The contract of an adapter: how Climate reaches one service of the cloud."""
import abc
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import ClassVar
from typing import TypeVar

from climate.conf import client

_Method = TypeVar('_Method', bound=Callable[..., Any])


class ServiceInterface(abc.ABC):  # noqa: B024 - each service adds its own methods
    """The interface to a part of a service, under one identity.

    :ivar trust_id: the trust of the user on whose behalf it acts; None: as Climate itself.
    :ivar login_group: the option group whose login it uses.
    :param connection: a ``cloud.connection.ServiceConnection``, or a
        ``cloud.simulated.interface.SimulatedConnection``.
    """

    #: The name of the service in messages.
    service: ClassVar[str] = ''

    def __init__(self, connection: Any) -> None:
        self.trust_id: str | None = connection.trust_id
        self.login_group: str = connection.login_group


def read(method: _Method) -> _Method:
    """Mark a method as read-only: it is retried at once if the service does not answer."""
    method.reads_only = True  # type: ignore[attr-defined]
    return method


class Adapter(abc.ABC):
    """One service of the cloud, real or simulated. The class is used, never an instance.

    An entry point of ``climate.cloud.openstack`` or ``climate.cloud.simulated`` names it. Plugins
    that use it list this name, which is also the name of its option group.
    """

    #: The option group that says how the service is found and reached.
    options: ClassVar[client.Client]
    #: {attribute of CloudServices: its ServiceInterface class}.
    interfaces: ClassVar[Mapping[str, type[ServiceInterface]]]
    #: Errors of its library, other than those of keystoneauth, that become CloudError.
    foreign: ClassVar[tuple[type[Exception], ...]] = ()
    #: For a simulated adapter: SQL statements that create its tables if they do not exist.
    tables: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    @abc.abstractmethod
    def probe(services: Any) -> object:
        """Make one cheap call that proves that the service answers and accepts Climate's login.

        :param services: the CloudServices that act as Climate itself.
        """

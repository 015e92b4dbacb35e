# SPDX-License-Identifier: Apache-2.0
"""The interface to Nova's compute services."""
import abc
from collections.abc import Collection

from climate.cloud import models
from climate.cloud.base import interface


class Computes(interface.ServiceInterface):
    """The compute services, one for each service host. Only Climate itself may call this.

    When Nova disables a service it also sets the trait BARRED on the host in Placement, and reports
    success even if that failed. Then Placement keeps the old trait until the service is changed
    again: callers check the trait, and repeat the change.
    """

    service = 'Nova'
    #: The trait of hosts whose service is disabled.
    BARRED = 'COMPUTE_STATUS_DISABLED'

    @abc.abstractmethod
    @interface.read
    def every(self) -> list[models.ComputeService]:
        """Return all ComputeServices, in no particular order."""

    @abc.abstractmethod
    @interface.read
    def of_hosts(self, service_hosts: Collection[str]) -> list[models.ComputeService]:
        """Return the ComputeServices that these hosts have, in no particular order."""

    @abc.abstractmethod
    def disable(self, service_host: str, reason: str) -> bool:
        """Disable an enabled service, so that its host gets no new server.

        A service that is disabled already stays as it is. The call may be repeated.

        :returns: True if it is disabled for exactly that reason now.
        :raises ResourceNotFound: there is no such service.
        """

    @abc.abstractmethod
    def enable(self, service_host: str, reason: str) -> bool:
        """Enable a service that is disabled for exactly that reason.

        A service that is disabled for another reason, or does not exist, stays as it is. The call
        may be repeated.

        :returns: True if it is enabled now.
        """

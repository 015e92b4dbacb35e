# SPDX-License-Identifier: Apache-2.0
"""The face of Nova: the compute services, which take new servers or do not."""
import abc


class Computes(abc.ABC):
    """The compute services, one for each service host; as the service only.

    Nova writes what a service may take down in Placement too, as the trait BARRED of the host,
    and says that all went well also where that failed. Such a host stays barred, or open to
    Placement, until the next change of its service: look at the trait, and change it again.
    """

    service = 'Nova'
    #: The trait of hosts whose service is disabled.
    BARRED = 'COMPUTE_STATUS_DISABLED'

    @abc.abstractmethod
    def every(self):
        """All Computes, as a list in no promised order."""

    @abc.abstractmethod
    def of_hosts(self, service_hosts):
        """The Computes of those of these hosts that have one, as a list in no promised order."""

    @abc.abstractmethod
    def fence(self, service_host, reason):
        """Disable a service that is enabled, so that its host gets no new server. Repeatable.

        One that anybody has disabled stays as it is.

        :returns: True where it is disabled for that very reason now.
        :raises HostNotFound: there is no such service.
        """

    @abc.abstractmethod
    def unfence(self, service_host, reason):
        """Enable a service that is disabled for that very reason. Repeatable.

        One that is disabled for another stays as it is; one that is not there is done.

        :returns: True where it is enabled now.
        """

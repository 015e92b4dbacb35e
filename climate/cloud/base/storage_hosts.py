# SPDX-License-Identifier: Apache-2.0
"""The interface to Cinder's hosts: their services, and what is on them."""
import abc

from climate.cloud import volume_models as models
from climate.cloud.base import face


class StorageHosts(face.Face):
    """The hosts of storage back ends. Only Climate itself may call this.

    Cinder names a service ``host@backend``, and the pools behind it ``host@backend#pool``.
    """

    service = 'Cinder'
    #: The program that serves a back end.
    BINARY = 'cinder-volume'

    @abc.abstractmethod
    @face.read
    def services(self) -> list[models.Service]:
        """Return all Services of Cinder, of every binary, in no particular order."""

    @abc.abstractmethod
    @face.read
    def volumes_on(self, host: str) -> list[models.Volume]:
        """Return the Volumes of all projects on any back end of a host, in no particular order.

        What is being moved there is among them, too.
        """

    @abc.abstractmethod
    @face.read
    def snapshots_on(self, host: str) -> list[models.Snapshot]:
        """Return the Snapshots of all projects on any back end of a host."""

    @abc.abstractmethod
    @face.read
    def volumes_to_come(self) -> list[models.Volume]:
        """Return the Volumes of all projects that may get another back end at any moment.

        They are being created and have none yet, or they begin to move.
        """

    @abc.abstractmethod
    def disable(self, service_host: str, reason: str) -> bool:
        """Disable the enabled service of a back end, so that it gets no new volume.

        A service that is disabled already stays as it is. The call may be repeated.

        :returns: True if it is disabled for exactly that reason now.
        :raises ResourceNotFound: there is no such service.
        :raises CloudError: Cinder says that it did so, and did not.
        """

    @abc.abstractmethod
    def enable(self, service_host: str, reason: str) -> bool:
        """Enable the service of a back end that is disabled for exactly that reason.

        A service that is disabled for another reason, or does not exist, stays as it is. The call
        may be repeated. The service should be up.

        :returns: True if it is enabled now.
        :raises CloudError: Cinder says that it did so, and did not.
        """

# SPDX-License-Identifier: Apache-2.0
"""The interface to Cinder's hosts: their services, volumes and snapshots."""
import abc

from climate.cloud import volume_models as models
from climate.cloud.base import interface


class StorageHosts(interface.ServiceInterface):
    """The hosts of storage back ends. Only Climate itself may call this.

    Cinder names a service ``host@backend``, and the pools behind it ``host@backend#pool``.
    """

    service = 'Cinder'
    #: The program that serves a back end.
    BINARY = 'cinder-volume'

    @abc.abstractmethod
    @interface.read
    def services(self) -> list[models.StorageService]:
        """Return all StorageServices of Cinder, of every binary, in no particular order."""

    @abc.abstractmethod
    @interface.read
    def volumes_on(self, host: str) -> list[models.Volume]:
        """Return the Volumes of all projects on any back end of a host, in no particular order.

        Volumes that are being moved there are included.
        """

    @abc.abstractmethod
    @interface.read
    def snapshots_on(self, host: str) -> list[models.VolumeSnapshot]:
        """Return the VolumeSnapshots of all projects on any back end of a host."""

    @abc.abstractmethod
    @interface.read
    def unplaced_volumes(self) -> list[models.Volume]:
        """Return the Volumes of all projects that may get another back end at any moment.

        They are being created and have no back end yet, or they begin to move.
        """

    @abc.abstractmethod
    def disable(self, service_host: str, reason: str) -> bool:
        """Disable the enabled service of a back end, so that it gets no new volume.

        A service that is disabled already stays as it is. The call may be repeated.

        :returns: True if it is disabled for exactly that reason now.
        :raises ResourceNotFound: there is no such service.
        :raises CloudError: Cinder reports success, but the service did not change.
        """

    @abc.abstractmethod
    def enable(self, service_host: str, reason: str) -> bool:
        """Enable the service of a back end that is disabled for exactly that reason.

        A service that is disabled for another reason, or does not exist, stays as it is. The call
        may be repeated. The service should be up.

        :returns: True if it is enabled now.
        :raises CloudError: Cinder reports success, but the service did not change.
        """

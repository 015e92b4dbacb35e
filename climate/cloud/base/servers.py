# SPDX-License-Identifier: Apache-2.0
"""The interface to Nova's servers: reading, marking, stopping, shelving and moving them."""
import abc
from collections.abc import Mapping
import datetime

from climate.cloud import models
from climate.cloud.base import interface


class CloudServers(interface.ServiceInterface):
    """The servers and their changes.

    A change is asynchronous: read the server again to see how it went. A change raises StillBusy if
    the state of the server does not allow it, and TargetGone if the server does not exist.
    """

    service = 'Nova'

    @abc.abstractmethod
    @interface.read
    def server(self, server_id: str) -> models.Server | None:
        """Return the Server with its flavor, or None. A user finds only servers of the project.

        A deleted or soft-deleted server is not found, although Nova shows it to an administrator.
        """

    @abc.abstractmethod
    @interface.read
    def marked(self, project_id: str, key: str, text: str) -> list[models.Server]:
        """Return the Servers of a project with this metadata item, oldest first.

        Only Climate itself may call this.
        """

    @abc.abstractmethod
    @interface.read
    def ids(self) -> frozenset[str]:
        """Return the ids of the servers of all projects. Only as Climate itself."""

    @abc.abstractmethod
    @interface.read
    def every(self) -> list[models.Server]:
        """Return the Servers of all projects, in no particular order. Only as Climate itself."""

    @abc.abstractmethod
    def mark(self, server_id: str, metadata: Mapping[str, str | None]) -> None:
        """Set the keys of `metadata`; remove those whose value is None. Other keys stay.

        Nova allows this while a server is ACTIVE, PAUSED, SUSPENDED or SHUTOFF, in any task state.
        It succeeds in every state if the metadata already is as wanted.

        :raises TargetGone: there is no such server.
        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def shelve(self, server_id: str) -> None:
        """Begin to shelve a server. Call this as the user, because the caller owns the image.

        :raises StillBusy: the server is being built, is shelved, or its state does not allow it.
        """

    @abc.abstractmethod
    def offload(self, server_id: str) -> None:
        """Begin to remove a shelved server from its host. Only as Climate itself.

        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def unshelve(self, server_id: str, service_host: str | None = None,
                 keeps_zone: bool = False) -> None:
        """Begin to unshelve a server.

        :param service_host: the host for it, in any zone; only Climate itself may name one.
            None: Nova chooses the host.
        :param keeps_zone: whether the server stays bound to the zone that its user asked for, in
            which the named host is.
        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def suspend(self, server_id: str) -> None:
        """Begin to suspend a server.

        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def unrescue(self, server_id: str) -> None:
        """Begin to boot a server in RESCUE from its own disk again.

        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def stop(self, server_id: str) -> None:
        """Begin to stop a server; it may be in ERROR if it is on a host.

        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    def migrate(self, server_id: str, service_host: str | None = None) -> None:
        """Begin to migrate a server. Only as Climate itself.

        A running server is live-migrated. A stopped one is cold-migrated, and a second call
        confirms the migration. Nova cannot migrate a suspended server. This call does not report
        that the scheduler refuses the host or that the migration fails later: see `last_migration`.

        :param service_host: the target; None: Nova chooses it.
        :raises StillBusy: the state of the server does not allow it.
        """

    @abc.abstractmethod
    @interface.read
    def last_migration(self, server_id: str) -> models.ServerMigration | None:
        """Return the latest ServerMigration of a server, or None. Only as Climate itself.

        This includes a migration that the scheduler refused, but not one that the API refused.
        """

    @abc.abstractmethod
    @interface.read
    def failures(self, server_id: str, change: str, since: datetime.datetime) -> int:
        """Return how many changes of that kind have failed since a moment. Only as Climate itself.

        Nova does not show these failures on the server itself.

        :param change: 'unshelve', 'stop' or 'migrate'.
        :param since: a moment of the database's clock.
        """

    @abc.abstractmethod
    def create_image(self, server_id: str, name: str, key: str) -> None:
        """Begin to create an image of a server, which ``Images.made`` finds by `key`.

        A name that is too long for an image is cut.

        :raises StillBusy: the state of the server does not allow it, or another image of it is
            being created.
        """

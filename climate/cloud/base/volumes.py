# SPDX-License-Identifier: Apache-2.0
"""The interface to Cinder: volumes and their snapshots, volume types, storage back ends, quotas."""
import abc
from collections.abc import Mapping

from climate.cloud import volume_models as models
from climate.cloud.base import face


class Volumes(face.Face):
    """The volumes, with all that decides who may create them and where.

    Cinder accepts most changes before it makes them: callers look at the volume again.
    """

    service = 'Cinder'

    @abc.abstractmethod
    @face.read
    def backends(self) -> list[models.Backend]:
        """Return all Backends, in no particular order. Only as Climate itself."""

    @abc.abstractmethod
    @face.read
    def types(self) -> list[models.VolumeType]:
        """Return the VolumeTypes of everybody, with private ones. Only as Climate itself."""

    @abc.abstractmethod
    def ensure_type(self, name: str, extra_specs: Mapping[str, str]) -> None:
        """Create a private volume type of that name if there is none. Only as Climate itself."""

    @abc.abstractmethod
    def allow(self, type_name: str, project_id: str) -> None:
        """Let a project use a private type. Do nothing if it already may."""

    @abc.abstractmethod
    def forbid(self, type_name: str, project_id: str) -> None:
        """Revoke a project's access to a private type. Do nothing if there is none.

        Volumes of this type stay usable, but cannot grow or get snapshots any more.
        """

    @abc.abstractmethod
    def delete_type(self, type_name: str) -> None:
        """Delete a type with its quotas. Do nothing if it does not exist.

        :raises StillBusy: a volume is of this type.
        """

    @abc.abstractmethod
    @face.read
    def quotas(self, project_id: str) -> dict[str, models.Quota]:
        """Return {name: Quota} of a project, such as 'gigabytes'. Only as Climate itself."""

    @abc.abstractmethod
    def limit(self, project_id: str, type_name: str, gigabytes: int, volumes: int) -> None:
        """Set how much room and how many volumes of a type a project may have."""

    @abc.abstractmethod
    @face.read
    def volume(self, volume_id: str) -> models.Volume | None:
        """Return the Volume, or None if there is none that the caller may see."""

    @abc.abstractmethod
    @face.read
    def every(self, project_id: str | None = None) -> list[models.Volume]:
        """Return the Volumes of all projects, or of one, oldest first. Only as Climate itself."""

    @abc.abstractmethod
    def create(self, name: str, size_gb: int, type_name: str,
               metadata: Mapping[str, str]) -> str:
        """Begin to create a volume of the caller; return its id.

        If there is no room, the volume gets the status ``error`` later.

        :raises CloudError: a quota of the project is used up, or the type does not exist for it.
        """

    @abc.abstractmethod
    def delete(self, volume_id: str) -> None:
        """Begin to delete a volume with its snapshots. Do nothing if it does not exist.

        :raises StillBusy: its state does not allow it, for example because it is attached.
        """

    @abc.abstractmethod
    @face.read
    def snapshots(self, volume_id: str) -> list[models.Snapshot]:
        """Return the Snapshots of a volume, in no particular order. Only as Climate itself."""

    @abc.abstractmethod
    def create_snapshot(self, volume_id: str, name: str) -> None:
        """Begin to create a snapshot of the caller, even if the volume is attached.

        :raises TargetGone: there is no such volume.
        :raises StillBusy: the state of the volume does not allow it.
        """

    @abc.abstractmethod
    def upload(self, volume_id: str, name: str, key: str) -> None:
        """Begin to create an image of a volume, which ``Images.made`` finds by `key`.

        The image belongs to the project of the caller.

        :raises TargetGone: there is no such volume.
        :raises StillBusy: the state of the volume does not allow it; it must be ``available``.
        """

    @abc.abstractmethod
    def forget_key(self, volume_id: str) -> None:
        """Take the key of `upload` off a volume that stays. Do nothing if it has none.

        :raises StillBusy: the state of the volume does not allow it.
        """

    @abc.abstractmethod
    def retype(self, volume_id: str, type_name: str) -> None:
        """Begin to change the type of a volume, which moves it to another back end if necessary.

        :raises TargetGone: there is no such volume.
        :raises StillBusy: the state of the volume does not allow it, or it has snapshots.
        :raises CloudError: a quota of the new type is used up.
        """

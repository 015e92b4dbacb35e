# SPDX-License-Identifier: Apache-2.0
"""The interface to Cinder: volumes and their snapshots, volume types, storage back ends, quotas."""
import abc
from collections.abc import Mapping
from typing import Any

from climate.cloud import models
from climate.cloud import volume_models
from climate.cloud.base import interface
from climate.conf import services


class Volumes(interface.ServiceInterface):
    """The volumes, and the types, quotas and back ends that decide who may create them and where.

    Cinder accepts most changes before it makes them: callers read the volume again.
    """

    service = 'Cinder'

    @abc.abstractmethod
    @interface.read
    def backends(self) -> list[volume_models.Backend]:
        """Return all Backends, in no particular order. Only as Climate itself."""

    @abc.abstractmethod
    @interface.read
    def types(self) -> list[volume_models.VolumeType]:
        """Return all VolumeTypes, with private ones. Only as Climate itself."""

    @abc.abstractmethod
    def ensure_type(self, name: str, extra_specs: Mapping[str, str]) -> None:
        """Create a private volume type of that name if there is none. Only as Climate itself."""

    @abc.abstractmethod
    def allow(self, type_name: str, project_id: str) -> None:
        """Give a project access to a private type. Do nothing if it already may."""

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
    @interface.read
    def quotas(self, project_id: str) -> dict[str, models.Quota]:
        """Return {name: Quota} of a project, such as 'gigabytes'. Only as Climate itself."""

    @abc.abstractmethod
    def limit(self, project_id: str, type_name: str, gigabytes: int, volumes: int) -> None:
        """Limit the gigabytes and the number of volumes of a type that a project may have."""

    @abc.abstractmethod
    @interface.read
    def volume(self, volume_id: str) -> volume_models.Volume | None:
        """Return the Volume, or None if there is none that the caller may see."""

    @abc.abstractmethod
    @interface.read
    def every(self, project_id: str | None = None) -> list[volume_models.Volume]:
        """Return the Volumes of all projects, or of one, oldest first. Only as Climate itself."""

    @abc.abstractmethod
    def create(self, name: str, size_gb: int, type_name: str,
               metadata: Mapping[str, str]) -> str:
        """Begin to create a volume of the caller; return its id.

        If no back end has the capacity, the volume gets the status ``error`` later.

        :raises CloudError: a quota of the project is used up, or the type does not exist for it.
        """

    @abc.abstractmethod
    def delete(self, volume_id: str) -> None:
        """Begin to delete a volume with its snapshots. Do nothing if it does not exist.

        :raises StillBusy: its state does not allow it, for example because it is attached.
        """

    @abc.abstractmethod
    @interface.read
    def snapshots(self, volume_id: str) -> list[volume_models.VolumeSnapshot]:
        """Return the VolumeSnapshots of a volume, in any order. Only as Climate itself."""

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
        """Remove the key of `upload` from a volume that is kept. Do nothing if it has none.

        :raises StillBusy: the state of the volume does not allow it.
        """

    @abc.abstractmethod
    def retype(self, volume_id: str, type_name: str) -> None:
        """Begin to change the type of a volume, which moves it to another back end if necessary.

        :raises TargetGone: there is no such volume.
        :raises StillBusy: the state of the volume does not allow it, or it has snapshots.
        :raises CloudError: a quota of the new type is used up.
        """


class CinderAdapter(interface.Adapter):
    """The options and the probe of Cinder."""

    options = services.CINDER

    @staticmethod
    def probe(services: Any) -> object:
        # Only an administrator may make this call, and Climate must be one.
        return services.volumes.backends()

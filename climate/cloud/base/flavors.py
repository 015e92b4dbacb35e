# SPDX-License-Identifier: Apache-2.0
"""The interface to Nova's flavors and server groups."""
import abc
from collections.abc import Mapping

from climate.cloud import models
from climate.cloud.base import interface


class Flavors(interface.ServiceInterface):
    """The flavors and the server groups."""

    service = 'Nova'

    @abc.abstractmethod
    @interface.read
    def flavor(self, flavor_id: str, project_id: str) -> models.Flavor | None:
        """Return the Flavor, or None if there is none that the project may use."""

    @abc.abstractmethod
    def ensure(self, flavor_id: str, name: str, sizes: Mapping[str, int],
               extra_specs: Mapping[str, str], exactly: bool = False) -> None:
        """Create a private flavor of that id if there is none, and set its extra specs.

        :param exactly: one that has other sizes or extra specs is deleted first.
        :param sizes: {'vcpus', 'ram', 'disk', 'ephemeral', 'swap'}: numbers, as Nova has them.
        """

    @abc.abstractmethod
    def allow(self, flavor_id: str, project_id: str) -> None:
        """Give a project access to a private flavor. Do nothing if it already may.

        :raises CloudError: there is no such flavor.
        """

    @abc.abstractmethod
    def forbid(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access to a private flavor. Do nothing if it has none."""

    @abc.abstractmethod
    def delete(self, flavor_id: str) -> None:
        """Delete a flavor. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def servers(self, flavor_id: str) -> list[models.Server]:
        """Return the Servers of all projects with this flavor, oldest first."""

    @abc.abstractmethod
    def create_group(self, name: str, policy: str) -> str:
        """Create a server group of the caller and return its id, even if the name is taken.

        :param policy: 'affinity' or 'anti-affinity'.
        :raises LimitReached: Nova refuses, because the quota of the project is used up.
        """

    @abc.abstractmethod
    def ensure_group(self, name: str, policy: str) -> str:
        """Return the id of the caller's server group of that name and policy; create a missing one.

        :raises Conflict: Nova refuses: see `create_group`.
        """

    @abc.abstractmethod
    @interface.read
    def has_group(self, group_id: str) -> bool:
        """Return whether any project has a server group of that id. Only as Climate itself."""

    @abc.abstractmethod
    def delete_group(self, group_id: str) -> None:
        """Delete a server group. Do nothing if it does not exist."""

    @abc.abstractmethod
    def delete_groups(self, name: str, but: str | None = None) -> None:
        """Delete the server groups of that name of all projects, if there are any.

        :param but: the id of one that stays.
        """

    @abc.abstractmethod
    @interface.read
    def every(self) -> list[models.Flavor]:
        """Return all Flavors, with private ones, in no particular order. Only as Climate itself."""

    @abc.abstractmethod
    @interface.read
    def usable(self) -> list[models.Flavor]:
        """Return the Flavors that the project of the caller may use, in no particular order."""

    @abc.abstractmethod
    @interface.read
    def groups(self) -> list[models.ServerGroup]:
        """Return the ServerGroups of all projects, in no particular order."""

# SPDX-License-Identifier: Apache-2.0
"""The interface to Magnum's clusters."""
import abc
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate.cloud import models
from climate.cloud.base import interface
from climate.conf import services


class Clusters(interface.ServiceInterface):
    """The clusters, their node groups and their templates.

    Magnum accepts a change and carries it out later. It also accepts changes that the state of the
    cluster forbids, and then does nothing. So read the state before and after a change.
    """

    service = 'Magnum'

    @abc.abstractmethod
    @interface.read
    def template(self, template_id: str, project_id: str) -> models.ClusterTemplate | None:
        """Return the ClusterTemplate of that id or name, or None.

        Only templates that are public or of the project count. Only as Climate itself.

        :raises BadField: several templates have that name.
        """

    @abc.abstractmethod
    @interface.read
    def cluster(self, cluster_id: str) -> models.Cluster | None:
        """Return the Cluster of that id, or None."""

    @abc.abstractmethod
    @interface.read
    def named(self, name: str, project_id: str) -> list[models.Cluster]:
        """Return the Clusters of that name in a project, oldest first."""

    @abc.abstractmethod
    @interface.read
    def names(self) -> dict[str, str]:
        """Return {id: name} of all clusters that the caller may see; as Climate itself: of all."""

    @abc.abstractmethod
    def create(self, name: str, fields: Mapping[str, Any]) -> str:
        """Begin to create a cluster of the caller, even if the name is taken; return its id.

        `cluster` and `named` show it from then on, unless Magnum's conductor is down: then they
        show it once that is back.

        :param fields: cluster_template_id, node_count, master_count, flavor_id, master_flavor_id,
            labels and keypair, as Magnum takes them.
        """

    @abc.abstractmethod
    def resize(self, cluster_id: str, group_id: str, node_count: int,
               remove: Iterable[str] = ()) -> None:
        """Begin to give a group of workers that many nodes. Only as the owner of the cluster.

        :param remove: the ids of servers that are removed first. A driver may choose others.
        """

    @abc.abstractmethod
    def delete(self, cluster_id: str) -> None:
        """Begin to delete a cluster. Do nothing if it does not exist."""

    @abc.abstractmethod
    @interface.read
    def groups(self, cluster_id: str) -> list[models.NodeGroup]:
        """Return the NodeGroups of a cluster; empty if it does not exist."""

    @abc.abstractmethod
    def create_group(self, cluster_id: str, name: str, node_count: int, flavor_id: str) -> None:
        """Begin to create a group of workers. Only as the owner of the cluster.

        :raises StillBusy: the cluster has no address of its API yet.
        """

    @abc.abstractmethod
    def delete_group(self, cluster_id: str, group_id: str) -> None:
        """Begin to delete a group of workers. Only as the owner of the cluster.

        Do nothing if it does not exist, or if the caller is not of its project.
        """

    @abc.abstractmethod
    @interface.read
    def quota(self, project_id: str) -> tuple[int, int]:
        """Return (how many clusters a project has, how many it may have). As Climate itself."""


class MagnumAdapter(interface.Adapter):
    """The options and the probe of Magnum."""

    options = services.MAGNUM

    @staticmethod
    def probe(services: Any) -> object:
        return services.clusters.names()

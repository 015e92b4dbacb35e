# SPDX-License-Identifier: Apache-2.0
"""The interface to Placement: the resource providers of hosts."""
import abc
from collections.abc import Iterable
from typing import Any

from climate.cloud.base import interface
from climate.conf import services
from climate.domain import cloud_objects

#: The inventory of a provider, in Placement's format: {resource class: {'total', …}}.
Inventory = dict[str, dict[str, Any]]


class Placement(interface.ServiceInterface):
    """The resource providers of hosts, with their inventories, traits and allocations."""

    service = 'Placement'

    @abc.abstractmethod
    def ensure_child(self, hypervisor_name: str, child_name: str) -> str:
        """Return the uuid of the child provider of that name; create it if there is none.

        :raises ResourceNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    def empty_child(self, child_name: str) -> None:
        """Remove all inventory of a child provider. Do nothing if the provider does not exist.

        The provider itself stays: if it were deleted, builds on its host would fail until Nova's
        cache forgets it.

        :raises StillBusy: a server still holds some of it.
        """

    @abc.abstractmethod
    def ensure_class(self, resource_class: str) -> None:
        """Create a custom resource class if it does not exist."""

    @abc.abstractmethod
    def set_slots(self, child_name: str, resource_class: str, count: int) -> None:
        """Set how many units of a class a child provider has, one for each server.

        Its other classes stay.

        :param count: 0: remove the class from the provider. Do nothing if there is no provider.
        :raises StillBusy: a server holds some of the units to remove.
        """

    @abc.abstractmethod
    def delete_class(self, resource_class: str) -> None:
        """Remove a class from all providers and delete it. Do nothing if it does not exist.

        :raises StillBusy: a server still holds some of it.
        """

    @abc.abstractmethod
    @interface.read
    def classes(self) -> frozenset[str]:
        """Return the names of all resource classes."""

    @abc.abstractmethod
    @interface.read
    def children(self, prefix: str) -> dict[str, Inventory]:
        """Return the inventories of child providers by a prefix of their names: {name: inventory}.

        The format is that of `inventory`. Each provider costs a call; several are made at once.
        """

    @abc.abstractmethod
    @interface.read
    def traits(self, hypervisor_name: str) -> frozenset[str]:
        """Return the names of the hypervisor's traits.

        :raises ResourceNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    @interface.read
    def inventory(self, hypervisor_name: str) -> Inventory:
        """Return the hypervisor's own inventory, without its child providers.

        :returns: {resource class: {'total', 'reserved', 'allocation_ratio', 'min_unit',
            'max_unit', 'step_size'}}.
        :raises ResourceNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    @interface.read
    def held(self, hypervisor_names: Iterable[str]) -> dict[str, dict[str, dict[str, int]]]:
        """Return the allocations of hypervisors' own inventories.

        A server that is being moved counts at its target; at its source, the consumer is the
        migration. Each hypervisor costs a call; several are made at once.

        :returns: {hypervisor name: {server id: {resource class: units}}}, without hypervisors that
            have no provider.
        """

    @abc.abstractmethod
    @interface.read
    def candidates(self, shapes: Iterable[cloud_objects.Shape],
                   ) -> dict[cloud_objects.Shape, dict[str, dict[str, int]]]:
        """Return the hypervisors that can take a server of each shape, with their free resources.

        Only hypervisors whose service is enabled are listed. The free resources are those before
        the server is placed, of all classes of the hypervisor itself.

        :param shapes: Shapes; each requires some resources.
        :returns: {Shape: {hypervisor name: {resource class: free units}}}.
        """

    @abc.abstractmethod
    @interface.read
    def survey(self, hypervisor_names: Iterable[str],
               ) -> dict[str, tuple[frozenset[str], Inventory]]:
        """Return the traits and inventories of many hypervisors, with several calls at once.

        :returns: {name: (traits, inventory)} in the formats of `traits` and `inventory`, without
            hypervisors that have no provider.
        """


class PlacementAdapter(interface.Adapter):
    """The options and the probe of Placement."""

    options = services.PLACEMENT

    @staticmethod
    def probe(services: Any) -> object:
        return services.placement.classes()

# SPDX-License-Identifier: Apache-2.0
"""The face of Placement: the inventories of the hosts."""
import abc


class Placement(abc.ABC):
    """The inventories of the hosts."""

    service = 'Placement'

    @abc.abstractmethod
    def ensure_child(self, hypervisor_name, child_name):
        """The uuid of the child provider of that name, made if there is none.

        :raises HostNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    def empty_child(self, child_name):
        """Take all inventory from a child provider and keep it; one not there is done.

        It is kept because builds on its host fail until Nova's cache forgets a deleted one.

        :raises StillBusy: a server still holds some of it.
        """

    @abc.abstractmethod
    def ensure_class(self, resource_class):
        """Make a custom resource class, unless there is one."""

    @abc.abstractmethod
    def set_slots(self, child_name, resource_class, count):
        """Let a child provider have so many units of a class, one for a server; 0: none at all.

        What it has of other classes stays. None at all of a child that is not there is done.

        :raises StillBusy: a server holds some of what is to go.
        """

    @abc.abstractmethod
    def delete_class(self, resource_class):
        """Take a class from all providers, then delete it; one that is not there is done.

        :raises StillBusy: a server still holds some of it.
        """

    @abc.abstractmethod
    def classes(self):
        """The names of all resource classes, as a frozenset."""

    @abc.abstractmethod
    def children(self, prefix):
        """The inventories of the child providers whose names begin so: {name: inventory}.

        An inventory is as that of a hypervisor. Each costs a call, several are made at once.
        """

    @abc.abstractmethod
    def traits(self, hypervisor_name):
        """The names of the hypervisor's traits, as a frozenset.

        :raises HostNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    def inventory(self, hypervisor_name):
        """The hypervisor's own inventory.

        :returns: {resource class: {'total', 'reserved', 'allocation_ratio', 'min_unit',
            'max_unit', 'step_size'}}.
        :raises HostNotFound: the hypervisor has no provider.
        """

    @abc.abstractmethod
    def held(self, hypervisor_names):
        """What servers hold of hypervisors' own inventories: {server id: {class: units}} of each.

        A server that is being moved is at the hypervisor that it goes to: what it held of the other
        one, the move holds. Hypervisors without a provider are not in the answer. Each costs a
        call, several are made at once.
        """

    @abc.abstractmethod
    def room(self, shapes):
        """Where servers have room: {Shape: {hypervisor name: {resource class: units free}}}.

        In the second dict are the hypervisors that have room for one server of that shape and
        whose service is enabled; what is free of one is told without that server, of all the
        classes that it has itself.

        :param shapes: Shapes, each with some resources.
        """

    @abc.abstractmethod
    def survey(self, hypervisor_names):
        """The traits and inventories of many hypervisors, several asked for at once.

        :returns: {name: (traits, inventory)}, each as the methods above return it; hypervisors
            without a provider are not in it.
        """

# SPDX-License-Identifier: Apache-2.0
"""The faces of the cloud: what the real and the simulated one both promise.

Every method may be called by many threads at once, raises CloudError (or one of its kinds) when
the other service fails, and TrustDead when it acts for a user whose trust gives no token any more.
"""
import abc
import dataclasses


class Nova(abc.ABC):
    """The servers, the hosts they run on, the aggregates of hosts."""

    service = 'Nova'

    @abc.abstractmethod
    def hypervisor(self, name):
        """The Hypervisor whose hypervisor_hostname is exactly `name`.

        :raises HostNotFound: there is none.
        :raises HostAmbiguous: there are several, in different cells.
        """

    @abc.abstractmethod
    def hypervisors(self):
        """All Hypervisors, as a list in no promised order."""

    @abc.abstractmethod
    def servers_on(self, service_hosts):
        """The Servers of all projects on these hosts, as a list; deleted ones are not in it."""

    @abc.abstractmethod
    def delete_server(self, server_id):
        """Begin to delete a server. It disappears later; one that is not there is done."""

    @abc.abstractmethod
    def aggregate(self, name):
        """The Aggregate of that name, or None."""

    @abc.abstractmethod
    def aggregates(self):
        """All Aggregates, as a list in no promised order."""

    @abc.abstractmethod
    def ensure_aggregate(self, name, zone=None, metadata=None):
        """The Aggregate of that name, made if there is none.

        One that exists gets the zone and the metadata where they differ; other keys stay.

        :raises StillBusy: servers on its hosts forbid a new zone.
        """

    @abc.abstractmethod
    def set_aggregate_metadata(self, aggregate, metadata):
        """Set the keys of `metadata`, and remove those whose value is None; others stay."""

    @abc.abstractmethod
    def add_hosts(self, aggregate, service_hosts):
        """Put all these hosts into the aggregate, several at once; one that is in is done.

        All are tried, also when one fails.

        :raises HostNotFound: Nova knows no such host.
        :raises StillBusy: servers on a host forbid its new zone.
        """

    @abc.abstractmethod
    def remove_hosts(self, aggregate, service_hosts):
        """Take all these hosts out of the aggregate, several at once; one not in it is done.

        All are tried, also when one fails.

        :raises StillBusy: servers on a host forbid its new zone.
        """

    @abc.abstractmethod
    def delete_aggregate(self, aggregate):
        """Delete an empty aggregate; one that is not there is done."""

    @abc.abstractmethod
    def create_image(self, server_id, name):
        """Begin to make an image of a server; returns the id of the image."""


class Flavors(abc.ABC):
    """The flavors and the server groups, which Nova keeps too."""

    service = 'Nova'

    @abc.abstractmethod
    def flavor(self, flavor_id, project_id):
        """The Flavor, or None; one that the project may not use is not there either."""

    @abc.abstractmethod
    def ensure(self, flavor_id, name, sizes, extra_specs):
        """Make a private flavor of that id, unless there is one; it gets the extra specs anyway.

        :param sizes: {'vcpus', 'ram', 'disk', 'ephemeral', 'swap'}: numbers, as Nova has them.
        """

    @abc.abstractmethod
    def allow(self, flavor_id, project_id):
        """Let a project use a private flavor; one that may is done."""

    @abc.abstractmethod
    def forbid(self, flavor_id, project_id):
        """Let a project use a private flavor no more; no flavor, no access: done."""

    @abc.abstractmethod
    def delete(self, flavor_id):
        """Delete a flavor; one that is not there is done."""

    @abc.abstractmethod
    def servers(self, flavor_id):
        """The Servers of all projects with this flavor, oldest first; none without a flavor."""

    @abc.abstractmethod
    def ensure_group(self, name, policy):
        """The id of one's own server group of that name, made if there is none.

        :param policy: 'affinity' or 'anti-affinity'.
        """

    @abc.abstractmethod
    def delete_groups(self, name):
        """Delete the server groups of that name of all projects; none is done."""


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


class Keystone(abc.ABC):
    """The trusts that users give to Climate."""

    service = 'Keystone'

    @abc.abstractmethod
    def create_trust(self, context):
        """A Trust from the caller to Climate: the caller's roles and project, without end.

        :param context: the RequestContext of the caller, whose own token makes the trust.
        :raises TrustRefused: this token may not delegate, or these roles cannot be.
        :raises NotAuthenticated: the token is no longer valid.
        """

    @abc.abstractmethod
    def delete_trust(self, trust_id):
        """Drop a trust; one that is not there is done."""

    @abc.abstractmethod
    def trusts(self):
        """The Trusts that were given to Climate, as a list; their roles are not told."""


@dataclasses.dataclass(frozen=True)
class Services:
    """The services of the cloud, used under one identity."""

    nova: Nova
    flavors: Flavors
    placement: Placement
    keystone: Keystone


class Cloud(abc.ABC):
    """The cloud, under any identity that Climate has. One instance serves a whole process."""

    @abc.abstractmethod
    def as_service(self):
        """The Services, used as Climate itself."""

    @abc.abstractmethod
    def as_user(self, trust_id):
        """The Services, used on behalf of the user who gave this trust.

        :raises TrustDead: the trust gives no token: user, role or the trust itself is gone.
        """

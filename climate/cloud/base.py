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

    @abc.abstractmethod
    def every(self):
        """All Flavors, private ones too, as a list in no promised order; as the service only."""

    @abc.abstractmethod
    def groups(self):
        """The server groups of all projects, as pairs (id, name) in a list."""


class Servers(abc.ABC):
    """What becomes of single servers: asleep, awake, moved, gone. Nova keeps them.

    A change is begun and goes on by itself: look at the server again for how it went. Where Nova
    refuses a change for the state that the server is in, StillBusy says so; a server that is not
    there (any more) is ServerNotFound.
    """

    service = 'Nova'

    @abc.abstractmethod
    def server(self, server_id):
        """The Server with its flavor, or None; as a user, one that this user may see.

        One that is deleted, also softly, is not there, although Nova shows it to an administrator.
        """

    @abc.abstractmethod
    def marked(self, project_id, key, text):
        """The Servers of a project whose metadata says so, oldest first; as the service only."""

    @abc.abstractmethod
    def ids(self):
        """The ids of the servers of all projects, as a frozenset; as the service only."""

    @abc.abstractmethod
    def every(self):
        """The Servers of all projects, as a list in no promised order; as the service only."""

    @abc.abstractmethod
    def mark(self, server_id, metadata):
        """Set the keys of `metadata`, and remove those whose value is None; others stay.

        Nova allows it while a server is ACTIVE, PAUSED, SUSPENDED or SHUTOFF, whatever is done to
        it just then.

        :raises ServerNotFound: there is no such server.
        :raises StillBusy: not in this state; where all is as it should be already, in none.
        """

    @abc.abstractmethod
    def shelve(self, server_id):
        """Begin to shelve. As a user, for the image that it sleeps in is the caller's.

        :raises StillBusy: not in this state (it is being built, it is shelved).
        """

    @abc.abstractmethod
    def offload(self, server_id):
        """Begin to take a shelved server from its host; as the service only.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def unshelve(self, server_id, service_host=None):
        """Begin to wake a shelved server; as the service, on that host, whatever its zone.

        :param service_host: None: wherever Nova finds room.
        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def suspend(self, server_id):
        """Begin to suspend.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def unrescue(self, server_id):
        """Begin to boot a server that is in RESCUE from its own disk again.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def stop(self, server_id):
        """Begin to stop a server, also one in ERROR that is on a host.

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def migrate(self, server_id):
        """Begin to move a server to a host of Nova's choice; as the service only.

        A running one is moved alive; a stopped one is moved and its new place confirmed when
        this is called again. (Nova cannot move one that is suspended.)

        :raises StillBusy: not in this state.
        """

    @abc.abstractmethod
    def failures(self, server_id, change, since):
        """How many changes of that kind have failed since a moment; as the service only.

        Nova says of them nothing on the server itself.

        :param change: 'unshelve', 'stop' or 'migrate'.
        :param since: a moment, as the database's clock has it.
        """

    @abc.abstractmethod
    def create_image(self, server_id, name, key):
        """Begin to make an image of a server; it keeps `key`, by which ``Images.made`` finds it.

        A name that is too long for an image is cut.

        :raises StillBusy: not in this state, or another image is being made.
        """


class Images(abc.ABC):
    """The images of servers, which Glance keeps."""

    service = 'Glance'

    @abc.abstractmethod
    def made(self, key, project_id):
        """The Images that were made under `key` for a project, as a list; as the service only.

        They are the project's, or Climate's own. Other people's are not among them: anybody can
        write any key on an image.
        """

    @abc.abstractmethod
    def give(self, image_id, project_id):
        """Make a project the owner of an image, which is private then; as the service only."""

    @abc.abstractmethod
    def delete(self, image_id):
        """Delete an image; one that is not there is done."""


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
    def survey(self, hypervisor_names):
        """The traits and inventories of many hypervisors, several asked for at once.

        :returns: {name: (traits, inventory)}, each as the methods above return it; hypervisors
            without a provider are not in it.
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
    servers: Servers
    images: Images


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

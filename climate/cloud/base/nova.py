# SPDX-License-Identifier: Apache-2.0
"""The face of Nova: the servers, the hosts they run on, the aggregates of hosts."""
import abc


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
    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        """The Aggregate of that name, made if there is none.

        One that exists gets the zone and the metadata where they differ; other keys stay.

        :param known: what `aggregates` has just said, where somebody asked; None: it is looked for.
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

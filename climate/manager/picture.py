# SPDX-License-Identifier: Apache-2.0
"""The cloud as an audit sees it: everything that matters, each kind read once."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Picture:
    """What was in the cloud, one kind after the other; records as ``climate.cloud.models``.

    :ivar classes: the names of the resource classes of Placement.
    :ivar children: {name of a child provider of Climate's: its inventory}.
    """

    aggregates: list
    hypervisors: list
    flavors: list
    groups: list
    classes: frozenset
    children: dict
    servers: list
    trusts: list
    computes: list

    def aggregate(self, name):
        """The Aggregate of that name, or None."""
        return next((each for each in self.aggregates if each.name == name), None)

    def servers_on(self, service_hosts):
        """The Servers on these hosts."""
        return [each for each in self.servers if each.host in service_hosts]


def take(conf, services):
    """A Picture of the cloud as it is now."""
    return Picture(
        trusts=services.keystone.trusts(), aggregates=services.nova.aggregates(),
        hypervisors=services.nova.hypervisors(), flavors=services.flavors.every(),
        groups=services.flavors.groups(), classes=services.placement.classes(),
        children=services.placement.children(conf.placement.provider_prefix),
        servers=services.servers.every(), computes=services.computes.every())

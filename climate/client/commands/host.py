# SPDX-License-Identifier: Apache-2.0
"""Commands about hosts."""
import argparse
from collections.abc import Sequence
import typing

from climate.client.commands import resource

if typing.TYPE_CHECKING:
    from climate.client import resources

_LIST = ('id', 'hypervisor_hostname', 'vcpus', 'memory_mb', 'local_gb')
_FIRST = ('id', 'hypervisor_hostname', 'service_name', 'reservable', 'power_state', 'power_since',
          'availability_zone', 'vcpus', 'memory_mb', 'local_gb')


class OfHosts(resource.OfPool):
    """A command about hosts, which have their own path in the REST interface."""

    pool = 'host'
    named = 'Hypervisor hostname or id of the host.'
    first: Sequence[str] = _FIRST

    def pool_of(self, parsed_args: argparse.Namespace) -> 'resources.Resources':
        return self.client.hosts


class CreateHost(OfHosts, resource.CreateResource):
    """Enrol a host, so that it can be leased."""

    by_name = True


class ListHosts(OfHosts, resource.ListResources):
    """List the hosts that can be leased."""

    short = _LIST
    long = (*_LIST, 'hypervisor_type', 'availability_zone', 'reservable', 'health')


class ShowHost(OfHosts, resource.ShowResource):
    """Show a host and its properties."""


class SetHost(OfHosts, resource.SetResource):
    """Set or remove properties of a host, or take it out of use."""


class WakeHost(OfHosts, resource.WakeResource):
    """Wake a host that sleeps."""


class SleepHost(OfHosts, resource.SleepResource):
    """Put a host to sleep that nobody has leased."""


class DeleteHosts(OfHosts, resource.DeleteResources):
    """Remove hosts from the pool; the cloud keeps them."""

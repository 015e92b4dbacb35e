# SPDX-License-Identifier: Apache-2.0
"""Stories of leases of floating IPs."""
from support import builders

from climate.cloud.simulated import neutron
from climate.domain import records
from stories import base
from stories import hosts


class StartOfAddresses(hosts.Start):
    """Two floating IPs are created, one of them by its address."""

    name = 'start of floating IPs'

    def arrange(self, manager):
        manager.client.create_resources(
            builders.an_admin(), 'address', '172.24.4.210-172.24.4.213', {},
            {'network_id': neutron.PUBLIC})

    def act(self, manager):
        base.create(manager, records.ReservationRequest('virtual:floatingip', {
            'network_id': neutron.PUBLIC, 'amount': 2,
            'required_floatingips': ['172.24.4.212']}))


class _OfAddresses(StartOfAddresses):
    """Two leased floating IPs exist, and one is associated with a port."""

    def arrange(self, manager):
        super().arrange(manager)
        StartOfAddresses.act(self, manager)
        base.wait_for_start(manager)
        manager.cloud.network.associate('172.24.4.210', 'a port')


class GrowthOfAddresses(_OfAddresses):
    name = 'growth of floating IPs'
    is_over = hosts.Grow.is_over

    def act(self, manager):
        base.change_reservation(manager, amount=4)


class ShrinkOfAddresses(GrowthOfAddresses):
    name = 'shrink of floating IPs'

    def act(self, manager):
        base.change_reservation(manager, amount=1)


class EndOfAddresses(_OfAddresses):
    name = 'end of floating IPs'
    act = hosts.End.act
    is_over = hosts.End.is_over


class DeleteOfAddresses(_OfAddresses):
    name = 'delete of floating IPs'
    act = hosts.Delete.act
    is_over = hosts.End.is_over

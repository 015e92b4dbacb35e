# SPDX-License-Identifier: Apache-2.0
"""Builders for tests of leases of floating IPs."""
from support import builders

from climate.cloud.simulated import neutron
from climate.domain import records
from climate.plugins.compute import host
from climate.plugins.network import floatingip

PUBLIC = neutron.PUBLIC
CLASSES = {'virtual:floatingip': floatingip.FloatingIPPlugin, 'physical:host': host.HostPlugin}


def a_manager(conf, database, clock):
    """A manager with the addresses .210 to .213."""
    found = builders.Manager(conf, database, clock, classes=CLASSES)
    enrol(found, '172.24.4.210-172.24.4.213')
    return found


def enrol(manager, addresses, network_id=PUBLIC):
    return manager.client.create_resources(
        builders.an_admin(), 'address', addresses, {}, {'network_id': network_id})


def enrol_one(manager, address, network_id=PUBLIC):
    return manager.client.create_resource(
        builders.an_admin(), 'address', address, {}, {'network_id': network_id})


def addresses(amount=1, required=(), network_id=PUBLIC):
    """A ReservationRequest for floating IPs."""
    return records.ReservationRequest('virtual:floatingip', {
        'network_id': network_id, 'amount': amount, 'required_floatingips': list(required)})


def leased(manager, *arguments, start=None, end=3, **more):
    return manager.book(
        addresses(*arguments, **more), start=start and builders.at(start),
        end=builders.at(end))


def change(manager, lease, **request):
    """Change the fields of the only reservation of a lease, and let events run."""
    manager.change_reservation(lease, **request)
    manager.run()


def there(manager):
    """{last number of the address: project} of the floating IPs in the cloud."""
    return {int(each.address.rpartition('.')[2]): each.project_id
            for each in manager.cloud.network.floating_ips()}

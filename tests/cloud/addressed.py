# SPDX-License-Identifier: Apache-2.0
"""The floating IPs of a test on the real cloud, and a port that they can point to."""
import dataclasses

import scene as scenes

TYPE = 'virtual:floatingip'
PREFIX = '172.24.4.'
#: How many addresses are enrolled for a test; they are outside the allocation pools.
COUNT = 6


def address(number):
    return f'{PREFIX}{number}'


@dataclasses.dataclass(frozen=True)
class Inside:
    """A port of a user behind a router with a gateway in the external network."""

    router_id: str
    subnet_id: str
    port_id: str


class Addresses:
    """Neutron and the pool of addresses as the people of a Scene see them.

    :param first: the last number of the first address that is enrolled for the test.
    """

    def __init__(self, scene, first=201):
        self.scene = scene
        self.numbers = range(first, first + COUNT)
        self.range = f'{address(first)}-{address(first + COUNT - 1)}'
        self.admin = scene.people['admin'].network
        self.project_id = scene.people['demo'].current_project_id
        self.network_id = self.admin.find_network('public').id
        self.pool = scene.climate('admin').pool('address')

    def enrol(self, name=None):
        return self.pool.create_range(name or self.range, fields={'network_id': self.network_id})

    def withdraw(self):
        for each in list(self.pool.list()):
            self.pool.delete(each['id'])

    def request(self, amount=1, required=(), **more):
        return {'resource_type': TYPE, 'network_id': self.network_id, 'amount': amount,
                'required_floatingips': [address(number) for number in required], **more}

    def lease(self, amount=1, required=(), person='demo', active=True, duration='10m', **more):
        """A new lease of floating IPs; running unless told otherwise."""
        made = self.scene.climate(person).leases.create(
            self.scene.name(), duration=duration,
            reservations=[self.request(amount, required)], **more)
        self.scene.remember(made['id'])
        return self.scene.wait(made['id'], 'active', 120) if active else made

    def resize(self, lease, amount):
        """Change the amount of a lease, and wait until it has that number of floating IPs."""
        self.scene.climate().leases.update(lease['id'], reservations=[
            {'id': lease['reservations'][0]['id'], 'amount': amount}])
        scenes.until(lambda: len(self.shown(lease)) == amount, f'{amount} floating IPs', 120)
        return self.scene.wait(lease['id'], 'active')

    def end(self, lease, seconds=120):
        """End a lease now and wait for that."""
        self.scene.climate('admin').leases.end(lease['id'])
        return self.scene.wait(lease['id'], 'terminated', seconds)

    def there(self):
        """{last number: floating IP} of the leased addresses of all projects."""
        found = {int(each.floating_ip_address.removeprefix(PREFIX)): each
                 for each in self.admin.ips()}
        return {number: each for number, each in found.items() if number in self.numbers}

    def shown(self, lease):
        """{last number: id} of the floating IPs that Climate shows of a lease."""
        [reservation] = self.scene.climate('admin').leases.get(lease['id'])['reservations']
        return {int(each['address'].removeprefix(PREFIX)): each['id']
                for each in reservation['floating_ips']}

    def inside(self, person='demo'):
        """A port that floating IPs can point to; all of it is deleted when the test is over."""
        neutron = self.scene.people[person].network
        name = self.scene.name()
        network = neutron.create_network(name=name)
        self.scene.afterwards(lambda: self.admin.delete_network(network.id))
        subnet = neutron.create_subnet(network_id=network.id, ip_version=4, name=name,
                                       cidr='10.77.0.0/24')
        router = neutron.create_router(
            name=name, external_gateway_info={'network_id': self.network_id})
        self.scene.afterwards(lambda: self.admin.delete_router(router.id))
        neutron.add_interface_to_router(router.id, subnet_id=subnet.id)
        self.scene.afterwards(
            lambda: self.admin.remove_interface_from_router(router.id, subnet_id=subnet.id))
        port = neutron.create_port(network_id=network.id, name=name)
        self.scene.afterwards(lambda: self.admin.delete_port(port.id))
        return Inside(router.id, subnet.id, port.id)

    def limit(self, most):
        """Set the quota of project demo for the test."""
        before = self.admin.get_quota(self.project_id).floating_ips
        self.scene.afterwards(
            lambda: self.admin.update_quota(self.project_id, floating_ips=before))
        self.admin.update_quota(self.project_id, floating_ips=most)

    def gone(self, *numbers, seconds=60):
        """Wait until none of these addresses exists in Neutron."""
        scenes.until(lambda: not set(numbers) & set(self.there()), f'{numbers} to be gone', seconds)

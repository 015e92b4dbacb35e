# SPDX-License-Identifier: Apache-2.0
"""Leases of networks on the real cloud: builders, and readers of Neutron."""
import scene as scenes

TYPE = 'virtual:network'
PHYSICAL = 'physnet1'
#: The ids of the VLANs that these tests may use.
FIRST, LAST = 3000, 3009


class Neutron:
    """The networks on the segments of these tests.

    :ivar admin: an administrator's connection; it sees everything.
    :ivar demo: the owner's connection.
    """

    def __init__(self, scene, admin, demo):
        self.scene = scene
        self.admin = admin
        self.demo = demo

    def enrol(self, count=1):
        """Enrol that number of segments for the test; return their names."""
        pool = self.scene.climate('admin').pool('segment')
        last = FIRST + count - 1
        made = pool.create_range(f'{PHYSICAL}:vlan:{FIRST}-{last}')
        for each in made:
            self.scene.afterwards(lambda each=each: pool.delete(each['id']))
        return [each['name'] for each in made]

    def networks(self):
        """The networks on these segments."""
        return [each for each in self.admin.network.networks(
            provider_physical_network=PHYSICAL)
            if FIRST <= (each.provider_segmentation_id or 0) <= LAST]

    def one(self):
        [found] = self.networks()
        return found

    def routers(self):
        """The routers of the owner's project."""
        return list(self.admin.network.routers(project_id=self.demo.current_project_id))

    def interfaces(self, network_id):
        return [each for each in self.admin.network.ports(network_id=network_id)
                if each.device_owner.startswith('network:router_interface')]

    def nothing(self):
        """Return whether the segments have no network, and the owner no router."""
        return not self.networks() and not self.routers()

    def public(self):
        """The id of the external network."""
        return self.admin.network.find_network('public').id

    def with_router(self, **more):
        """A request for a network with all that can be asked for."""
        return {'subnet': '10.42.0.0/24', 'router': True, 'external_network': self.public(),
                **more}

    def leased(self, person='demo', active=True, times=None, **request):
        """A lease of a network; running, unless `active` is false."""
        made = self.scene.climate(person).leases.create(
            self.scene.name(), reservations=[{'resource_type': TYPE, **request}],
            **(times or {'duration': '30m'}))
        self.scene.remember(made['id'])
        return self.scene.wait(made['id'], 'active', 120) if active else made

    def end(self, lease, seconds=120):
        self.scene.climate('admin').leases.end(lease['id'])
        return self.scene.wait(lease['id'], 'terminated', seconds)

    def reason(self, lease):
        return str(self.scene.climate('admin').leases.get(lease['id'])['status_reason'])

    def told(self, lease, words):
        """Wait until the reason of a lease has these words."""
        scenes.until(lambda: words in self.reason(lease), f'"{words}" to be the reason', 120)

# SPDX-License-Identifier: Apache-2.0
"""The features by which servers come to leased hosts and capacity, or get a lease."""
import clusters
import features
import leased as servers
import scene as scenes
import stack_scene as stacks

_HINTED = stacks.template({'hints': {'type': 'json', 'default': {}}}, vm=stacks.server(
    'm1.nano', scheduler_hints={'get_param': 'hints'}))


class DefaultLease(features.Feature):
    """Servers that ask for nothing get a lease, except those of project alt."""

    def prepare(self):
        path = self.folder / 'default-lease.conf'
        path.write_text('[climate]\ndefault_lease = true\ndefault_lease_exempt_projects = '
                        f'{self.scene.people["alt"].current_project_id}\n')
        self.scene.afterwards(lambda: scenes.tool(self.scene.settings, 'restart', 'nova-api'))
        scenes.run(self.scene.settings, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova-api',
                   CLOUD_NOVA_EXTRA=str(path))

    def begin(self, other):
        self._server_id = self.scene.boot().id
        self.lease_id = self._look().metadata['climate:lease_id']
        self.scene.remember(self.lease_id)
        self.scene.wait(self.lease_id, 'active')

    def holds(self):
        found = self._look()
        assert (found.status, found.compute_host) == ('ACTIVE', self.open)
        assert self.scene.climate('admin').leases.get(self.lease_id)['status'] == 'active'

    def end(self):
        super().end()
        self.gone(self._server_id)
        for image in servers.Leased.images(self):
            self.admin.image.delete_image(image)

    @property
    def reservation_id(self):
        return self.scene.climate('admin').leases.get(self.lease_id)['reservations'][0]['id']

    def _look(self):
        return self.admin.compute.get_server(self._server_id)


class Hint(features.Feature):
    """A server on a leased host, by the hint."""

    def begin(self, other):
        lease = self.lease({'resource_type': 'physical:host', 'min': 1, 'max': 1})
        self.reservation_id = lease['reservations'][0]['id']
        self.boot_inside()

    def boot_inside(self):
        self.inside = self.scene.boot('demo', self.reservation_id)
        self.holds()

    def holds(self):
        assert {self.server(self.inside.id).compute_host} == self.scene.hosts_in(
            self.reservation_id)

    def end(self):
        super().end()
        self.gone(self.inside.id)
        assert self.scene.aggregate(self.reservation_id) is None


class Swap(Hint):
    """A leased host that is swapped for another one, which is used then."""

    def begin(self, other):
        super().begin(other)
        [name] = before = self.scene.hosts_in(self.reservation_id)
        self.scene.afterwards(
            lambda: self.hosts.update(self.hosts.find(name)['id'], in_order=True))
        self.scene.climate().leases.swap(self.lease_id, name)
        scenes.until(lambda: self.scene.hosts_in(self.reservation_id) not in (set(), before) and
                     not self.scene.exists(self.inside.id), 'another host', features.PATIENCE)
        self.scene.wait(self.lease_id, 'active', features.PATIENCE)
        self.boot_inside()
        assert self.scene.hosts_in(self.reservation_id) != before


class Cluster(features.Feature):
    """A leased cluster."""

    def prepare(self):
        self._magnum = clusters.Magnum(self.scene.people['demo'])
        self._template = self._magnum.template(self.scene.name())
        self.scene.afterwards(
            lambda: self._magnum.call('DELETE', f'/clustertemplates/{self._template}'))

    def begin(self, other):
        self._leased = clusters.Leased(self.scene, cluster_template_id=self._template, node_count=1)
        self.lease_id = self._leased.lease_id
        self.scene.wait(self.lease_id, 'active', features.PATIENCE)
        self.holds()

    def holds(self):
        nodes = [*self._leased.nodes(), *self._leased.nodes('masters')]
        assert len(nodes) == 2
        assert {self.server(each.id).compute_host for each in nodes} <= self.scene.hosts_in(
            self._leased.id)

    def end(self):
        super().end()
        assert self._magnum.named(self._leased.name) == []
        assert self._leased.left() == []


class Stack(features.Feature):
    """A leased stack whose server gets a host of the same lease by the hint."""

    def begin(self, other):
        self._heat = stacks.Heat(self.scene.people['demo'])
        lease = self.lease(
            {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'label': 'hosts'},
            {'resource_type': stacks.TYPE, 'template': _HINTED, 'hint_parameter': 'hints',
             'depends_on': ['hosts']})
        self._hosts_id, self._stack_id = (
            lease['reservations'][0]['id'], lease['reservations'][1]['stack_id'])
        self.holds()

    def holds(self):
        [server_id] = self._heat.servers(self._stack_id)
        assert {self.server(server_id).compute_host} == self.scene.hosts_in(self._hosts_id)

    def end(self):
        super().end()
        assert self._heat.every() == []
        assert self.scene.aggregate(self._hosts_id) is None

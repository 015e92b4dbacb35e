# SPDX-License-Identifier: Apache-2.0
"""Magnum on the real cloud, and leases of clusters, as their tests use them."""
import time

import scene as scenes

FLAVOR = 'm1.nano'
OVER = ('CREATE_COMPLETE', 'UPDATE_COMPLETE', 'CREATE_FAILED', 'UPDATE_FAILED', 'DELETE_FAILED')
# Magnum's conductor looks every 10 seconds how far a change is.
SECONDS = 180


class Magnum:
    """Magnum as one person uses it."""

    def __init__(self, connection):
        self._session = connection.session
        self.project_id = connection.current_project_id

    def call(self, method, path, **body):
        """The answer as JSON; None if there is nothing."""
        answer = self._ask(method, path, body)
        while 'master_count' in answer.text and answer.status_code == 400 and method == 'GET':
            # For a moment a cluster that is deleted has no node groups, and cannot be shown.
            time.sleep(0.3)
            answer = self._ask(method, path, body)
        if answer.status_code == 404:
            return None
        assert answer.status_code < 400, answer.text
        return answer.json() if answer.content else {}

    def _ask(self, method, path, body):
        return self._session.request(
            path, method, endpoint_filter={'service_type': 'container-infra'},
            microversion='1.10', raise_exc=False, **({'json': body} if body else {}))

    def template(self, name):
        """The id of a new template."""
        return self.call('POST', '/clustertemplates', name=name, coe='kubernetes',
                         image_id='tiny-coe', flavor_id=FLAVOR, master_flavor_id=FLAVOR,
                         external_network_id='public', server_type='vm')['uuid']

    def cluster(self, cluster_id):
        return self.call('GET', f'/clusters/{cluster_id}')

    def named(self, name):
        """The ids of all clusters of that name."""
        return [each['uuid'] for each in self.call('GET', '/clusters')['clusters']
                if each['name'] == name]

    def groups(self, cluster_id):
        """{name: node group}"""
        listed = self.call('GET', f'/clusters/{cluster_id}/nodegroups') or {'nodegroups': []}
        return {each['name']: each for each in listed['nodegroups']}

    def settled(self, cluster_id):
        """A cluster as soon as nothing changes it any more."""
        def look():
            found = self.cluster(cluster_id)
            return found if found and found['status'] in OVER else None
        return scenes.until(look, f'cluster {cluster_id} to be settled', SECONDS, 1)

    def remove(self, cluster_id):
        """Delete a cluster and wait until it is gone."""
        self.call('DELETE', f'/clusters/{cluster_id}')
        scenes.until(lambda: self.cluster(cluster_id) is None, f'{cluster_id} to be gone',
                     SECONDS, 1)


class Leased:
    """A lease of a cluster, or of nodes of one.

    :ivar id: of its only reservation.
    """

    def __init__(self, scene, person='demo', duration='20m', start=None, **request):
        self.scene = scene
        self._leases = scene.climate(person).leases
        made = self._leases.create(scene.name(), duration=duration, start=start, reservations=[
            {'resource_type': 'virtual:cluster', **request}])
        scene.remember(made['id'])
        self.lease_id, self.id = made['id'], made['reservations'][0]['id']
        self.name = f'reservation-{self.id}'

    def wait(self, status='active'):
        return self.scene.wait(self.lease_id, status, SECONDS)

    @property
    def reservation(self):
        return self.look()['reservations'][0]

    def look(self):
        return self.scene.climate('admin').leases.get(self.lease_id)

    def change(self, count):
        """Ask for another number of workers."""
        self._leases.update(self.lease_id, reservations=[{'id': self.id, 'node_count': count}])

    def has(self, count):
        """Wait until the lease is active with that many workers."""
        scenes.until(lambda: len(self.nodes()) == count and self.look()['status'] == 'active',
                     f'{count} workers', SECONDS, 1)

    def prolong(self, by):
        self._leases.extend(self.lease_id, by=by)

    def end_soon(self):
        """End the lease now; return before that is done."""
        self.scene.climate('admin').leases.end(self.lease_id)

    def end(self):
        """End the lease now, and wait for that."""
        self.end_soon()
        return self.wait('terminated')

    def nodes(self, key=None):
        """The servers of a flavor of the reservation: its workers, or its masters."""
        flavor = f'reservation:{self.id}' + (f':{key}' if key else '')
        return [each for each in self.scene.people['admin'].compute.servers(all_projects=True)
                if each.flavor.original_name == flavor]

    def left(self):
        """Return the objects of the reservation in Nova and Placement, besides its servers."""
        admin = self.scene.people['admin']
        classes = admin.session.get('/resource_classes', microversion='1.2', endpoint_filter={
            'service_type': 'placement'}).json()['resource_classes']
        own = 'CUSTOM_RESERVATION_' + self.id.upper().replace('-', '_')
        return [
            *(each.id for each in admin.compute.flavors(is_public=None)
              if each.id.startswith(self.id)),
            *(each.name for each in admin.compute.aggregates() if each.name == self.id),
            *(each['name'] for each in classes if each['name'].startswith(own)),
            *(each.id for key in (None, 'masters') for each in self.nodes(key))]

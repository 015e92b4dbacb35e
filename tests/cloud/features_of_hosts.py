# SPDX-License-Identifier: Apache-2.0
"""The features by which hosts come to a lease, or are reclaimed from it."""
import contextlib

import features
import idling
import powered
import scene as scenes


class Energy(features.Feature):
    """Hosts that nobody needs sleep."""

    def prepare(self):
        cloud = self.scene.settings
        self._after = contextlib.ExitStack()
        self.scene.afterwards(self._after.close)
        path = self._after.enter_context(powered.bmcs(
            cloud, self.folder, [cloud.compute_hosts[0], cloud.compute_hosts[1], self.lent]))
        self._after.enter_context(powered.sleeping(
            cloud, path, lambda: set(self._states().values()) == {'awake'}))

    def begin(self, other):
        scenes.until(lambda: set(self._states().values()) == {'asleep'}, 'all hosts to sleep', 150)

    def holds(self):
        held = {each['hypervisor_hostname'] for each in self.hosts.list()
                if each['hypervisor_hostname'] not in self.scene.hosts_in('freepool')}
        assert all(self._states()[name] == 'awake' for name in held)

    def end(self):
        scenes.until(lambda: set(self._states().values()) == {'asleep'},
                     'all hosts to sleep again', 150)

    def _states(self):
        return {each['hypervisor_hostname']: each['power_state'] for each in self.hosts.list()
                if each['hypervisor_hostname'] != self.open}


class Clearing(features.Feature):
    """A lent host in a zone is cleared for a best-effort lease; its server moves in the zone."""

    def prepare(self):
        scene, compute = self.scene, self.admin.compute
        rack = self.hosts.find(self.lent)['rack']
        self.hosts.delete(self.hosts.find(self.lent)['id'])
        scene.afterwards(lambda: self.hosts.create(self.lent, {'rack': rack}))
        lent = compute.create_aggregate(name='lent')
        scene.afterwards(lambda: compute.delete_aggregate(lent))
        compute.add_host_to_aggregate(lent, self.lent)
        scene.afterwards(lambda: compute.remove_host_from_aggregate(lent, self.lent))
        # A lease is deleted before the hosts that were lent to it are returned.
        scene.afterwards(lambda: scenes.until(self._is_returned, 'the host to be returned'))
        [other] = compute.services(binary='nova-compute', host=self.open)
        compute.disable_service(other, disabled_reason='test')
        try:
            self._moved = scene.boot('alt').id
        finally:
            compute.enable_service(other)
        assert compute.get_server(self._moved).compute_host == self.lent

    def begin(self, other):
        lease = self.lease(
            {'resource_type': 'physical:host', 'min': 1, 'max': 1,
             'resource_properties': f'["==", "$availability_zone", "{features.FAR}"]'},
            acquire={'type': 'best-effort', 'timeout_seconds': features.PATIENCE})
        self._reservation_id = lease['reservations'][0]['id']
        self._inside = self.scene.boot('demo', self._reservation_id).id
        self.holds()

    def holds(self):
        assert self.scene.hosts_in(self._reservation_id) == {self.lent}
        assert self.server(self._inside).compute_host == self.lent
        found = self.server(self._moved)
        assert (found.compute_host, found.availability_zone) == (self.open, features.FAR)
        assert {each.status for each in self.admin.compute.services(
            binary='nova-compute', host=self.lent)} == {'enabled'}

    def end(self):
        super().end()
        self.gone(self._inside)
        scenes.until(self._is_returned, 'the host to be returned')
        assert self.server(self._moved).compute_host == self.open

    def _is_returned(self):
        return self.lent not in {each['hypervisor_hostname'] for each in self.hosts.list()}


class Idle(features.Feature):
    """A lease that is not used ends; one with servers stays, although samples call it idle."""

    def begin(self, other):
        self.lease({'resource_type': 'physical:host', 'min': 1, 'max': 1})
        found = idling.database()
        self.scene.afterwards(found.dispose)
        idling.call(found, self.lease_id)
        self.scene.wait(self.lease_id, 'terminated', features.PATIENCE)
        if other.lease_id is not None:
            idling.call(found, other.lease_id)
            scenes.until(lambda: idling.is_judged(found, other.lease_id), 'a verdict', 60)

    def holds(self):
        found = self.scene.climate('admin').leases.get(self.lease_id)
        assert found['status_reason'].startswith('Nothing ran on it since')

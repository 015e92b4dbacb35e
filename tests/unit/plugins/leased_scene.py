# SPDX-License-Identifier: Apache-2.0
"""A leased server on the simulated cloud, with its plugin called as the manager calls it."""
import dataclasses
import datetime

from support import builders

from climate import context
from climate import errors
from climate.cloud import simulated
from climate.domain import records
from climate.manager import lease_cloud
from climate.plugins import base
from climate.plugins import registry

TYPE = 'virtual:instance'
SECOND = datetime.timedelta(seconds=1)


class Scene:
    """Four hosts, of which compute-1 and compute-2 are enrolled, and a lease of project p.

    :ivar reservation: the Reservation, after `lease`.
    :ivar resources: the Resources with its capacity.
    :ivar failures: the number of failed tries.
    """

    def __init__(self, conf):
        conf.set_override('hosts', 4, group='simulated')
        self.conf = conf
        self.clock = builders.Clock()
        self.cloud = simulated.SimulatedCloud(conf, clock=lambda: self.clock().timestamp())
        self.service = self.cloud.as_service()
        self.registry = registry.Registry(conf)
        self.plugin = self.registry.plugin(TYPE)
        self.pool = [self._enrol(place, name)
                     for place, name in enumerate(('compute-1', 'compute-2'), 1)]
        caller = context.RequestContext(user_id='u', project_id='p', roles=['member'],
                                        overwrite=False)
        trust = self.service.keystone.create_trust(caller)
        self.user = self.cloud.as_user(trust.id)
        self.lease_record = records.Lease(
            id='l', name='l', project_id='p', user_id='u', start=builders.NOON,
            end=builders.NOON + builders.hours(1), trust_id=trust.id)
        self.reservation, self.resources, self.failures = None, [], 0

    def boot(self, status='ACTIVE', host='compute-3', project_id='p', **more):
        """Boot a server and bring it to that status."""
        server = self.cloud.boot(project_id, 'vm', host=host, flavor='2', **more)
        self.put(server, status)
        return server

    def put(self, server, status):
        if status == 'SHELVED_OFFLOADED':
            self.user.servers.shelve(server.id)
        elif status != 'ACTIVE':
            self.cloud.mark_server(server.id, status)

    def resolve(self, request, later=False, before=None, project_id='p'):
        return self.plugin.resolve(self.cloud, request,
                                   base.Occasion(project_id, not later, before))

    def lease(self, server, later=False, on_end='snapshot', room=True):
        """Lease a server; with `later`, capacity for it is held on compute-1."""
        request = self.resolve({'resource_id': server.id, 'on_end': on_end}, later)
        self.resources = [self.pool[0]] if later and room else []
        self.reservation = records.Reservation(
            'r', 'l', TYPE, request, leased_id=server.id,
            allocated={'hosts': tuple(each.id for each in self.resources)})
        return server

    def call(self, method):
        """Call a method of the plugin once; return its result."""
        cloud = lease_cloud.ActionCloud(self.cloud, self.lease_record, base.Attempt(
            now=self.clock(), since=builders.NOON, failures=self.failures))
        lease = dataclasses.replace(self.lease_record, reservations=(self.reservation,))
        return getattr(self.plugin, method)(cloud, lease, self.reservation,
                                            {'hosts': self.resources})

    def run(self, method, times=100, pause=SECOND):
        """Call a method until it is done, with a pause between two calls; store the binding."""
        for _ in range(times):
            try:
                binding = self.call(method)
            except errors.StillBusy:
                self.clock.advance(pause)
                continue
            self.failures = 0
            if binding is not None:
                self.reservation = dataclasses.replace(self.reservation, binding=binding)
            if method == 'start':
                self.reservation = dataclasses.replace(self.reservation, state='active')
            return binding
        raise AssertionError(f'{method} never came to its end.')

    def persist(self, method):
        """Call `run`, again after each failure, as the manager does."""
        for _ in range(10):
            try:
                return self.run(method)
            except errors.CloudError:
                self.failures += 1
        raise AssertionError(f'{method} failed again and again.')

    def hand_over(self, server, later=False, **more):
        """Lease a server and start."""
        self.lease(server, later, **more)
        if later:
            self.run('prepare')
        self.run('start')
        return server

    def hand_over_in_build(self, server, on_end):
        """Lease a server that is being built yet, as if it had been started in time."""
        self.lease(server, on_end=on_end)
        self.reservation = dataclasses.replace(self.reservation, state='active')

    def look(self, server):
        return self.service.servers.server(server.id)

    def place(self, server):
        """Return (status, host) of a server; None if it is gone."""
        found = self.look(server)
        return found and (found.status, found.host)

    def marks(self, server):
        return {key: text for key, text in self.look(server).metadata.items()
                if key.startswith('climate:')}

    def images(self):
        return [(each['name'], each['project_id'], each['status'])
                for each in self.cloud.images()]

    def picture(self):
        """Return the state of the cloud without random ids."""
        return ([(each.name, each.host, each.status, each.task) for each in self.cloud.servers()],
                self.cloud.leftovers())

    def _enrol(self, place, name):
        pool = self.registry.pool('host')
        found = pool.discover(self.cloud, name)
        pool.admit(self.cloud, found)
        return records.Resource(place, pool.name, name, found.capacity, facts=found.facts)

# SPDX-License-Identifier: Apache-2.0
"""A reservation of virtual:volume on the simulated cloud, without a manager."""
import dataclasses

from support import builders

from climate import errors
from climate.cloud import simulated
from climate.domain import records
from climate.manager import lease_cloud
from climate.plugins import base
from climate.plugins import registry

BACKENDS = ('storage@hdd#hdd', 'storage@ssd#ssd')


class Scene:
    """The plugin, a cloud with two enrolled back ends, and a reservation of one request."""

    def __init__(self, conf, request):
        found = registry.Registry(conf, registry.load(['virtual:volume']))
        self.plugin = found.plugin('virtual:volume')
        self.clock = builders.Clock()
        self.cloud = simulated.SimulatedCloud(conf, clock=lambda: self.clock().timestamp())
        self.volumes = self.cloud.as_service().volumes
        trust = self.cloud.as_service().keystone.create_trust(builders.a_member())
        self.lease = records.Lease(id='l', name='l', project_id='demo', user_id='demo',
                                   start=builders.NOON, end=builders.NOON + builders.hours(1),
                                   trust_id=trust.id)
        pool = found.pool('backend')
        self.backends = [records.Resource(place, 'backend', name, each.capacity, facts=each.facts)
                         for place, name in enumerate(BACKENDS, 1)
                         for each in [pool.discover(self.cloud, name)]]
        request = self.plugin.resolve(self.cloud, request, base.Occasion('demo'))
        self.reservation = records.Reservation('r', 'l', 'virtual:volume', request)
        self.allocate(0)

    def allocate(self, place, copies=1):
        """Allocate the reservation its capacity on that back end only."""
        self.resources = {'room': (self.backends[place],)}
        self.reservation = dataclasses.replace(
            self.reservation, allocated={'room': (self.backends[place].id,) * copies})

    def call(self, method, since=None):
        """Call a method of the plugin once; what `start` returns is kept as the binding."""
        attempt = base.Attempt(now=self.clock(), since=since or builders.NOON)
        found = getattr(self.plugin, method)(
            lease_cloud.ActionCloud(self.cloud, self.lease, attempt), self.lease,
            self.reservation, self.resources)
        if method == 'start':
            self.reservation = dataclasses.replace(self.reservation, binding=found)

    def finish(self, method):
        """Call a method until it is done, some seconds apart."""
        since = self.clock()
        for _ in range(20):
            try:
                return self.call(method, since)
            except errors.StillBusy:
                self.clock.advance(builders.seconds(10))
        raise AssertionError(f'{method} never came to its end.')

    def images(self):
        """The owners and statuses of the images that were made of volumes."""
        return [(each['project_id'], each['status']) for each in self.cloud.images()]

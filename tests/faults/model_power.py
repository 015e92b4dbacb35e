# SPDX-License-Identifier: Apache-2.0
"""The BMCs of the model: they switch the hosts of the simulated cloud, and fail as real ones do."""
import contextlib

import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.power import base
from climate.power import registry

#: It answers with an error; it does nothing of what it is told; it says on whatever is true.
REFUSES, IGNORES, LIES = FAULTS = ('refuses', 'ignores', 'lies')


class Bmcs(base.Driver):
    """The power driver of both managers. Each call is a point at which a manager may die.

    :ivar faults: {name of a host: one of FAULTS}.
    :ivar wrong: what was switched off although it was in use, in words.
    """

    def __init__(self, conf, cloud, database, points):
        super().__init__(conf, cloud)
        self._real = registry.load(conf, cloud)
        self._cloud = cloud
        self._database = database
        self._points = points
        self.faults = {}
        self.wrong = []

    def state(self, resource):
        with self._called(resource):
            if self.faults.get(resource.name) == LIES:
                return base.ON
            return self._real.state(resource)

    def wake(self, resource):
        with self._called(resource):
            if self.faults.get(resource.name) is None:
                self._real.wake(resource)

    def sleep(self, resource):
        with self._called(resource):
            if self.faults.get(resource.name) is None:
                self._real.sleep(resource)
                self.wrong += nothing_in_use_is_switched_off(
                    resource, self._cloud.servers(), running_on(self._database, resource))

    @contextlib.contextmanager
    def _called(self, resource):
        self._points.reach('power', 'before')
        if self.faults.get(resource.name) == REFUSES:
            raise errors.PowerFailed(resource=resource.name, reason='its BMC is ill.')
        yield
        self._points.reach('power', 'after')


class InTurn:
    """Stands in for a pool of threads: one after another, so that a run can be repeated."""

    def __init__(self, *_arguments, **_options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass

    map = staticmethod(map)


def running_on(database, resource):
    """Return the ids of the leases that run on a resource."""
    reservations, leases = tables.RESERVATIONS.c, tables.LEASES.c
    with database.reader() as connection:
        return connection.execute(
            sa.select(leases.id)
            .join_from(tables.LEASES, tables.RESERVATIONS, reservations.lease_id == leases.id)
            .join(tables.RESOURCES, tables.RESOURCES.c.held_by == reservations.id)
            .where(tables.RESOURCES.c.id == resource.id, leases.state == lifecycle.ACTIVE,
                   leases.task.is_(None),
                   reservations.state == lifecycle.RESERVATION_ACTIVE)).scalars().all()


def nothing_in_use_is_switched_off(resource, servers, leases):
    """Return in words what is on a resource that was just switched off."""
    there = [f'server {each.id}' for each in servers
             if each.host == resource.name and each.task != 'deleting']
    return [f'{resource.name} was switched off with {each} on it.'
            for each in [*there, *(f'lease {each}' for each in leases)]]

# SPDX-License-Identifier: Apache-2.0
"""The BMCs of the model: they switch machines of the simulated cloud, and fail as real ones do."""
import contextlib

import sqlalchemy as sa

from climate import errors
from climate import power as power_drivers
from climate.db import tables
from climate.domain import lifecycle
from climate.power import base

#: It answers with an error; it ignores each order; it always says that the machine is on.
REFUSES, IGNORES, LIES = FAULTS = ('refuses', 'ignores', 'lies')


class Bmcs(base.Driver):
    """The power driver of both managers. Each call is a point at which a manager may die.

    :ivar faults: {name of a machine: one of FAULTS}.
    :ivar wrong: what was switched off although it was in use, in words.
    """

    def __init__(self, conf, cloud, database, points, clock):
        super().__init__(conf, cloud)
        self._clock = clock
        self._real = power_drivers.load(conf, cloud)
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
                    resource, self._cloud.servers(), volumes_on(self._cloud, resource),
                    running_on(self._database, resource, self._clock()))

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


def volumes_on(cloud, machine):
    """Return the ids of the volumes of anybody on the back ends of a machine."""
    with cloud.state() as connection:
        return [row['id'] for row in connection.execute('SELECT id, backend FROM volumes')
                if (row['backend'] or '').partition('@')[0] == machine.name]


def running_on(database, machine, now):
    """Return the ids of the leases that run on the resources of a machine."""
    reservations, leases = tables.RESERVATIONS.c, tables.LEASES.c
    allocations, ids = tables.ALLOCATIONS.c, [each.id for each in machine.resources]
    held = (sa.select(tables.RESOURCES.c.held_by).where(
        tables.RESOURCES.c.id.in_(ids), tables.RESOURCES.c.held_by.is_not(None)))
    allocated = (sa.select(allocations.reservation_id).where(
        allocations.resource_id.in_(ids), allocations.released_at.is_(None),
        allocations.start <= now, allocations.end > now))
    with database.reader() as connection:
        return connection.execute(
            sa.select(leases.id).distinct()
            .join_from(tables.LEASES, tables.RESERVATIONS, reservations.lease_id == leases.id)
            .where(sa.or_(reservations.id.in_(held), reservations.id.in_(allocated)),
                   leases.state == lifecycle.ACTIVE, leases.task.is_(None),
                   reservations.state == lifecycle.RESERVATION_ACTIVE)).scalars().all()


def nothing_in_use_is_switched_off(machine, servers, volumes, leases):
    """Return in words what is on a machine that was just switched off."""
    there = [f'server {each.id}' for each in servers
             if each.host == machine.name and each.task != 'deleting']
    there += [f'volume {each}' for each in volumes]
    return [f'{machine.name} was switched off with {each} on it.'
            for each in [*there, *(f'lease {each}' for each in leases)]]

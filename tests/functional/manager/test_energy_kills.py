# SPDX-License-Identifier: Apache-2.0
"""A manager that dies at any step of sleep or of waking up is followed by one that completes it.

It dies before and after each commit, and before and after each call of the cloud and of the power
driver. Nothing is lost, and nothing is counted twice.
"""
import shutil

import backends_world
import pytest
import sleepers_world
from support import builders
from support import crashing

from climate.cloud import simulated
from climate.db import power
from climate.domain import lifecycle
from climate.domain import sleep
from climate.plugins import sleepable

pytestmark = pytest.mark.proof

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


class Mortal(sleepers_world.Keeping):
    """A keeper with a moment to die before and after each call of the driver."""

    def __init__(self, manager, conf, points):
        super().__init__(manager, conf)
        self._points = points

    def wake(self, resource):
        self._around(super().wake, resource)

    def sleep(self, resource):
        self._around(super().sleep, resource)

    def state(self, resource):
        return self._around(super().state, resource)

    def _around(self, work, resource):
        self._points.reach()
        found = work(resource)
        self._points.reach()
        return found


class World:
    """A database and a cloud on which managers come and go, and a machine that sleeps or not.

    :ivar ids: the ids of the resources on it.
    """

    #: What the cloud calls the machine.
    machine = 'compute-1'
    classes = None

    def __init__(self, conf, folder, migrated):
        self.points, self.clock = crashing.Points(), builders.Clock()
        shutil.copy(migrated, folder / 'climate.sqlite')
        conf.set_override('state', str(folder / 'cloud.sqlite'), group='simulated')
        self._conf = conf
        self._database = crashing.Fragile(f'sqlite:///{folder}/climate.sqlite', self.points)
        self.cloud = simulated.SimulatedCloud(conf, clock=lambda: self.clock().timestamp())
        self.cloud.faults.on_point = self.points.reach
        self.born()
        self.ids = [each.id for each in self.enrolled()]

    def born(self):
        """Begin another manager."""
        self.manager = builders.Manager(self._conf, self._database, self.clock, self.cloud,
                                        classes=self.classes)
        self.keeping = Mortal(self.manager, self._conf, self.points)

    def look(self):
        """Run each periodic work of a manager once."""
        self.manager.event_loop.tick(self.clock())
        self.keeping.step()

    def close(self):
        self.cloud.close()
        self._database.dispose()

    def enrolled(self):
        """Enrol what is on the machine; return the Resources."""
        return self.manager.enrol(1)

    def request(self):
        """The request of a lease of it."""
        return builders.hosts()

    def services(self):
        """The services of the cloud on the machine, each up or down, enabled or not."""
        return self.cloud.as_service().computes.of_hosts([self.machine])

    def states(self):
        """The states of power of what is on the machine."""
        known = self.keeping.states()
        return {known.get(each, sleep.AWAKE) for each in self.ids}


class StorageWorld(World):
    """The machine has two storage back ends."""

    machine = backends_world.MACHINE

    def __init__(self, conf, folder, migrated):
        self.classes = backends_world.configured(conf)
        super().__init__(conf, folder, migrated)

    def enrolled(self):
        return backends_world.enrol(self.manager, backends_world.SSD, backends_world.HDD)

    def request(self):
        return backends_world.room()

    def services(self):
        return [each for host, each in backends_world.services(self.manager).items()
                if host.startswith(self.machine)]


def _fall_asleep(world):
    world.clock.advance(hours(1))


def _wake_for_a_lease(world):
    _sleep(world)
    world.lease = world.manager.book(world.request(), start=NOON + hours(5), end=NOON + hours(6))
    world.clock.now = NOON + hours(5) - minutes(15)


def _wake_by_hand(world):
    _sleep(world)
    world.cloud.machines.switch(world.machine, up=True)


def _sleep(world):
    world.clock.advance(hours(1))
    for _ in range(2):
        world.look()
    assert world.states() == {sleep.ASLEEP}


@pytest.mark.parametrize('kind', [World, StorageWorld])
@pytest.mark.parametrize(('arrange', 'state'), [
    (_fall_asleep, sleep.ASLEEP), (_wake_for_a_lease, sleep.AWAKE),
    (_wake_by_hand, sleep.AWAKE)])
def test_a_manager_killed_at_any_step_is_followed_by_one_that_completes_it(
        conf, tmp_path, migrated, arrange, state, kind):
    sleepers_world.configured(conf)
    point = visited = 0
    while visited == point:
        point += 1
        folder = tmp_path / str(point)
        folder.mkdir()
        world = kind(conf, folder, migrated)
        arrange(world)
        world.points.begin(point)
        for _ in range(3):
            try:
                world.look()
            except crashing.Crash:
                visited = point
                break
        world.points.begin(0)
        world.born()
        # The claim of the dead one expires.
        for _ in range(6):
            world.clock.advance(minutes(1))
            world.look()
            if world.states() == {state}:
                break
        _holds(world, state)
        world.close()
        shutil.rmtree(folder)
    assert point > 15


def _holds(world, state):
    is_awake = state == sleep.AWAKE
    assert world.states() == {state}
    for each in world.services():
        assert (each.up, each.enabled) == (is_awake, is_awake)
        assert each.reason == (None if is_awake else sleepable.REASON)
    with world.manager.database.reader() as connection:
        assert power.cycles(connection, NOON) == dict.fromkeys(world.ids, 1)
        wakes = power.wake_seconds(connection, NOON)
    assert [len(each) for each in wakes.values()] == [1] * len(world.ids) * is_awake
    if hasattr(world, 'lease'):
        world.manager.run_until(NOON + hours(5) + minutes(1))
        assert world.manager.lease(world.lease).state == lifecycle.ACTIVE

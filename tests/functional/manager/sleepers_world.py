# SPDX-License-Identifier: Apache-2.0
"""Hosts of the simulated cloud that sleep, and the keeper that a test lets run."""
from support import builders
from support import crashing

from climate import errors
from climate import power as power_drivers
from climate.db import power
from climate.domain import sleep
from climate.manager.energy import power_saving
from climate.manager.energy import sleep_states
from climate.power import base

hours, minutes = builders.hours, builders.minutes
_MINUTE = minutes(1)


def configured(conf):
    """Return the configuration with a power driver, and without spare hosts."""
    conf.set_override('driver', 'simulated', group='energy')
    conf.set_override('spare', 0, group='energy')
    # Simulated machines are switched at once.
    conf.set_override('settle_seconds', 0, group='energy')
    return conf


class Keeping:
    """A Keeper whose steps run when a test says so, on a driver that may fail.

    :ivar broken: names of hosts whose BMC does not answer.
    :ivar switched: names of hosts that were switched on or off, in order.
    :ivar lying: names of hosts that say they are on, and never boot.
    :ivar slowness: how long a BMC takes to answer that it switches a host on.
    """

    def __init__(self, manager, conf):
        self.manager, self.broken, self.lying = manager, set(), set()
        self.switched = []
        self.slowness = minutes(0)
        self._real = power_drivers.load(conf, manager.cloud)
        self.keeper = power_saving.PowerSaving(manager.core, 'this manager', self)

    def state(self, resource):
        self._refuse(resource)
        return base.ON if resource.name in self.lying else self._real.state(resource)

    def wake(self, resource):
        self.switched.append(resource.name)
        self._refuse(resource)
        self.manager.clock.advance(self.slowness)
        if resource.name not in self.lying:
            self._real.wake(resource)

    def sleep(self, resource):
        self.switched.append(resource.name)
        self._refuse(resource)
        self._real.sleep(resource)

    def _refuse(self, resource):
        if resource.name in self.broken:
            raise errors.PowerFailed(resource=resource.name, reason='no answer.')

    def step(self, times=1):
        for _ in range(times):
            self.keeper.step(self.manager.clock())

    def until(self, moment, every=_MINUTE):
        """Run the events that are due and a step of the keeper, at this pace, until a moment."""
        while self.manager.clock.now < moment:
            self.manager.run_until(min(moment, self.manager.clock.now + every))
            self.step()

    def states(self):
        with self.manager.database.reader() as connection:
            found = power.in_states(connection, sleep.STATES)
        return {each.resource_id: each.state for each in found}

    def compute(self, host):
        """Return what the cloud says of the compute service of a host."""
        [found] = self.manager.cloud.as_service().computes.of_hosts([host.name])
        return found

    def all_asleep(self):
        """Advance the clock by an hour, in which free hosts fall asleep."""
        self.manager.clock.advance(hours(1))
        self.step(2)


def kill_after_one_wake(monkeypatch):
    """Kill the manager as soon as it has ordered one host to wake up."""
    real = sleep_states.SleepStates.wake_machine

    def wake(self, resource_ids, now, mended=None):
        real(self, resource_ids, now, mended)
        raise crashing.Crash
    monkeypatch.setattr(sleep_states.SleepStates, 'wake_machine', wake)

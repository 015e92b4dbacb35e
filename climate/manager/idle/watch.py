# SPDX-License-Identifier: Apache-2.0
"""The periodic task about idle leases: sample, judge, and tell owners once a week."""
from climate.manager import core as cores
from climate.manager.idle import judge
from climate.manager.idle import sampler
from climate.manager.idle import summary


class Watch:
    """Watches how much of leases is used, for one manager."""

    def __init__(self, core, owner):
        self._core = core
        self._sampler = sampler.Sampler(core, owner)
        self._judge = judge.Judge(core)

    def step(self, now):
        """Sample and judge all running leases if a new slot has begun; return whether it has."""
        if self._sampler.step(now) is None:
            return False
        with cores.isolated('Idle leases'):
            self._judge.look(now)
        if self._core.conf.idle.weekly_summary:
            summary.tell(self._core, now)
        return True

# SPDX-License-Identifier: Apache-2.0
"""The preparations that the plugins of a lease make before its start."""
import datetime

from climate.domain import lease_events
from climate.plugins import sleepable


def of(core, reservations):
    """Return the ``lease_events.Preparations`` of a lease with these Reservations."""
    plugins = [(core.registry.plugin(each.resource_type), each.request) for each in reservations]
    seconds = core.conf.manager.stage_seconds
    return lease_events.Preparations(
        prepares=any(plugin.prepares(request) for plugin, request in plugins),
        stages=datetime.timedelta(seconds=seconds) if seconds and any(
            plugin.stages(request) for plugin, request in plugins) else None,
        wakes=_wakes(core, plugins) if core.conf.energy.driver else None)


def _wakes(core, plugins):
    """Return how long before the start the resources of a lease are woken; None: they never sleep.

    This is an estimate: ``energy/wake_before_start.py`` corrects the event of resources that sleep.
    """
    if not any(isinstance(core.registry.pools.get(need.pool), sleepable.Sleepable)
               for plugin, request in plugins for need in plugin.needs(request)):
        return None
    conf = core.conf.energy
    return datetime.timedelta(minutes=conf.lead_minutes + conf.wake_minutes)

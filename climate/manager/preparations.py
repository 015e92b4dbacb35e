# SPDX-License-Identifier: Apache-2.0
"""What is done for a lease before its start, as its plugins say."""
import datetime

from climate.domain import lease_events


def of(core, reservations):
    """Return the ``lease_events.Preparations`` of a lease with these Reservations."""
    plugins = [(core.registry.plugin(each.resource_type), each.request) for each in reservations]
    seconds = core.conf.manager.stage_seconds
    return lease_events.Preparations(
        prepares=any(plugin.prepares(request) for plugin, request in plugins),
        stages=datetime.timedelta(seconds=seconds) if seconds and any(
            plugin.stages(request) for plugin, request in plugins) else None)

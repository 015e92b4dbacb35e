# SPDX-License-Identifier: Apache-2.0
"""What a lease waits for while the targets of its reservations are not known yet.

The sentences are made when a lease is read and are not stored. So a look for a target that finds
nothing changes nothing.
"""
import datetime

from climate.domain import acquisition_reasons
from climate.domain import lifecycle
from climate.domain import texts


def explained(registry, lease):
    """Return the lease with what it waits for at the end of its reason."""
    found = waits(registry, lease)
    return lease.explained(texts.joined(lease.reason_text, *found)) if found else lease


def waits(registry, lease):
    """Return a sentence for each reservation that keeps the start of its lease waiting."""
    if (lease.state, lease.task) != (lifecycle.PENDING, 'start'):
        return []
    sentences = []
    for each in lease.open_reservations:
        plugin = registry.plugins.get(each.resource_type)
        if plugin is not None and plugin.awaits_target(each):
            until = acquisition_reasons.shown(in_vain_from(plugin, lease).replace(microsecond=0))
            sentences.append(texts.same(f'Reservation {each.id} waits for its '
                                        f'{plugin.target_kind}, at most until {until}.'))
    return sentences


def in_vain_from(plugin, lease):
    """Return the moment from which a reservation of the lease waits in vain for its target."""
    # A lease that had to acquire its resources could not be used before its start.
    since = lease.created_at if lease.acquisition is None else lease.start
    return since + datetime.timedelta(seconds=plugin.patience_seconds)

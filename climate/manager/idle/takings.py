# SPDX-License-Identifier: Apache-2.0
"""What can be taken back of an idle lease, as far as its samples tell."""
from climate.domain import idle
from climate.domain import lifecycle
from climate.domain import use
from climate.manager.idle import rules


def measures(core, lease):
    """Return whether it is known of all reservations of a lease how much of them is used."""
    plugins = [core.registry.plugins.get(each.resource_type) for each in lease.open_reservations]
    return bool(plugins) and all(each is not None and each.measures_use for each in plugins)


def keys_of(lease):
    """Return the keys of the samples of all that a lease has now, as a set."""
    return {(each.id, resource_id) for each in lease.open_reservations
            for resource_id in each.resource_ids or (use.NO_RESOURCE,)}


def of(core, lease, unused):
    """Return the Taking of a lease by the configured action; None: nothing can be taken.

    :param unused: the keys of the samples of that on which nothing ran.
    """
    conf = core.conf
    if not rules.takes_back(conf) or any(each.state != lifecycle.RESERVATION_ACTIVE
                                         for each in lease.open_reservations):
        return None
    if rules.ends(conf):
        if not keys_of(lease) <= unused or not all(
                _plugin(core, each).reclaims_one(each) for each in lease.open_reservations):
            return None
        return idle.Taking(True, {each.id: tuple(sorted(set(each.resource_ids)))
                                  for each in lease.open_reservations})
    found = {}
    for each in lease.open_reservations:
        plugin = _plugin(core, each)
        least = plugin.least(each.request) if plugin.reclaims_one(each) else None
        if least is not None:
            found[each.id] = idle.surplus(each.resource_ids, least, {
                resource_id for key, resource_id in unused if key == each.id})
    found = {key: ids for key, ids in found.items() if ids}
    return idle.Taking(False, found) if found else None


def _plugin(core, reservation):
    return core.registry.plugin(reservation.resource_type)

# SPDX-License-Identifier: Apache-2.0
"""The rules of this cloud for idle leases: which leases count, and what may be reclaimed."""
import datetime

from climate import errors
from climate.conf import idle as options
from climate.domain import idle
from climate.domain import lifecycle
from climate.domain import use_sampling


def check(conf):
    """Check that samples, if any are taken, are kept at least as long as leases are watched.

    :raises ConfigurationError: samples are deleted too early.
    """
    if conf.idle.sample_minutes and conf.idle.keep_days * 24 < conf.idle.idle_hours:
        raise errors.ConfigurationError(
            f'[idle] keep_days: {conf.idle.keep_days} days are shorter than idle_hours, '
            f'{conf.idle.idle_hours} hours. Keep the samples longer.')


def of(conf):
    """Return the ``domain.idle.IdleRules``."""
    return idle.IdleRules(conf.idle.idle_percent, datetime.timedelta(hours=conf.idle.idle_hours),
                          datetime.timedelta(hours=conf.idle.idle_grace_hours))


def is_exempt(conf, lease):
    """Return whether a lease never counts as idle.

    That is so for sub-leases, and for leases that have some.
    """
    return (lease.idle_exempt or lease.project_id in conf.idle.exempt_projects
            or lease.parent_id is not None or bool(lease.sub_leases))


def ends(conf):
    """Return whether idle leases are ended, not shrunk."""
    return conf.idle.action == options.END


def is_measured(core, lease):
    """Return whether Climate measures the use of all reservations of a lease."""
    plugins = [core.registry.plugins.get(reservation.resource_type)
               for reservation in lease.open_reservations]
    return bool(plugins) and all(plugin is not None and plugin.measures_use for plugin in plugins)


def sample_keys(lease):
    """Return the set of the sample keys of the present resources of a lease."""
    return {(reservation.id, resource_id) for reservation in lease.open_reservations
            for resource_id in reservation.resource_ids or (use_sampling.NO_RESOURCE,)}


def reclamation(core, lease, unused):
    """Return the Reclamation of a lease by the configured action; None: nothing can be reclaimed.

    :param unused: the keys of the samples in which nothing ran.
    """
    if core.conf.idle.action == options.NONE or any(
            reservation.state != lifecycle.RESERVATION_ACTIVE
            for reservation in lease.open_reservations):
        return None
    reclaimable = [(reservation, plugin) for reservation in lease.open_reservations
                   if (plugin := core.registry.plugin(reservation.resource_type)).reclaims_one(
                       reservation)]
    if ends(core.conf):
        if not sample_keys(lease) <= unused or len(reclaimable) < len(lease.open_reservations):
            return None
        return idle.Reclamation(True, {reservation.id: tuple(sorted(set(reservation.resource_ids)))
                                       for reservation, _ in reclaimable})
    surplus = {}
    for reservation, plugin in reclaimable:
        least = plugin.least(reservation.request)
        if least is not None:
            surplus[reservation.id] = idle.surplus(reservation.resource_ids, least, {
                resource_id for key, resource_id in unused if key == reservation.id})
    surplus = {key: ids for key, ids in surplus.items() if ids}
    return idle.Reclamation(False, surplus) if surplus else None

# SPDX-License-Identifier: Apache-2.0
"""Find the hosts of a lease that are free for a sub-lease, and choose some of them."""
import dataclasses

from oslo_log import log

from climate import errors
from climate.db import resources
from climate.domain import lifecycle
from climate.domain import sub_leases
from climate.manager import lease_cloud
from climate.manager.sub_leases import division

LOG = log.getLogger(__name__)


def lendable(core, lease):
    """Return the reservations of a lease whose resources can be given to sub-leases.

    :raises SubLeaseRefused: there are none.
    """
    found = [each for each in lease.open_reservations
             if (plugin := core.registry.plugins.get(each.resource_type)) is not None
             and plugin.has_sub_leases]
    if not found:
        types = sorted(name for name, plugin in core.registry.plugins.items()
                       if plugin.has_sub_leases)
        raise errors.SubLeaseRefused(reason=(
            f'Lease {lease.id} has no resources that can be sub-leased. Those of '
            f'{", ".join(types) or "no type here"} can.'))
    return found


def free(core, lease, span):
    """Return the FreeHosts of a lease for all of a span, by name.

    The database says what is free. If the lease runs, the cloud is asked where servers are.

    :raises SubLeaseRefused: the lease has no resources that can be sub-leased.
    """
    reservations = lendable(core, lease)
    with core.database.reader() as connection:
        spans = division.free_spans(connection, lease)
        known = {each.id: each for each in resources.enrolled(
            connection, {key for each in reservations for key in each.resource_ids})}
    core.resource_names.learn(known.values())
    found = [sub_leases.FreeHost(key, known[key].name, each.id)
             for each in reservations for key in dict.fromkeys(each.resource_ids)
             if key in known and known[key].reservable and known[key].is_well
             and sub_leases.covers(spans.get(key, ()), span)]
    return sorted(_with_use(core, lease, reservations, known, found), key=lambda each: each.name)


def choose(core, lease, request, span):
    """Return the FreeHosts that a SubLeaseRequest gets, all of one reservation of the lease.

    Of counted hosts, those without servers come first, then the order of the names decides.

    :raises BadField: the lease does not have a named host, or not for the whole span.
    :raises NotEnough: too few hosts are free.
    """
    hosts = free(core, lease, span)
    if request.resources:
        return _named(core, lease, request.resources, hosts)
    by_reservation = {}
    for host in sorted(hosts, key=lambda each: (bool(each.in_use), each.name)):
        by_reservation.setdefault(host.reservation_id, []).append(host)
    most = max(by_reservation.values(), key=len, default=[])
    if len(most) < request.count:
        raise errors.NotEnough(
            f'The lease has {len(most)} hosts that are healthy and free for a sub-lease from '
            f'{span[0]:%Y-%m-%d %H:%M} to {span[1]:%Y-%m-%d %H:%M} UTC, but {request.count} are '
            'asked for. Ask for fewer hosts, or another time.', what='hosts',
            wanted=request.count, free=len(most))
    fitting = next(each for each in by_reservation.values() if len(each) >= request.count)
    return fitting[:request.count]


def _named(core, lease, names, hosts):
    with core.database.reader() as connection:
        owned = resources.enrolled(connection, {
            key for each in lease.open_reservations for key in each.resource_ids})
    keys = {text: each.id for each in owned for text in (str(each.id), each.name)}
    free_by_id = {each.resource_id: each for each in hosts}
    chosen = {}
    for name in names:
        if name not in keys:
            raise errors.BadField(field='resources', reason=(
                f'the lease has no resource "{name[:80]}": list the resources of the lease.'))
        if keys[name] not in free_by_id:
            raise errors.BadField(field='resources', reason=(
                f'"{name[:80]}" is not free for all of this time: it is unhealthy, or another '
                'sub-lease has it. Ask for another resource or time.'))
        chosen[keys[name]] = free_by_id[keys[name]]
    if len({each.reservation_id for each in chosen.values()}) > 1:
        raise errors.BadField(field='resources', reason=(
            'they belong to different reservations of the lease: create one sub-lease for each '
            'reservation.'))
    return list(chosen.values())


def _with_use(core, lease, reservations, known, hosts):
    """Return the FreeHosts with the answer of the cloud where servers are, if the lease runs."""
    if lease.state != lifecycle.ACTIVE or not hosts:
        return [dataclasses.replace(each, in_use=False) for each in hosts]
    cloud = lease_cloud.ActionCloud(core.cloud, lease)
    used = set()
    try:
        for reservation in reservations:
            allocated = {key: tuple(known[id_] for id_ in dict.fromkeys(ids) if id_ in known)
                         for key, ids in reservation.allocated.items()}
            used |= core.registry.plugin(reservation.resource_type).in_use(cloud, allocated)
    except errors.CloudError as error:
        LOG.warning('Lease %s: cannot check which hosts have servers: %s', lease.id,
                    error.message)
        return hosts
    return [dataclasses.replace(each, in_use=each.resource_id in used) for each in hosts]

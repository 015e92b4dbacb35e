# SPDX-License-Identifier: Apache-2.0
"""The leases, and the parts of leases, that an export to Blazar cannot carry over. Pure."""
import dataclasses

from climate.db.blazar import blazar_criteria
from climate.db.blazar import imported_records
from climate.db.blazar import reservation_rows
from climate.domain import event_kinds
from climate.domain import lifecycle

#: What happens to a lease on which nothing depends any more.
_OVER = 'It is over, so nothing is lost.'
_AS_BEFORE = 'Blazar keeps it as it was.'
# The actions that change the resources of a lease.
_ACTIONS = (event_kinds.UPDATE, event_kinds.RECLAIM, event_kinds.DELETE)
# Options with names of objects in the cloud, and the names that Blazar has by default.
_NAMES = (('nova', 'aggregate_freepool', 'freepool'),
          ('nova', 'aggregate_owner_key', 'blazar:owner'),
          ('nova', 'availability_zone_prefix', 'blazar_'),
          ('placement', 'provider_prefix', 'blazar_'))
# The facts about the zones of hosts without a zone of their own.
_NO_ZONE = (None, '', 'nova')
# Blazar gives the resources of these types to the project of its trust.
_NEED_A_TRUST = ('virtual:instance', 'flavor:instance', 'virtual:floatingip')


@dataclasses.dataclass(frozen=True)
class LeftOut(imported_records.Problem):
    """A Problem of a lease that is not written to Blazar."""


def left_out(lease, why, advice):
    """Return the Problem of a lease that must be, but is not, in Blazar."""
    return LeftOut(_what(lease), why, imported_records.LEFT_OUT, advice)


def names(conf):
    """Yield the Problems of names of objects in the cloud that Blazar does not have by default."""
    for group, name, expected in _NAMES:
        if conf[group][name] != expected:
            yield imported_records.Problem(
                f'[{group}] {name}', f'It is "{conf[group][name]}", not "{expected}".',
                'Blazar does not recognize objects in the cloud with another name.',
                'The page "Move from Blazar" lists the names to configure before the first lease.')


def problems(lease, resources, conf):
    """Yield the Problems of a Lease; if one of them is a LeftOut, it is not exported.

    :param resources: {id: Resource} of all enrolled hosts and addresses.
    """
    types = sorted({each.resource_type for each in lease.reservations if not _is_known(each)})
    if lease.state in lifecycle.OVER:
        if lease.state == lifecycle.TIMEDOUT or types:
            yield LeftOut(_what(lease), 'Blazar has no such leases.', _OVER)
        return
    reason = _why_not(lease, types, resources)
    if reason is not None:
        yield left_out(lease, *reason)
        return
    if lease.state == lifecycle.ERROR:
        yield imported_records.Problem(
            _what(lease), f'It is in ERROR: {lease.reason or "without a reason"}',
            'It is exported in ERROR.',
            'Blazar does not try its start or its change again; its end releases its resources.')
    for reservation in lease.open_reservations:
        parts = list(_lost_parts(reservation))
        if parts:
            yield imported_records.Problem(
                _what(lease), f'Blazar has no {" and no ".join(parts)}.',
                'It is exported without them, and keeps its resources.',
                'Do not change it in Blazar.')
        if _lacks_a_zone(reservation, resources, conf):
            yield imported_records.Problem(
                _what(lease), 'Its hosts are in a zone of their own, so its aggregate has none.',
                'It is exported, but the filter of Blazar admits servers of all projects to its '
                'hosts.', 'Let it end in Climate, or keep the filter of Climate until its end.')


def unchanged(row, untouched, every):
    """Yield the Problems of a lease of Blazar that an export does not change.

    :param row: its row.
    :param untouched: (name, project id, state) if Climate has not acted on it; else None.
    :param every: the ids of all leases of Climate.
    """
    what = f'lease {row["id"]} ({row["name"]}) of project {row["project_id"]}'
    if untouched is not None and untouched[2] == lifecycle.ERROR != row['status']:
        yield imported_records.Problem(
            what, 'Blazar had allocated some of its resources twice, so it was imported in ERROR.',
            _AS_BEFORE, 'Delete it in Blazar, unless its resources are free.')
    elif row['id'] not in every and row['status'] != 'TERMINATED':
        yield imported_records.Problem(what, 'Climate does not have it.', _AS_BEFORE)


def hosts(source, contents):
    """Yield the Problems of hosts.

    :param contents: the ``exporting.Contents``.
    """
    for row in source.rows('computehosts'):
        if row['hypervisor_hostname'] in contents.withdrawn:
            yield imported_records.Problem(
                f'host {row["id"]} ({row["hypervisor_hostname"]})', 'Climate has withdrawn it.',
                _AS_BEFORE, 'Add it to the aggregate freepool. Blazar can then lease or delete it.')
    for resource in contents.resources:
        what = f'{resource.pool} {resource.id} ({resource.name})'
        if resource.id in contents.asleep:
            yield imported_records.Problem(
                what, 'It sleeps.', 'Blazar leases it, but does not wake it.',
                f'Wake it before you stop Climate: climate host wake {resource.name}')
        if resource.lent_to is not None:
            yield imported_records.Problem(
                what, 'It is lent to one lease.', 'Blazar gets it, but not as reservable.',
                'Let the lease end in Climate, or remove the host from the aggregate freepool '
                'after its end.')


def _lacks_a_zone(reservation, resources, conf):
    """Return whether the aggregate of a reservation of hosts has no zone."""
    if reservation.resource_type != 'physical:host' or conf.nova.reservation_zone == 'always':
        return False
    return conf.nova.reservation_zone == 'never' or not conf.nova.cross_az_attach or any(
        resources[key].facts.get('availability_zone') not in _NO_ZONE
        for key in reservation.resource_ids)


def _why_not(lease, unknown_types, resources):
    """Return (why a lease is left out, what to do), as sentences; None if it is exported."""
    if lease.state == lifecycle.ACQUIRING:
        return ('It waits for resources, which Blazar cannot do.',
                'Create it in Blazar once its resources are free.')
    if lease.task is not None or any(_is_unfinished(event) for event in lease.events):
        return (f'Its {lease.task or "action"} is not finished.',
                'Start climate-manager, wait until "climate lease show" shows a final status, stop '
                'climate-manager, and repeat the export.')
    if unknown_types:
        return (f'Blazar does not know leases of {", ".join(unknown_types)} like this.',
                'Delete it in Climate before the return, or remove its objects yourself later.')
    if not lease.open_reservations:
        return 'It has no reservations any more.', 'Delete it in Climate.'
    if not all(key in resources for each in lease.open_reservations for key in each.resource_ids):
        return 'Some of its resources are not enrolled any more.', 'Create it again in Blazar.'
    if lease.state == lifecycle.PENDING and lease.trust_id is None and any(
            each.resource_type in _NEED_A_TRUST for each in lease.open_reservations):
        return ('It has no trust, so Blazar would give its resources to another project.',
                'Let its owner create it again in Blazar, or in Climate with [keystone] '
                'trust_required = true.')
    return None


def _is_known(reservation):
    """Return whether Blazar has reservations like this one."""
    if reservation.resource_type not in reservation_rows.DETAILS:
        return False
    return reservation.resource_type != 'virtual:instance' or 'amount' in reservation.request


def _is_unfinished(event):
    """Return whether an event has begun, or was ordered and has not begun."""
    is_ordered = event.kind in _ACTIONS or (
        event.kind == event_kinds.END and event.due_at < event.at)
    return event.status == lifecycle.EVENT_IN_PROGRESS or (
        event.status == lifecycle.EVENT_UNDONE and is_ordered)


def _lost_parts(reservation):
    """Yield the fields of a reservation that Blazar does not have, as words."""
    for name in ('hypervisor_properties', 'resource_properties'):
        text = reservation.request.get(name)
        if reservation.resource_type != 'flavor:instance' and (
                blazar_criteria.expressed(text) is None):
            yield f'criteria such as {name} {text[:100]}'
    for name in ('extra_specs', 'ephemeral_gb', 'on_image_failure'):
        if reservation.request.get(name) not in (None, {}, 0, 'default'):
            yield f'field {name}'
    if reservation.depends_on:
        yield 'order of reservations'


def _what(lease):
    return f'lease {lease.id} ({lease.name}) of project {lease.project_id}'

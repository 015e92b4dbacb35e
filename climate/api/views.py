# SPDX-License-Identifier: Apache-2.0
"""How records look in answers, by REST version."""
import json

from climate.api import times
from climate.domain import acquire
from climate.domain import agenda
from climate.domain import hunt
from climate.domain import lifecycle


class Views:
    """Renders records.

    :param plugins: {resource type: plugin class}, for the fields of each type.
    """

    def __init__(self, plugins):
        self._plugins = plugins

    def lease(self, lease, lenient, now, names=False):
        """A Lease, at REST 1.0 (`lenient`) or from 1.1.

        :param names: also name the servers of others that are moved for it, and their hosts.
        """
        return self._lease_1_0(lease, now) if lenient else self._lease_1_1(lease, now, names)

    def reservation(self, reservation):
        """A Reservation, from REST 1.1 on."""
        return self._reservation_1_1(reservation)

    def _lease_1_0(self, lease, now):
        status, _ = lifecycle.words(lease.state, lease.task, lease.start, now)
        return {
            'id': lease.id, 'name': lease.name, 'user_id': lease.user_id,
            'project_id': lease.project_id, 'trust_id': lease.trust_id, 'status': status,
            'degraded': lease.degraded, 'start_date': times.shown_exactly(lease.start),
            'end_date': times.shown_exactly(lease.end), **_stamps_1_0(lease),
            'reservations': [self._reservation_1_0(each) for each in lease.reservations],
            'events': [{
                'id': event.id, 'lease_id': lease.id, 'event_type': event.kind,
                'time': times.shown_exactly(event.at), 'status': event.status,
                **_stamps_1_0(event)} for event in lease.events if event.kind in agenda.SHOWN],
        }

    def _lease_1_1(self, lease, now, names):
        _, status = lifecycle.words(lease.state, lease.task, lease.start, now)
        if lease.deleted_at is not None:
            status = lifecycle.DELETED
        return {
            'id': lease.id, 'name': lease.name, 'user_id': lease.user_id,
            'project_id': lease.project_id, 'status': status, 'status_reason': lease.reason,
            'degraded': lease.degraded, 'start': times.shown(lease.start),
            'end': times.shown(lease.end), 'before_end': times.shown(lease.before_end),
            'created_at': times.shown(lease.created_at),
            'updated_at': times.shown(lease.updated_at),
            'ended_at': times.shown(lease.ended_at), 'deleted_at': times.shown(lease.deleted_at),
            'acquire': _acquire(lease, names),
            'reservations': [self._reservation_1_1(each) for each in lease.reservations],
            'events': [{'id': event.id, 'type': event.kind, 'time': times.shown(event.at),
                        'status': event.status}
                       for event in lease.events if event.kind in agenda.SHOWN],
        }

    def _reservation_1_0(self, reservation):
        return {
            # Clients want an id here, also where nothing of ours has one.
            'resource_id': reservation.id,
            **self._own_fields(reservation, 'shown'),
            'id': reservation.id, 'lease_id': reservation.lease_id,
            'resource_type': reservation.resource_type, 'status': reservation.state,
            'missing_resources': reservation.missing_resources,
            'resources_changed': reservation.resources_changed, **_stamps_1_0(reservation),
        }

    def _reservation_1_1(self, reservation):
        return {
            **self._own_fields(reservation, 'fields'),
            'id': reservation.id, 'resource_type': reservation.resource_type,
            'status': reservation.state, 'missing_resources': reservation.missing_resources,
            'resources_changed': reservation.resources_changed,
            'resources': [str(each) for each in reservation.resource_ids],
        }

    def _own_fields(self, reservation, form):
        plugin = self._plugins.get(reservation.resource_type)
        # A type that was switched off is shown as it was stored.
        return getattr(plugin, form)(reservation) if plugin else {
            **reservation.request, **reservation.binding}


def _acquire(lease, names):
    """How a lease is acquired: its type, with the fields that this type has."""
    view, found = {'type': lease.acquire_type}, lease.acquisition
    if found is None:
        return view
    # Whose search is over has no moments to come.
    goes_on = lease.state == lifecycle.ACQUIRING and lease.task is None
    view |= {name: getattr(found, name) for name in acquire.FIELDS[found.type]}
    if found.type in acquire.QUEUED:
        view |= {'attempts': found.attempts,
                 'next_at': times.shown(found.next_at) if goes_on else None}
    if found.type != acquire.RETRIES:
        view['not_after'] = times.shown(found.not_after) if goes_on else None
    if found.type == acquire.BEST_EFFORT:
        view['plan'] = found.plan and _plan(hunt.from_json(found.plan), names)
    return view


def _plan(plan, names):
    """How many servers leave each host that is cleared, how many have; with names also which."""
    return {'strategy': plan.strategy, 'hosts': [
        {'reservation_id': host.reservation_id, 'state': host.state, 'servers': len(host.moves),
         'moved': sum(move.state == hunt.MOVED for move in host.moves),
         **(_named(host) if names else {})} for host in plan.hosts]}


def _named(host):
    """What only some may know of a host that is cleared."""
    return {'host': host.name, 'why': host.why, 'moves': [
        {'server_id': move.server_id, 'from': move.source, 'to': move.target,
         'state': move.state} for move in host.moves]}


def history(lines, names):
    """What happened to a lease, from REST 1.1 on; `names` as in `Views.lease`."""
    return [{'id': str(each.id), 'at': times.shown(each.at), 'who': each.who, 'what': each.what,
             'why': each.why if names or each.what not in hunt.NAMING else None}
            for each in lines]


def host(resource, lenient):
    """A Resource of the pool "host"."""
    facts = dict(resource.facts)
    version = facts.get('hypervisor_version', '')
    view = {
        **resource.properties,
        'id': str(resource.id), 'hypervisor_hostname': resource.name,
        'service_name': facts.get('service_name'),
        'vcpus': resource.capacity.get('vcpus', 0),
        'memory_mb': resource.capacity.get('memory_mb', 0),
        'local_gb': resource.capacity.get('disk_gb', 0),
        'cpu_info': facts.get('cpu_info') or json.dumps(''),
        'hypervisor_type': facts.get('hypervisor_type'),
        'hypervisor_version': int(version) if version.isdigit() else 0,
        'availability_zone': facts.get('availability_zone'), 'reservable': resource.reservable,
    }
    if lenient:
        return {**view, 'trust_id': None, 'status': None, **_stamps_1_0(resource)}
    return {**view, 'traits': facts.get('traits', '').split(), **_stamps_1_1(resource)}


def property_in_list(found, detail):
    """A Property as lists show it."""
    if not detail:
        return {'property': found.name}
    return {'property': found.name, 'private': found.private, 'values': list(found.values)}


def property_changed(found, lenient):
    """A Property as PATCH answers it; its moments have the form of leases there."""
    show = times.shown_exactly if lenient else times.shown
    return {'id': str(found.id), 'resource_type': 'physical:host', 'property_name': found.name,
            'private': found.private, 'created_at': show(found.created_at),
            'updated_at': show(found.updated_at)}


def allocation(resource_id, given, lenient):
    """Who has a resource, and when."""
    show = times.shown_exactly if lenient else times.shown
    names = ('start_date', 'end_date') if lenient else ('start', 'end')
    return {'resource_id': str(resource_id), 'reservations': [
        {'id': each.reservation_id, 'lease_id': each.lease_id,
         names[0]: show(each.start), names[1]: show(each.end)}
        for each in given for _ in range(each.copies)]}


def offer(found):
    """An Offer, from REST 1.1 on."""
    return {'id': found.id, 'start': times.shown(found.start), 'end': times.shown(found.end),
            'held_until': times.shown(found.held_until),
            'created_at': times.shown(found.created_at),
            'reservations': [{**each.request, 'resource_type': each.resource_type}
                             for each in found.request]}


def usability(found):
    """A Usability, as Nova's scheduler reads it."""
    return {'id': found.id, 'lease_id': found.lease_id, 'project_id': found.project_id,
            'active': found.active, 'usable': found.usable, 'reason': found.reason,
            'ordinary': found.ordinary, 'server_id': found.server_id,
            'room': None if found.room is None else dict(found.room),
            'hosts': list(found.hosts), 'service_hosts': list(found.service_hosts)}


def service(found):
    """A Service, from REST 1.1 on."""
    return {'id': found.id, 'binary': 'climate-manager', 'host': found.host,
            'state': 'up' if found.up else 'down', 'since': times.shown(found.since),
            'last_seen': times.shown(found.last_seen), 'running_events': found.running}


def _stamps_1_0(record):
    return {'created_at': times.shown_plainly(record.created_at),
            'updated_at': times.shown_plainly(record.updated_at)}


def _stamps_1_1(record):
    return {'created_at': times.shown(record.created_at),
            'updated_at': times.shown(record.updated_at)}

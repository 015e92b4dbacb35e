# SPDX-License-Identifier: Apache-2.0
"""The rows that Blazar would have of a reservation of Climate. Pure."""
import collections
import json

from climate.db.blazar import blazar_criteria
from climate.db.blazar import requests
from climate.db.blazar import row_changes
from climate.domain import lifecycle
from climate.domain import records

#: {resource type: the table of its details}.
DETAILS = {
    'physical:host': 'computehost_reservations', 'virtual:instance': 'instance_reservations',
    'flavor:instance': 'instance_reservations', 'virtual:floatingip': 'floatingip_reservations'}
_ALLOCATIONS = {'computehost_allocations': 'compute_host_id',
                'floatingip_allocations': 'floatingip_id'}
_OWNED = (*dict.fromkeys(DETAILS.values()), *_ALLOCATIONS)


class ReservationRows:
    """The present rows of reservations in a ``source.Source``, and the wanted ones.

    The parameters are those of ``lease_rows.LeaseRows``.
    """

    def __init__(self, source, blazar_ids, bindings):
        self._blazar_ids, self._bindings = blazar_ids, bindings
        self._rows = {name: source.grouped(name, 'reservation_id') for name in _OWNED}
        self._required = source.grouped('required_floatingips', 'floatingip_reservation_id')

    def add_present(self, reservation_id, rows):
        """Add the rows of a reservation that Blazar has to {table: rows}."""
        for name in _OWNED:
            rows[name] += self._rows[name][reservation_id]
        for detail in self._rows['floatingip_reservations'][reservation_id]:
            rows['required_floatingips'] += self._required[detail['id']]

    def add_wanted(self, lease, reservation, rows):
        """Add the rows that Blazar would have of a Reservation to {table: rows}."""
        table = DETAILS[reservation.resource_type]
        detail = next(iter(self._rows[table][reservation.id]), None)
        detail_id = detail['id'] if detail else row_changes.new_id(table, reservation.id)
        rows['reservations'].append({
            'id': reservation.id, 'lease_id': lease.id, 'resource_id': detail_id,
            'resource_type': reservation.resource_type, 'status': _status(lease, reservation),
            'missing_resources': reservation.missing_resources,
            'resources_changed': reservation.resources_changed,
            'created_at': reservation.created_at or lease.created_at})
        values = _REQUESTED[reservation.resource_type](reservation, detail)
        if reservation.resource_type != 'virtual:floatingip':
            values |= self._objects(lease, reservation, detail)
        rows[table].append({'id': detail_id, 'reservation_id': reservation.id, **values})
        if reservation.resource_type == 'virtual:floatingip':
            self._add_required(reservation, detail_id, rows)
        if lease.state != lifecycle.TERMINATED:
            self._add_allocations(reservation, rows)

    def _objects(self, lease, reservation, detail):
        """Return {column: id} of the objects in the cloud; ids that are not known stay."""
        if detail is not None and lease.state == lifecycle.TERMINATED:
            return {}
        binding = self._bindings.get(reservation.id, reservation.binding)
        ids = {**binding, **binding.get(records.STAGED, {})}
        found = {'aggregate_id': ids.get('aggregate_id')}
        if found['aggregate_id'] is None and detail is not None:
            found = {}
        if reservation.resource_type != 'physical:host':
            found |= {'flavor_id': reservation.id, 'server_group_id': ids.get('server_group_id')}
        return found

    def _add_required(self, reservation, detail_id, rows):
        known = {row['address']: row['id'] for row in self._required[detail_id]}
        rows['required_floatingips'] += [
            {'id': known.get(address) or row_changes.new_id(
                'required_floatingips', reservation.id, address),
             'address': address, 'floatingip_reservation_id': detail_id}
            for address in reservation.request['required_floatingips']]

    def _add_allocations(self, reservation, rows):
        table = ('floatingip_allocations' if reservation.resource_type == 'virtual:floatingip'
                 else 'computehost_allocations')
        column = _ALLOCATIONS[table]
        known = collections.defaultdict(list)
        for row in self._rows[table][reservation.id]:
            known[row[column]].append(row['id'])
        for key, copies in sorted(collections.Counter(reservation.resource_ids).items()):
            blazar_id = self._blazar_ids[key]
            for number in range(copies):
                ids = known[blazar_id]
                rows[table].append({
                    'id': ids[number] if number < len(ids) else row_changes.new_id(
                        table, reservation.id, blazar_id, number),
                    column: blazar_id, 'reservation_id': reservation.id})


def _status(lease, reservation):
    """Return the status of a reservation that Blazar accepts together with that of its lease."""
    return {lifecycle.TERMINATED: lifecycle.RESERVATION_DELETED,
            lifecycle.PENDING: lifecycle.RESERVATION_PENDING,
            lifecycle.ERROR: lifecycle.RESERVATION_ERROR}.get(lease.state, reservation.state)


def _hosts(reservation, detail):
    request = reservation.request
    return {'count_range': f'{request["min"]}-{request["max"]}',
            'before_end': request.get('before_end', 'default'),
            **{name: blazar_criteria.expressed(request.get(name)) or ''
               for name in ('hypervisor_properties', 'resource_properties')}}


def _sized(reservation, detail):
    request = reservation.request
    return {name: request[name] for name in ('vcpus', 'memory_mb', 'disk_gb', 'amount')} | {
        'affinity': request.get('affinity'),
        'resource_properties': blazar_criteria.expressed(request.get('resource_properties')) or ''}


def _flavor(reservation, detail):
    request = reservation.request
    flavor = json.loads(request['resource_properties'])
    values = {'vcpus': flavor['vcpus'], 'memory_mb': flavor['ram'], 'disk_gb': flavor['disk'],
              'amount': request['amount'], 'affinity': request.get('affinity')}
    if detail is None or requests.flavor_of(detail['resource_properties']) != flavor:
        values['resource_properties'] = json.dumps({
            'id': flavor['id'], 'name': flavor['name'], 'ram': flavor['ram'],
            'disk': flavor['disk'], 'swap': flavor['swap'] or '',
            'OS-FLV-EXT-DATA:ephemeral': flavor['ephemeral'], 'vcpus': flavor['vcpus'],
            'extra_specs': flavor['extra_specs']})
    return values


def _addresses(reservation, detail):
    return {name: reservation.request[name] for name in ('network_id', 'amount')}


_REQUESTED = {'physical:host': _hosts, 'virtual:instance': _sized, 'flavor:instance': _flavor,
              'virtual:floatingip': _addresses}

# SPDX-License-Identifier: Apache-2.0
"""The requests and bindings of Blazar's reservations, as the plugins of Climate store them."""
import json

from climate import errors
from climate.db.blazar import imported_records
from climate.domain import requirement


class Requests:
    """The details of the reservations of a ``source.Source``.

    :param problems: a list, to which Problems are added.
    """

    def __init__(self, source, problems):
        self._problems = problems
        self._details = {
            name: source.grouped(name, 'reservation_id') for name in (
                'computehost_reservations', 'instance_reservations', 'floatingip_reservations')}
        self._required = source.grouped('required_floatingips', 'floatingip_reservation_id')
        self._by_type = {
            'physical:host': self._host_request, 'virtual:instance': self._sized_request,
            'flavor:instance': self._flavor_request, 'virtual:floatingip': self._address_request}

    def knows(self, resource_type):
        """Return whether reservations of a type can be imported at all."""
        return resource_type in self._by_type

    def of(self, what, row):
        """Return (the request, the binding) of a reservation; None if they are malformed.

        :param what: the name of the lease in a Problem.
        """
        return self._by_type[row['resource_type']](what, row)

    def _host_request(self, what, row):
        details = next(iter(self._details['computehost_reservations'][row['id']]), None)
        if details is None:
            return None
        least, _, most = (details['count_range'] or '').partition('-')
        if not least.isdecimal() or not most.isdecimal():
            return None
        request = {'min': int(least), 'max': int(most),
                   'before_end': details['before_end'] or 'default'}
        for name in ('hypervisor_properties', 'resource_properties'):
            request[name] = self._criteria(what, details[name])
        return request, {'aggregate_id': details['aggregate_id']}

    def _sized_request(self, what, row):
        details = next(iter(self._details['instance_reservations'][row['id']]), None)
        if details is None:
            return None
        return ({'vcpus': details['vcpus'], 'memory_mb': details['memory_mb'],
                 'disk_gb': details['disk_gb'], 'amount': details['amount'],
                 'affinity': _boolean(details['affinity']),
                 'resource_properties': self._criteria(what, details['resource_properties'])},
                _capacity_binding(details))

    def _flavor_request(self, what, row):
        details = next(iter(self._details['instance_reservations'][row['id']]), None)
        described = None if details is None else flavor_of(details['resource_properties'])
        if described is None:
            return None
        return ({'flavor_id': described['id'], 'amount': details['amount'],
                 'affinity': _boolean(details['affinity']),
                 'resource_properties': json.dumps(described, sort_keys=True)},
                _capacity_binding(details))

    def _address_request(self, what, row):
        details = next(iter(self._details['floatingip_reservations'][row['id']]), None)
        if details is None:
            return None
        addresses = sorted(row['address'] for row in self._required[details['id']])
        return ({'network_id': details['network_id'], 'amount': details['amount'],
                 'required_floatingips': addresses, 'kept_floatingips': addresses}, {})

    def _criteria(self, what, text):
        if not text:
            return ''
        try:
            requirement.parse(text)
        except errors.ClimateError as error:
            self._problems.append(imported_records.Problem(
                what, f'Its criteria {text[:100]} cannot be read: {error}',
                'It is imported without them and keeps its resources.'))
            return ''
        return text


def flavor_of(text):
    """Return the source flavor that Blazar stores as JSON text, as Climate stores it.

    None if the text is malformed.
    """
    try:
        flavor = json.loads(text)
        return {
            'id': flavor['id'], 'name': flavor['name'], 'vcpus': int(flavor['vcpus']),
            'ram': int(flavor['ram']), 'disk': int(flavor['disk']),
            'ephemeral': int(flavor.get('OS-FLV-EXT-DATA:ephemeral') or 0),
            'swap': int(flavor.get('swap') or 0),
            'extra_specs': dict(flavor.get('extra_specs') or {})}
    except (TypeError, ValueError, KeyError):
        return None


def _capacity_binding(row):
    return {'flavor_id': row['flavor_id'], 'aggregate_id': row['aggregate_id'],
            'server_group_id': row['server_group_id']}


def _boolean(value):
    return None if value is None else bool(value)

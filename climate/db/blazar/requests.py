# SPDX-License-Identifier: Apache-2.0
"""The requests and bindings of Blazar's reservations, as the plugins of Climate store them."""
import json
import re

from climate import errors
from climate.db.blazar import imported_records
from climate.domain import requirement

_COUNT = re.compile('[0-9]{1,9}')
_MISSING = 'its details are missing or malformed.'
# The field of a stored request that clients do not send.
_KEPT = 'kept_floatingips'


class Unusable(Exception):
    """Climate refuses such a reservation; the message is a part of a sentence."""


class Requests:
    """The details of the reservations of a ``source.Source``.

    :param registry: the Registry of the enabled plugins.
    :param problems: a list, to which Problems are added.
    """

    def __init__(self, source, registry, problems):
        self._registry, self._problems = registry, problems
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
        """Return (the request, the binding, the Needs) of a reservation.

        :param what: the name of the lease in a Problem.
        :raises Unusable: details are missing, malformed, or such that Climate refuses them.
        """
        kind = row['resource_type']
        request, binding = self._by_type[kind](what, row)
        try:
            self._registry.checked(kind, {
                name: value for name, value in request.items() if name != _KEPT})
            return request, binding, self._registry.plugin(kind).needs(request)
        except errors.ClimateError as error:
            raise Unusable(str(error)) from error

    def _detail(self, table, row):
        """Return the only row of a reservation in a table.

        :raises Unusable: there is none.
        """
        found = self._details[table][row['id']]
        if not found:
            raise Unusable(_MISSING)
        return found[0]

    def _host_request(self, what, row):
        details = self._detail('computehost_reservations', row)
        least, most = self._count_range(what, details['count_range'] or '')
        request = {'min': least, 'max': most,
                   'before_end': self._before_end(what, details['before_end'] or 'default')}
        for name in ('hypervisor_properties', 'resource_properties'):
            request[name] = self._criteria(what, details[name])
        return request, {'aggregate_id': details['aggregate_id']}

    def _count_range(self, what, text):
        least, _, most = text.partition('-')
        if not (_COUNT.fullmatch(least) and _COUNT.fullmatch(most) and int(least) <= int(most)):
            raise Unusable(f'its count_range is "{text}", not two numbers such as 1-2.')
        if least == '0' != most:
            self._problems.append(imported_records.Problem(
                what, f'Its count_range is {text}.',
                f'It needs at least one host, as with 1-{most}.'))
            least = '1'
        return int(least), int(most)

    def _before_end(self, what, action):
        schema = self._registry.plugin('physical:host').schema['properties']['before_end']
        if action in schema['enum']:
            return action
        self._problems.append(imported_records.Problem(
            what, f'Climate has no before_end "{action}".', 'Nothing happens before its end.',
            'Its owner can subscribe to reminders.'))
        return ''

    def _sized_request(self, what, row):
        details = self._detail('instance_reservations', row)
        return ({'vcpus': details['vcpus'], 'memory_mb': details['memory_mb'],
                 'disk_gb': details['disk_gb'], 'amount': details['amount'],
                 'affinity': _boolean(details['affinity']),
                 'resource_properties': self._criteria(what, details['resource_properties'])},
                _capacity_binding(details))

    def _flavor_request(self, what, row):
        details = self._detail('instance_reservations', row)
        described = flavor_of(details['resource_properties'])
        if described is None:
            raise Unusable(_MISSING)
        return ({'flavor_id': described['id'], 'amount': details['amount'],
                 'affinity': _boolean(details['affinity']),
                 'resource_properties': json.dumps(described, sort_keys=True)},
                _capacity_binding(details))

    def _address_request(self, what, row):
        details = self._detail('floatingip_reservations', row)
        addresses = sorted(row['address'] for row in self._required[details['id']])
        return ({'network_id': details['network_id'], 'amount': details['amount'],
                 'required_floatingips': addresses, _KEPT: addresses}, {})

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
        sizes = {
            'vcpus': int(flavor['vcpus']), 'ram': int(flavor['ram']), 'disk': int(flavor['disk']),
            'ephemeral': int(flavor.get('OS-FLV-EXT-DATA:ephemeral') or 0),
            'swap': int(flavor.get('swap') or 0)}
        return None if min(sizes.values()) < 0 else {
            'id': flavor['id'], 'name': flavor['name'], **sizes,
            'extra_specs': {str(key): str(value) for key, value in dict(
                flavor.get('extra_specs') or {}).items()}}
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError):
        return None


def _capacity_binding(row):
    return {'flavor_id': row['flavor_id'], 'aggregate_id': row['aggregate_id'],
            'server_group_id': row['server_group_id']}


def _boolean(value):
    return None if value is None else bool(value)

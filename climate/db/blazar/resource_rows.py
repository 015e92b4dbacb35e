# SPDX-License-Identifier: Apache-2.0
"""The rows that Blazar would have of the hosts and addresses of Climate. Pure."""
import collections
import unicodedata

from climate.db.blazar import imported_records
from climate.db.blazar import row_changes

_HOSTS, _VALUES = 'computehosts', 'computehost_extra_capabilities'
_PROPERTIES, _ADDRESSES = 'resource_properties', 'floatingips'
# The capacities that are columns of a host, not resource classes of Placement.
_SIZES = {'vcpus': 'vcpus', 'memory_mb': 'memory_mb', 'disk_gb': 'local_gb'}


class ResourceRows:
    """The present rows of resources in a ``source.Source``, and the wanted ones.

    Rows of the same hosts and addresses keep their ids, and all values that only Blazar has.

    :param resources: all enrolled hosts and addresses of Climate, as Resources.
    :param private: {name of a property of hosts: whether only administrators see it}.
    :ivar blazar_ids: {id of a resource in Climate: its id in Blazar}.
    :ivar present: {table: the rows of these resources that Blazar has}.
    """

    def __init__(self, source, resources, private):
        self._source, self._private = source, private
        self._resources = resources
        self._rows = {name: {row['id']: row for row in source.rows(name)}
                      for name in (_HOSTS, _ADDRESSES)}
        known = {_key_of(row): key for rows in self._rows.values()
                 for key, row in sorted(rows.items(), reverse=True)}
        self.blazar_ids = {resource.id: known.get(_key(resource)) or self._new_id(resource)
                           for resource in resources}
        own_ids = set(self.blazar_ids.values())
        # If two names differ only in composition, the property with the composed name is meant.
        self._property_ids = {_composed(row): row['id'] for row in sorted(
            source.rows(_PROPERTIES), key=lambda row: row['property_name'] == _composed(row))
            if row['resource_type'] == 'physical:host' and _composed(row) in private}
        self.present = {
            _PROPERTIES: source.rows(_PROPERTIES),
            **{name: [row for key, row in rows.items() if key in own_ids]
               for name, rows in self._rows.items()},
            # Blazar may have properties that were not imported; they stay.
            _VALUES: [row for row in source.rows(_VALUES) if row['computehost_id'] in own_ids
                      and row['property_id'] in self._property_ids.values()]}

    def wanted(self):
        """Return {table: the rows that Blazar would have of all resources}."""
        rows = collections.defaultdict(list)
        property_ids = self._add_properties(rows)
        for resource in self._resources:
            key = self.blazar_ids[resource.id]
            row = {'id': key, 'reservable': resource.reservable}
            if key not in self._rows[_table(resource)]:
                row |= (self._new_host(resource, rows) if resource.pool == imported_records.HOST
                        else _new_address(resource))
            rows[_table(resource)].append(row)
            if resource.pool == imported_records.HOST:
                self._add_values(resource, property_ids, rows)
        return rows

    def _new_id(self, resource):
        """Return the id of a new row: the id that a host has in Climate, if it is free."""
        if resource.pool == imported_records.HOST and str(resource.id) not in self._rows[_HOSTS]:
            return str(resource.id)
        return row_changes.new_id(_table(resource), resource.name)

    def _add_properties(self, rows):
        """Add the rows of the properties of hosts; return {name: id of the property}."""
        ids = dict(self._property_ids)
        private = {key: self._private[name] for name, key in ids.items()}
        rows[_PROPERTIES] += [
            {'id': row['id'], **({'private': private[row['id']]} if row['id'] in private else {})}
            for row in self._source.rows(_PROPERTIES)]
        for name in sorted({name for each in self._resources for name in each.properties}
                           - set(ids)):
            ids[name] = row_changes.new_id(_PROPERTIES, name)
            rows[_PROPERTIES].append({
                'id': ids[name], 'resource_type': 'physical:host', 'property_name': name,
                'private': self._private[name]})
        return ids

    def _add_values(self, host, property_ids, rows):
        key = self.blazar_ids[host.id]
        known = {row['property_id']: row['id'] for row in self.present[_VALUES]
                 if row['computehost_id'] == key}
        rows[_VALUES] += [
            {'id': known.get(property_ids[name]) or row_changes.new_id(_VALUES, key, name),
             'computehost_id': key, 'property_id': property_ids[name], 'capability_value': text}
            for name, text in sorted(host.properties.items())]

    def _new_host(self, host, rows):
        key, facts = self.blazar_ids[host.id], host.facts
        for trait in facts.get('traits', '').split():
            rows['computehost_trait'].append({
                'id': row_changes.new_id('computehost_trait', key, trait), 'computehost_id': key,
                'trait': trait})
        for name, total in sorted(host.capacity.items()):
            if name not in _SIZES:
                rows['computehost_resource_inventory'].append({
                    'id': row_changes.new_id('computehost_resource_inventory', key, name),
                    'computehost_id': key, 'resource_class': name, 'total': total, 'reserved': 0,
                    'min_unit': 1, 'max_unit': int(facts.get(f'max_unit:{name}', total)),
                    'step_size': 1, 'allocation_ratio': 1.0})
        version = facts.get('hypervisor_version', '')
        # Blazar uses the trust of the administrator who enrolled a host only to delete the host.
        trusts = [row['trust_id'] for row in sorted(
            self._rows[_HOSTS].values(), key=lambda row: str(row['created_at']))]
        return {'hypervisor_hostname': host.name, 'service_name': facts.get('service_name'),
                'cpu_info': facts.get('cpu_info') or '',
                'hypervisor_type': facts.get('hypervisor_type') or '',
                'hypervisor_version': int(version) if version.isdecimal() else 0,
                'availability_zone': facts.get('availability_zone') or '',
                'trust_id': trusts[-1] if trusts else '',
                **{column: host.capacity.get(name, 0) for name, column in _SIZES.items()}}


def _new_address(address):
    facts = address.facts
    return {'floating_network_id': facts['network_id'], 'subnet_id': facts['subnet_id'],
            'floating_ip_address': facts['address']}


def _table(resource):
    return _HOSTS if resource.pool == imported_records.HOST else _ADDRESSES


def _key(resource):
    """Return the key of a Resource, which is the same in both databases."""
    if resource.pool == imported_records.HOST:
        return resource.name
    return resource.facts['network_id'], resource.facts['address']


def _key_of(row):
    """Return the key of a row of a host or an address."""
    if 'hypervisor_hostname' in row:
        return row['hypervisor_hostname']
    return row['floating_network_id'], row['floating_ip_address']


def _composed(row):
    """Return the name of a property as Climate stores it."""
    return unicodedata.normalize('NFC', row['property_name'])

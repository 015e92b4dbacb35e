# SPDX-License-Identifier: Apache-2.0
"""The hosts and addresses of Blazar, as resources of Climate."""
import unicodedata

from climate import errors
from climate.db.blazar import imported_records
from climate.domain import property_names

# The bytes of a value that every database holds.
_LONGEST_VALUE = 65535
# A Problem names at most this many hosts.
_MOST_HOSTS = 20


class Enrolled:
    """The resources of a ``source.Source``.

    :ivar resources: {(pool, id in Blazar): ImportedResource}.
    :ivar same_host: {id of a host in Blazar: the id of the host with the same name}.
    :ivar lost_names: the names of properties that are left out, so that criteria with them find no
        hosts.
    :param pools: {name: the Pool}, those of the enabled plugins.
    :param problems: a list, to which Problems are added.
    """

    def __init__(self, source, pools, problems):
        self._source, self._pools, self._problems = source, pools, problems
        self.same_host, self.lost_names = {}, set()
        self.resources = {(resource.pool, resource.source_id): resource for resource in (
            *(self._hosts() if imported_records.HOST in pools else ()),
            *(self._addresses() if imported_records.ADDRESS in pools else ()))}

    def _hosts(self):
        uses = self._source.grouped('computehost_extra_capabilities', 'property_id')
        properties = {row['id']: row for row in self._source.rows('resource_properties')
                      if row['id'] in uses and self._is_usable(_composed(row), uses[row['id']])}
        values = self._source.grouped('computehost_extra_capabilities', 'computehost_id')
        traits = self._source.grouped('computehost_trait', 'computehost_id')
        inventory = self._source.grouped('computehost_resource_inventory', 'computehost_id')
        by_name = {}
        for row in sorted(self._source.rows('computehosts'), key=lambda row: _number(row['id'])):
            name = row['hypervisor_hostname']
            if not name:
                self._problems.append(imported_records.Problem(
                    f'host {row["id"]}', 'It has no hypervisor hostname.',
                    imported_records.LEFT_OUT, 'Enrol it with "climate host create".'))
                continue
            if name in by_name:
                self.same_host[row['id']] = by_name[name]
                self._problems.append(imported_records.Problem(
                    f'host {row["id"]} ({name})', f'Host {by_name[name]} has the same name.',
                    f'Its allocations become those of host {by_name[name]}.'))
                continue
            by_name[name] = row['id']
            chosen = [(properties[value['property_id']], value['capability_value'])
                      for value in values[row['id']] if value['property_id'] in properties
                      and self._fits(name, properties[value['property_id']], value)]
            # If two names differ only in composition, the value of the composed name is kept.
            chosen.sort(key=lambda pair: pair[0]['property_name'] == _composed(pair[0]))
            yield imported_records.ImportedResource(
                imported_records.HOST, name, _number(row['id']) or None, row['id'],
                _host_capacity(row, inventory[row['id']]), bool(row['reservable']),
                {_composed(described): text for described, text in chosen},
                _host_facts(row, traits[row['id']], inventory[row['id']]),
                tuple(sorted({_composed(described) for described, _ in chosen
                              if described['private']})))

    def _is_usable(self, name, values):
        """Return whether Climate accepts a name of a property; add a Problem if not.

        :param values: the rows of the values of the property.
        """
        pool = self._pools[imported_records.HOST]
        try:
            property_names.check(pool, [name])
        except errors.ClimateError as error:
            self._problems.append(imported_records.Problem(
                f'property "{name[:80]}" of {self._hosts_of(values)}', str(error),
                imported_records.LEFT_OUT,
                'Set it again under another name with "climate host set".'))
            # Both services read criteria with these names from their own facts about a host.
            if name not in pool.own_names():
                self.lost_names.add(name)
            return False
        return True

    def _hosts_of(self, values):
        """Return the names of the hosts that have some values of a property, as words."""
        names = {row['id']: row['hypervisor_hostname'] for row in self._source.rows('computehosts')}
        hosts = sorted({str(names.get(value['computehost_id']) or value['computehost_id'])
                        for value in values})
        more = len(hosts) - _MOST_HOSTS
        return (f'{"hosts" if hosts[1:] else "host"} {", ".join(hosts[:_MOST_HOSTS])}'
                f'{f" and {more} more" if more > 0 else ""}')

    def _fits(self, host, described, value):
        text = value['capability_value'] or ''
        if len(text.encode()) <= _LONGEST_VALUE:
            return True
        self._problems.append(imported_records.Problem(
            f'property "{_composed(described)}" of host {host}',
            f'Its value has more than {_LONGEST_VALUE} bytes.', imported_records.LEFT_OUT,
            'Shorten it in Blazar, or set it again with "climate host set".'))
        return False

    def _addresses(self):
        for row in sorted(self._source.rows('floatingips'), key=lambda row: row['id']):
            yield imported_records.ImportedResource(
                imported_records.ADDRESS,
                f'{row["floating_ip_address"]}@{row["floating_network_id"]}', None, row['id'], {},
                bool(row['reservable']), {},
                {'network_id': row['floating_network_id'], 'subnet_id': row['subnet_id'],
                 'address': row['floating_ip_address']})


def _composed(described):
    """Return the name of a property in the Unicode form NFC, as criteria name it."""
    return unicodedata.normalize('NFC', described['property_name'] or '')


def _host_capacity(row, inventory):
    return {'vcpus': row['vcpus'], 'memory_mb': row['memory_mb'], 'disk_gb': row['local_gb'],
            **{has['resource_class']: max(0, int((has['total'] - has['reserved'])
                                                 * has['allocation_ratio']))
               for has in inventory}}


def _host_facts(row, traits, inventory):
    facts = {
        'availability_zone': row['availability_zone'] or None,
        'cpu_info': row['cpu_info'], 'hypervisor_type': row['hypervisor_type'],
        'hypervisor_version': str(row['hypervisor_version'] or 0),
        'service_name': row['service_name'],
        'traits': ' '.join(sorted(trait['trait'] for trait in traits)),
        **{f'max_unit:{has["resource_class"]}': str(has['max_unit']) for has in inventory}}
    # The first refresh of a manager reads the facts again.
    return {name: text for name, text in facts.items()
            if text is not None and len(text.encode()) <= _LONGEST_VALUE}


def _number(text):
    return int(text) if str(text).isdecimal() and 0 < int(text) < 2 ** 62 else 0

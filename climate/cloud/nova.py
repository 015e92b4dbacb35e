# SPDX-License-Identifier: Apache-2.0
"""Nova: servers, hypervisors and aggregates."""
import contextlib
import json

from novaclient import client as nova_client
from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models
from climate.cloud import parallel

VERSION = '2.90'
# The last one at which a hypervisor shows its sizes and its CPU.
_SIZES_VERSION = '2.87'
_ZONE_KEY = 'availability_zone'
# A metadata key that no aggregate has.
_NO_KEY = 'climate:none'


class Nova(base.Nova):
    """Nova under one identity."""

    def __init__(self, conf, session, pool, trust_id=None):
        self.trust_id = trust_id
        self._pool = pool
        self._client = connected(conf, session, VERSION)
        self._sizes = connected(conf, session, _SIZES_VERSION)

    @faults.read
    def hypervisor(self, name):
        try:
            found = self._sizes.hypervisors.search(name, detailed=True)
        except nova_errors.NotFound:
            found = []
        # The search is by substring.
        exact = [each.to_dict() for each in found if each.hypervisor_hostname == name]
        if not exact:
            raise errors.HostNotFound(host=name)
        if len(exact) > 1:
            raise errors.HostAmbiguous(host=name)
        return _hypervisor(exact[0], self._zones(host=exact[0]['service']['host']))

    @faults.read
    def hypervisors(self):
        zones = self._zones()
        found = []
        page = self._sizes.hypervisors.list()
        while page:
            found.extend(_hypervisor(each.to_dict(), zones) for each in page)
            page = self._sizes.hypervisors.list(marker=page[-1].id)
        return found

    @faults.read
    def servers_on(self, service_hosts):
        lists = parallel.each(self._pool, self._servers_on_one, service_hosts)
        return [server for servers in lists for server in servers]

    @faults.translated
    def delete_server(self, server_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.servers.delete(server_id)

    @faults.read
    def aggregate(self, name):
        return self._find(name)

    @faults.read
    def aggregates(self):
        return [_aggregate(each) for each in self._client.aggregates.list()]

    @faults.translated
    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        found = self._find(name) if known is None else models.named(known, name)
        found = found or self._create(name, zone)
        changes = {key: text for key, text in (metadata or {}).items()
                   if found.metadata.get(key) != text}
        if zone is not None and found.zone != zone:
            changes[_ZONE_KEY] = zone
        return self._set(found, changes) if changes else found

    @faults.translated
    def set_aggregate_metadata(self, aggregate, metadata):
        self._set(aggregate, metadata)

    @faults.translated
    def add_hosts(self, aggregate, service_hosts):
        refused = self._move(self._add, aggregate, service_hosts)
        if refused:
            inside = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            _raise_first(error for host, error in refused if host not in inside)

    @faults.translated
    def remove_hosts(self, aggregate, service_hosts):
        refused = self._move(self._remove, aggregate, service_hosts)
        if refused:
            inside = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            _raise_first(error for host, error in refused if host in inside)

    @faults.translated
    def delete_aggregate(self, aggregate):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.aggregates.delete(aggregate.id)

    def _servers_on_one(self, service_host):
        found = self._client.servers.list(
            search_opts={'all_tenants': 1, 'host': service_host}, limit=-1)
        return [server(each.to_dict()) for each in found]

    def _zones(self, host=None):
        services = self._client.services.list(host=host, binary='nova-compute')
        return {each.host: each.zone for each in services}

    def _find(self, name):
        for each in self._client.aggregates.list():
            if each.name == name:
                return _aggregate(each)
        return None

    def _create(self, name, zone):
        try:
            return _aggregate(self._client.aggregates.create(name, zone))
        except nova_errors.Conflict:
            # Another manager was faster.
            found = self._find(name)
            if found is None:
                raise
            return found

    def _set(self, aggregate, metadata):
        try:
            return _aggregate(self._client.aggregates.set_metadata(aggregate.id, metadata))
        except nova_errors.BadRequest as error:
            if 'instances' not in str(error):
                raise
            raise errors.StillBusy(service=self.service, reason=str(error)) from error

    def _move(self, function, aggregate, service_hosts):
        """What Nova refused, as [(host, error)], after all hosts were tried."""
        outcomes = parallel.each(
            self._pool, lambda host: (host, function(aggregate, host)), service_hosts)
        if outcomes:
            # Also after a refusal: an earlier try may have been cut short before this.
            self._show_whole(aggregate)
        return [(host, error) for host, error in outcomes if error is not None]

    def _show_whole(self, aggregate):
        # Nova tells its scheduler of each change with the hosts as that one call saw them, so of
        # calls at the same time the last one hides the hosts of the others, and the filter would
        # let ordinary servers onto them. One more call, of a key that is not there, shows all.
        with contextlib.suppress(nova_errors.NotFound):
            self._client.aggregates.set_metadata(aggregate.id, {_NO_KEY: None})

    def _add(self, aggregate, host):
        """None, or why Nova refused to let this host in."""
        try:
            self._client.aggregates.add_host(aggregate.id, host)
        except nova_errors.NotFound as error:
            if error.message and error.message.startswith('Aggregate'):
                return error
            return errors.HostNotFound(host=host)
        except nova_errors.Conflict as error:
            # In it already, or servers would change their zone, or it is in another zone.
            if 'instance' in str(error):
                return errors.StillBusy(service=self.service, reason=str(error))
            return error
        return None

    def _remove(self, aggregate, host):
        """None, or why Nova refused to let this host out."""
        try:
            self._client.aggregates.remove_host(aggregate.id, host)
        except nova_errors.NotFound:
            return None
        except nova_errors.Conflict as error:
            # Nova looks at the servers first, and at whether the host is in it only then.
            return errors.StillBusy(service=self.service, reason=str(error))
        return None


def connected(conf, session, version):
    """A client of novaclient for that version."""
    options = conf.nova
    return nova_client.Client(
        version, session=session, service_type=options.service_type,
        service_name=options.service_name, endpoint_type=options.valid_interfaces,
        region_name=options.region_name or conf.region_name,
        endpoint_override=options.endpoint_override, connect_retries=options.connect_retries,
        status_code_retries=options.status_code_retries)


def _raise_first(refusals):
    """Raise one of the errors, if any: rather one that waiting does not cure."""
    for error in sorted(refusals, key=lambda error: isinstance(error, errors.StillBusy)):
        raise error


def _hypervisor(found, zones):
    service_host = found['service']['host']
    cpu_info = found['cpu_info']
    return models.Hypervisor(
        name=found['hypervisor_hostname'], service_host=service_host, vcpus=found['vcpus'],
        memory_mb=found['memory_mb'], disk_gb=found['local_gb'],
        hypervisor_type=found['hypervisor_type'],
        hypervisor_version=found['hypervisor_version'],
        cpu_info=cpu_info if cpu_info and isinstance(cpu_info, str)
        else json.dumps(cpu_info or {}, sort_keys=True),
        availability_zone=zones.get(service_host), up=found['state'] == 'up',
        enabled=found['status'] == 'enabled')


def server(found):
    """A server of Nova's answers, a dict, as a Server."""
    flavor = found.get('flavor') or {}
    return models.Server(
        # Of a server in a cell that is down Nova tells little.
        id=found['id'], name=found.get('name') or '', host=found.get('OS-EXT-SRV-ATTR:host'),
        project_id=found['tenant_id'], status=found['status'],
        task=found.get('OS-EXT-STS:task_state'), metadata=dict(found.get('metadata') or {}),
        flavor=_own_flavor(flavor) if 'original_name' in flavor else None,
        locked=bool(found.get('locked')))


def _own_flavor(found):
    """The flavor that Nova keeps with a server, and shows without its id."""
    return models.Flavor(
        id='', name=found['original_name'], vcpus=found['vcpus'], ram=found['ram'],
        disk=found['disk'], ephemeral=found['ephemeral'], swap=found['swap'],
        extra_specs=dict(found.get('extra_specs') or {}))


def _aggregate(resource):
    # As a dict: an attribute that is missing would be asked for in a call of its own.
    found = resource.to_dict()
    metadata = {key: text for key, text in (found.get('metadata') or {}).items()
                if key != _ZONE_KEY}
    return models.Aggregate(
        id=found['id'], name=found['name'], zone=found.get(_ZONE_KEY),
        hosts=tuple(sorted(found.get('hosts') or ())), metadata=metadata)

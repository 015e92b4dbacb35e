# SPDX-License-Identifier: Apache-2.0
"""Nova: hypervisors, aggregates, servers on hosts and quotas."""
import contextlib
import json

from novaclient import exceptions as nova_errors
from oslo_utils import uuidutils

from climate import errors
from climate.cloud import attachments
from climate.cloud import base
from climate.cloud import computes
from climate.cloud import concurrency
from climate.cloud import flavors
from climate.cloud import models
from climate.cloud import nova_client
from climate.cloud import servers
from climate.cloud import shared_reads

# The last microversion at which a hypervisor shows its sizes and its CPU.
_SIZES_VERSION = '2.87'
# The last microversion at which a hypervisor has a number instead of a UUID.
_NUMBERS_VERSION = '2.52'
_ZONE_KEY = 'availability_zone'
# A metadata key that no aggregate has.
_NO_KEY = 'climate:none'
_QUOTAS = ('instances', 'cores', 'ram')


class RealNova(nova_client.NovaInterface, base.Nova):
    """Nova under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._pool = connection.pool
        self._sizes = nova_client.connected(connection, _SIZES_VERSION)
        self._numbers = nova_client.connected(connection, _NUMBERS_VERSION)
        self._lists = nova_client.ServerLists(connection)
        self._all_aggregates = shared_reads.SharedRead(lambda _: [
            _aggregate(resource) for resource in self._client.aggregates.list()])

    def hypervisor(self, name):
        try:
            matches = self._sizes.hypervisors.search(name, detailed=True)
        except nova_errors.NotFound:
            matches = []
        # Nova searches by substring.
        exact = [resource.to_dict() for resource in matches
                 if resource.hypervisor_hostname == name]
        if not exact:
            raise errors.ResourceNotFound(pool='host', resource=name)
        if len(exact) > 1:
            raise errors.ResourceAmbiguous(pool='host', resource=name)
        return _hypervisor(exact[0], self._zones(host=exact[0]['service']['host']))

    def hypervisor_name(self, hypervisor_id):
        by_number = hypervisor_id.isascii() and hypervisor_id.isdigit()
        if not by_number and not uuidutils.is_uuid_like(hypervisor_id):
            return hypervisor_id
        client = self._numbers if by_number else self._sizes
        try:
            return client.hypervisors.get(hypervisor_id).hypervisor_hostname
        except (nova_errors.NotFound, nova_errors.BadRequest):
            raise errors.ResourceNotFound(pool='host', resource=hypervisor_id) from None

    def hypervisors(self):
        zones = self._zones()
        hypervisors = []
        page = self._sizes.hypervisors.list()
        while page:
            hypervisors += [_hypervisor(resource.to_dict(), zones) for resource in page]
            page = self._sizes.hypervisors.list(marker=page[-1].id)
        return hypervisors

    def servers_on(self, service_hosts):
        lists = concurrency.call_all(
            self._pool, lambda host: self._lists.find(host=host), service_hosts)
        return [server for servers in lists for server in servers]

    def delete_server(self, server_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.servers.delete(server_id)

    def aggregate(self, name):
        return self._find(name)

    def aggregates(self):
        return self._all_aggregates.ask()

    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        aggregate = self._find(name) if known is None else models.named(known, name)
        aggregate = aggregate or self._create(name, zone)
        changes = {key: text for key, text in (metadata or {}).items()
                   if aggregate.metadata.get(key) != text}
        if zone is not None and aggregate.zone != zone:
            changes[_ZONE_KEY] = zone
        return self._set(aggregate, changes) if changes else aggregate

    def set_aggregate_metadata(self, aggregate, metadata):
        self._set(aggregate, metadata)

    def add_hosts(self, aggregate, service_hosts, alone=False, known_only=False):
        service_hosts = list(service_hosts)
        refused = self._move(self._add, aggregate, service_hosts,
                             refreshed_next=alone and len(service_hosts) == 1)
        if known_only:
            refused = [(host, error) for host, error in refused
                       if not isinstance(error, errors.ResourceNotFound)]
        if refused:
            members = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            self.raise_worst(error for host, error in refused if host not in members)

    def remove_hosts(self, aggregate, service_hosts, is_going=False):
        refused = self._move(self._remove, aggregate, service_hosts, refreshed_next=is_going)
        if refused:
            members = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            self.raise_worst(error for host, error in refused if host in members)

    def delete_aggregate(self, aggregate):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.aggregates.delete(aggregate.id)

    def quotas(self, project_id):
        shown = self._client.quotas.get(project_id, detail=True).to_dict()
        return {name: models.Quota(
                    limit=None if shown[name]['limit'] < 0 else shown[name]['limit'],
                    used=shown[name]['in_use'] + shown[name]['reserved'])
                for name in _QUOTAS}

    def _zones(self, host=None):
        services = self._client.services.list(host=host, binary='nova-compute')
        return {service.host: service.zone for service in services}

    def _find(self, name):
        return models.named(self._all_aggregates.ask(), name)

    def _create(self, name, zone):
        try:
            return _aggregate(self._client.aggregates.create(name, zone))
        except nova_errors.Conflict:
            # Another manager has created it at the same time.
            aggregate = self._find(name)
            if aggregate is None:
                raise
            return aggregate

    def _set(self, aggregate, metadata):
        try:
            return _aggregate(self._client.aggregates.set_metadata(aggregate.id, metadata))
        except nova_errors.BadRequest as error:
            if 'instances' not in str(error):
                raise
            raise self._busy(error) from error

    def _move(self, function, aggregate, service_hosts, refreshed_next=False):
        """Call `function` for all hosts; return Nova's refusals as [(host, error)].

        :param refreshed_next: whether Nova's scheduler learns the aggregate's hosts without
            another call.
        """
        outcomes = concurrency.call_all(
            self._pool, lambda host: (host, function(aggregate, host)), service_hosts)
        if outcomes and not refreshed_next:
            # Also after a refusal: an earlier attempt may have been interrupted before this.
            self._refresh_scheduler(aggregate)
        return [(host, error) for host, error in outcomes if error is not None]

    def _refresh_scheduler(self, aggregate):
        # Each change sends Nova's scheduler the list of hosts that this one call read. With
        # concurrent changes the last message misses hosts of the others, and the filter would let
        # ordinary servers onto them. Removing a key that does not exist sends the whole aggregate.
        with contextlib.suppress(nova_errors.NotFound):
            self._client.aggregates.set_metadata(aggregate.id, {_NO_KEY: None})

    def _add(self, aggregate, host):
        """Add a host to an aggregate; return Nova's refusal as an error, or None."""
        try:
            self._client.aggregates.add_host(aggregate.id, host)
        except nova_errors.NotFound as error:
            if error.message and error.message.startswith('Aggregate'):
                return error
            return errors.ResourceNotFound(pool='host', resource=host)
        except nova_errors.Conflict as error:
            # It is already a member, or servers would change their zone, or it is in another zone.
            return errors.ResourcesRefused(service=self.service, refused={host: str(error)})
        return None

    def _remove(self, aggregate, host):
        """Remove a host from an aggregate; return Nova's refusal as an error, or None."""
        try:
            self._client.aggregates.remove_host(aggregate.id, host)
        except nova_errors.NotFound:
            return None
        except nova_errors.Conflict as error:
            # Nova checks for servers before it checks whether the host is in the aggregate.
            return self._busy(error)
        return None


def _hypervisor(shown, zones):
    service_host = shown['service']['host']
    cpu_info = shown['cpu_info']
    return models.Hypervisor(
        name=shown['hypervisor_hostname'], service_host=service_host, vcpus=shown['vcpus'],
        memory_mb=shown['memory_mb'], disk_gb=shown['local_gb'],
        hypervisor_type=shown['hypervisor_type'],
        hypervisor_version=shown['hypervisor_version'],
        cpu_info=cpu_info if cpu_info and isinstance(cpu_info, str)
        else json.dumps(cpu_info or {}, sort_keys=True),
        availability_zone=zones.get(service_host), up=shown['state'] == 'up',
        enabled=shown['status'] == 'enabled')


def _aggregate(resource):
    # A dict, because novaclient makes another call for a missing attribute.
    shown = resource.to_dict()
    metadata = {key: text for key, text in (shown.get('metadata') or {}).items()
                if key != _ZONE_KEY}
    return models.Aggregate(
        id=shown['id'], name=shown['name'], zone=shown.get(_ZONE_KEY),
        hosts=tuple(sorted(shown.get('hosts') or ())), metadata=metadata)


class RealNovaAdapter(base.NovaAdapter):
    """Nova, by novaclient."""

    interfaces = {'nova': RealNova, 'flavors': flavors.NovaFlavors,
                  'servers': servers.NovaServers, 'computes': computes.NovaComputes,
                  'attachments': attachments.NovaAttachments}
    foreign = (nova_errors.ClientException, nova_errors.UnsupportedVersion)

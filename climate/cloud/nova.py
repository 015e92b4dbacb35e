# SPDX-License-Identifier: Apache-2.0
"""Nova: servers, hypervisors and aggregates."""
import contextlib
import json

from novaclient import api_versions
from novaclient import client as nova_client
from novaclient import exceptions as nova_errors
from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import parallel
from climate.cloud import sharing

LOG = log.getLogger(__name__)

VERSION = '2.90'
# The last microversion at which a hypervisor shows its sizes and its CPU.
_SIZES_VERSION = '2.87'
# The last microversion at which a hypervisor has a number instead of a UUID.
_NUMBERS_VERSION = '2.52'
# The microversion from which on Nova shows the scheduler hints of a server. The zone of a server is
# shown from an earlier one on.
_HINTS_VERSION = '2.100'
_ZONE_KEY = 'availability_zone'
# A metadata key that no aggregate has.
_NO_KEY = 'climate:none'
_QUOTAS = ('instances', 'cores', 'ram')


class Nova(base.Nova):
    """Nova under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._pool = link.pool
        self._client = connected(link, VERSION)
        self._sizes = connected(link, _SIZES_VERSION)
        self._numbers = connected(link, _NUMBERS_VERSION)
        self._lists = ServerLists(link)
        self._all_aggregates = sharing.Shared(lambda _: [
            _aggregate(each) for each in self._client.aggregates.list()])

    def hypervisor(self, name):
        try:
            found = self._sizes.hypervisors.search(name, detailed=True)
        except nova_errors.NotFound:
            found = []
        # Nova searches by substring.
        exact = [each.to_dict() for each in found if each.hypervisor_hostname == name]
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
        found = []
        page = self._sizes.hypervisors.list()
        while page:
            found.extend(_hypervisor(each.to_dict(), zones) for each in page)
            page = self._sizes.hypervisors.list(marker=page[-1].id)
        return found

    def servers_on(self, service_hosts):
        lists = parallel.each(self._pool, self._servers_on_one, service_hosts)
        return [server for servers in lists for server in servers]

    def delete_server(self, server_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.servers.delete(server_id)

    def aggregate(self, name):
        return self._find(name)

    def aggregates(self):
        return self._all_aggregates.ask()

    def ensure_aggregate(self, name, zone=None, metadata=None, known=None):
        found = self._find(name) if known is None else models.named(known, name)
        found = found or self._create(name, zone)
        changes = {key: text for key, text in (metadata or {}).items()
                   if found.metadata.get(key) != text}
        if zone is not None and found.zone != zone:
            changes[_ZONE_KEY] = zone
        return self._set(found, changes) if changes else found

    def set_aggregate_metadata(self, aggregate, metadata):
        self._set(aggregate, metadata)

    def add_hosts(self, aggregate, service_hosts, alone=False, known_only=False):
        service_hosts = list(service_hosts)
        refused = self._move(self._add, aggregate, service_hosts,
                             told_next=alone and len(service_hosts) == 1)
        if known_only:
            refused = [each for each in refused
                       if not isinstance(each[1], errors.ResourceNotFound)]
        if refused:
            inside = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            _raise_first(error for host, error in refused if host not in inside)

    def remove_hosts(self, aggregate, service_hosts, is_going=False):
        refused = self._move(self._remove, aggregate, service_hosts, told_next=is_going)
        if refused:
            inside = _aggregate(self._client.aggregates.get(aggregate.id)).hosts
            _raise_first(error for host, error in refused if host in inside)

    def delete_aggregate(self, aggregate):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.aggregates.delete(aggregate.id)

    def quotas(self, project_id):
        told = self._client.quotas.get(project_id, detail=True).to_dict()
        return {name: models.Quota(
                    limit=None if told[name]['limit'] < 0 else told[name]['limit'],
                    used=told[name]['in_use'] + told[name]['reserved'])
                for name in _QUOTAS}

    def _servers_on_one(self, service_host):
        return self._lists.find(host=service_host)

    def _zones(self, host=None):
        services = self._client.services.list(host=host, binary='nova-compute')
        return {each.host: each.zone for each in services}

    def _find(self, name):
        return models.named(self._all_aggregates.ask(), name)

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

    def _move(self, function, aggregate, service_hosts, told_next=False):
        """Call `function` for all hosts; return Nova's refusals as [(host, error)].

        :param told_next: Nova's scheduler learns of the aggregate's hosts without another call.
        """
        outcomes = parallel.each(
            self._pool, lambda host: (host, function(aggregate, host)), service_hosts)
        if outcomes and not told_next:
            # Also after a refusal: an earlier attempt may have been interrupted before this.
            self._refresh_scheduler(aggregate)
        return [(host, error) for host, error in outcomes if error is not None]

    def _refresh_scheduler(self, aggregate):
        # Each change sends Nova's scheduler the host list that this one call saw. With concurrent
        # changes the last message misses hosts of the others, and the filter would let ordinary
        # servers onto them. Removing a key that does not exist sends the complete aggregate.
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
            # It is already in it, or servers would change their zone, or it is in another zone.
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
            return errors.StillBusy(service=self.service, reason=str(error))
        return None


class ServerLists:
    """Servers of all projects, with their scheduler hints and zones if Nova shows them."""

    def __init__(self, link):
        self._plain = connected(link, VERSION)
        self._hinted = connected(link, VERSION)
        # novaclient refuses to be created with a microversion that it does not know. All that this
        # one changes for a server are fields that are added.
        self._hinted.client.api_version = api_versions.APIVersion(_HINTS_VERSION)
        self._shows_hints = True

    def find(self, **search):
        """Return the Servers that match, such as those with ``host='compute-1'``."""
        return [server(each.to_dict()) for each in self._asked(
            lambda client: client.servers.list(search_opts={'all_tenants': 1, **search}, limit=-1))]

    def one(self, server_id):
        """Return the Server of that id.

        :raises NotFound: there is none.
        """
        return server(self._asked(lambda client: client.servers.get(server_id)).to_dict())

    def _asked(self, call):
        if self._shows_hints:
            try:
                return call(self._hinted)
            except nova_errors.NotAcceptable:
                self._shows_hints = False
                LOG.info('Nova is older than microversion %s and does not show with which hints '
                         'servers were booted; they are asked for again after a restart',
                         _HINTS_VERSION)
        return call(self._plain)


def connected(link, version):
    """Return a novaclient Client for that microversion."""
    options = link.options
    return nova_client.Client(
        version, session=link.session, service_type=options.service_type,
        service_name=options.service_name, endpoint_type=options.valid_interfaces,
        region_name=link.region_name,
        endpoint_override=options.endpoint_override, connect_retries=options.connect_retries,
        status_code_retries=options.status_code_retries)


def _raise_first(refusals):
    """Raise one of the errors, if any; prefer one that a later attempt would not cure.

    Refusals of single hosts are raised together.
    """
    single = {}
    for error in sorted(refusals, key=lambda error: isinstance(error, errors.StillBusy)):
        if not isinstance(error, errors.ResourcesRefused):
            raise error
        single |= error.refused
    if single:
        raise errors.ResourcesRefused(service='Nova', refused=single)


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
    """Return a server of Nova's answers, a dict, as a Server."""
    flavor = found.get('flavor') or {}
    return models.Server(
        # Nova omits most fields of a server in a cell that is down.
        id=found['id'], name=found.get('name') or '', host=found.get('OS-EXT-SRV-ATTR:host'),
        project_id=found['tenant_id'], status=found['status'],
        task=found.get('OS-EXT-STS:task_state'), metadata=dict(found.get('metadata') or {}),
        flavor=_own_flavor(flavor) if 'original_name' in flavor else None,
        locked=bool(found.get('locked')),
        hypervisor=found.get('OS-EXT-SRV-ATTR:hypervisor_hostname'), hints=_hints(found),
        zone=found.get('pinned_availability_zone'))


def _hints(found):
    """Return the scheduler hints in an answer, or None if Nova does not show them."""
    if 'scheduler_hints' not in found:
        return None
    return {name: tuple(said) if isinstance(said, list) else (said,)
            for name, said in (found['scheduler_hints'] or {}).items()}


def _own_flavor(found):
    """Return the flavor that Nova stores with a server, and shows without its id."""
    return models.Flavor(
        id='', name=found['original_name'], vcpus=found['vcpus'], ram=found['ram'],
        disk=found['disk'], ephemeral=found['ephemeral'], swap=found['swap'],
        extra_specs=dict(found.get('extra_specs') or {}))


def _aggregate(resource):
    # A dict, because novaclient makes another call for a missing attribute.
    found = resource.to_dict()
    metadata = {key: text for key, text in (found.get('metadata') or {}).items()
                if key != _ZONE_KEY}
    return models.Aggregate(
        id=found['id'], name=found['name'], zone=found.get(_ZONE_KEY),
        hosts=tuple(sorted(found.get('hosts') or ())), metadata=metadata)

# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:instance, in two forms: capacity of given sizes, or one leased server."""
import dataclasses

from oslo_config import cfg

from climate.plugins import forms
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import host_pool
from climate.plugins.compute import sized_capacity
from climate.plugins.compute import use
from climate.plugins.compute.servers import audit
from climate.plugins.compute.servers import leased_server
from climate.plugins.compute.servers import nova_server
from climate.plugins.compute.servers import parsing

# `gone` reads at most this number of servers one by one, and lists all servers for more.
_MOST_SINGLE_READS = 10


def _any_of(fields):
    """Return the JSON schema of a request that has one of the fields."""
    return {'anyOf': [{'required': [name]} for name in fields]}


def _any_not_null(fields):
    """Return the JSON schema of a request in which one of the fields is not null."""
    return {'anyOf': [{'required': [name], 'properties': {name: {'not': {'type': 'null'}}}}
                      for name in fields]}


@dataclasses.dataclass(frozen=True)
class ObservedInstances:
    """The observed state of the cloud: an ObservedCapacity, and all Servers."""

    capacity: capacity_audit.ObservedCapacity
    servers: list


class InstancePlugin(forms.SeveralForms):
    resource_type = 'virtual:instance'
    form_classes = (sized_capacity.SizedCapacity, leased_server.LeasedServer)
    pools = (host_pool.HostPool,)
    services = ('nova', 'placement', 'glance')
    leases_targets = True
    ends_servers = True
    has_guests = True
    target_kind = 'server'
    schedules_targets = True
    measures_use = True
    schema = {
        'type': 'object',
        'description': 'Capacity for instances (vcpus, memory_mb, disk_gb, amount, affinity, '
                       'resource_properties), or one leased server (resource_id, flavor_id, '
                       'on_end, resource_properties).',
        'properties': {**sized_capacity.PROPERTIES, **parsing.PROPERTIES},
        # `resolve` refuses a mixture of both forms, with a message that names the fields.
        'allOf': [
            {'if': {'not': _any_of(parsing.FIELDS)},
             'then': {'required': ['vcpus', 'memory_mb', 'disk_gb', 'amount']}},
            {'if': {'allOf': [_any_of(parsing.FIELDS),
                              {'not': _any_not_null(parsing.SIZED_FIELDS)}]},
             'then': {'required': ['resource_id']}},
        ],
        'additionalProperties': False,
    }
    example = {'vcpus': 2, 'memory_mb': 4096, 'disk_gb': 20, 'amount': 2, 'affinity': False}
    options = (
        cfg.StrOpt('on_end', default='snapshot', choices=list(parsing.ENDINGS),
                   help='Default of "on_end" for leased servers. snapshot: an image of the server '
                        'is made, and the server is deleted when the image is active. delete, '
                        'suspend, shelve: the server is deleted, suspended or shelved. migrate: '
                        'it is moved off the enrolled hosts and keeps running.'),
        cfg.StrOpt('hold_room', default='required', choices=['required', 'preferred'],
                   help='Whether capacity on the enrolled hosts is reserved for a leased server '
                        'that is shelved until its lease starts. required: the lease is refused '
                        'if no host has the capacity. preferred: the lease is accepted; if no '
                        'host accepts the server at the start, the lease goes into error.'),
        cfg.IntOpt('bind_seconds', default=120, min=0,
                   help='How long a lease that was made for a future server waits for that '
                        'server, in seconds. After that the lease ends. 0: it does not wait.'),
        cfg.IntOpt('image_seconds', default=3600, min=0,
                   help='How long after the end of a lease the image of a leased server may take '
                        'to become active, in seconds. After that the server is suspended instead '
                        'of deleted, or deleted if it is still being built. 0: no limit.'),
        cfg.IntOpt('audit_seconds', default=60, min=0,
                   help='How often Climate checks whether leased servers still exist, in seconds. '
                        'If a user deletes a leased server, its lease ends. 0: never.'),
    )

    @classmethod
    def form(cls, request):
        return (leased_server.LeasedServer if parsing.is_for_server(request)
                else sized_capacity.SizedCapacity)

    @property
    def patience_seconds(self):
        return self.conf[self.resource_type].bind_seconds

    @property
    def audit_seconds(self):
        return self.conf[self.resource_type].audit_seconds

    def resolve(self, cloud, request, occasion):
        if not parsing.is_for_server(request):
            parsing.refuse_sized(request, occasion)
        return super().resolve(cloud, request, occasion)

    def delete_early(self, cloud, reservation_id, binding=None):
        self._forms[sized_capacity.SizedCapacity].delete_early(cloud, reservation_id, binding)

    def discovered_targets(self, cloud, lease):
        servers = cloud.as_service().servers
        return [server.id for server in servers.marked(
            lease.project_id, nova_server.LEASE_KEY, lease.id)]

    def gone(self, cloud, leased_ids):
        servers = cloud.as_service().servers
        if len(leased_ids) > _MOST_SINGLE_READS:
            return frozenset(leased_ids) - servers.ids()
        return frozenset(server_id for server_id in leased_ids
                         if servers.server(server_id) is None)

    def use(self, cloud, parts):
        of_servers = [part for part in parts if parsing.is_for_server(part.reservation.request)]
        of_capacity = [part for part in parts if part not in of_servers]
        return {**(use.of_servers(cloud, of_servers) if of_servers else {}),
                **(use.of_capacity(cloud, of_capacity) if of_capacity else {})}

    def observe(self, cloud):
        return ObservedInstances(capacity_audit.observe(self.conf, cloud),
                                 cloud.as_service().servers.every())

    def traces(self, observed):
        return [*capacity_audit.traces(self.conf, observed.capacity, self.resource_type),
                *audit.traces(observed.servers, self.resource_type)]

    def clear(self, cloud, made_for, resources):
        self._forms[sized_capacity.SizedCapacity].clear(cloud, made_for, resources)
        audit.clear(cloud, made_for)

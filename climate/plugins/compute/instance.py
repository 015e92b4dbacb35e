# SPDX-License-Identifier: Apache-2.0
"""virtual:instance, in two forms: capacity for instances of given sizes, or one leased server."""
import dataclasses

from climate.plugins import base
from climate.plugins.compute import capacity_audit
from climate.plugins.compute import host_pool
from climate.plugins.compute import sized
from climate.plugins.compute.servers import audit
from climate.plugins.compute.servers import form
from climate.plugins.compute.servers import parsing


def _names(fields):
    return {'anyOf': [{'required': [name]} for name in fields]}


def _says(fields):
    """Return the JSON schema of a request in which one of the fields is not null."""
    return {'anyOf': [{'required': [name], 'properties': {name: {'not': {'type': 'null'}}}}
                      for name in fields]}


@dataclasses.dataclass(frozen=True)
class Observed:
    """The observed state of the cloud for each of the two forms."""

    capacity: capacity_audit.Observed
    server: audit.Observed


class InstancePlugin(base.ResourcePlugin):
    """Passes each call on to the requested form, which it tells by the names of the fields."""

    resource_type = 'virtual:instance'
    pools = (host_pool.HostPool,)
    services = ('nova', 'placement', 'glance')
    leases_targets = True
    ends_servers = True
    target_kind = 'server'
    schedules_targets = True
    measures_use = True
    schema = {
        'type': 'object',
        'description': 'Capacity for instances (vcpus, memory_mb, disk_gb, amount, affinity, '
                       'resource_properties), or one leased server (resource_id, flavor_id, '
                       'on_end, resource_properties).',
        'properties': {**sized.PROPERTIES, **parsing.PROPERTIES},
        # `resolve` refuses a mixture of both forms, with a message that names the fields.
        'allOf': [
            {'if': {'not': _names(parsing.FIELDS)},
             'then': {'required': ['vcpus', 'memory_mb', 'disk_gb', 'amount']}},
            {'if': {'allOf': [_names(parsing.FIELDS), {'not': _says(parsing.SIZED_FIELDS)}]},
             'then': {'required': ['resource_id']}},
        ],
        'additionalProperties': False,
    }
    example = {'vcpus': 2, 'memory_mb': 4096, 'disk_gb': 20, 'amount': 2, 'affinity': False}
    options = form.LeasedServer.options

    def __init__(self, conf):
        super().__init__(conf)
        self._sized = sized.SizedCapacity(conf)
        self._server = form.LeasedServer(conf)

    def _form(self, request):
        return self._server if parsing.is_meant(request) else self._sized

    def _form_of(self, reservation):
        return self._form(reservation.request)

    @property
    def patience_seconds(self):
        return self._server.patience_seconds

    @property
    def audit_seconds(self):
        return self._server.audit_seconds

    @classmethod
    def asked(cls, request):
        return form.LeasedServer.asked(request) if parsing.is_resolved(request) else request

    def resolve(self, cloud, request, occasion):
        request = self.asked(request)
        if not parsing.is_meant(request):
            parsing.refuse_sized(request, occasion)
        return self._form(request).resolve(cloud, request, occasion)

    def needs(self, request):
        return self._form(request).needs(request)

    def needs_owner(self, request):
        return self._form(request).needs_owner(request)

    def creates_early(self, request):
        return self._form(request).creates_early(request)

    def create_early(self, cloud, lease, reservation, before=None):
        return self._form_of(reservation).create_early(cloud, lease, reservation, before)

    def delete_early(self, cloud, reservation_id, binding=None):
        self._sized.delete_early(cloud, reservation_id, binding)

    def was_started(self, reservation):
        return self._form_of(reservation).was_started(reservation)

    def leased_id(self, reservation):
        return self._form_of(reservation).leased_id(reservation)

    def awaits_target(self, reservation):
        return self._form_of(reservation).awaits_target(reservation)

    def discovered_targets(self, cloud, lease):
        return self._server.discovered_targets(cloud, lease)

    def check_target(self, cloud, lease, reservation, leased_id):
        return self._server.check_target(cloud, lease, reservation, leased_id)

    def bound(self, reservation, leased_id, name=None):
        return self._server.bound(reservation, leased_id, name)

    def gone(self, cloud, leased_ids):
        return self._server.gone(cloud, leased_ids)

    def may_leave_pool(self, lease, reservation):
        return self._form_of(reservation).may_leave_pool(lease, reservation)

    def target_capacity(self, reservation):
        return self._form_of(reservation).target_capacity(reservation)

    def schedules_in_start(self, reservation):
        return self._form_of(reservation).schedules_in_start(reservation)

    def prepares(self, request):
        return self._form(request).prepares(request)

    def prepare(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).prepare(cloud, lease, reservation, resources)

    def stages(self, request):
        return self._form(request).stages(request)

    def stage(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).stage(cloud, lease, reservation, resources)

    def start(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).start(cloud, lease, reservation, resources)

    def end(self, cloud, lease, reservation, resources):
        self._form_of(reservation).end(cloud, lease, reservation, resources)

    def use(self, cloud, parts):
        theirs = [each for each in parts if self._form_of(each.reservation) is self._server]
        others = [each for each in parts if each not in theirs]
        return {**(self._server.use(cloud, theirs) if theirs else {}),
                **(self._sized.use(cloud, others) if others else {})}

    def reclaims_one(self, reservation):
        return self._form_of(reservation).reclaims

    def close(self, cloud, lease, reservation):
        self._form_of(reservation).close(cloud, lease, reservation)

    def reopen(self, cloud, lease, reservation, resources):
        self._form_of(reservation).reopen(cloud, lease, reservation, resources)

    def occupied(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).occupied(cloud, lease, reservation, resources)

    def observe(self, cloud):
        return Observed(capacity=self._sized.observe(cloud), server=self._server.observe(cloud))

    def traces(self, observed):
        return [*self._sized.traces(observed.capacity), *self._server.traces(observed.server)]

    def lacks(self, observed, lease, reservation, resources):
        asked = self._form_of(reservation)
        theirs = observed.server if asked is self._server else observed.capacity
        return asked.lacks(theirs, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).complete(cloud, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        self._sized.clear(cloud, made_for, resources)
        self._server.clear(cloud, made_for, resources)

    @classmethod
    def fields(cls, reservation):
        return cls._form_class(reservation).fields(reservation)

    @classmethod
    def shown(cls, reservation):
        return cls._form_class(reservation).shown(reservation)

    @staticmethod
    def _form_class(reservation):
        return (form.LeasedServer if parsing.is_meant(reservation.request)
                else sized.SizedCapacity)

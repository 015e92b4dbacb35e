# SPDX-License-Identifier: Apache-2.0
"""virtual:instance, in two forms: room for instances of given sizes, or one leased server."""
from climate.plugins import base
from climate.plugins import pools
from climate.plugins import room
from climate.plugins import sized
from climate.plugins.servers import asking
from climate.plugins.servers import form


def _names(fields):
    return {'anyOf': [{'required': [name]} for name in fields]}


def _says(fields):
    """Of a request that names one of them, and not with null, which is the same as nothing."""
    return {'anyOf': [{'required': [name], 'properties': {name: {'not': {'type': 'null'}}}}
                      for name in fields]}


class InstancePlugin(base.ResourcePlugin):
    """Passes each call on to the form that was asked for; the names of the fields tell which."""

    resource_type = 'virtual:instance'
    pools = (pools.HostPool,)
    leases_things = True
    schema = {
        'type': 'object',
        'description': 'Room for instances (vcpus, memory_mb, disk_gb, amount, affinity, '
                       'resource_properties), or one leased server (resource_id, flavor_id, '
                       'on_end).',
        'properties': {**sized.PROPERTIES, **asking.PROPERTIES},
        # What is mixed of both is refused in words by `resolve`.
        'allOf': [
            {'if': {'not': _names(asking.FIELDS)},
             'then': {'required': ['vcpus', 'memory_mb', 'disk_gb', 'amount']}},
            {'if': {'allOf': [_names(asking.FIELDS), {'not': _says(asking.SIZED_FIELDS)}]},
             'then': {'required': ['resource_id']}},
        ],
        'additionalProperties': False,
    }
    example = {'vcpus': 2, 'memory_mb': 4096, 'disk_gb': 20, 'amount': 2, 'affinity': False}
    options = form.LeasedServer.options

    def __init__(self, conf):
        super().__init__(conf)
        self._room = sized.SizedRoom(conf)
        self._server = form.LeasedServer(conf)

    def _form(self, request):
        return self._server if asking.is_meant(request) else self._room

    def _form_of(self, reservation):
        return self._form(reservation.request)

    @property
    def patience_seconds(self):
        return self._server.patience_seconds

    @property
    def audit_seconds(self):
        return self._server.audit_seconds

    @classmethod
    def lenient(cls, request):
        return super().lenient(room.lenient(asking.lenient(request)))

    @classmethod
    def asked(cls, request):
        return form.LeasedServer.asked(request) if asking.is_resolved(request) else request

    def resolve(self, cloud, request, occasion):
        request = self.asked(request)
        if not asking.is_meant(request):
            asking.refuse_room(request, occasion)
        return self._form(request).resolve(cloud, request, occasion)

    def needs(self, request):
        return self._form(request).needs(request)

    def leased_id(self, reservation):
        return self._form_of(reservation).leased_id(reservation)

    def awaits_thing(self, reservation):
        return self._form_of(reservation).awaits_thing(reservation)

    def arrivals(self, cloud, lease):
        return self._server.arrivals(cloud, lease)

    def check_thing(self, cloud, lease, reservation, leased_id):
        self._server.check_thing(cloud, lease, reservation, leased_id)

    def bound(self, reservation, leased_id):
        return self._server.bound(reservation, leased_id)

    def gone(self, cloud, leased_ids):
        return self._server.gone(cloud, leased_ids)

    def roams(self, lease, reservation):
        return self._form_of(reservation).roams(lease, reservation)

    def room(self, reservation):
        return self._form_of(reservation).room(reservation)

    def wakes(self, reservation):
        return self._form_of(reservation).wakes(reservation)

    def prepares(self, request):
        return self._form(request).prepares(request)

    def prepare(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).prepare(cloud, lease, reservation, resources)

    def start(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).start(cloud, lease, reservation, resources)

    def end(self, cloud, lease, reservation, resources):
        self._form_of(reservation).end(cloud, lease, reservation, resources)

    def traces(self, picture):
        return [*self._room.traces(picture), *self._server.traces(picture)]

    def lacks(self, picture, lease, reservation, resources):
        return self._form_of(reservation).lacks(picture, lease, reservation, resources)

    def complete(self, cloud, lease, reservation, resources):
        return self._form_of(reservation).complete(cloud, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        self._room.clear(cloud, made_for, resources)
        self._server.clear(cloud, made_for, resources)

    @classmethod
    def fields(cls, reservation):
        form_class = form.LeasedServer if asking.is_meant(reservation.request) else sized.SizedRoom
        return form_class.fields(reservation)

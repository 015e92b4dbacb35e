# SPDX-License-Identifier: Apache-2.0
"""New volumes, or a volume type with which the owner creates volumes, on leased capacity."""
from climate.domain import audit
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import audited
from climate.plugins import base
from climate.plugins.volume import backend_pool
from climate.plugins.volume import names
from climate.plugins.volume import new_end
from climate.plugins.volume import new_start
from climate.plugins.volume import parsing

# Without [nova] cross_az_attach, Nova attaches a volume only to a server in the same zone.
_IN_ZONE_OF_HOSTS = base.Alike(fact=names.ZONE, pool='host')


class NewVolumes(base.ResourcePlugin):
    """The form of virtual:volume that leases capacity of back ends."""

    resource_type = backend_pool.GROUP

    def resolve(self, cloud, request, occasion):
        return parsing.resolve_new(self.conf[self.resource_type], cloud, request, occasion)

    def needs(self, request):
        gives_type = request['give'] == parsing.TYPE
        # A volume type has one back end, and the owner chooses the sizes of the volumes.
        spread = selection.Spread.TOGETHER if gives_type else selection.Spread.ANY
        demand = selection.Demand(amount={backend_pool.GIGABYTES: request['size_gb']},
                                  spread=spread, at_least=request['amount'],
                                  at_most=request['amount'])
        called = f'{"part" if gives_type else "volume"} of {request["size_gb"]} GB'
        return [base.Need(backend_pool.NEED, backend_pool.BackendPool.name, demand,
                          requirement.parse(request['resource_properties']), called=called,
                          alike=None if self.conf.nova.cross_az_attach else _IN_ZONE_OF_HOSTS)]

    def needs_owner(self, request):
        if request['attach']:
            return parsing.ATTACHED_AS_OWNER
        if request['give'] == parsing.VOLUMES:
            return 'give', ('volumes are made in your project with your rights, so you own them; '
                            'with "type" you make them yourself')
        return None

    def acts_as_owner(self, request):
        return True

    def start(self, cloud, lease, reservation, resources):
        return new_start.start(self.conf, cloud, lease, reservation, resources)

    def end(self, cloud, lease, reservation, resources):
        new_end.end(self.conf, cloud, lease, reservation)

    def lost_at_end(self, cloud, lease, reservation, resources):
        return new_end.lost(cloud, reservation)

    def lacks(self, observed, lease, reservation, resources):
        type_names = {kind.name for kind in observed.types}
        own_types = {names.type_name(reservation.id, resource.id)
                     for resource in resources.get(backend_pool.NEED, ())}
        drifts = [audited.incomplete(reservation, f'its volume type {name} is missing')
                  for name in sorted(own_types - type_names)]
        ordinary = reservation.request['volume_type']
        if ordinary is not None and ordinary not in type_names:
            drifts.append(audit.Drift('incomplete', f'reservation {reservation.id}', (
                f'the volume type {ordinary}, which its volumes are to get at the end, is gone')))
        return drifts + parsing.missing_volumes(
            observed, reservation, reservation.binding.get('volume_ids', ()))

    def complete(self, cloud, lease, reservation, resources):
        new_start.VolumesStart(
            cloud, lease, reservation, resources[backend_pool.NEED]).make_types()
        return dict(reservation.binding)

    @classmethod
    def fields(cls, reservation):
        return {**reservation.request, **{name: reservation.binding.get(name, [])
                                          for name in ('volume_types', 'volume_ids')}}

# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:volume, in two forms: new room on back ends, or one existing volume."""
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import audit
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base
from climate.plugins.volume import backend_pool
from climate.plugins.volume import ending
from climate.plugins.volume import existing
from climate.plugins.volume import names
from climate.plugins.volume import parsing
from climate.plugins.volume import room
from climate.plugins.volume import use

# The rule for volumes that Nova attaches within a zone only.
_IN_A_ZONE = base.Alike(fact=names.ZONE, pool='host')


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared: all VolumeTypes and all Volumes."""

    types: list
    volumes: list


class VolumePlugin(base.ResourcePlugin):
    resource_type = backend_pool.GROUP
    pools = (backend_pool.BackendPool,)
    services = ('cinder', 'nova', 'glance')
    leases_targets = True
    target_kind = 'volume'
    measures_use = True
    schema = {
        'type': 'object',
        'description': 'Room for volumes (size_gb, amount, give, resource_properties), or one '
                       'existing volume (resource_id).',
        'properties': parsing.PROPERTIES,
        'additionalProperties': False,
    }
    example = {'size_gb': 100, 'amount': 1, 'give': 'volumes', 'on_end': 'delete'}
    options = (
        cfg.StrOpt('on_end', default='image', choices=list(parsing.OF_ROOM),
                   help='What happens to the volumes of a lease of room at its end if the lease '
                        'does not say it. image: each is saved as an image of its owner, and '
                        'deleted when the image is active. retype: they get the type '
                        'ordinary_type, move to its back end and stay. delete: they are '
                        'deleted.'),
        cfg.StrOpt('ordinary_type', default='',
                   help='The public volume type for "retype", if the lease names none. Empty: the '
                        'lease must name one.'),
        cfg.IntOpt('copy_seconds', default=3600, min=0,
                   help='How long after the end of a lease its volumes may take to be copied and '
                        'taken back, in seconds. After that they are kept, and the lease is in '
                        'error until somebody deletes them and the lease. 0: for ever.'),
        cfg.BoolOpt('shared_backends', default=False,
                    help='Whether a back end may be enrolled on which volumes of public types '
                         'could be created, too. Then nothing keeps others from filling the room '
                         'that leases were promised.'),
        cfg.IntOpt('audit_seconds', default=60, min=0,
                   help='How often Climate checks whether leased volumes still exist, in seconds. '
                        'The lease of a volume that its user deleted ends. 0: never.'),
    )

    @property
    def ties(self):
        return not self.conf.nova.cross_az_attach

    @property
    def audit_seconds(self):
        return self.conf[self.resource_type].audit_seconds

    def resolve(self, cloud, request, occasion):
        return parsing.resolve(self.conf[self.resource_type], cloud, request, occasion)

    def needs(self, request):
        if request['resource_id'] is not None:
            return []
        gives_type = request['give'] == parsing.TYPE
        # One type leads to one back end; its owner makes volumes as large as they like there.
        spread = selection.Spread.TOGETHER if gives_type else selection.Spread.ANY
        demand = selection.Demand(amount={backend_pool.ROOM: request['size_gb']}, spread=spread,
                                  at_least=request['amount'], at_most=request['amount'])
        called = f'{"room" if gives_type else "volume"} of {request["size_gb"]} GB'
        return [base.Need(backend_pool.NEED, backend_pool.BackendPool.name, demand,
                          requirement.parse(request['resource_properties']), called=called,
                          alike=None if self.conf.nova.cross_az_attach else _IN_A_ZONE)]

    def needs_owner(self, request):
        if request['attach']:
            return 'attach', 'volumes are attached to your servers as you'
        if request['on_end'] == parsing.SNAPSHOT:
            return 'on_end', 'a snapshot is made as you, so that it is yours'
        if request['resource_id'] is None and request['give'] == parsing.VOLUMES:
            return 'give', ('volumes are made in your project as you, so that they are yours; '
                            'with "type" you make them yourself')
        return None

    def leased_id(self, reservation):
        return reservation.request['resource_id']

    def gone(self, cloud, leased_ids):
        volumes = cloud.as_service().volumes
        return frozenset(each for each in leased_ids if volumes.volume(each) is None)

    def start(self, cloud, lease, reservation, resources):
        if reservation.request['resource_id'] is not None:
            return existing.start(self.conf, cloud, lease, reservation)
        return room.start(self.conf, cloud, lease, reservation, resources)

    def end(self, cloud, lease, reservation, resources):
        if reservation.request['resource_id'] is not None:
            existing.end(self.conf, cloud, lease, reservation)
        else:
            ending.end(self.conf, cloud, lease, reservation)

    def use(self, cloud, parts):
        return use.of_volumes(cloud, parts)

    def observe(self, cloud):
        volumes = cloud.as_service().volumes
        return Observed(types=volumes.types(), volumes=volumes.every())

    def traces(self, observed):
        return [audit.Trace(made_for, 'volume type', each.name,
                            signed_by=None if each.is_public else self.resource_type)
                for each in observed.types
                if (made_for := names.reservation_of(each)) and audit.is_id(made_for)]

    def lacks(self, observed, lease, reservation, resources):
        known = {each.name for each in observed.types}
        wanted = {names.type_name(reservation.id, each.id)
                  for each in resources.get(backend_pool.NEED, ())}
        what = f'reservation {reservation.id}'
        found = [audit.Drift('incomplete', what, f'its volume type {name} is missing',
                             audit.COMPLETE, reservation.id) for name in sorted(wanted - known)]
        ordinary = reservation.request['volume_type']
        if ordinary is not None and ordinary not in known:
            found.append(audit.Drift('incomplete', what, (
                f'the volume type {ordinary}, which its volumes are to get at the end, is gone')))
        leased = self.leased_id(reservation)
        own = reservation.binding.get('volume_ids', ()) if leased is None else (leased,)
        volumes = {each.id for each in observed.volumes}
        # Nobody can bring its data back; perhaps the owner deleted it.
        return found + [audit.Drift('incomplete', what, f'its volume {volume_id} is gone')
                        for volume_id in own if volume_id not in volumes]

    def complete(self, cloud, lease, reservation, resources):
        if reservation.request['resource_id'] is None:
            room.make_types(cloud, lease, reservation, resources)
        return dict(reservation.binding)

    def clear(self, cloud, made_for, resources):
        service = cloud.as_service().volumes
        types = names.types_of(service, made_for)
        left = names.volumes_of(service, made_for, types=types)
        for volume in left:
            # Their owners cannot make any more of them.
            service.forbid(volume.type_name, volume.project_id)
        for name in types:
            if not any(each.type_name == name for each in left):
                service.delete_type(name)
        if left:
            # Whether somebody needs the data, only their owners know.
            raise errors.StillBusy.plain('Cinder', (
                'an audit deletes no volumes, and these are there: '
                f'{", ".join(f"{each.id} of project {each.project_id}" for each in left)}. '
                'Delete them, or retype them to an ordinary type.'))

    @classmethod
    def fields(cls, reservation):
        binding = reservation.binding
        made = {name: binding.get(name, []) for name in ('volume_types', 'volume_ids')}
        if reservation.request['resource_id'] is not None:
            made = {'resource_name': binding.get('resource_name')}
        return {**reservation.request, **made}

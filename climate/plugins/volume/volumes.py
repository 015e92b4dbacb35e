# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:volume, in two forms: new volumes on back ends, or one existing volume."""
import collections
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import audit
from climate.domain import use_sampling
from climate.plugins import forms
from climate.plugins.volume import backend_pool
from climate.plugins.volume import existing
from climate.plugins.volume import names
from climate.plugins.volume import new
from climate.plugins.volume import parsing


@dataclasses.dataclass(frozen=True)
class ObservedVolumes:
    """The observed state of Cinder: all VolumeTypes and all Volumes."""

    types: list
    volumes: list


class VolumePlugin(forms.SeveralForms):
    resource_type = backend_pool.GROUP
    form_classes = (new.NewVolumes, existing.ExistingVolume)
    pools = (backend_pool.BackendPool,)
    services = ('cinder', 'nova', 'glance')
    leases_targets = True
    target_kind = 'volume'
    measures_use = True
    schema = {
        'type': 'object',
        'description': 'New volumes (size_gb, amount, give, resource_properties), or one '
                       'existing volume (resource_id).',
        'properties': parsing.PROPERTIES,
        'additionalProperties': False,
    }
    example = {'size_gb': 100, 'amount': 1, 'give': 'volumes', 'on_end': 'delete'}
    options = (
        cfg.StrOpt('on_end', default='image', choices=list(parsing.OF_NEW),
                   help='Default of "on_end" for new volumes. image: each volume is saved as an '
                        'image of its owner, and deleted when the image is active. retype: the '
                        'volumes get the type ordinary_type, move to its back end and stay. '
                        'delete: the volumes are deleted.'),
        cfg.StrOpt('ordinary_type', default='',
                   help='The public volume type for "retype", if the lease names no type. Empty: '
                        'the lease must name a type.'),
        cfg.IntOpt('copy_seconds', default=3600, min=0,
                   help='How long after the end of a lease its volumes may take to be copied and '
                        'deleted, in seconds. After that the volumes are kept, and the lease is '
                        'in error until somebody deletes the volumes and the lease. 0: no limit.'),
        cfg.BoolOpt('shared_backends', default=False,
                    help='Whether a back end may be enrolled although volumes of public types can '
                         'be created on it, too. Then other projects can use up the leased '
                         'capacity.'),
        cfg.IntOpt('audit_seconds', default=60, min=0,
                   help='How often Climate checks whether leased volumes still exist, in seconds. '
                        'If a user deletes a leased volume, its lease ends. 0: never.'),
    )

    @classmethod
    def form(cls, request):
        return new.NewVolumes if request.get('resource_id') is None else existing.ExistingVolume

    @property
    def ties(self):
        return not self.conf.nova.cross_az_attach

    @property
    def audit_seconds(self):
        return self.conf[self.resource_type].audit_seconds

    def gone(self, cloud, leased_ids):
        volumes = cloud.as_service().volumes
        return frozenset(volume_id for volume_id in leased_ids
                         if volumes.volume(volume_id) is None)

    def use(self, cloud, parts):
        volumes = {volume.id: volume for volume in cloud.as_service().volumes.every()}
        attached_gb = collections.Counter()
        for volume in volumes.values():
            if volume.server_ids:
                attached_gb[volume.type_name] += volume.size_gb
        shares = {}
        for part in parts:
            request = part.reservation.request
            if request['resource_id'] is not None:
                volume = volumes.get(request['resource_id'])
                if volume is not None:
                    shares[part.key] = use_sampling.of_share(len(volume.server_ids), 1)
            elif part.resource is not None:
                name = names.type_name(part.reservation.id, part.resource.id)
                shares[part.key] = use_sampling.of_share(attached_gb[name],
                                                         request['size_gb'] * part.copies)
        return shares

    def observe(self, cloud):
        volumes = cloud.as_service().volumes
        return ObservedVolumes(types=volumes.types(), volumes=volumes.every())

    def traces(self, observed):
        return [audit.Trace(made_for, 'volume type', kind.name,
                            signed_by=None if kind.is_public else self.resource_type)
                for kind in observed.types
                if (made_for := names.reservation_of(kind)) and audit.is_id(made_for)]

    def clear(self, cloud, made_for, resources):
        service = cloud.as_service().volumes
        types = names.types_of(service, made_for)
        volumes = names.volumes_of(service, made_for, types=types)
        for volume in volumes:
            # Prevent the owner from creating more volumes of the type.
            service.forbid(volume.type_name, volume.project_id)
        for name in types:
            if not any(volume.type_name == name for volume in volumes):
                service.delete_type(name)
        if volumes:
            # Only the owners know whether somebody needs the data.
            raise errors.StillBusy.plain('Cinder', (
                'an audit deletes no volumes, and these volumes exist: '
                f'{", ".join(f"{each.id} of project {each.project_id}" for each in volumes)}. '
                'Delete them, or retype them to an ordinary type.'))

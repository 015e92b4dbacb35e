# SPDX-License-Identifier: Apache-2.0
"""example:volume, a volume of a size, on a storage backend with enough capacity."""
from keystoneauth1 import loading
from openstack import connection
from openstack import exceptions
from oslo_config import cfg

from climate import errors
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base

# The token of a trust has the trust's project; Keystone takes no other scope beside it.
_UNSCOPED = dict.fromkeys(('project_id', 'project_name', 'project_domain_id',
                           'project_domain_name'))


def block_storage(conf, trust_id=None):
    """Cinder, used as Climate itself or on behalf of the user who gave a trust."""
    scope = {'trust_id': trust_id, **_UNSCOPED} if trust_id else {}
    login = loading.load_auth_from_conf_options(conf, 'keystone', **scope)
    session = loading.load_session_from_conf_options(conf, 'keystone', auth=login)
    return connection.Connection(session=session, region_name=conf.region_name).block_storage


class VolumePool(base.Pool):
    """The storage backends that an administrator enrolled."""

    name = 'volume'
    capacity_names = {'gb': 'gb'}
    fact_names = ('backend',)

    def discover(self, cloud, name):
        try:
            found = {each.name: each.capabilities for each
                     in block_storage(self.conf).backend_pools()}
        except exceptions.SDKException as error:
            raise errors.CloudError(service='Cinder', reason=str(error)) from error
        if name not in found:
            raise errors.ResourceNotFound(pool=self.name, resource=name)
        return base.Found(name=name, capacity={'gb': int(found[name]['total_capacity_gb'])},
                          facts={'backend': found[name].get('volume_backend_name', name)})


class VolumePlugin(base.ResourcePlugin):
    """Volumes for the owner of the lease: made at its start, deleted at its end."""

    resource_type = 'example:volume'
    pools = (VolumePool,)
    schema = {
        'type': 'object',
        'properties': {
            'size_gb': {'type': 'integer', 'minimum': 1, 'maximum': 1000000},
            'criteria': {'type': ['string', 'array', 'null']},
        },
        'required': ['size_gb'],
        'additionalProperties': False,
    }
    example = {'size_gb': 100, 'criteria': '["==", "$backend", "ssd"]'}
    options = (
        cfg.StrOpt('volume_type', default='{backend}',
                   help='Volume type of the volumes; {backend} is the name of the backend that was '
                        'allocated. Each type must name its backend to the scheduler of Cinder.'),
    )

    def needs(self, request):
        demand = selection.Demand(amount={'gb': request['size_gb']}, at_least=1, at_most=1)
        wanted = requirement.parse(request.get('criteria'))
        return [base.Need('room', VolumePool.name, demand, wanted)]

    def needs_owner(self, request):
        return 'resource_type', 'a volume is created in your project, with your rights'

    def start(self, cloud, lease, reservation, resources):
        # Raises where there is no trust: as Climate itself, the volume would not be the owner's.
        cloud.as_user()
        [pool] = resources['room']
        volume_type = self.conf[self.resource_type].volume_type.format(**pool.facts)
        try:
            volume = _ensure(block_storage(self.conf, lease.trust_id), reservation, volume_type)
        except exceptions.SDKException as error:
            raise errors.CloudError(service='Cinder', reason=str(error)) from error
        if volume.status == 'error':
            raise errors.CloudError(service='Cinder', reason=f'volume {volume.id} is in error.')
        if volume.status == 'creating':
            raise errors.StillBusy(service='Cinder', reason=f'volume {volume.id} is being made.')
        return {'volume_id': volume.id}

    def end(self, cloud, lease, reservation, resources):
        # As Climate itself: the user may be gone. By name: start() may have been cut off.
        storage = block_storage(self.conf)
        try:
            left = list(storage.volumes(all_projects=True, name=reservation.id))
            for volume in left:
                # Cinder refuses to delete a volume on which it is at work.
                if volume.status not in ('creating', 'deleting'):
                    storage.delete_volume(volume, ignore_missing=True)
        except exceptions.SDKException as error:
            raise errors.CloudError(service='Cinder', reason=str(error)) from error
        if left:
            raise errors.StillBusy(service='Cinder', reason='the volume is being deleted.')


def _ensure(storage, reservation, volume_type):
    """Return the volume of a reservation, which an earlier try may have made."""
    for volume in storage.volumes(name=reservation.id):
        return volume
    return storage.create_volume(name=reservation.id, size=reservation.request['size_gb'],
                                 volume_type=volume_type)

# SPDX-License-Identifier: Apache-2.0
"""The start of new volumes: private volume types for the leased back ends, and the volumes.

The reservation has a private volume type for each of its back ends, with a quota as large as the
allocated capacity. Only the owner's project may use the type, and so the capacity.
"""
import collections

from climate import errors
from climate.plugins.volume import attachment
from climate.plugins.volume import backend_pool
from climate.plugins.volume import names
from climate.plugins.volume import parsing

# The statuses of a volume that Cinder or Nova is changing.
_CHANGING = ('creating', 'retyping', 'attaching', 'deleting', 'downloading')


def start(conf, cloud, lease, reservation, resources):
    """Create the types and, if requested, the volumes; return the binding.

    :raises StillBusy: a volume is not ready yet.
    :raises CloudError: a quota of the project is used up, or Cinder has no capacity.
    """
    attempt = VolumesStart(cloud, lease, reservation, resources[backend_pool.NEED])
    attempt.check_quotas()
    types = attempt.make_types()
    attempt.move_strays()
    if reservation.request['give'] == parsing.TYPE:
        attempt.delete_other_types()
        return {**reservation.binding, 'volume_types': types}
    attempt.create()
    volumes = attempt.ready()
    attempt.delete_other_types()
    if reservation.request['attach']:
        handed_over = reservation.binding.get('volume_ids', ())
        attachment.attach(conf, cloud, lease, reservation,
                          [volume for volume in volumes if volume.id not in handed_over])
    return {**reservation.binding, 'volume_types': types,
            'volume_ids': [volume.id for volume in volumes]}


class VolumesStart:
    """One attempt to create the volumes of a reservation on its back ends.

    :param backends: the allocated Resources.
    """

    def __init__(self, cloud, lease, reservation, backends):
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._service = cloud.as_service().volumes
        # Read only once, because only a start creates types of a reservation.
        self._types = names.types_of(self._service, reservation.id)
        self._volumes = self._read_volumes()
        self._backends = {names.type_name(reservation.id, backend.id): backend
                          for backend in backends}
        copies = collections.Counter(reservation.allocated[backend_pool.NEED])
        self._copies = {name: copies[backend.id] for name, backend in self._backends.items()}

    def check_quotas(self):
        """Check again that the quotas of the project suffice for the missing volumes.

        :raises CloudError: a quota does not suffice; the error has its name.
        """
        request = self._reservation.request
        if self._gives_type:
            # After the start, the quotas already count the owner's volumes of the type.
            wanted = ({} if self._reservation.binding
                      else parsing.quota_needs(parsing.total_gb(request), 1))
        else:
            missing = request['amount'] - len(self._volumes)
            wanted = parsing.quota_needs(missing * request['size_gb'], missing)
        problem = parsing.full_quota(self._cloud, self._lease.project_id, wanted)
        if problem is not None:
            raise errors.CloudError.plain('Cinder', problem[1])

    def make_types(self):
        """Create the missing types, set quotas and access; return the names of all types."""
        project_id = self._lease.project_id
        for name, backend in sorted(self._backends.items()):
            sizes = [volume.size_gb for volume in self._volumes_of(name)]
            gigabytes = self._copies[name] * self._reservation.request['size_gb']
            # A volume has at least one GB, so the gigabytes limit the number of volumes, too.
            most_volumes = gigabytes if self._gives_type else self._copies[name]
            self._service.ensure_type(name, {
                **names.specs(backend), names.MARK: self._reservation.id})
            # Cinder refuses a quota below the present use, and surplus volumes move away later.
            self._service.limit(project_id, name, max(gigabytes, sum(sizes)),
                                max(most_volumes, len(sizes)))
            self._service.allow(name, project_id)
        return sorted(self._backends)

    def move_strays(self):
        """Move volumes on other back ends to back ends where the reservation has capacity.

        :raises StillBusy: volumes are being moved.
        """
        free, strays = self._free_copies(), self._strays()
        for volume in strays:
            if volume.status in _CHANGING:
                continue
            if volume.status == 'error' and volume.backend is None:
                self._service.delete(volume.id)
            else:
                name = max(free, key=free.get)
                free[name] -= 1
                self._service.retype(volume.id, name)
        if strays:
            raise errors.StillBusy.plain('Cinder', (
                f'volumes are being moved: {", ".join(volume.id for volume in strays)}.'))

    def _strays(self):
        """Return the Volumes on back ends where the reservation has no capacity for them."""
        strays = [volume for volume in self._volumes if volume.type_name not in self._copies]
        if not self._gives_type:
            free = sum(max(0, count) for count in self._free_copies().values())
            surplus = [volume for name, copies in self._copies.items()
                       for volume in self._volumes_of(name)[copies:]]
            # A surplus volume stays if no back end has free capacity for it.
            strays += surplus[:max(0, free - len(strays))]
        return strays

    def create(self):
        """Create the missing volumes as the owner."""
        missing = [name for name, count in sorted(self._free_copies().items())
                   for _ in range(count)]
        if not missing:
            return
        owner = self._cloud.as_user().volumes
        for number, name in enumerate(missing, len(self._volumes) + 1):
            owner.create(f'{self._lease.name}-{number}'[:255],
                         self._reservation.request['size_gb'], name,
                         {names.MARK: self._reservation.id})

    def ready(self):
        """Return the Volumes if all are ready for use.

        :raises StillBusy: some are not ready yet.
        :raises CloudError: Cinder could not create some, which are being deleted.
        """
        volumes = self._read_volumes()
        # A volume that was handed over can have data, even in the status "error".
        handed_over = self._reservation.binding.get('volume_ids', ())
        failed = [volume for volume in volumes
                  if volume.status == 'error' and volume.id not in handed_over]
        for volume in failed:
            self._service.delete(volume.id)
        if failed:
            raise errors.CloudError.plain('Cinder', (
                f'{len(failed)} of {len(volumes)} volumes could not be made on the back end; '
                '"openstack volume message list" may show the reason.'))
        pending = [volume.id for volume in volumes if volume.status in _CHANGING]
        if pending:
            raise errors.StillBusy.plain('Cinder', (
                f'volumes are being made: {", ".join(pending)}.'))
        return volumes

    def delete_other_types(self):
        """Delete the types of back ends where the reservation has no capacity any more."""
        for name in self._types:
            if name not in self._backends:
                self._service.delete_type(name)

    @property
    def _gives_type(self):
        return self._reservation.request['give'] == parsing.TYPE

    def _read_volumes(self):
        """Return the Volumes of the reservation as they are now, oldest first."""
        return names.volumes_of(self._service, self._reservation.id, self._lease.project_id,
                                self._types)

    def _volumes_of(self, type_name):
        return [volume for volume in self._volumes if volume.type_name == type_name]

    def _free_copies(self):
        """Return {type name: copies without a volume}; negative for surplus volumes."""
        return {name: copies - len(self._volumes_of(name))
                for name, copies in self._copies.items()}

# SPDX-License-Identifier: Apache-2.0
"""The start of leased room: private volume types that lead to it, and the volumes in it.

Each back end of the reservation has a private type of its own, with a quota as large as the room
that was allocated there. Only the owner's project may use the type, so nobody else gets the room.
"""
import collections

from climate import errors
from climate.plugins.volume import attaching
from climate.plugins.volume import backend_pool
from climate.plugins.volume import names
from climate.plugins.volume import parsing
from climate.plugins.volume import quotas

_WAITING = ('creating', 'retyping', 'attaching', 'deleting', 'downloading')


def start(conf, cloud, lease, reservation, resources):
    """Make the types and, if asked for, the volumes; return the binding.

    :raises StillBusy: a volume is not ready yet.
    :raises CloudError: a quota of the project is used up, or Cinder has no room.
    """
    work = _Start(cloud, lease, reservation, resources[backend_pool.NEED])
    work.check_quotas()
    types = work.make_types()
    work.bring_back()
    if reservation.request['give'] == parsing.TYPE:
        work.drop_other_types()
        return {**reservation.binding, 'volume_types': types}
    work.create()
    volumes = work.ready()
    work.drop_other_types()
    if reservation.request['attach']:
        known = reservation.binding.get('volume_ids', ())
        attaching.attach(conf, cloud, lease, reservation,
                         [each for each in volumes if each.id not in known])
    return {**reservation.binding, 'volume_types': types,
            'volume_ids': [each.id for each in volumes]}


def make_types(cloud, lease, reservation, resources):
    """Make the types that are missing, with their quotas and the access."""
    _Start(cloud, lease, reservation, resources[backend_pool.NEED]).make_types()


class _Start:
    """One try to bring the volumes of a reservation to the back ends that it has.

    :param backends: the Resources that were allocated.
    """

    def __init__(self, cloud, lease, reservation, backends):
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._service = cloud.as_service().volumes
        # Only a start makes types of a reservation.
        self._types = names.types_of(self._service, reservation.id)
        self._volumes = self._look()
        self._backends = {names.type_name(reservation.id, each.id): each for each in backends}
        copies = collections.Counter(reservation.allocated[backend_pool.NEED])
        self._copies = {name: copies[each.id] for name, each in self._backends.items()}

    def check_quotas(self):
        """Check again that the quotas of the project suffice for what is missing.

        :raises CloudError: one does not; the error has its name.
        """
        request = self._reservation.request
        if self._gives_type:
            # Later the owner has volumes of the type, which count already.
            wanted = ({} if self._reservation.binding
                      else quotas.needed(parsing.room_gb(request), 1))
        else:
            missing = request['amount'] - len(self._volumes)
            wanted = quotas.needed(missing * request['size_gb'], missing)
        problem = quotas.refusal(self._service.quotas(self._lease.project_id), wanted)
        if problem is not None:
            raise errors.CloudError.plain('Cinder', problem[1])

    def make_types(self):
        """Make the types that are missing, with their quotas and the access; return their names."""
        project_id = self._lease.project_id
        for name, backend in sorted(self._backends.items()):
            there = [each.size_gb for each in self._volumes if each.type_name == name]
            room = self._copies[name] * self._reservation.request['size_gb']
            # A volume has at least one GB, so the room also limits how many an owner can make.
            most = room if self._gives_type else self._copies[name]
            self._service.ensure_type(name, {
                **names.specs(backend), names.MARK: self._reservation.id})
            # Cinder refuses a quota that is smaller than what is used, until that has moved.
            self._service.limit(project_id, name, max(room, sum(there)), max(most, len(there)))
            self._service.allow(name, project_id)
        return sorted(self._backends)

    def bring_back(self):
        """Move volumes to the back ends that the reservation has room on, with their data.

        :raises StillBusy: they are not there yet.
        """
        free = {name: copies - self._taken(name) for name, copies in self._copies.items()}
        strays = self._strays()
        for volume in strays:
            if volume.status in _WAITING:
                continue
            if volume.status == 'error' and volume.backend is None:
                self._service.delete(volume.id)
            else:
                name = max(free, key=free.get)
                free[name] -= 1
                self._service.retype(volume.id, name)
        if strays:
            raise errors.StillBusy.plain('Cinder', (
                f'volumes are being moved: {", ".join(each.id for each in strays)}.'))

    def _strays(self):
        """Return the Volumes on a back end where the reservation has no room for them any more."""
        found = [each for each in self._volumes if each.type_name not in self._copies]
        if not self._gives_type:
            elsewhere = sum(max(0, copies - self._taken(name))
                            for name, copies in self._copies.items())
            too_many = [each for name, copies in self._copies.items() for each in [
                one for one in self._volumes if one.type_name == name][copies:]]
            # One that has room nowhere stays where it is.
            found += too_many[:max(0, elsewhere - len(found))]
        return found

    def create(self):
        """Create the volumes that are missing, as the owner."""
        missing = {name: copies - self._taken(name) for name, copies in self._copies.items()}
        if not any(count > 0 for count in missing.values()):
            return
        owner = self._cloud.as_user().volumes
        number = len(self._volumes)
        for name, count in sorted(missing.items()):
            for _ in range(max(0, count)):
                number += 1
                owner.create(f'{self._lease.name}-{number}'[:255],
                             self._reservation.request['size_gb'], name,
                             {names.MARK: self._reservation.id})

    def ready(self):
        """Return the Volumes once all can be used.

        :raises StillBusy: some are being made.
        :raises CloudError: Cinder had no room for some, which are deleted.
        """
        volumes = self._look()
        # A volume that was handed over has data perhaps, whatever became of it.
        handed_over = self._reservation.binding.get('volume_ids', ())
        failed = [each for each in volumes
                  if each.status == 'error' and each.id not in handed_over]
        for volume in failed:
            self._service.delete(volume.id)
        if failed:
            raise errors.CloudError.plain('Cinder', (
                f'{len(failed)} of {len(volumes)} volumes could not be made on the back end; '
                '"openstack volume message list" may tell why.'))
        waiting = [each.id for each in volumes if each.status in _WAITING]
        if waiting:
            raise errors.StillBusy.plain('Cinder', (
                f'volumes are being made: {", ".join(waiting)}.'))
        return volumes

    def drop_other_types(self):
        """Delete the types of back ends that the reservation has no room on any more."""
        for name in self._types:
            if name not in self._backends:
                self._service.delete_type(name)

    @property
    def _gives_type(self):
        return self._reservation.request['give'] == parsing.TYPE

    def _look(self):
        """Return the Volumes of the reservation as they are now, oldest first."""
        return names.volumes_of(self._service, self._reservation.id, self._lease.project_id,
                                self._types)

    def _taken(self, type_name):
        return sum(each.type_name == type_name for each in self._volumes)

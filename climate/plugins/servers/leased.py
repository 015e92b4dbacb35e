# SPDX-License-Identifier: Apache-2.0
"""The server of a reservation as Nova shows it, and the changes of it that Climate begins."""
from climate import errors
from climate.domain import lifecycle
from climate.plugins import footprint

RESERVED = 'RESERVED'
ACTIVE = 'ACTIVE'
#: Metadata of a server: its lease, its reservation, and how far it is.
LEASE_KEY = 'climate:lease_id'
RESERVATION_KEY = 'climate:reservation_id'
STATUS_KEY = 'climate:status'
#: Statuses from which Nova shelves, and the only ones in which it lets metadata be changed.
AWAKE = ('ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED')
#: Statuses from which Nova moves.
MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
OFFLOADED = 'SHELVED_OFFLOADED'
SHELVED = 'SHELVED'
#: Somebody, perhaps we, moved it, and it waits to be told that it may stay there.
MOVED = 'VERIFY_RESIZE'

BUILD = 'BUILD'
ERROR = 'ERROR'
RESCUE = 'RESCUE'
#: Its cell does not answer, so that Nova knows next to nothing of it.
UNKNOWN = 'UNKNOWN'

#: How large a reservation says that the server is.
SIZES = ('vcpus', 'memory_mb', 'disk_gb')

_PREFIX = 'climate:'
_PASSING = (BUILD, 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD', 'RESIZE', 'REVERT_RESIZE',
            'MIGRATING')


def id_of(reservation):
    """The id of the server, or None while it is not known."""
    return reservation.binding.get('resource_id') or reservation.request['resource_id']


def larger(flavor, request):
    """In which sizes a Flavor, or None, is larger than a resolved request, as words in a list."""
    if flavor is None:
        return []
    has = footprint.sizes(footprint.as_dict(flavor))
    return [f'{name} {has[name]}' for name in SIZES if has[name] > request[name]]


class Leased:
    """The server of a reservation as it is now, and what can be begun with it.

    :ivar service: the Services, used as Climate itself.
    """

    def __init__(self, cloud, lease, reservation):
        """Look at the server.

        :raises ServerNotFound: it is gone.
        """
        self.service = cloud.as_service()
        self.id = id_of(reservation)
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._found = self.service.servers.server(self.id)
        if self._found is None:
            raise errors.ServerNotFound(server_id=self.id)

    @property
    def name(self):
        return self._found.name

    @property
    def status(self):
        return self._found.status

    @property
    def project_id(self):
        return self._found.project_id

    @property
    def host(self):
        """The service host that it is on, or None."""
        return self._found.host

    @property
    def _owner(self):
        """The Services for what is done on the owner's behalf; Climate's where it is locked."""
        return self.service if self._found.locked else self._cloud.as_user()

    @property
    def stage(self):
        """How far the server itself says that it is in this reservation; None for not at all."""
        metadata = self._found.metadata
        if metadata.get(RESERVATION_KEY) != self._reservation.id:
            return None
        return metadata.get(STATUS_KEY)

    @property
    def is_known_to_be_handed_over(self):
        """True where it was written down that the server was handed over."""
        return (self._reservation.state == lifecycle.RESERVATION_ACTIVE
                or self._reservation.binding.get('handed_over', False))

    @property
    def was_handed_over(self):
        """True from the start on, also where a crash kept the start from being written down."""
        return self.is_known_to_be_handed_over or self.stage not in (None, RESERVED)

    def mark(self, stage):
        """Let the server say of itself where it belongs, and how far it is, if Nova allows it."""
        marks = {LEASE_KEY: self._lease.id, RESERVATION_KEY: self._reservation.id,
                 STATUS_KEY: stage}
        if self.status in AWAKE and marks.items() - self._found.metadata.items():
            self.service.servers.mark(self.id, marks)

    def unmark(self):
        """Remove all that Climate has written on the server, if Nova allows it."""
        remove_marks(self.service, self._found)

    def wait_for_calm(self):
        """Nothing, unless something is being done to the server.

        :raises StillBusy: it is.
        """
        if self._found.task is not None or self.status in _PASSING:
            self.wait(self._found.task or self.status)

    def wait(self, reason, has_own_limit=False):
        """Ask for another call, in which the server is looked at again.

        :param has_own_limit: the caller sees to it that this comes to an end.
        """
        raise errors.StillBusy(service='Nova', reason=f'server {self.id}: {reason}',
                               has_own_limit=has_own_limit)

    def give_up(self, what):
        """Say that the server is in no status for that."""
        raise errors.CloudError(service='Nova', reason=(
            f'server {self.id} cannot be {what} while its status is {self.status}; '
            '"openstack server show" says more.'))

    def refuse_larger(self):
        """Nothing, unless the server needs more than the room that is held for it.

        :raises CloudError: it was resized since.
        """
        sizes = larger(self._found.flavor, self._reservation.request)
        if sizes:
            raise errors.CloudError(service='Nova', reason=(
                f'server {self.id} was resized after its lease was made ({", ".join(sizes)}), and '
                'is larger than the room that is held for it. Delete the lease, and make one for '
                'the server as it is.'))

    def put_to_sleep(self):
        """Shelve the server and take it from its host; nothing where it is so already.

        :raises StillBusy: it is on its way.
        :raises CloudError: its status forbids it.
        """
        self.wait_for_calm()
        if self.status == OFFLOADED:
            return
        if self.status == SHELVED:
            self.service.servers.offload(self.id)
        elif self.status in AWAKE:
            # As the user, whose image it is to sleep in: the user may wake it too.
            self._owner.servers.shelve(self.id)
        else:
            self.give_up('shelved')
        self.wait('being shelved')

    def wake(self, service_host):
        """Begin to wake the server, on that host or, for None, anywhere.

        :raises StillBusy: always, where nothing worse is raised.
        :raises CloudError: Nova has tried in vain, and nobody was told of that yet.
        """
        where = 'anywhere' if service_host is None else f'on host {service_host}'
        self._tell_failure('unshelve', (
            f'could not be woken {where}: no host took it. The log of Nova\'s scheduler has the '
            'reason.'))
        self.service.servers.unshelve(self.id, service_host)
        self.wait(f'being woken {where}')

    def move(self):
        """Begin to move the server to a host of Nova's choice, or confirm that it was.

        :raises StillBusy: always, where nothing worse is raised.
        :raises CloudError: Nova has tried in vain, and nobody was told of that yet.
        """
        self.wait_for_calm()
        self._tell_failure(
            'migrate', f'could not be moved from host {self.host}: no host took it.')
        self.service.servers.migrate(self.id)
        self.wait('being moved')

    def unrescue(self):
        """Begin to boot a server that is being rescued from its own disk again.

        :raises StillBusy: always, where nothing worse is raised.
        """
        self.wait_for_calm()
        self.service.servers.unrescue(self.id)
        self.wait('being unrescued')

    def stop(self):
        """Begin to stop a server that is in ERROR: stopped, it is as good as any other.

        :raises StillBusy: always, where nothing worse is raised.
        :raises CloudError: Nova has tried in vain, and nobody was told of that yet.
        """
        self.wait_for_calm()
        self._tell_failure('stop', (
            f'is in the status {self.status} on host {self.host} and could not be stopped there; '
            '"openstack server show" says more. Mend it, or delete it.'))
        self.service.servers.stop(self.id)
        self.wait('being stopped')

    def suspend(self):
        """Begin to suspend the server; unlike other changes it does not raise StillBusy for it."""
        self._owner.servers.suspend(self.id)

    def make_image(self, name):
        """Begin an image of the server, the user's own.

        :raises StillBusy: always, where nothing worse is raised.
        """
        self._cloud.as_user().servers.create_image(self.id, name, self._reservation.id)
        self.wait('being imaged')

    def delete(self):
        """Begin to delete the server.

        :raises StillBusy: always, where nothing worse is raised.
        """
        self.service.nova.delete_server(self.id)
        self.wait(f'being deleted, its status is {self.status}')

    def failures(self, change):
        """How often Nova has tried in vain since what is being done now was first tried."""
        return self.service.servers.failures(self.id, change, self._cloud.attempt.since)

    def _tell_failure(self, change, text):
        if self.failures(change) > self._cloud.attempt.failures:
            raise errors.CloudError(service='Nova', reason=f'server {self.id} {text}')


def remove_marks(services, found):
    """Remove from a Server all that Climate has written on it, if Nova allows it."""
    marks = dict.fromkeys(key for key in found.metadata if key.startswith(_PREFIX))
    if marks and found.status in AWAKE:
        services.servers.mark(found.id, marks)

# SPDX-License-Identifier: Apache-2.0
"""A leased server as Nova shows it, and the changes of it that Climate begins."""
from climate import errors
from climate.domain import lifecycle
from climate.domain import texts
from climate.plugins.compute import requirements
from climate.plugins.compute import server_history

RESERVED = 'RESERVED'
ACTIVE = 'ACTIVE'
#: Metadata keys of a server: its lease, its reservation, and its stage in the reservation.
LEASE_KEY = 'climate:lease_id'
RESERVATION_KEY = 'climate:reservation_id'
STATUS_KEY = 'climate:status'
#: Statuses in which Nova can shelve a server. In others its metadata cannot be changed.
AWAKE = ('ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED')
#: Statuses in which Nova can migrate a server.
MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
OFFLOADED = 'SHELVED_OFFLOADED'
SHELVED = 'SHELVED'
#: The status of a server after a migration that must be confirmed.
MOVED = 'VERIFY_RESIZE'
BUILD = 'BUILD'
ERROR = 'ERROR'
RESCUE = 'RESCUE'
#: The status of a server whose cell does not answer, so that Nova shows few of its fields.
UNKNOWN = 'UNKNOWN'

#: The fields of a reservation with the sizes of the server.
SIZES = ('vcpus', 'memory_mb', 'disk_gb')

_PREFIX = 'climate:'
_PASSING = (BUILD, 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD', 'RESIZE', 'REVERT_RESIZE',
            'MIGRATING')


def id_of(reservation):
    """Return the id of the server, or None while it is not known."""
    return reservation.binding.get('resource_id') or reservation.request['resource_id']


def name_of(reservation):
    """Return the name of the server when Climate last read it, or None."""
    return (reservation.binding.get('resource_name')
            or reservation.request.get('resource_name'))


def larger(flavor, request):
    """Return the sizes in which a flavor exceeds a resolved request, as a list of texts.

    :param flavor: a Flavor; None if Nova does not show it, and then the list is empty.
    """
    if flavor is None:
        return []
    sizes = requirements.sizes(requirements.as_dict(flavor))
    return [f'{name} {sizes[name]}' for name in SIZES if sizes[name] > request[name]]


class NovaServer:
    """The server of a reservation as it is now, with methods that begin changes of it.

    A method that has begun a change raises StillBusy, because the server must be read again. Only
    `suspend`, `mark` and `unmark` return instead.

    :ivar service: the Services that act as Climate itself.
    :ivar host: the service host of the server, or None.
    """

    def __init__(self, cloud, lease, reservation, is_ending=False):
        """Read the server from Nova.

        :param is_ending: True if the lease is over. Then Climate acts as itself if it cannot act
            for the owner any more.
        :raises TargetGone: the server does not exist any more.
        """
        self.service = cloud.as_service()
        self.id = id_of(reservation)
        self._cloud = cloud
        self._lease = lease
        self._reservation = reservation
        self._is_ending = is_ending
        self._server = self.service.servers.server(self.id)
        if self._server is None:
            raise errors.TargetGone(kind='server', target_id=self.id)
        self.name = self._server.name
        self.status = self._server.status
        self.host = self._server.host
        self.project_id = self._server.project_id

    @property
    def _owner(self):
        """The Services that act for the owner, or as Climate itself if the server is locked.

        :raises TrustDead: Climate cannot act for the owner, and the lease is not over.
        """
        if self._server.locked:
            return self.service
        return self._cloud.as_owner_or_service() if self._is_ending else self._cloud.as_user()

    @property
    def stage(self):
        """The server's stage in this reservation according to its metadata, or None."""
        metadata = self._server.metadata
        if metadata.get(RESERVATION_KEY) != self._reservation.id:
            return None
        return metadata.get(STATUS_KEY)

    @property
    def is_known_to_be_handed_over(self):
        """True if the database says that the server was handed over."""
        return (self._reservation.state == lifecycle.RESERVATION_ACTIVE
                or self._reservation.binding.get('handed_over', False))

    @property
    def was_handed_over(self):
        """True if the database or the metadata of the server say that it was handed over."""
        return self.is_known_to_be_handed_over or self.stage not in (None, RESERVED)

    def mark(self, stage):
        """Write the lease, the reservation and the stage into the metadata, if Nova allows it."""
        marks = {LEASE_KEY: self._lease.id, RESERVATION_KEY: self._reservation.id,
                 STATUS_KEY: stage}
        if self.status in AWAKE and marks.items() - self._server.metadata.items():
            self.service.servers.mark(self.id, marks)

    def unmark(self):
        """Remove all metadata of Climate from the server, if Nova allows it."""
        remove_marks(self.service, self._server)

    def wait_for_calm(self):
        """Raise StillBusy while Nova changes the server."""
        if self._server.task is not None or self.status in _PASSING:
            self.wait(self._server.task or self.status)

    def wait(self, reason, has_own_limit=False):
        """Raise StillBusy, so that Climate calls the plugin again, which reads the server again.

        :param has_own_limit: True if the caller limits the time of this wait itself.
        """
        raise errors.StillBusy.plain('Nova', f'server {self.id}: {reason}',
                                     has_own_limit=has_own_limit)

    def give_up(self, what):
        """Raise CloudError, because a change is impossible in the server's status.

        :param what: the change, as a participle such as "shelved".
        """
        raise errors.CloudError.plain('Nova', (
            f'server {self.id} cannot be {what} while its status is {self.status}; '
            '"openstack server show" says more.'))

    def refuse_larger(self):
        """Refuse a server that needs more than the capacity that is reserved for it.

        :raises CloudError: the server was resized after its lease was made.
        """
        sizes = larger(self._server.flavor, self._reservation.request)
        if sizes:
            raise errors.CloudError.plain('Nova', (
                f'server {self.id} was resized after its lease was made ({", ".join(sizes)}), and '
                'is larger than the capacity that is reserved for it. Delete the lease, and make '
                'another one for the resized server.'))

    def put_to_sleep(self):
        """Shelve and offload the server; return once it is offloaded.

        :raises StillBusy: it is not offloaded yet.
        :raises CloudError: Nova cannot shelve the server in its status.
        """
        self.wait_for_calm()
        if self.status == OFFLOADED:
            return
        if self.status == SHELVED:
            self.service.servers.offload(self.id)
        elif self.status in AWAKE:
            self._announce(server_history.SHELVE)
            # Act as the owner, so that the owner also owns the image and may unshelve the server.
            self._owner.servers.shelve(self.id)
        else:
            self.give_up('shelved')
        self.wait('being shelved')

    def wake(self, service_host, zone=None):
        """Begin to unshelve the server.

        :param service_host: the new host; None: any host.
        :param zone: the availability zone of that host.
        :raises CloudError: Nova failed to unshelve it, and that was not reported yet.
        """
        where = 'anywhere' if service_host is None else f'on host {service_host}'
        self._report_failure('unshelve', texts.Text(
            'could not be woken: no host took it.',
            f'could not be woken {where}: no host took it. The log of Nova\'s scheduler has the '
            'reason.'))
        self.service.servers.unshelve(self.id, service_host,
                                      zone is not None and zone == self._server.zone)
        self.wait('being woken')

    def move(self):
        """Begin to migrate the server to a host that Nova chooses, or confirm the migration.

        :raises CloudError: Nova failed to migrate it, and that was not reported yet.
        """
        self.wait_for_calm()
        self._report_failure(
            'migrate', texts.Text(
                'could not be moved: no host took it.',
                f'could not be moved from host {self.host}: no host took it.'))
        if self._is_ending and self.status != MOVED:
            self._announce(server_history.MOVE)
        self.service.servers.migrate(self.id)
        self.wait('being moved')

    def unrescue(self):
        """Begin to unrescue the server: it boots from its own disk again."""
        self.wait_for_calm()
        self.service.servers.unrescue(self.id)
        self.wait('being unrescued')

    def stop(self):
        """Begin to stop a server that is in ERROR, so that it can be moved or shelved.

        :raises CloudError: Nova failed to stop it, and that was not reported yet.
        """
        self.wait_for_calm()
        state = f'is in the status {self.status}'
        advice = '"openstack server show" says more. Repair the server, or delete it.'
        self._report_failure('stop', texts.Text(
            f'{state} and could not be stopped; {advice}',
            f'{state} on host {self.host} and could not be stopped there; {advice}'))
        self.service.servers.stop(self.id)
        self.wait('being stopped')

    def suspend(self):
        """Begin to suspend the server."""
        self._announce(server_history.SUSPEND)
        self._owner.servers.suspend(self.id)

    def make_image(self, name):
        """Begin to make an image of the server."""
        self._cloud.as_owner_or_service().servers.create_image(
            self.id, name, self._reservation.id)
        self.wait('being imaged')

    def delete(self, image=None):
        """Begin to delete the server.

        :param image: the Image of the server, for the history; None if there is none.
        """
        if self._server.task != 'deleting':
            self._announce(server_history.DELETE, image)
        self.service.nova.delete_server(self.id)
        self.wait(f'being deleted, its status is {self.status}')

    def failures(self, change):
        """Return how often a change failed in Nova since the first attempt of the action.

        :param change: Nova's name of the change, such as "unshelve".
        """
        return self.service.servers.failures(self.id, change, self._cloud.attempt.since)

    def _announce(self, what, image=None):
        """Announce the next change of the server in the history."""
        self._cloud.announce(what, server_history.servers(
            [self._server], self.project_id, {self.id: image}))

    def _report_failure(self, change, text):
        if self.failures(change) > self._cloud.attempt.failures:
            reason = text.within(f'server {self.id} ')
            raise errors.CloudError(service='Nova', reason=reason.operator,
                                    owner_reason=reason.owner)


def remove_marks(services, server):
    """Remove all metadata of Climate from a Server, if Nova allows it."""
    marks = dict.fromkeys(key for key in server.metadata if key.startswith(_PREFIX))
    if marks and server.status in AWAKE:
        services.servers.mark(server.id, marks)

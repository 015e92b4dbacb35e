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
#: Statuses from which Nova moves a server.
MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
OFFLOADED = 'SHELVED_OFFLOADED'
SHELVED = 'SHELVED'
#: The status of a server after a move that must be confirmed.
MOVED = 'VERIFY_RESIZE'

BUILD = 'BUILD'
ERROR = 'ERROR'
RESCUE = 'RESCUE'
#: The status of a server whose cell does not answer, so that Nova shows few of its fields.
UNKNOWN = 'UNKNOWN'

#: The fields in which a reservation has the sizes of the server.
SIZES = ('vcpus', 'memory_mb', 'disk_gb')

_PREFIX = 'climate:'
_PASSING = (BUILD, 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD', 'RESIZE', 'REVERT_RESIZE',
            'MIGRATING')


def id_of(reservation):
    """Return the id of the server, or None while it is not known."""
    return reservation.binding.get('resource_id') or reservation.request['resource_id']


def name_of(reservation):
    """Return the last name of the server that Climate has seen, or None if it has seen none."""
    return (reservation.binding.get('resource_name')
            or reservation.request.get('resource_name'))


def larger(flavor, request):
    """Return the sizes in which a flavor exceeds a resolved request, as a list of words.

    :param flavor: a Flavor, or None if Nova does not show it; then the list is empty.
    """
    if flavor is None:
        return []
    sizes = requirements.sizes(requirements.as_dict(flavor))
    return [f'{name} {sizes[name]}' for name in SIZES if sizes[name] > request[name]]


class NovaServer:
    """The server of a reservation as it is now, with methods that begin a change of it.

    :ivar service: the Services, used as Climate itself.
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

    @property
    def name(self):
        return self._server.name

    @property
    def status(self):
        return self._server.status

    @property
    def project_id(self):
        return self._server.project_id

    @property
    def host(self):
        """The service host that the server is on, or None."""
        return self._server.host

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
        """The server's stage in this reservation by its own metadata; None if it has none."""
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
        """True if the server was handed over, even if a crash kept that from the database."""
        return self.is_known_to_be_handed_over or self.stage not in (None, RESERVED)

    def mark(self, stage):
        """Write the lease, the reservation and the stage into the metadata, if Nova allows it."""
        marks = {LEASE_KEY: self._lease.id, RESERVATION_KEY: self._reservation.id,
                 STATUS_KEY: stage}
        if self.status in AWAKE and marks.items() - self._server.metadata.items():
            self.service.servers.mark(self.id, marks)

    def unmark(self):
        """Remove all metadata that Climate has written on the server, if Nova allows it."""
        remove_marks(self.service, self._server)

    def wait_for_calm(self):
        """Refuse to go on while something is being done to the server.

        :raises StillBusy: something is being done to it.
        """
        if self._server.task is not None or self.status in _PASSING:
            self.wait(self._server.task or self.status)

    def wait(self, reason, has_own_limit=False):
        """Ask for another call, which reads the server again.

        :param has_own_limit: True if the caller limits the time of this wait itself.
        :raises StillBusy: always.
        """
        raise errors.StillBusy.plain('Nova', f'server {self.id}: {reason}',
                                     has_own_limit=has_own_limit)

    def give_up(self, what):
        """Refuse a change that is impossible in the server's status.

        :param what: the change, as a participle such as "shelved".
        :raises CloudError: always.
        """
        raise errors.CloudError.plain('Nova', (
            f'server {self.id} cannot be {what} while its status is {self.status}; '
            '"openstack server show" says more.'))

    def refuse_larger(self):
        """Refuse a server that needs more than the capacity that is reserved for it.

        :raises CloudError: the server was resized since its lease was made.
        """
        sizes = larger(self._server.flavor, self._reservation.request)
        if sizes:
            raise errors.CloudError.plain('Nova', (
                f'server {self.id} was resized after its lease was made ({", ".join(sizes)}), and '
                'is larger than the capacity that is held for it. Delete the lease, and make one '
                'for the server as it is.'))

    def put_to_sleep(self):
        """Shelve and offload the server; does nothing if it is offloaded already.

        :raises StillBusy: it is not offloaded yet.
        :raises CloudError: its status forbids it.
        """
        self.wait_for_calm()
        if self.status == OFFLOADED:
            return
        if self.status == SHELVED:
            self.service.servers.offload(self.id)
        elif self.status in AWAKE:
            self._announce(server_history.SHELVE)
            # Shelved as the user, so that the user owns the image and may unshelve the server too.
            self._owner.servers.shelve(self.id)
        else:
            self.give_up('shelved')
        self.wait('being shelved')

    def wake(self, service_host, zone=None):
        """Begin to unshelve the server, on that host or, for None, anywhere.

        :param zone: the availability zone of that host.
        :raises StillBusy: always, unless another error is raised.
        :raises CloudError: Nova has failed to do it, and that was not reported yet.
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
        """Begin to move the server to a host that Nova chooses, or confirm that it was moved.

        :raises StillBusy: always, unless another error is raised.
        :raises CloudError: Nova has failed to do it, and that was not reported yet.
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
        """Begin to unrescue the server: it boots from its own disk again.

        :raises StillBusy: always, unless another error is raised.
        """
        self.wait_for_calm()
        self.service.servers.unrescue(self.id)
        self.wait('being unrescued')

    def stop(self):
        """Begin to stop a server that is in ERROR; once stopped, it can be moved or shelved.

        :raises StillBusy: always, unless another error is raised.
        :raises CloudError: Nova has failed to do it, and that was not reported yet.
        """
        self.wait_for_calm()
        state = f'is in the status {self.status}'
        advice = '"openstack server show" says more. Mend it, or delete it.'
        self._report_failure('stop', texts.Text(
            f'{state} and could not be stopped; {advice}',
            f'{state} on host {self.host} and could not be stopped there; {advice}'))
        self.service.servers.stop(self.id)
        self.wait('being stopped')

    def suspend(self):
        """Begin to suspend the server; unlike other changes this does not raise StillBusy."""
        self._announce(server_history.SUSPEND)
        self._owner.servers.suspend(self.id)

    def make_image(self, name):
        """Begin an image of the server, as the owner or, if that is impossible, as Climate itself.

        :raises StillBusy: always, unless another error is raised.
        """
        self._cloud.as_owner_or_service().servers.create_image(
            self.id, name, self._reservation.id)
        self.wait('being imaged')

    def delete(self, image=None):
        """Begin to delete the server.

        :param image: the Image that was made of it.
        :raises StillBusy: always, unless another error is raised.
        """
        if self._server.task != 'deleting':
            self._announce(server_history.DELETE, image)
        self.service.nova.delete_server(self.id)
        self.wait(f'being deleted, its status is {self.status}')

    def failures(self, change):
        """Return the number of failures of a change since the first try of the present action.

        :param change: the kind of change, such as "unshelve".
        """
        return self.service.servers.failures(self.id, change, self._cloud.attempt.since)

    def _announce(self, what, image=None):
        """Write the next change into the history; the owner's project has the server."""
        self._cloud.announce(what, server_history.servers(
            [self._server], self._server.project_id, {self.id: image}))

    def _report_failure(self, change, text):
        if self.failures(change) > self._cloud.attempt.failures:
            reason = text.within(f'server {self.id} ')
            raise errors.CloudError(service='Nova', reason=reason.operator,
                                    owner_reason=reason.owner)


def remove_marks(services, server):
    """Remove from a Server all metadata that Climate has written on it, if Nova allows it."""
    marks = dict.fromkeys(key for key in server.metadata if key.startswith(_PREFIX))
    if marks and server.status in AWAKE:
        services.servers.mark(server.id, marks)

# SPDX-License-Identifier: Apache-2.0
"""What becomes of a leased server at the end: imaged and deleted, or put where it takes no room.

As in `server_start`, each call looks once and begins one change at most. The server is deleted only
where that was asked for, or where its image is active.
"""
import contextlib
import datetime

from oslo_log import log

from climate import errors
from climate.plugins import leased
from climate.plugins import server

LOG = log.getLogger(__name__)

# It is marked so when it was told to suspend, for Nova does not say that this failed.
_SUSPENDING = 'SUSPENDING'
# Words of Glance for an image that may become active yet.
_UNFINISHED = ('queued', 'saving', 'uploading', 'importing')
_ACTIVE = 'active'
# On the host that was held for it, and then on any.
_MOST_WAKES = 2


def end(conf, cloud, lease, reservation, resources):
    """Do what was asked for at the end, and remove the marks of the server if it lives on.

    A server that never was handed over stays as it is, or as it was before it was woken.

    :raises StillBusy: to be called again in a moment.
    :raises CloudError: Nova refuses; a person may have to look at the server.
    """
    if server.leased_id(reservation) is None:
        _forget_strays(cloud, lease, reservation)
        return
    images = []
    if reservation.request['on_end'] == 'snapshot':
        images = _own_images(cloud, lease, reservation)
    try:
        ending = _Ending(conf, cloud, leased.Leased(cloud, lease, reservation),
                         [resource.facts['service_name'] for resource in resources])
        if ending.found.was_handed_over:
            ending.carry_out(reservation.request['on_end'], images)
        elif reservation.request['sleeps']:
            ending.put_back_to_sleep()
        ending.found.unmark()
    except errors.ServerNotFound:
        LOG.info('Reservation %s: its server is gone, %d images of it were made',
                 reservation.id, len(images))


class _Ending:
    """One try to end.

    :ivar found: the Leased server.
    """

    def __init__(self, conf, cloud, found, held):
        self.found = found
        self._conf = conf
        self._cloud = cloud
        self._held = held

    def carry_out(self, on_end, images):
        """Return when the server is where it is to be; StillBusy until then."""
        if on_end == 'delete':
            self.found.delete()
        elif on_end == 'snapshot':
            self._snapshot(images)
        elif not self._is_nowhere():
            {'suspend': self._suspend, 'shelve': self._shelve,
             'migrate': self._leave_pool}[on_end]()

    def put_back_to_sleep(self):
        """Return when a server that was only just being woken takes no room in the pool."""
        if not self._is_nowhere() and self._is_in_pool():
            self.found.put_to_sleep()

    def _snapshot(self, images):
        if any(image.status == _ACTIVE for image in images):
            self.found.delete()
        if self._is_late():
            # An image that is deleted breaks off the upload, which blocks all else.
            self._drop(images)
            if not self._is_nowhere():
                self._suspend()
            return
        if any(image.status in _UNFINISHED for image in images):
            self.found.wait('its image is not active yet', has_own_limit=True)
        self._drop(images)
        self.found.wait_for_calm()
        if self.found.status in (leased.OFFLOADED, leased.SHELVED):
            if self.found.failures('unshelve') >= _MOST_WAKES:
                # Nothing runs and nothing is lost: what it sleeps in is its image.
                self.found.put_to_sleep()
                return
            self.found.wake(self._host_to_wake_on())
        self._confirm()
        if self.found.status == 'ERROR' and self.found.host is None:
            # It never ran: there is nothing to be imaged.
            self.found.delete()
        if self.found.status not in leased.AWAKE:
            self.found.give_up('imaged')
        self.found.make_image(self._conf.nova.image_prefix + self.found.name)

    def _suspend(self):
        self._leave_pool()
        status = self.found.status
        if status == 'ACTIVE' and self.found.stage != _SUSPENDING:
            with self._or_shelved('suspended'):
                self.found.suspend()
                self.found.mark(_SUSPENDING)
                self.found.wait('being suspended')
        if status in ('SHUTOFF', 'SUSPENDED') or self._is_nowhere():
            return
        self._shelve()

    def _shelve(self):
        self._confirm()
        if self.found.is_known_to_be_handed_over:
            # Nova forbids it when the server sleeps.
            self.found.unmark()
        self.found.put_to_sleep()

    def _confirm(self):
        if self.found.status == leased.MOVED:
            self.found.move()

    def _leave_pool(self):
        """Move the server off the hosts of the pool; what cannot be moved is put to sleep."""
        self._confirm()
        if not self._is_in_pool():
            return
        if self.found.status in leased.MOVABLE and not self.found.failures('migrate'):
            with self._or_shelved('moved'):
                self.found.move()
        self._shelve()

    def _is_in_pool(self):
        return self.found.host in leased.pool_hosts(self._conf, self._cloud)

    def _is_nowhere(self):
        """True where it is on no host and nothing is done to it: it runs not, and takes no room.

        :raises StillBusy: something is done to it.
        """
        self.found.wait_for_calm()
        return self.found.status == leased.OFFLOADED or self.found.host is None

    def _is_late(self):
        seconds = self._conf['virtual:instance'].image_seconds
        attempt = self._cloud.attempt
        return bool(seconds) and attempt.now >= attempt.since + datetime.timedelta(seconds=seconds)

    def _host_to_wake_on(self):
        """The host whose room is held, or, each second time, None for any other."""
        first = self.found.failures('unshelve') % 2 == 0
        return self._held[0] if self._held and first and (
            self.found.status == leased.OFFLOADED) else None

    @contextlib.contextmanager
    def _or_shelved(self, what):
        """Go on behind where Nova refuses; not where it says later, or nothing at all."""
        try:
            yield
        except (errors.StillBusy, errors.CloudUnreachable, errors.TrustDead):
            raise
        except errors.CloudError as error:
            LOG.warning('Server %s cannot be %s and is shelved instead: %s', self.found.id, what,
                        error.message)

    def _drop(self, images):
        for image in images:
            self.found.service.images.delete(image.id)


def _own_images(cloud, lease, reservation):
    """The Images that were made at this end, all of them the lease's project's."""
    service = cloud.as_service()
    images = service.images.made(reservation.id, lease.project_id)
    for image in images:
        if image.owner != lease.project_id:
            service.images.give(image.id, lease.project_id)
    return images


def _forget_strays(cloud, lease, reservation):
    """Remove the marks of servers that came for the reservation and were never bound to it."""
    services = cloud.as_service()
    for found in services.servers.marked(lease.project_id, server.LEASE_KEY, lease.id):
        if found.metadata.get(leased.RESERVATION_KEY) in (None, reservation.id):
            leased.remove_marks(services, found)

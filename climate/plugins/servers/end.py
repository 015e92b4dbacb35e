# SPDX-License-Identifier: Apache-2.0
"""What becomes of a leased server at the end: imaged and deleted, or put where it takes no room.

As in `start`, each call looks once and begins one change at most. The server is deleted only
where that was asked for, where its image is active, or where it was never built.
"""
import contextlib
import datetime

from oslo_log import log

from climate import errors
from climate.plugins import pools
from climate.plugins.servers import leased

LOG = log.getLogger(__name__)

# It is marked so when it was told to suspend, for Nova does not say that this failed.
_SUSPENDING = 'SUSPENDING'
# Words of Glance for an image that may become active yet.
_UNFINISHED = ('queued', 'saving', 'uploading', 'importing')
_ACTIVE = 'active'
# To be imaged; room may be short just once.
_MOST_WAKES = 2


def end(conf, cloud, lease, reservation):
    """Do what was asked for at the end, and remove the marks of the server if it lives on.

    A server that never was handed over stays as it is, or as it was before it was woken.

    :raises StillBusy: to be called again in a moment.
    :raises CloudError: Nova refuses; a person may have to look at the server.
    """
    if leased.id_of(reservation) is not None:
        _end_of_server(conf, cloud, lease, reservation)
    if reservation.id == _last_awaiting(lease):
        _forget_strays(cloud, lease)


def _end_of_server(conf, cloud, lease, reservation):
    images = []
    if reservation.request['on_end'] == 'snapshot':
        images = _own_images(cloud, lease, reservation)
    try:
        ending = _Ending(conf, cloud, leased.Leased(cloud, lease, reservation))
        if ending.found.status == leased.UNKNOWN:
            # Neither its host nor its metadata are told, which would look as if it had none.
            ending.found.give_up('ended')
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

    def __init__(self, conf, cloud, found):
        self.found = found
        self._conf = conf
        self._cloud = cloud

    def carry_out(self, on_end, images):
        """Return when the server is where it is to be; StillBusy until then."""
        if on_end == 'delete' or self._is_stuck_in_build():
            # One that was never built has nothing that could be lost.
            self.found.delete()
        elif on_end == 'snapshot':
            self._snapshot(images)
        elif not self._is_nowhere():
            {'suspend': self._suspend, 'shelve': self._shelve,
             'migrate': self._leave_pool}[on_end]()

    def put_back_to_sleep(self):
        """Return when a server that was only just being woken takes no room in the pool."""
        if self._is_stuck_in_build():
            return
        if not self._is_nowhere() and self._is_in_pool():
            self._shelve()

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
            # Room is held for it no more, so that the filter admits it on ordinary hosts only.
            self.found.wake(None)
        if self.found.status == leased.ERROR and self.found.host is None:
            # It never ran: there is nothing to be imaged.
            self.found.delete()
        self._recover()
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
        self._recover()
        if self.found.is_known_to_be_handed_over:
            # Nova forbids it when the server sleeps.
            self.found.unmark()
        self.found.put_to_sleep()

    def _recover(self):
        """Bring the server back from a status in which Nova does nothing of what is to come."""
        if self.found.status == leased.MOVED:
            self.found.move()
        elif self.found.status == leased.RESCUE:
            self.found.unrescue()
        elif self.found.status == leased.ERROR:
            self.found.stop()

    def _leave_pool(self):
        """Move the server off the hosts of the pool; what cannot be moved is put to sleep."""
        if self.found.status == leased.MOVED:
            # Until it may stay, it has room where it was, too.
            self.found.move()
        if not self._is_in_pool():
            return
        self._recover()
        if self.found.status in leased.MOVABLE and not self.found.failures('migrate'):
            with self._or_shelved('moved'):
                self.found.move()
        self._shelve()

    def _is_in_pool(self):
        """True where it takes room that others could lease: hosts of its own project are its own.

        Where it was booted for a lease of hosts, it would be moved from one of them to another.
        """
        return self.found.host in pools.enrolled_hosts(self._conf, self._cloud,
                                                       but_of=self.found.project_id)

    def _is_nowhere(self):
        """True where it is on no host and nothing is done to it: it runs not, and takes no room.

        :raises StillBusy: something is done to it.
        """
        self.found.wait_for_calm()
        return self.found.status == leased.OFFLOADED or self.found.host is None

    def _is_stuck_in_build(self):
        """True where it is being built for longer than an image may take.

        :raises StillBusy: it is being built.
        """
        if self.found.status != leased.BUILD:
            return False
        if not self._is_late():
            self.found.wait('being built', has_own_limit=bool(self._most_seconds))
        return True

    @property
    def _most_seconds(self):
        return self._conf['virtual:instance'].image_seconds

    def _is_late(self):
        attempt = self._cloud.attempt
        return bool(self._most_seconds) and (
            attempt.now >= attempt.since + datetime.timedelta(seconds=self._most_seconds))

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


def _last_awaiting(lease):
    """The id of the last reservation that was made for a server to be booted, or None.

    What is done with it is done once for the lease.
    """
    return next((each.id for each in reversed(lease.open_reservations)
                 if each.request.get('resource_id', '') is None), None)


def _forget_strays(cloud, lease):
    """Remove the marks of servers that came for the lease and were never bound."""
    services = cloud.as_service()
    for found in services.servers.marked(lease.project_id, leased.LEASE_KEY, lease.id):
        if leased.RESERVATION_KEY not in found.metadata:
            leased.remove_marks(services, found)

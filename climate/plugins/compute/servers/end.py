# SPDX-License-Identifier: Apache-2.0
"""The end of a leased server: it is imaged and deleted, suspended, shelved, or moved elsewhere.

Each call reads the server once and begins at most one change. A server is deleted only if the
request says so, if its image is active, or if it was never built.
"""
import contextlib

from oslo_log import log

from climate import errors
from climate.plugins import owner_images
from climate.plugins.compute import aggregates
from climate.plugins.compute.servers import nova_server

LOG = log.getLogger(__name__)

# The mark of a server whose suspension was begun. Nova does not report a failed suspension.
_SUSPENDING = 'SUSPENDING'
_ACTIVE = 'active'
# How often Climate tries to unshelve a server for its image, because no host may have capacity.
_MOST_UNSHELVES = 2


def end(conf, cloud, lease, reservation):
    """Carry out `on_end` of the request, and remove the marks of a server that is kept.

    A server that was never handed over stays as it is. If it was just being unshelved, it is
    shelved again.

    :raises StillBusy: the end is not finished yet.
    :raises CloudError: Nova refuses; an operator may have to check the server.
    """
    if nova_server.id_of(reservation) is not None:
        _end_of_server(conf, cloud, lease, reservation)
    if reservation.id == _last_awaiting(lease):
        _unmark_unbound(cloud, lease)


def _end_of_server(conf, cloud, lease, reservation):
    images = []
    if reservation.request['on_end'] == 'snapshot':
        images = owner_images.made(cloud, lease.project_id, reservation.id)
    try:
        attempt = _ServerEnd(conf, cloud, nova_server.NovaServer(
            cloud, lease, reservation, is_ending=True))
        if attempt.server.status == nova_server.UNKNOWN:
            # In this status Nova shows neither the host nor the metadata of the server.
            attempt.server.give_up('ended')
        if attempt.server.was_handed_over:
            attempt.carry_out(reservation.request['on_end'], images)
        elif reservation.request['sleeps']:
            attempt.put_back_to_sleep()
        attempt.server.unmark()
    except errors.TargetGone:
        LOG.info('Reservation %s: its server is gone, %d images of it were made',
                 reservation.id, len(images))


class _ServerEnd:
    """One attempt to end the lease of a server.

    :ivar server: the NovaServer.
    """

    def __init__(self, conf, cloud, server):
        self.server = server
        self._conf = conf
        self._cloud = cloud

    def carry_out(self, on_end, images):
        """Bring the server to the state that `on_end` requires.

        :raises StillBusy: the server does not have that state yet.
        """
        if on_end == 'delete' or self._is_stuck_in_build():
            # A server that was never built has no data that could be lost.
            self.server.delete()
        elif on_end == 'snapshot':
            self._snapshot(images)
        elif not self._has_no_host():
            {'suspend': self._suspend, 'shelve': self._shelve,
             'migrate': self._leave_pool}[on_end]()

    def put_back_to_sleep(self):
        """Shelve a server that was just being unshelved, so that it uses no host of the pool.

        :raises StillBusy: it is not shelved yet.
        """
        if self._is_stuck_in_build():
            return
        if not self._has_no_host() and self._is_in_pool():
            self._shelve()

    def _snapshot(self, images):
        active = next((image for image in images if image.status == _ACTIVE), None)
        if active is not None:
            self.server.delete(active)
        if self._is_late():
            # Nova refuses other changes during the upload of an image. Deleting the image ends it.
            self._drop(images)
            if not self._has_no_host():
                self._suspend()
            return
        if any(image.status in owner_images.UNFINISHED for image in images):
            self.server.wait('its image is not active yet', has_own_limit=True)
        self._drop(images)
        self.server.wait_for_calm()
        if self.server.status in (nova_server.OFFLOADED, nova_server.SHELVED):
            if self.server.failures('unshelve') >= _MOST_UNSHELVES:
                # The server does not run, and its shelved image has all data.
                self.server.put_to_sleep()
                return
            # The reservation has no resources any more, so the scheduler filter admits the server
            # only to hosts outside the pool.
            self.server.wake(None)
        if self.server.status == nova_server.ERROR and self.server.host is None:
            # The server never ran, so it has no data to be imaged.
            self.server.delete()
        self._recover()
        if self.server.status not in nova_server.AWAKE:
            self.server.give_up('imaged')
        self.server.make_image(self._conf.nova.image_prefix + self.server.name)

    def _suspend(self):
        self._leave_pool()
        status = self.server.status
        if status == 'ACTIVE' and self.server.stage != _SUSPENDING:
            with self._or_shelved('suspended'):
                self.server.suspend()
                self.server.mark(_SUSPENDING)
                self.server.wait('being suspended')
        if status in ('SHUTOFF', 'SUSPENDED') or self._has_no_host():
            return
        self._shelve()

    def _shelve(self):
        self._recover()
        if self.server.is_known_to_be_handed_over:
            # Remove the marks first, because Nova forbids that once the server is shelved.
            self.server.unmark()
        self.server.put_to_sleep()

    def _recover(self):
        """Bring the server back from a status in which Nova refuses to shelve, move or image it."""
        if self.server.status == nova_server.MOVED:
            self.server.move()
        elif self.server.status == nova_server.RESCUE:
            self.server.unrescue()
        elif self.server.status == nova_server.ERROR:
            self.server.stop()

    def _leave_pool(self):
        """Move the server off the hosts of the pool, or shelve it if it cannot be moved."""
        if self.server.status == nova_server.MOVED:
            # Until the move is confirmed, the server also uses its old host.
            self.server.move()
        if not self._is_in_pool():
            return
        self._recover()
        if self.server.status in nova_server.MOVABLE and not self.server.failures('migrate'):
            with self._or_shelved('moved'):
                self.server.move()
        self._shelve()

    def _is_in_pool(self):
        """Return True if the server is on a host that others could lease.

        Hosts that its own project leases do not count, because Nova would move the server from one
        of them to another.
        """
        return self.server.host in aggregates.enrolled_hosts(
            self._conf, self._cloud.as_service().nova.aggregates(),
            lessee=self.server.project_id)

    def _has_no_host(self):
        """Return True if the server is on no host, so that it does not run and uses no capacity.

        :raises StillBusy: a change of the server is in progress.
        """
        self.server.wait_for_calm()
        return self.server.status == nova_server.OFFLOADED or self.server.host is None

    def _is_stuck_in_build(self):
        """Return True if the server is still being built image_seconds after the end.

        :raises StillBusy: it is being built, and image_seconds are not over.
        """
        if self.server.status != nova_server.BUILD:
            return False
        if not self._is_late():
            self.server.wait('being built', has_own_limit=bool(self._limit_seconds))
        return True

    @property
    def _limit_seconds(self):
        return self._conf['virtual:instance'].image_seconds

    def _is_late(self):
        return self._cloud.attempt.exceeds(self._limit_seconds)

    @contextlib.contextmanager
    def _or_shelved(self, what):
        """Log an error of Nova and continue after the block, so that the caller shelves the server.

        :param what: the change in the block, as a participle such as "suspended".
        :raises StillBusy: Nova is busy with the server.
        :raises CloudUnreachable: Nova does not answer.
        :raises TrustDead: Climate cannot act for the owner.
        """
        try:
            yield
        except (errors.StillBusy, errors.CloudUnreachable, errors.TrustDead):
            raise
        except errors.CloudError as error:
            LOG.warning('Server %s cannot be %s and is shelved instead: %s', self.server.id, what,
                        error.message)

    def _drop(self, images):
        for image in images:
            self.server.service.images.delete(image.id)


def _last_awaiting(lease):
    """Return the id of the last open reservation that was made for a future server, or None.

    Only the end of this reservation removes the marks of unbound servers of the lease.
    """
    return next((reservation.id for reservation in reversed(lease.open_reservations)
                 if reservation.request.get('resource_id', '') is None), None)


def _unmark_unbound(cloud, lease):
    """Remove the marks of servers that were booted for the lease and have no reservation."""
    services = cloud.as_service()
    for server in services.servers.marked(lease.project_id, nova_server.LEASE_KEY, lease.id):
        if nova_server.RESERVATION_KEY not in server.metadata:
            nova_server.remove_marks(services, server)

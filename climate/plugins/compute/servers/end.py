# SPDX-License-Identifier: Apache-2.0
"""The end of a leased server: it is imaged and deleted, suspended, shelved, or moved elsewhere.

As in `start`, each call looks once and begins one change at most. A server is deleted only if
that was asked for, if its image is active, or if it was never built.
"""
import contextlib
import datetime

from oslo_log import log

from climate import errors
from climate.plugins.compute import enrolled
from climate.plugins.compute import owned_images
from climate.plugins.compute.servers import leased

LOG = log.getLogger(__name__)

# The mark of a server that was told to suspend. It is needed because Nova does not report it if
# the suspension failed.
_SUSPENDING = 'SUSPENDING'
# The statuses in Glance of an image that may still become active.
_UNFINISHED = ('queued', 'saving', 'uploading', 'importing')
_ACTIVE = 'active'
# How often a server is unshelved to be imaged: capacity may be short the first time.
_MOST_UNSHELVES = 2


def end(conf, cloud, lease, reservation):
    """Carry out `on_end` of the request, and remove the marks of a server that lives on.

    A server that was never handed over stays as it is. If it was just being unshelved, it is
    shelved again.

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
        images = owned_images.made(cloud, lease.project_id, reservation.id)
    try:
        ending = _Ending(conf, cloud, leased.Leased(cloud, lease, reservation, taking_back=True))
        if ending.found.status == leased.UNKNOWN:
            # Nova knows neither its host nor its metadata then, so it would look as if it had none.
            ending.found.give_up('ended')
        if ending.found.was_handed_over:
            ending.carry_out(reservation.request['on_end'], images)
        elif reservation.request['sleeps']:
            ending.put_back_to_sleep()
        ending.found.unmark()
    except errors.TargetGone:
        LOG.info('Reservation %s: its server is gone, %d images of it were made',
                 reservation.id, len(images))


class _Ending:
    """One try to end the lease of a server.

    :ivar found: the Leased server.
    """

    def __init__(self, conf, cloud, found):
        self.found = found
        self._conf = conf
        self._cloud = cloud

    def carry_out(self, on_end, images):
        """Bring the server to the state that `on_end` asks for.

        :raises StillBusy: it is not there yet.
        """
        if on_end == 'delete' or self._is_stuck_in_build():
            # A server that was never built has no data that could be lost.
            self.found.delete()
        elif on_end == 'snapshot':
            self._snapshot(images)
        elif not self._is_nowhere():
            {'suspend': self._suspend, 'shelve': self._shelve,
             'migrate': self._leave_pool}[on_end]()

    def put_back_to_sleep(self):
        """Shelve a server that was just being unshelved, so that it uses no host of the pool.

        :raises StillBusy: it is not shelved yet.
        """
        if self._is_stuck_in_build():
            return
        if not self._is_nowhere() and self._is_in_pool():
            self._shelve()

    def _snapshot(self, images):
        made = next((image for image in images if image.status == _ACTIVE), None)
        if made is not None:
            self.found.delete(made)
        if self._is_late():
            # The upload of an image blocks all other changes. Deleting the image ends the upload.
            self._drop(images)
            if not self._is_nowhere():
                self._suspend()
            return
        if any(image.status in _UNFINISHED for image in images):
            self.found.wait('its image is not active yet', has_own_limit=True)
        self._drop(images)
        self.found.wait_for_calm()
        if self.found.status in (leased.OFFLOADED, leased.SHELVED):
            if self.found.failures('unshelve') >= _MOST_UNSHELVES:
                # The server does not run, and no data is lost: its shelved image has them.
                self.found.put_to_sleep()
                return
            # Its reservation has no resources any more, so the scheduler filter admits the server
            # to ordinary hosts only.
            self.found.wake(None)
        if self.found.status == leased.ERROR and self.found.host is None:
            # The server never ran, so it has no data to be imaged.
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
            # The marks are removed first, because Nova forbids that once the server is shelved.
            self.found.unmark()
        self.found.put_to_sleep()

    def _recover(self):
        """Bring the server back from a status in which Nova refuses to shelve, move or image it."""
        if self.found.status == leased.MOVED:
            self.found.move()
        elif self.found.status == leased.RESCUE:
            self.found.unrescue()
        elif self.found.status == leased.ERROR:
            self.found.stop()

    def _leave_pool(self):
        """Move the server off the hosts of the pool, or shelve it if it cannot be moved."""
        if self.found.status == leased.MOVED:
            # Until the move is confirmed, the server also uses its old host.
            self.found.move()
        if not self._is_in_pool():
            return
        self._recover()
        if self.found.status in leased.MOVABLE and not self.found.failures('migrate'):
            with self._or_shelved('moved'):
                self.found.move()
        self._shelve()

    def _is_in_pool(self):
        """Return True if the server is on a host that others could lease.

        Hosts that its own project leases do not count. Otherwise a server that was booted on
        leased hosts would be moved from one of them to another.
        """
        return self.found.host in enrolled.service_hosts(self._conf, self._cloud,
                                                         but_of=self.found.project_id)

    def _is_nowhere(self):
        """Return True if the server is on no host, so that it does not run and uses no capacity.

        :raises StillBusy: something is being done to it.
        """
        self.found.wait_for_calm()
        return self.found.status == leased.OFFLOADED or self.found.host is None

    def _is_stuck_in_build(self):
        """Return True if the server has been building for longer than an image may take.

        :raises StillBusy: it is being built, and not too long yet.
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
        """Log a refusal of Nova and go on after the block, where the server is shelved.

        :raises StillBusy: Nova is busy with the server.
        :raises CloudUnreachable: Nova does not answer.
        :raises TrustDead: Climate cannot act for the owner.
        """
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


def _last_awaiting(lease):
    """Return the id of the last open reservation made for a server to be booted, or None.

    Its end also does the work that is done once for the lease.
    """
    return next((each.id for each in reversed(lease.open_reservations)
                 if each.request.get('resource_id', '') is None), None)


def _forget_strays(cloud, lease):
    """Remove the marks of servers that were booted for the lease and never bound to it."""
    services = cloud.as_service()
    for found in services.servers.marked(lease.project_id, leased.LEASE_KEY, lease.id):
        if leased.RESERVATION_KEY not in found.metadata:
            leased.remove_marks(services, found)

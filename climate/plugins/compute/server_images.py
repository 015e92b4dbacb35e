# SPDX-License-Identifier: Apache-2.0
"""The images of servers on leased hosts, which are made before the servers are deleted.

Each call reads each server once and begins at most one change of it. If the image of one server
fails, the images of the others are made nevertheless.
"""
import collections
import dataclasses

from oslo_log import log

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.plugins import owner_images
from climate.plugins.compute import server_history

LOG = log.getLogger(__name__)

GROUP = 'physical:host'
SNAPSHOT = 'snapshot'
KEEP = 'keep'
# The statuses of a server from which Nova makes an image.
_IMAGED_IN = ('ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED')
# The tasks of a server while its user, or Climate, deletes it.
_DELETING = ('deleting', 'soft-deleting', 'force-deleting')
# {status: the change that brings a server to a status from which Nova makes an image}.
_PREPARED_BY = {'ERROR': 'stop', 'RESCUE': 'unrescue', 'VERIFY_RESIZE': 'migrate',
                'SHELVED': 'offload'}


def are_requested(conf, request):
    """Return True if a request asks for images of the servers on its hosts."""
    return _choice(conf, request, 'before_end') == SNAPSHOT


def of_end(conf, cloud, lease, reservation):
    """Return the ServerImages for the end of a lease, or NoImages.

    The key of the images has the time of the event `before_end_lease`, or of an earlier request to
    delete the lease. So the end of the lease finds the images that `before_end_lease` made. New
    images are made for a prolonged lease, and for a lease that is deleted after its end or an
    earlier deletion failed, because its servers kept running.
    """
    time = _image_time(lease, cloud.attempt)
    return _images(conf, cloud, lease, reservation, time.isoformat())


def of_change(conf, cloud, lease, reservation):
    """Return the ServerImages, or NoImages, for servers on hosts that a change reclaims."""
    return _images(conf, cloud, lease, reservation, f'change {cloud.attempt.since.isoformat()}')


def _image_time(lease, attempt):
    """Return the time in the key of the images for the end of a lease."""
    notice, end, deletion = (lease.event(kind) for kind in (
        event_kinds.BEFORE_END, event_kinds.END, event_kinds.DELETE))
    if deletion is not None:
        # A request to delete the lease closes the event of a failed end, too.
        end_failed = lease.state == lifecycle.ERROR and end is not None and end.begun_at
        if end_failed or deletion.at > deletion.created_at:
            return deletion.at
    return min((event.at for event in (notice, end, deletion)
                if event is not None and event.at <= attempt.now), default=attempt.since)


def _images(conf, cloud, lease, reservation, time):
    if not are_requested(conf, reservation.request):
        return NoImages(cloud, lease)
    return ServerImages(conf, cloud, lease, reservation, f'{reservation.id}:{time}')


@dataclasses.dataclass
class ImageProgress:
    """The servers of a reservation, by the progress of their images.

    :ivar safe: the Servers that have an image, or no data.
    :ivar images: {server id: its Image} of the safe servers with an image.
    :ivar pending: pairs (Server, why it has no image yet) before the time limit.
    :ivar late: pairs (Server, why it has no image yet) after the time limit.
    """

    safe: list = dataclasses.field(default_factory=list)
    images: dict = dataclasses.field(default_factory=dict)
    pending: list = dataclasses.field(default_factory=list)
    late: list = dataclasses.field(default_factory=list)


class NoImages:
    """The servers of a reservation without images: all of them may be deleted."""

    def __init__(self, cloud, lease):
        self._cloud = cloud
        self._lease = lease

    def release(self, servers):
        """Announce the deletion of the Servers in the history; return (the Servers, None).

        :raises StillBusy: the entries are not written yet.
        """
        self._announce_deletion(servers, {})
        return servers, None

    def _announce_deletion(self, servers, images):
        self._cloud.announce(server_history.DELETE, server_history.servers(
            [server for server in servers if server.task not in _DELETING],
            self._lease.project_id, images))


class ServerImages(NoImages):
    """The images of the servers of one reservation for one end or change."""

    def __init__(self, conf, cloud, lease, reservation, key):
        """Prepare the images; all of them have `key`."""
        super().__init__(cloud, lease)
        self._conf = conf
        self._reservation = reservation
        self._key = key

    def ensure(self, servers):
        """Make an image of each Server.

        :raises StillBusy: some images are not active yet.
        :raises CloudError: some images were not active in time; the error names the servers.
        """
        progress = self._advance(servers)
        if progress.pending:
            raise _not_yet(progress)
        self._cloud.announce(server_history.IMAGE, server_history.images(
            [(server, progress.images[server.id]) for server in progress.safe
             if server.id in progress.images], self._lease.project_id))
        if progress.late:
            reasons = server_history.reasons(progress.late)
            raise _error(errors.CloudError, reasons.within(
                'there is no image of ', ' It is tried again at the end.'))

    def release(self, servers):
        """Return (the Servers that may be deleted now, the error to raise afterwards or None).

        The deletion is announced in the history first. If the image of a server is not active in
        time, `on_image_failure` decides: the server is stopped and kept, or its owner is warned and
        it is released without an image.
        """
        progress = self._advance(servers, stop=self._keeps)
        self._announce_deletion(progress.safe, progress.images)
        if progress.pending:
            return progress.safe, _not_yet(progress)
        if not progress.late:
            return progress.safe, None
        if not self._keeps:
            return self._released_with_late(progress)
        self._cloud.announce(server_history.KEEP, {
            key: f'{words}, stopped and without an image' for key, words in server_history.servers(
                [server for server, _ in progress.late], self._lease.project_id).items()})
        reasons = server_history.reasons(progress.late)
        return progress.safe, _error(errors.CloudError, reasons.within(
            'there is no image of ', ' It is kept, stopped, and its host stays out of use. Make an '
            'image of it and delete it; then delete the lease.'))

    def _released_with_late(self, progress):
        """Return the result of `release` if late servers may be deleted without an image."""
        warned = self._reservation.binding.get('warnings', {})
        released, has_new = list(progress.safe), False
        for server, why in progress.late:
            key = f'{self._key}:{server.id}'
            if key in warned:
                released.append(server)
                self._drop(server)
                continue
            has_new = True
            warning = why.within(
                f'Server {server.name} ({server.id}) is deleted without an image: ', '.')
            self._cloud.warn(self._reservation, key, warning.owner, warning.operator)
        self._announce_deletion(released, progress.images)
        # Each warning is stored before the server is deleted, so that a crash does not lose it.
        return released, _not_yet(progress) if has_new else None

    def _advance(self, servers, stop=False):
        """Begin the next change that the image of each Server needs; return the ImageProgress.

        :param stop: whether servers that have no image in time are stopped.
        """
        progress, images = ImageProgress(), self._images_of(servers)
        for server in servers:
            own_images = [image for image in images if image.server_id == server.id]
            why = self._why_not_safe(server, own_images, stop)
            if why is None:
                progress.safe.append(server)
                finished = next((image for image in own_images
                                 if image.status in owner_images.FINISHED), None)
                if finished is not None:
                    progress.images[server.id] = finished
            else:
                (progress.late if self._is_late() else progress.pending).append((server, why))
        return progress

    def _images_of(self, servers):
        """Return the Images of these Servers with the key."""
        ids = collections.defaultdict(set)
        for server in servers:
            ids[server.project_id].add(server.id)
        return [image for project_id, server_ids in ids.items()
                for image in owner_images.made(self._cloud, project_id, self._key, server_ids)]

    def _why_not_safe(self, server, images, stop):
        """Begin the next change that an image of a Server needs; return why it is not safe yet.

        Return None if the server is safe, else a Text.

        :param images: the Images of the server with the key.
        """
        if server.status == 'SOFT_DELETED' or server.task in _DELETING:
            return None
        if any(image.status in owner_images.FINISHED for image in images):
            return None
        unfinished = next((image for image in images
                           if image.status in owner_images.UNFINISHED), None)
        if unfinished is not None:
            return texts.same(f'its image {unfinished.id} is still {unfinished.status}')
        if server.status == 'BUILD' and self._is_late():
            # A server that was never built has no data.
            return None
        try:
            return texts.same(self._begin(server, images, stop))
        except errors.TargetGone:
            # The server was deleted after the list of servers was read.
            return texts.same('it has just been deleted')
        except errors.CloudUnreachable:
            raise
        except errors.CloudError as error:
            LOG.warning('Lease %s, reservation %s: no image of server %s yet: %s', self._lease.id,
                        self._reservation.id, server.id, error.message)
            return texts.Text(error.owner_message.rstrip('.'), error.message.rstrip('.'))

    def _begin(self, server, failed, stop):
        """Begin an image of a Server, or a change that it needs first; return the present state."""
        service = self._cloud.as_service()
        for image in failed:
            service.images.delete(image.id)
        if server.task is not None or server.status == 'BUILD':
            return f'it is busy ({server.task or server.status})'
        if server.status == 'ACTIVE' and stop and self._is_late():
            service.servers.stop(server.id)
            return 'none became active in time'
        prepared_by = _PREPARED_BY.get(server.status)
        if prepared_by is not None:
            getattr(service.servers, prepared_by)(server.id)
            return f'its status is {server.status}'
        if server.status not in _IMAGED_IN:
            return f'Nova makes no image of it while its status is {server.status}'
        # On shared hosts, the owner cannot make images of servers of other projects.
        maker = (self._cloud.as_owner_or_service()
                 if server.project_id == self._lease.project_id else service)
        maker.servers.create_image(server.id, self._conf.nova.image_prefix + server.name,
                                   self._key)
        return 'its image has just been begun'

    def _drop(self, server):
        """Delete the unfinished images of a Server."""
        for image in self._images_of([server]):
            if image.status not in owner_images.FINISHED:
                self._cloud.as_service().images.delete(image.id)

    @property
    def _keeps(self):
        return _choice(self._conf, self._reservation.request, 'on_image_failure') == KEEP

    def _is_late(self):
        return self._cloud.attempt.exceeds(self._conf[GROUP].image_seconds)


def _choice(conf, request, name):
    """Return the value of a field of a request; its default is the option of that name."""
    value = request.get(name, 'default')
    return conf[GROUP][name] if value == 'default' else value


def _not_yet(progress):
    reasons = server_history.reasons([*progress.pending, *progress.late])
    return _error(errors.StillBusy, reasons.within('there is no image yet of '),
                  has_own_limit=True)


def _error(kind, text, **attributes):
    return kind(service='Nova', reason=text.operator, owner_reason=text.owner, **attributes)

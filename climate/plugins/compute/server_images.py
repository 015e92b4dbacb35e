# SPDX-License-Identifier: Apache-2.0
"""The images of the servers on leased hosts, without which these servers are not deleted.

As in ``servers/end.py``, each call reads each server once and begins at most one change of it.
A refusal for one server does not delay the images of the others.
"""
import collections
import dataclasses
import datetime

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
# The changes that bring a server to a status from which Nova makes an image, or off its host.
_PREPARED_BY = {'ERROR': 'stop', 'RESCUE': 'unrescue', 'VERIFY_RESIZE': 'migrate',
                'SHELVED': 'offload'}


def wanted(conf, reservation):
    """Return True if the reservation asks for images of the servers on its hosts."""
    return _choice(conf, reservation, 'before_end') == SNAPSHOT


def of_end(conf, cloud, lease, reservation):
    """Return the ServerImages that any end of a lease needs, or NoImages.

    Images belong to a moment: that of the event `before_end_lease`, or of an earlier order to
    delete the lease. So one image serves this event and the end after it. A prolonged lease has
    another moment, and gets new images. So does a lease that is deleted after its end, or an
    earlier deletion, was given up, because its servers kept running.
    """
    moment = _moment(lease, cloud.attempt)
    return _images(conf, cloud, lease, reservation, moment.isoformat())


def of_change(conf, cloud, lease, reservation):
    """Return the ServerImages, or NoImages, of servers on hosts that a change reclaims."""
    return _images(conf, cloud, lease, reservation, f'change {cloud.attempt.since.isoformat()}')


def _moment(lease, attempt):
    """Return the moment from which images count for the end of a lease."""
    notice, end, deletion = (lease.event(kind) for kind in (
        event_kinds.BEFORE_END, event_kinds.END, event_kinds.DELETE))
    if deletion is not None:
        # The order to delete the lease has closed the event of the end, even a failed one.
        end_given_up = lease.state == lifecycle.ERROR and end is not None and end.begun_at
        if end_given_up or deletion.at > deletion.created_at:
            return deletion.at
    return min((event.at for event in (notice, end, deletion)
                if event is not None and event.at <= attempt.now), default=attempt.since)


def _images(conf, cloud, lease, reservation, moment):
    if not wanted(conf, reservation):
        return NoImages(cloud, lease)
    return ServerImages(conf, cloud, lease, reservation, f'{reservation.id}:{moment}')


@dataclasses.dataclass
class ImageProgress:
    """The servers of a reservation, by the progress of their images.

    :ivar safe: the Servers that have an image, or no data.
    :ivar images: {server id: its Image} of the safe servers with an image.
    :ivar pending: pairs (Server, why it has no image yet).
    :ivar late: pairs (Server, why it has no image after the time limit).
    """

    safe: list = dataclasses.field(default_factory=list)
    images: dict = dataclasses.field(default_factory=dict)
    pending: list = dataclasses.field(default_factory=list)
    late: list = dataclasses.field(default_factory=list)


class NoImages:
    """The servers of a reservation that asks for no images: all of them may be deleted."""

    def __init__(self, cloud, lease):
        self._cloud = cloud
        self._lease = lease

    def release(self, servers):
        """Return (the Servers, None) once the history has the deletion.

        :raises StillBusy: the history does not have it yet.
        """
        self._announce_deletion(servers, {})
        return servers, None

    def _announce_deletion(self, servers, images):
        self._cloud.announce(server_history.DELETE, server_history.servers(
            [server for server in servers if server.task not in _DELETING],
            self._lease.project_id, images))


class ServerImages(NoImages):
    """The images of the servers of one reservation for one moment."""

    def __init__(self, conf, cloud, lease, reservation, key):
        """Prepare the images; `key` marks those of this reservation and this moment."""
        super().__init__(cloud, lease)
        self._conf = conf
        self._reservation = reservation
        self._key = key

    def ensure(self, servers):
        """Make an image of each Server.

        :raises StillBusy: some images are not active yet; to be called again in a moment.
        :raises CloudError: some have not become active in time; the error names the servers.
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
        """Return (the Servers that may be deleted now, the error to raise after that or None).

        The history first gets the deleted and the kept servers. A server without an image in time
        is stopped and kept, or released without one, as the request says. Before such a release
        the owner is warned.
        """
        progress = self._advance(servers, stop=self._keeps)
        self._announce_deletion(progress.safe, progress.images)
        if progress.pending:
            return progress.safe, _not_yet(progress)
        if not progress.late:
            return progress.safe, None
        if not self._keeps:
            return self._given_up(progress)
        self._cloud.announce(server_history.KEEP, {
            key: f'{words}, stopped and without an image' for key, words in server_history.servers(
                [server for server, _ in progress.late], self._lease.project_id).items()})
        reasons = server_history.reasons(progress.late)
        return progress.safe, _error(errors.CloudError, reasons.within(
            'there is no image of ', ' It is kept, stopped, and its host stays out of use. Make an '
            'image of it and delete it; then delete the lease.'))

    def _given_up(self, progress):
        """Return the result of `release` for servers that may be lost."""
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
        # The warning is stored before the server is deleted: a crash must not lose it.
        return released, _not_yet(progress) if has_new else None

    def _advance(self, servers, stop=False):
        """Take the next step to the image of each Server; return the ImageProgress.

        :param stop: stop servers that have no image in time.
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
        """Return the Images of these Servers for this moment."""
        ids = collections.defaultdict(set)
        for server in servers:
            ids[server.project_id].add(server.id)
        return [image for project_id, server_ids in ids.items()
                for image in owner_images.made(self._cloud, project_id, self._key, server_ids)]

    def _why_not_safe(self, server, images, stop):
        """Take the next step to an image of a Server; return why it has none yet, a Text, or None.

        :param images: its Images for this moment.
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
            # The list of servers was read earlier.
            return texts.same('it has just been deleted')
        except errors.CloudUnreachable:
            raise
        except errors.CloudError as error:
            LOG.warning('Lease %s, reservation %s: no image of server %s yet: %s', self._lease.id,
                        self._reservation.id, server.id, error.message)
            return texts.Text(error.owner_message.rstrip('.'), error.message.rstrip('.'))

    def _begin(self, server, failed, stop):
        """Begin an image of a Server, or a step before it; return what is under way."""
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
        # The owner cannot make images of servers of other projects on shared hosts.
        maker = (self._cloud.as_owner_or_service()
                 if server.project_id == self._lease.project_id else service)
        maker.servers.create_image(server.id, self._conf.nova.image_prefix + server.name,
                                   self._key)
        return 'its image has just been begun'

    def _drop(self, server):
        """Delete the unfinished images of a Server that is deleted."""
        for image in self._images_of([server]):
            if image.status not in owner_images.FINISHED:
                self._cloud.as_service().images.delete(image.id)

    @property
    def _keeps(self):
        return _choice(self._conf, self._reservation, 'on_image_failure') == KEEP

    def _is_late(self):
        attempt, most = self._cloud.attempt, self._conf[GROUP].image_seconds
        return bool(most) and attempt.now >= attempt.since + datetime.timedelta(seconds=most)


def _choice(conf, reservation, name):
    """Return the value of a request's field; the option of that name is its default."""
    value = reservation.request.get(name, 'default')
    return conf[GROUP][name] if value == 'default' else value


def _not_yet(progress):
    reasons = server_history.reasons([*progress.pending, *progress.late])
    return _error(errors.StillBusy, reasons.within('there is no image yet of '),
                  has_own_limit=True)


def _error(kind, text, **more):
    return kind(service='Nova', reason=text.operator, owner_reason=text.owner, **more)

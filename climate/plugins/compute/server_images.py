# SPDX-License-Identifier: Apache-2.0
"""The images of the servers on leased hosts: none of these servers is deleted without its image.

As in ``servers/end.py``, each call looks once at each server and begins one change of it at most.
A refusal that concerns one server never keeps the others from their images.
"""
import collections
import dataclasses
import datetime

from oslo_log import log

from climate import errors
from climate.domain import event_kinds
from climate.domain import lifecycle
from climate.domain import texts
from climate.plugins.compute import owned_images
from climate.plugins.compute import told

LOG = log.getLogger(__name__)

GROUP = 'physical:host'
SNAPSHOT = 'snapshot'
KEEP = 'keep'
# The statuses in Glance of an image that has all data. An administrator deactivates images.
_FINISHED = ('active', 'deactivated')
# The statuses of an image that may still become active.
_UNFINISHED = ('queued', 'saving', 'uploading', 'importing')
# The statuses of a server from which Nova makes an image.
_IMAGED_IN = ('ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED')
# What a server is called while its user, or Climate, deletes it.
_DELETING = ('deleting', 'soft-deleting', 'force-deleting')
# The changes that bring a server to a status from which Nova makes an image, or off its host.
_PREPARED_BY = {'ERROR': 'stop', 'RESCUE': 'unrescue', 'VERIFY_RESIZE': 'migrate',
                'SHELVED': 'offload'}


def wanted(conf, reservation):
    """Return True if the reservation asks for images of the servers on its hosts."""
    return _choice(conf, reservation, 'before_end') == SNAPSHOT


def before_end(conf, cloud, lease, reservation):
    """Return the Images that the end of a lease needs, whichever way it ends, or NoImages.

    They belong to a moment: that of the event `before_end_lease`, so that one image serves this
    event and the end after it, or that of an order before it. A prolonged lease has another moment,
    and gets new images. So does a lease that is deleted after its end, or an earlier deletion, was
    given up, because its servers lived on.
    """
    moment = _moment(lease, cloud.attempt)
    return _images(conf, cloud, lease, reservation, moment.isoformat())


def of_change(conf, cloud, lease, reservation):
    """Return the Images, or NoImages, of servers on hosts that the present change takes back."""
    return _images(conf, cloud, lease, reservation, f'change {cloud.attempt.since.isoformat()}')


def _moment(lease, attempt):
    """Return the moment from which images count for the end of a lease."""
    notice, end, deletion = (lease.event(kind) for kind in (
        event_kinds.BEFORE_END, event_kinds.END, event_kinds.DELETE))
    if deletion is not None:
        # The order of the deletion has closed the event of the end, even if that was given up.
        end_given_up = lease.state == lifecycle.ERROR and end is not None and end.begun_at
        if end_given_up or deletion.at > deletion.created_at:
            return deletion.at
    return min((event.at for event in (notice, end, deletion)
                if event is not None and event.at <= attempt.now), default=attempt.since)


def _images(conf, cloud, lease, reservation, moment):
    if not wanted(conf, reservation):
        return NoImages(cloud, lease)
    return Images(conf, cloud, lease, reservation, f'{reservation.id}:{moment}')


@dataclasses.dataclass
class Progress:
    """The servers of a reservation, by how far their images are.

    :ivar safe: the Servers that have an image, or nothing that could be lost.
    :ivar images: {server id: its Image}, of the safe ones that have one.
    :ivar pending: pairs (Server, why it has no image yet).
    :ivar late: pairs (Server, why it has no image although its time is over).
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
        """Return (the Servers, None) once the history says that they are deleted.

        :raises StillBusy: the history does not say it yet.
        """
        self._tell_deleted(servers, {})
        return servers, None

    def _tell_deleted(self, servers, images):
        self._cloud.announce(told.DELETE, told.servers(
            [each for each in servers if each.task not in _DELETING], self._lease.project_id,
            images))


class Images(NoImages):
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
        self._cloud.announce(told.IMAGE, told.images(
            [(each, progress.images[each.id]) for each in progress.safe
             if each.id in progress.images], self._lease.project_id))
        if progress.late:
            raise _error(errors.CloudError, told.reasons(progress.late).within(
                'there is no image of ', ' It is tried again at the end.'))

    def release(self, servers):
        """Return (the Servers that may be deleted now, the error to raise after that or None).

        The history says before what is deleted and what is kept. A server without an image in
        time is stopped and kept, or released without one, as the lease asks for. Before such a
        release the lease says so.
        """
        progress = self._advance(servers, stop=self._keeps)
        self._tell_deleted(progress.safe, progress.images)
        if progress.pending:
            return progress.safe, _not_yet(progress)
        if not progress.late:
            return progress.safe, None
        if not self._keeps:
            return self._given_up(progress)
        self._cloud.announce(told.KEEP, {
            key: f'{words}, stopped and without an image' for key, words in told.servers(
                [server for server, _ in progress.late], self._lease.project_id).items()})
        return progress.safe, _error(errors.CloudError, told.reasons(progress.late).within(
            'there is no image of ', ' It is kept, stopped, and its host stays out of use. Make an '
            'image of it and delete it; then delete the lease.'))

    def _given_up(self, progress):
        """Return what `release` returns for servers that may be lost."""
        noted = self._reservation.binding.get('warnings', {})
        release, fresh = list(progress.safe), False
        for server, why in progress.late:
            key = f'{self._key}:{server.id}'
            if key in noted:
                release.append(server)
                self._drop(server)
                continue
            fresh = True
            warning = why.within(
                f'Server {server.name} ({server.id}) is deleted without an image: ', '.')
            self._cloud.warn(self._reservation, key, warning.owner, warning.operator)
        self._tell_deleted(release, progress.images)
        # The note is written before the server is deleted: a crash must not lose it.
        return release, _not_yet(progress) if fresh else None

    def _advance(self, servers, stop=False):
        """Bring each Server nearer to its image, and return the Progress.

        :param stop: stop servers that have no image in time.
        """
        progress, found = Progress(), self._made(servers)
        for server in servers:
            mine = [each for each in found if each.server_id == server.id]
            why = self._why_not_safe(server, mine, stop)
            if why is None:
                progress.safe.append(server)
                made = next((each for each in mine if each.status in _FINISHED), None)
                if made is not None:
                    progress.images[server.id] = made
            else:
                (progress.late if self._is_late() else progress.pending).append((server, why))
        return progress

    def _made(self, servers):
        """Return the Images of these Servers for this moment."""
        ids = collections.defaultdict(set)
        for server in servers:
            ids[server.project_id].add(server.id)
        return [image for project_id, some in ids.items()
                for image in owned_images.made(self._cloud, project_id, self._key, some)]

    def _why_not_safe(self, server, images, stop):
        """Bring a Server nearer to its image; return why it has none yet, a Text, or None.

        :param images: its Images for this moment.
        """
        if server.status == 'SOFT_DELETED' or server.task in _DELETING:
            return None
        if any(each.status in _FINISHED for each in images):
            return None
        unfinished = next((each for each in images if each.status in _UNFINISHED), None)
        if unfinished is not None:
            return texts.same(f'its image {unfinished.id} is still {unfinished.status}')
        if server.status == 'BUILD' and self._is_late():
            # A server that was never built has no data.
            return None
        try:
            return texts.same(self._begin(server, images, stop))
        except errors.TargetGone:
            # The list of servers was read before.
            return texts.same('it has just been deleted')
        except errors.CloudUnreachable:
            raise
        except errors.CloudError as error:
            LOG.warning('Lease %s, reservation %s: no image of server %s yet: %s', self._lease.id,
                        self._reservation.id, server.id, error.message)
            return texts.Text(error.owner_message.rstrip('.'), error.message.rstrip('.'))

    def _begin(self, server, failed, stop):
        """Begin an image of a Server, or what comes before it; return what is under way."""
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
        # Of a server of another project, which the hosts are shared with, the owner makes none.
        maker = (self._cloud.as_owner_or_service()
                 if server.project_id == self._lease.project_id else service)
        maker.servers.create_image(server.id, self._conf.nova.image_prefix + server.name,
                                   self._key)
        return 'its image has just been begun'

    def _drop(self, server):
        """Delete the unfinished images of a Server that is deleted."""
        for image in self._made([server]):
            if image.status not in _FINISHED:
                self._cloud.as_service().images.delete(image.id)

    @property
    def _keeps(self):
        return _choice(self._conf, self._reservation, 'on_image_failure') == KEEP

    def _is_late(self):
        attempt, most = self._cloud.attempt, self._conf[GROUP].image_seconds
        return bool(most) and attempt.now >= attempt.since + datetime.timedelta(seconds=most)


def _choice(conf, reservation, name):
    """Return what a reservation asks for in a field; the option of that name is its default."""
    asked = reservation.request.get(name, 'default')
    return conf[GROUP][name] if asked == 'default' else asked


def _not_yet(progress):
    return _error(errors.StillBusy, told.reasons([*progress.pending, *progress.late]).within(
        'there is no image yet of '), has_own_limit=True)


def _error(kind, text, **more):
    return kind(service='Nova', reason=text.operator, owner_reason=text.owner, **more)

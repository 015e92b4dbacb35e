# SPDX-License-Identifier: Apache-2.0
"""The witness of images: no server whose lease asks for one is deleted without a fresh one."""
import collections
import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import tables
from climate.domain import event_kinds
from climate.domain import lifecycle

_ACTIVE = 'active'
# The status of a server that was never built, so that it has no data.
_UNBUILT = 'BUILD'
_ORDERS = (event_kinds.END, event_kinds.DELETE, event_kinds.UPDATE)
_CHANGING = (event_kinds.UPDATE, event_kinds.HEAL, event_kinds.DELETE)


@dataclasses.dataclass(frozen=True)
class Deletion:
    """A server that Climate deleted.

    :ivar at: when it did.
    :ivar images: the ids of the active images that the server had then.
    :ivar status: that of the server then.
    """

    at: datetime.datetime
    images: frozenset
    status: str


class Witness:
    """Sees each call of the cloud: when images are begun, and when servers are deleted.

    :ivar begun: {image id: when it was begun}.
    :ivar deletions: {server id: Deletion}.
    """

    def __init__(self, cloud, clock):
        self.cloud, self._clock = cloud, clock
        self.begun, self.deletions = {}, {}
        self._known = {}

    def reach(self, name, when):
        """Pass a fault point of the cloud."""
        if (name, when) == ('nova.create_image', 'after'):
            for each in self.cloud.images():
                self.begun.setdefault(each['id'], self._clock())
        elif name == 'nova.delete_server':
            there = self.there()
            # After the call a server that goes slowly still has the status in which it was deleted.
            self._known.update({each.id: each.status for each in self.cloud.servers()
                                if each.id in there or each.id in self._known})
            if when == 'after':
                self._note_gone(self._known.keys() - there)

    def there(self):
        """Return the ids of the servers that are there and not being deleted."""
        return {each.id for each in self.cloud.servers() if each.task != 'deleting'}

    def _note_gone(self, ids):
        active = collections.defaultdict(set)
        for image in self.cloud.images():
            if image['status'] == _ACTIVE:
                active[image['server_id']].add(image['id'])
        for each in ids:
            self.deletions.setdefault(each, Deletion(
                self._clock(), frozenset(active[each]), self._known[each]))


class Judge:
    """Judges each server that is gone from leased hosts, once.

    :param witness: the Witness of the cloud.
    :param patience: how long Climate waits for images before it may delete a server without one.
    :param tally: a Counter of what happened.
    """

    def __init__(self, witness, database, patience, tally):
        self._witness, self._database = witness, database
        self._patience, self._tally = patience, tally
        self._before = None
        self._judged = set()
        self._quiet = {}

    def look(self, recorded, now, booted_for, excused=frozenset(), strict=True):
        """Check the servers that went since the last look.

        Servers that are leased themselves end as that lease says.

        :param booted_for: {server id: the id of the reservation it was booted for}.
        :param excused: ids of the servers that their users have deleted.
        :param strict: False where a manager came too late: any image will do.
        """
        there = self._witness.there()
        leased = {each.request.get('resource_id') for each in recorded.reservations.values()}
        for server_id, reservation_id in booted_for.items():
            if server_id in there | self._judged:
                continue
            self._judged.add(server_id)
            if server_id not in excused | leased:
                self._judge(server_id, recorded, recorded.reservations[reservation_id], strict)
        self._note_quiet(recorded, now)
        self._before = recorded

    def _judge(self, server_id, recorded, reservation, strict):
        if (reservation.resource_type != 'physical:host'
                or reservation.request.get('before_end') != 'snapshot'):
            return
        what = f'Server {server_id} of {reservation}'
        deletion = self._witness.deletions.get(server_id)
        assert deletion is not None, f'{what} went, and nobody deleted it.'
        armed = self._armed_at(recorded, reservation.lease_id, deletion.at) if strict else None
        begun = [self._witness.begun[each] for each in deletion.images]
        if any(armed is None or moment >= armed for moment in begun):
            self._tally['servers imaged'] += 1
            return
        if deletion.status == _UNBUILT:
            self._refuse_early(what, deletion, armed)
            self._tally['servers never built'] += 1
            return
        assert reservation.request.get('on_image_failure') == 'delete', (
            f'{what} was deleted at {deletion.at} without an image since {armed}; its images are '
            f'of {begun}.')
        assert self._is_told(reservation.lease_id, server_id), (
            f'{what} was deleted without an image, and the history does not say so.')
        self._refuse_early(what, deletion, armed)
        self._tally['servers lost as asked for'] += 1

    def _refuse_early(self, what, deletion, armed):
        assert armed is None or deletion.at >= armed + self._patience, (
            f'{what} was deleted without an image at {deletion.at}, too early after {armed}.')

    def _armed_at(self, recorded, lease_id, at):
        """Return since when the images are begun that count at the moment of a deletion; or None.

        That is the moment of `before_end_lease`, or that of the order that led to the deletion.
        Orders that were carried out before the lease ran undisturbed led to nothing.
        """
        quiet = self._quiet.get(lease_id)
        events = [event for found in (self._before, recorded) if found is not None
                  for event in found.events.get(lease_id, ())]
        moments = [event.at for event in events if event.at <= at and (
            event.kind == event_kinds.BEFORE_END
            or (event.kind in _ORDERS and (quiet is None or event.at >= quiet)))]
        return min(moments, default=quiet)

    def _note_quiet(self, recorded, now):
        """Note the leases that run undisturbed, with their images yet to come."""
        for lease in recorded.leases.values():
            if lease.state != lifecycle.ACTIVE or lease.task is not None or lease.end <= now:
                continue
            due = {event.kind: event.at for event in recorded.open_events(lease.id)}
            if (not due.keys() & set(_CHANGING)
                    and due.get(event_kinds.BEFORE_END, now) > now):
                self._quiet[lease.id] = now

    def _is_told(self, lease_id, server_id):
        history = tables.HISTORY.c
        with self._database.reader() as connection:
            return connection.execute(sa.select(sa.func.count()).where(
                history.lease_id == lease_id,
                history.why.like(f'%({server_id}) is deleted without an image%'))).scalar() > 0

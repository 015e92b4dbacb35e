# SPDX-License-Identifier: Apache-2.0
"""Random events in a wait queue, from its beginning until it is empty."""
import collections
import random
import uuid

import sqlalchemy as sa

from climate import errors
from climate.db import tables
from climate.domain import acquire
from climate.domain import lifecycle
from climate.domain import records
from support import builders
from support import queue_world

_HOSTS, _MOST_HOSTS = 12, 15
_SIZES = (1, 1, 1, 2, 2, 3, 5, 8)
_LONG = builders.hours(900)
_STEPS = 400
# The probability that another manager acts before a transaction.
_MEDDLING = 0.02


class Trial:
    """One trial, whose luck is all in its seed.

    :param waiting: how many leases wait in the queue at first.
    :param managers: 1 or 2.
    :ivar acts: {what: how often it was done}.
    """

    def __init__(self, conf, database, seed, waiting, managers):
        self._luck = random.Random(seed)
        cleaning = self._luck.choice((0, 0, 0, 5))
        share = self._luck.choice((0.5, 0.5, 0.2, 1))
        conf.set_override('cleaning_minutes', cleaning, group='manager')
        conf.set_override('hold_back_share', share, group='acquire')
        conf.set_override('hosts', _HOSTS, group='simulated')
        self.queue = queue_world.Queue(conf, database, builders.minutes(cleaning))
        self.acts = collections.Counter()
        self._managers = managers
        self._client, self._clock = self.queue.first.client, self.queue.clock
        self._ids = []
        self._deleted = set()
        # The id of the first lease, and the number of releases since it is first.
        self._patience = None, 0
        self._meddles = False
        database.before = self._meddle
        self.queue.first.enrol(_HOSTS)
        for _ in range(_HOSTS):
            self._create(builders.hosts(), end=builders.NOON + _LONG)
        self.queue.settle()
        for _ in range(waiting):
            self._clock.advance(builders.seconds(self._luck.choice((0, 1))))
            self._enqueue()

    def run(self):
        """Act until no lease waits, and check the result of each lease."""
        self.queue.settle()
        snapshot = self.queue.check_at_rest()
        for _ in range(_STEPS):
            if not snapshot.queue:
                break
            snapshot = self._step(snapshot)
        assert not snapshot.queue, 'Somebody waits for ever.'
        self._judge_ends()

    def _step(self, before):
        first = before.queue[0]
        act = self._luck.choice((
            self._end_some, self._end_some, self._end_some, self._shrink, self._shrink,
            self._enrol, self._delete_one, self._enqueue, self._take_now,
            self._let_time_pass))
        self.acts[act.__name__.strip('_')] += 1
        released = bool(act())
        if self._managers > 1:
            self.queue.second.claim()
            self._meddles = True
        self.queue.settle()
        self._meddles = False
        snapshot = self.queue.check_at_rest()
        self._judge_patience(first, snapshot, released)
        return snapshot

    def _meddle(self):
        """Sometimes, and never while something of this kind is done, another one is faster."""
        if not self._meddles or self._luck.random() > _MEDDLING:
            return
        self._meddles = False
        self.acts['meddled'] += 1
        self._luck.choice((self.queue.second.claim, self.queue.second.finish, self.queue.first.run,
                           self._end_some, self._delete_one, self._enqueue))()
        self._meddles = True

    def _judge_patience(self, first, snapshot, released):
        """The first lease is served after as many releases as it needs hosts, at the latest.

        A release counts if others have left over nothing of what is not held back for it.
        """
        if not snapshot.queue or snapshot.queue[0].id != first.id or self.queue.cleaning:
            self._patience = None, 0
            return
        lease_id, count = self._patience
        left_over = snapshot.free_for(first, self._clock(), self.queue.cleaning) - snapshot.has(
            snapshot.queue[0])
        count = count + (released and not left_over) if lease_id == first.id else 0
        self._patience = first.id, count
        # Each such release gives it one host at least, and it keeps what it has.
        assert snapshot.has(snapshot.queue[0]) >= min(count, first.request['min'])
        assert count < first.request['min'], f'{first} is starving.'

    def _judge_ends(self):
        self.queue.first.run_until(self._clock() + 2 * _LONG)
        with self.queue.database.reader() as connection:
            told = {(row.lease_id, row.what)
                    for row in connection.execute(sa.select(tables.HISTORY))}
        for lease_id in self._ids:
            lease = self._client.get_lease(builders.a_member(), lease_id)
            got = (lease_id, lifecycle.ACQUIRED) in told
            self.acts['acquired' if got else lease.state] += 1
            if lease_id in self._deleted or got:
                assert lease.state == lifecycle.TERMINATED, lease
                assert (lease.deleted_at is not None) == (lease_id in self._deleted)
            elif lease.state == lifecycle.ERROR:
                assert lease.acquisition.type == acquire.RETRIES, lease
                assert lease.acquisition.attempts == lease.acquisition.retries + 1
            else:
                assert lease.state == lifecycle.TIMEDOUT, lease
                assert lease.ended_at >= lease.given_up_at, lease
        assert not queue_world.look(self.queue.database).queue
        assert {each.held_by for each in self._client.list_resources(
            builders.an_admin(), 'host')} == {None}

    def _enqueue(self):
        luck = self._luck
        asked = {'type': 'wait', 'priority': luck.choice((0, 0, 0, 0, 5, 10))}
        if luck.random() < 0.4:
            asked['not_after'] = self._clock() + builders.hours(luck.choice((1, 3, 30)))
        if luck.random() < 0.4:
            asked = {'type': 'retries', 'retries': luck.choice((6, 30)),
                     'retry_pause_seconds': luck.choice((30, 600))}
        if asked.get('priority'):
            # It may come before the first, and take what is held back for that.
            self._patience = None, 0
        span = {'duration_seconds': _LONG.total_seconds()}
        if luck.random() < 0.2:
            span = {'end': self._clock() + luck.choice((builders.hours(1), _LONG))}
        self._create(builders.hosts(luck.choice(_SIZES)),
                     acquire=records.AcquireRequest(**asked), **span)

    def _take_now(self):
        """Somebody who does not wait takes what is free, and not held back."""
        try:
            self._create(builders.hosts(), end=self._clock() + _LONG)
        except errors.NotEnough:
            self.acts['refused'] += 1

    def _create(self, *reservations, **options):
        lease_id = str(uuid.UUID(int=self._luck.getrandbits(128), version=4))
        self._client.create_lease(builders.a_member(), lease_id,
                                  builders.a_lease(*reservations, **options))
        if 'acquire' in options:
            self._ids.append(lease_id)

    def _end_some(self):
        """Release resources of random leases; return whether there were any."""
        running = self._leases('active')
        some = self._luck.sample(running, min(len(running), self._luck.choice((1, 1, 2, 4, 8))))
        for lease in some:
            self._change(lease.id, end_now=True)
        return bool(some)

    def _shrink(self):
        large = [each for each in self._leases('active')
                 if len(each.reservations[0].resource_ids) > 1]
        if large:
            lease = self._luck.choice(large)
            count = self._luck.randrange(1, len(lease.reservations[0].resource_ids))
            self._change(lease.id, reservations=(records.ReservationRequest(
                None, {'min': count, 'max': count}, id=lease.reservations[0].id),))
        return bool(large)

    def _change(self, lease_id, **changes):
        self._clock.advance(builders.seconds(1))
        self._client.update_lease(builders.a_member(), lease_id,
                                  records.LeaseChanges(**changes))

    def _delete_one(self):
        waiting = [each.id for each in self._leases('in_progress')
                   if each.id not in self._deleted]
        if waiting:
            self._deleted.add(lease_id := self._luck.choice(waiting))
            self._client.delete_lease(builders.a_member(), lease_id)

    def _enrol(self):
        count = len(self._client.list_resources(builders.an_admin(), 'host'))
        if count < _MOST_HOSTS:
            self.queue.first.cloud.add_host(f'new-{count}')
            self._client.create_resource(builders.an_admin(), 'host', f'new-{count}', {})
        return count < _MOST_HOSTS

    def _let_time_pass(self):
        self.queue.first.run_until(self._clock() + builders.seconds(
            self._luck.choice((1, 30, 61, 600, 3600))))

    def _leases(self, status):
        return self._client.list_leases(builders.a_member(), records.LeaseQuery(status=status))

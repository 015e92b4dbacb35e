# SPDX-License-Identifier: Apache-2.0
"""The steps of users who wait in the queue or have hosts cleared, and of those in their way."""
import collections
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_requests as requests
import model_servers as servers
import model_world
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

_OTHERS = 'other'
_MOST = 6
_ACTIVE, _STOPPED = 'ACTIVE', 'SHUTOFF'
_MINUTES = st.sampled_from([1, 5, 20, 60])
#: The numbers of hosts that are not enrolled by administrators.
_PLACES = st.integers(model_world.POOLED + 1, model_world.HOSTS)


def _wait(limit, priority):
    return {'type': 'wait', 'not_after': limit, 'priority': priority}


def _retries(count, pause):
    return {'type': 'retries', 'retries': count, 'retry_pause_seconds': pause}


def _best_effort(minutes, strategy):
    return {'type': 'best-effort', 'timeout_seconds': 60 * minutes, 'strategy': strategy}


_QUEUED = st.one_of(
    st.builds(_wait, _MINUTES, st.sampled_from([0, 0, 0, 7])),
    st.builds(_retries, st.integers(1, 4), st.sampled_from([5, 30, 60])))
_BEST_EFFORT = st.builds(_best_effort, _MINUTES, st.sampled_from(
    [None, 'least-memory', 'stopped-first', 'cheapest']))
_WANTED = st.one_of(requests.HOSTS, requests.HOSTS, requests.ROOM, requests.FLAVORS)


class Clearing(servers.Servers):
    """The steps of leases that wait, and of best effort, which moves servers of others."""

    @base.rule(side=base.SIDE, asked=_WANTED, terms=_QUEUED, long=requests.LONG,
               fixed=st.booleans())
    def wait_for_a_lease(self, side, asked, terms, long, fixed):
        self.seek(side, asked, terms, long, fixed)

    @base.rule(side=base.SIDE, asked=requests.HOSTS, terms=_BEST_EFFORT, long=requests.LONG)
    def have_hosts_cleared(self, side, asked, terms, long):
        self.seek(side, asked, terms, long)

    def seek(self, side, asked, terms, long, fixed=False):
        """Ask for a lease that starts when it gets its resources."""
        terms = dict(terms)
        if 'not_after' in terms:
            terms['not_after'] = self.now + builders.minutes(terms['not_after'])
        span = ({'end': self.now + builders.minutes(long)} if fixed
                else {'duration_seconds': 60 * long})
        self.entrust(side, str(uuid.uuid4()), builders.a_lease(
            asked, acquire=records.AcquireRequest(**terms), **span))

    @stateful.precondition(lambda self: self._waiting())
    @base.rule(side=base.SIDE, which=base.WHICH)
    def one_that_waits_is_deleted(self, side, which):
        self.delete_one(side, self.pick(self._waiting(), which).id)

    def _waiting(self):
        return [each for each in self.live() if each.state == lifecycle.ACQUIRING]

    @stateful.precondition(lambda self: len(self.strangers) < _MOST)
    @base.rule(flavor=requests.FLAVOR, number=_PLACES)
    def somebody_else_boots_a_server(self, flavor, number):
        self.boot_for_others(flavor, f'compute-{number}')

    @stateful.precondition(lambda self: self.mood != base.CALM and self._idle_hosts())
    @base.rule(which=base.WHICH)
    def an_administrator_forces_a_server_onto_a_free_host(self, which):
        self.tally['strays'] += 1
        self.boot_for_others('1', self.pick(self._idle_hosts(), which), forced=True)

    def _idle_hosts(self):
        """The names of enrolled hosts that no lease has, neither here nor in the cloud."""
        inside = collections.defaultdict(list)
        for each in self.world.cloud.aggregates():
            for host in each.hosts:
                inside[host].append(each.name)
        return sorted(each.name for each in self.recorded.resources.values()
                      if each.withdrawn_at is None and each.held_by is None
                      and inside[each.name] == ['freepool'])

    def boot_for_others(self, flavor, host, forced=False):
        try:
            made = self.world.cloud.boot(_OTHERS, 'vm', host=host, flavor=flavor, forced=forced)
        except errors.Conflict:
            return
        self.strangers.add(made.id)

    @stateful.precondition(lambda self: self.strangers)
    @base.rule(which=base.WHICH, deletes=st.integers(0, 3))
    def somebody_else_stops_starts_or_deletes_a_server(self, which, deletes):
        there = {each.id: each for each in self.world.cloud.servers()}
        server = there[self.pick(sorted(self.strangers), which)]
        if not deletes:
            self.forget_server(server.id)
        elif server.task is None and server.status in (_ACTIVE, _STOPPED):
            self.world.cloud.mark_server(
                server.id, _STOPPED if server.status == _ACTIVE else _ACTIVE)

    @base.rule(number=_PLACES)
    def an_administrator_disables_a_service(self, number):
        self.disable(f'compute-{number}')

    def disable(self, host):
        self.world.cloud.mark_host(host, enabled=False, reason='under repair')
        self.disabled[host] = 'under repair'
        self.services_touched = True

    @stateful.precondition(lambda self: self.disabled)
    @base.rule(which=base.WHICH)
    def an_administrator_enables_a_service(self, which):
        host = self.pick(sorted(self.disabled), which)
        del self.disabled[host]
        self.enabled_by_hand.add(host)
        self.world.cloud.mark_host(host, enabled=True)

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(number=_PLACES)
    def every_move_to_a_host_fails(self, number):
        self.world.cloud.spoil_moves(f'compute-{number}')

    @stateful.precondition(lambda self: self.mood != base.CALM)
    @base.rule(times=st.integers(1, 3))
    def placement_is_left_behind(self, times):
        self.world.cloud.lose_traits(times)

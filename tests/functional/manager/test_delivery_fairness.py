# SPDX-License-Identifier: Apache-2.0
"""A project whose receivers answer too late does not let the others wait.

A tarpit answers once the good receiver has its notification, or gives up at a deadline. So a test
sees whether the good one had to wait for a tarpit.
"""
from concurrent import futures
import dataclasses
import ipaddress
import threading

import acts
import pytest
from support import builders
from support import loopback
from support import receivers
from support import waiting
from support.delivery_rounds import subscribe

from climate.db import deliveries
from climate.domain import notifications
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.notifiers import webhook

TAR = builders.a_member('eve', 'tar')
# Ten of each user, which is as many as one may have.
TARPITS = 100
# If the good receiver has nothing by then, it waits for the tarpits.
HOLD_SECONDS = 30


class Receivers:
    """Tarpits of one project, and the receiver of another one.

    :ivar arrived: set when the good receiver has got its notification.
    :ivar called: set when a tarpit has been called.
    :ivar seconds: the monotonic clock of the manager.
    """

    def __init__(self, manager, tarpit, good):
        self.manager, self.tarpit, self.good = manager, tarpit, good
        self.arrived, self.called, self.seconds = threading.Event(), threading.Event(), 0
        self._in_time = []
        tarpit.before = self._hold
        good.before = self.arrived.set
        for number in range(TARPITS):
            subscribe(manager, tarpit.url, events=('start',), scope='project',
                      caller=builders.a_member(f'eve-{number // 10}', 'tar'))
        subscribe(manager, good.url, events=('start',))

    def _hold(self):
        self.called.set()
        self._in_time.append(self.arrived.wait(HOLD_SECONDS))

    def good_waited_for_none(self):
        """Return whether the good receiver was notified before any tarpit answered."""
        return len(self.good.requests) == 1 and bool(self._in_time) and all(self._in_time)

    def deliverer(self):
        """A Deliverer whose pass lasts as long as a test says."""
        core = dataclasses.replace(self.manager.core, monotonic=lambda: self.seconds)
        return delivery.Deliverer(core, 'this manager', 'webhook',
                                  webhook.Webhook(self.manager.core.conf, loopback.resolve))

    def happens(self, caller=None):
        """Send a notification to all subscriptions of a project."""
        self.manager.create(builders.a_lease(acts.dummy()), caller)
        self.manager.run()
        fan_out.fan_out(self.manager.core, self.manager.clock())


@pytest.fixture
def told_both(manager, conf, tmp_path):
    context, authority = receivers.certificate(tmp_path, receivers.NAME)
    with receivers.hooks(context) as tarpit, receivers.hooks(context) as good:
        conf.set_override('ca_file', authority, group='webhook')
        conf.set_override('allowed_networks', [ipaddress.ip_network('127.0.0.1/32')],
                          group='webhook')
        conf.set_override('timeout_seconds', 2 * HOLD_SECONDS, group='webhook')
        found = Receivers(manager, tarpit, good)
        yield found
        found.arrived.set()


@pytest.mark.proof
def test_deliveries_of_a_project_do_not_wait_for_tarpits_of_another(told_both):
    told_both.happens(TAR)
    told_both.manager.clock.advance(builders.seconds(1))
    told_both.happens()
    told_both.deliverer().deliver(told_both.manager.clock())
    assert told_both.good_waited_for_none()


@pytest.mark.proof
def test_a_new_delivery_finds_a_free_worker_beside_tarpits(told_both):
    told_both.happens(TAR)

    def later():
        assert told_both.called.wait(waiting.SECONDS)
        told_both.happens()
    with futures.ThreadPoolExecutor(1) as pool:
        happened = pool.submit(later)
        told_both.deliverer().deliver(told_both.manager.clock())
    happened.result()
    assert told_both.good_waited_for_none()


@pytest.mark.proof
def test_a_pass_with_tarpits_continues_for_other_receivers(told_both):
    told_both.happens(TAR)
    passes = []

    def may_go_on(now):
        passes.append(now)
        if len(passes) == 1:
            # The first part of the pass is over, and tarpits are being called.
            told_both.happens()
        return True
    hold = told_both.tarpit.before

    def hold_beyond_the_pass():
        told_both.seconds = 11
        hold()
    told_both.tarpit.before = hold_beyond_the_pass
    told_both.deliverer().deliver(told_both.manager.clock(), may_go_on)
    assert passes
    assert told_both.good_waited_for_none()


def test_a_project_has_as_many_in_flight_as_workers_are_free(told_both):
    told_both.happens(TAR)
    told_both.happens()
    now = told_both.manager.clock()
    with told_both.manager.database.reader() as connection:
        waiting = deliveries.due(connection, 'webhook', now, 8)
    # The good one is among the first two, as each project has one in the first round.
    assert {each.project_id for each in waiting[:2]} == {'tar', 'demo'}

    def sent(workers, *in_flight):
        chosen = notifications.fair_share(
            notifications.sendable(waiting, now), in_flight, workers)
        projects = {each.id: each.project_id for each in waiting}
        return sorted(projects[each] for each in chosen)
    tar, demo = ('tar', 'another'), ('demo', 'another')
    assert sent(8) == ['demo', *['tar'] * 4]
    assert sent(8, *[tar] * 4) == ['demo']
    assert sent(8, *[tar] * 4, demo) == ['demo']
    assert sent(3, tar, demo) == []
    assert len(sent(1)) == 1


def test_one_receiver_has_an_eighth_of_the_workers():
    waiting = [notifications.Waiting(number, 'receiver', 'demo', f'lease {number}', builders.NOON)
               for number in range(9)]
    for workers, in_flight, count in ((32, 0, 4), (32, 3, 1), (32, 4, 0), (8, 0, 1), (4, 0, 1)):
        chosen = notifications.fair_share(waiting, [('demo', 'receiver')] * in_flight, workers)
        assert chosen == list(range(count))


def test_the_first_notification_of_each_lease_may_be_sent():
    def sendable(*leases, has_failed=False, late=()):
        return [each.id for each in notifications.sendable([
            notifications.Waiting(number, 'receiver', 'demo', lease, builders.NOON + (
                builders.hours(number in late)), has_failed)
            for number, lease in enumerate(leases)], builders.NOON)]
    assert sendable('a', 'b', 'a', 'c') == [0, 1, 3]
    # The first one of lease a is on its way: the next one of a waits.
    assert sendable('a', 'b', 'a', 'c', late=[0]) == [1, 3]
    assert sendable('a', None, 'b') == [0]
    assert sendable(None, 'a') == [0]
    assert sendable('a', 'b', has_failed=True) == [0]
    assert sendable('a', 'b', has_failed=True, late=[0]) == []

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
    manager = told_both.manager
    with manager.database.reader() as connection:
        def due(free, in_flight):
            found = deliveries.due(connection, 'webhook', manager.clock(), free, in_flight)
            return [ahead for _, ahead in found], len(notifications.fair_share(found, free))
        # The good one is among the first two, as each project has one in the first round.
        assert due(8, {}) == ([0, 0, 1, 2, 3, 4, 5, 6], 5)
        assert due(4, {'tar': 4}) == ([0, 4, 5, 6], 1)
        assert due(3, {'tar': 4, 'demo': 1}) == ([1, 4, 5], 1)
        assert due(1, {'tar': 1, 'demo': 1}) == ([1], 0)
        assert due(1, {}) == ([0], 1)

# SPDX-License-Identifier: Apache-2.0
"""A project whose receivers answer too late does not let the others wait.

The figures are seconds of the real clock: a tarpit answers after [webhook] timeout_seconds.
"""
import dataclasses
import ipaddress
import threading
import time

import acts
import pytest
from support import builders
from support import delivery_rounds
from support import receivers
from support.delivery_rounds import subscribe

from climate.db import deliveries
from climate.domain import fair_share
from climate.manager.notifications import delivery
from climate.manager.notifications import fan_out
from climate.notifiers import webhook

TAR = builders.a_member('eve', 'tar')
TIMEOUT = 2
TARPITS = 100


class Receivers:
    """Tarpits of one project, and the receiver of another one.

    :ivar arrived: when the good receiver got each notification.
    """

    def __init__(self, manager, tarpit, good):
        self.manager, self.good, self.arrived = manager, good, []
        self.over = threading.Event()
        tarpit.before = lambda: self.over.wait(TIMEOUT * 3)
        good.before = lambda: self.arrived.append(time.monotonic())
        for _ in range(TARPITS):
            subscribe(manager, tarpit.url, events=('start',), scope='project', caller=TAR)
        subscribe(manager, good.url, events=('start',))

    def deliverer(self, pass_seconds):
        """A Deliverer of which a pass takes new work for so long."""
        quicker = 10 / pass_seconds
        core = dataclasses.replace(self.manager.core,
                                   monotonic=lambda: time.monotonic() * quicker)
        return delivery.Deliverer(core, 'this manager', 'webhook',
                                  webhook.Webhook(self.manager.core.conf, delivery_rounds.resolve))

    def happens(self, caller=None):
        """Something is told to all subscriptions of a project."""
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
        conf.set_override('timeout_seconds', TIMEOUT, group='webhook')
        found = Receivers(manager, tarpit, good)
        yield found
        found.over.set()


def test_what_waits_behind_a_hundred_tarpits_of_another_project_is_sent_at_once(told_both):
    told_both.happens(TAR)
    told_both.manager.clock.advance(builders.seconds(1))
    told_both.happens()
    begun = time.monotonic()
    told_both.deliverer(pass_seconds=1).deliver(told_both.manager.clock())
    [arrived] = told_both.arrived
    print(f'\nbehind {TARPITS} tarpits: {arrived - begun:.2f} s')
    assert arrived - begun < TIMEOUT * 0.9


def test_what_happens_while_tarpits_hold_workers_finds_a_free_one(told_both):
    told_both.happens(TAR)
    deliverer, happened = told_both.deliverer(pass_seconds=TIMEOUT), []

    def later():
        time.sleep(TIMEOUT / 4)
        told_both.happens()
        happened.append(time.monotonic())
    thread = threading.Thread(target=later)
    thread.start()
    deliverer.deliver(told_both.manager.clock())
    thread.join()
    [arrived] = told_both.arrived
    print(f'\nwhile tarpits are called: {arrived - happened[0]:.2f} s')
    assert arrived - happened[0] < TIMEOUT / 2


def test_the_end_of_a_pass_does_not_wait_for_tarpits_before_others_are_told(told_both):
    told_both.happens(TAR)
    deliverer, happened, looked = told_both.deliverer(pass_seconds=TIMEOUT / 4), [], []

    def may_go_on(now):
        looked.append(now)
        if len(looked) == 1:
            # The first part of the pass is over, and tarpits are being called.
            told_both.happens()
            happened.append(time.monotonic())
        return len(looked) < 4
    deliverer.deliver(told_both.manager.clock(), may_go_on)
    [arrived] = told_both.arrived
    print(f'\nafter the first part of a pass: {arrived - happened[0]:.2f} s')
    assert arrived - happened[0] < TIMEOUT / 2
    assert len(looked) == 4


def test_a_project_has_as_many_in_flight_as_workers_are_free(told_both):
    told_both.happens(TAR)
    told_both.happens()
    manager = told_both.manager
    with manager.database.reader() as connection:
        def due(free, in_flight):
            found = deliveries.due(connection, 'webhook', manager.clock(), free, in_flight)
            return [ahead for _, ahead in found], len(fair_share.chosen(found, free))
        # The good one is among the first two, as each project has one in the first round.
        assert due(8, {}) == ([0, 0, 1, 2, 3, 4, 5, 6], 5)
        assert due(4, {'tar': 4}) == ([0, 4, 5, 6], 1)
        assert due(3, {'tar': 4, 'demo': 1}) == ([1, 4, 5], 1)
        assert due(1, {'tar': 1, 'demo': 1}) == ([1], 0)
        assert due(1, {}) == ([0], 1)

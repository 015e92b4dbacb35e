# SPDX-License-Identifier: Apache-2.0
"""Notifications wait in the outbox while the bus is down, and go out when it is back."""
import dataclasses

import acts
import oslo_messaging as messaging
from oslo_messaging import transport
import pytest
import sqlalchemy as sa
from support import builders
from support import delivery_rounds

from climate.db import tables
from climate.manager.notifications import fan_out
from climate.manager.notifications import outbox

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


class Bus:
    """A driver of oslo.messaging: it takes messages only while it is up.

    :ivar sent: the event types of what it took, in order.
    :ivar tries: how often it was asked.
    :ivar left: the number of messages that it takes before it goes down; None for any number.
    """

    def __init__(self, conf):
        self.conf = conf
        self.up = True
        self.left = None
        self.sent = []
        self.tries = 0

    def send_notification(self, target, ctxt, message, version, retry=None):
        self.tries += 1
        if not self.up or self.left == 0:
            raise messaging.MessageDeliveryFailure('no bus')
        if self.left is not None:
            self.left -= 1
        self.sent.append(message['event_type'])


@pytest.fixture
def bus(bus_options):
    return Bus(bus_options)


class Sending:
    """A Sender of one manager, with a clock of its own."""

    def __init__(self, manager, bus, owner='this manager'):
        self.seconds = 0
        self._clock, self._core = manager.clock, manager.core
        parts = dataclasses.replace(manager.core, monotonic=lambda: self.seconds)
        self._sender = outbox.Sender(parts, owner, transport.NotificationTransport(bus))

    def flush(self):
        fan_out.fan_out(self._core, self._clock())
        return self._sender.flush(self._clock())


def test_notifications_wait_for_the_bus_and_are_sent_in_order(manager, bus):
    manager.enrol(1)
    manager.active(end=NOON + hours(9))
    waiting = acts.news(manager)
    assert len(waiting) == 2
    sending = Sending(manager, bus)
    bus.up = False
    assert sending.flush() == 0
    assert acts.news(manager) == waiting
    bus.up = True
    sending.seconds = 1
    assert sending.flush() == 2
    assert bus.sent == waiting
    assert acts.news(manager) == []


def test_a_bus_that_is_down_for_long_is_tried_after_growing_pauses(manager, bus):
    manager.active(acts.dummy(), end=NOON + hours(9))
    sending = Sending(manager, bus)
    bus.up = False
    for second in range(600):
        sending.seconds = second
        sending.flush()
    # After 1, 2, 4, 8, 16, 32 and then every 60 seconds.
    assert bus.tries == 15
    bus.up = True
    sending.seconds = 700
    assert sending.flush() == 2


def test_a_sent_notification_is_not_repeated_after_an_outage_of_the_bus(manager, bus):
    for _ in range(4):
        manager.book(acts.dummy(), start=NOON + minutes(9))
    sending = Sending(manager, bus)
    bus.left = 3
    assert sending.flush() == 3
    assert len(acts.news(manager)) == 1
    bus.left = None
    sending.seconds = 1
    assert sending.flush() == 1
    assert len(bus.sent) == 4


def test_another_manager_sends_the_notifications_that_one_could_not(manager, bus):
    manager.active(acts.dummy(), end=NOON + hours(9))
    bus.up = False
    Sending(manager, bus, 'cut off').flush()
    bus.up = True
    assert Sending(manager, bus, 'well').flush() == 2


def test_notifications_claimed_by_a_dead_manager_are_sent_a_minute_later(manager, bus):
    class Death(BaseException):
        """The process dies."""

    class Deadly(Bus):
        def send_notification(self, *args, **kwargs):
            raise Death

    manager.active(acts.dummy(), end=NOON + hours(9))
    with pytest.raises(Death):
        Sending(manager, Deadly(bus.conf), 'dead').flush()
    sending = Sending(manager, bus)
    assert sending.flush() == 0
    manager.clock.advance(minutes(1))
    assert sending.flush() == 2


def test_a_notification_that_cannot_be_copied_is_only_sent_to_the_bus(manager, bus, caplog):
    delivery_rounds.subscribe(manager, 'https://hooks.example/')
    manager.active(acts.dummy(), end=NOON + hours(9))
    with manager.database.writer() as connection:
        first = connection.execute(sa.select(sa.func.min(tables.OUTBOX.c.id))).scalar_one()
        row = connection.execute(
            sa.select(tables.OUTBOX.c.payload).where(tables.OUTBOX.c.id == first)).scalar_one()
        connection.execute(sa.update(tables.OUTBOX).where(tables.OUTBOX.c.id == first).values(
            payload={**row, 'reservations': [7]}))
    fan_out.fan_out(manager.core, manager.clock())
    assert (f'Notification {first} of the outbox: failed unexpectedly; it is only sent to the bus, '
            'and no subscription gets it') in caplog.text
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(tables.OUTBOX.c.fanned_out)).scalars().all() == [
            True, True]
        assert connection.execute(sa.select(tables.DELIVERIES.c.kind)).scalars().all() == ['start']

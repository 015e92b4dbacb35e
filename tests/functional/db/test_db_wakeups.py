# SPDX-License-Identifier: Apache-2.0
"""Commits wake the threads that process their rows; what is rolled back wakes nobody."""
import threading

import pytest
from support import builders
from support import waiting

from climate.db import engine
from climate.db import journal
from climate.db import wakeups


def publish(connection):
    journal.publish(connection, builders.NOON, 'project.limit', [{'project_id': 'demo'}])


def test_a_commit_wakes_the_threads_of_its_topic_alone(database):
    outbox, deliveries = (database.wakeups.event(topic)
                          for topic in (wakeups.OUTBOX, wakeups.DELIVERIES))
    with database.writer() as connection:
        publish(connection)
        assert not outbox.is_set()
    assert outbox.is_set() and not deliveries.is_set()


def test_a_transaction_that_is_rolled_back_wakes_nobody_later(database):
    outbox = database.wakeups.event(wakeups.OUTBOX)
    with pytest.raises(ZeroDivisionError), database.writer() as connection:
        publish(connection)
        raise ZeroDivisionError
    with database.writer():
        """Write nothing."""
    assert not outbox.is_set()


def test_a_commit_of_another_process_wakes_threads_over_postgresql(database):
    if database.dialect != 'postgresql':
        pytest.skip('Only PostgreSQL has NOTIFY.')
    url = database.engine.url.render_as_string(hide_password=False)
    # No thread waits for the commits of the first one.
    sender, other = engine.Database(url), engine.Database(url)
    outbox = other.wakeups.event(wakeups.OUTBOX)
    listener = threading.Thread(target=other.listen)
    listener.start()
    # A listener begins with a wake-up, for rows that were written earlier.
    assert outbox.wait(waiting.SECONDS)
    outbox.clear()
    with sender.writer() as connection:
        publish(connection)
    assert outbox.wait(waiting.SECONDS)
    for opened in (sender, other):
        opened.dispose()
    listener.join(waiting.SECONDS)
    assert not listener.is_alive()

# SPDX-License-Identifier: Apache-2.0
"""Commits wake the tasks about notifications: once for many commits, and polling is the net."""
import threading

from oslo_messaging import conffixture
import pytest
from support import waiting

from climate.db import wakeups
from climate.manager import service


class Runs:
    """A task that counts its runs; the first run ends when the test says.

    :ivar count: the number of runs.
    :ivar begun: set when the first run has begun.
    :ivar may_end: set by the test.
    """

    def __init__(self):
        self.count = 0
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self, now):
        self.count += 1
        self.begun.set()
        assert self.may_end.wait(waiting.SECONDS)


@pytest.fixture
def stopped_manager(conf, database):
    """A Manager whose tasks a test runs."""
    conf.set_override('connection', database.engine.url.render_as_string(hide_password=False),
                      group='database')
    conf.register_opts([], group='oslo_messaging_notifications')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        made = service.Manager(conf, serve_rpc=False)
        yield made
        made.stop()


def test_a_hundred_commits_during_a_run_wake_the_task_once(stopped_manager):
    runs, topic = Runs(), wakeups.OUTBOX
    database = stopped_manager.core.database
    thread = threading.Thread(target=stopped_manager._repeat_when_woken,
                              args=('copy', runs, 3600, topic))
    thread.start()
    assert runs.begun.wait(waiting.SECONDS)
    for _ in range(100):
        database.wakeups.committed({topic})
    runs.may_end.set()
    waiting.until(lambda: runs.count == 2)
    stopped_manager.stop()
    thread.join(waiting.SECONDS)
    assert not thread.is_alive()
    assert runs.count == 2


def test_a_task_whose_wake_up_was_lost_runs_after_its_pause(stopped_manager):
    runs = Runs()
    runs.may_end.set()
    thread = threading.Thread(target=stopped_manager._repeat_when_woken,
                              args=('copy', runs, 0.01, wakeups.OUTBOX))
    thread.start()
    waiting.until(lambda: runs.count >= 3)
    stopped_manager.stop()
    thread.join(waiting.SECONDS)
    assert not thread.is_alive()


def test_each_task_with_a_topic_exists(stopped_manager):
    periodic = stopped_manager.periodic
    assert set(periodic.wakeups()) <= set(periodic.tasks())
    assert set(periodic.wakeups().values()) == set(wakeups.TOPICS)

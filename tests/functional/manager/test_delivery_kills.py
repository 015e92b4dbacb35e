# SPDX-License-Identifier: Apache-2.0
"""Managers are killed with kill -9 while they deliver, or deliver together: nothing is lost."""
import collections
import shutil
import threading

import acts
import pytest
from support import builders
from support import delivery_round_process
from support import delivery_rounds
from support import programs

from climate.db import engine
from climate.domain import notifications

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
_KILLED = -9
_TOGETHER = 4
_CONF = """\
[DEFAULT]
transport_url = fake:/
[cloud]
driver = simulated
[database]
connection = sqlite:///{folder}/climate.sqlite
[webhook]
ca_file = {authority}
allowed_networks = 127.0.0.1/32
workers = 2
"""


def deliveries_of(database):
    """Return {(subscription id, source): state} of all deliveries."""
    with database.reader() as connection:
        return {(row.subscription_id, row.source): row.state for row in connection.exec_driver_sql(
            'SELECT subscription_id, source, state FROM deliveries')}


def a_day(conf, folder, migrated, url):
    """Make a database in which a lease started and ended, and nobody was notified yet."""
    folder.mkdir()
    shutil.copy(migrated, folder / 'climate.sqlite')
    database = engine.Database(f'sqlite:///{folder}/climate.sqlite')
    manager = builders.Manager(conf, database, builders.Clock())
    delivery_rounds.subscribe(manager, url, ('start', 'end'), before_end=(3600,))
    delivery_rounds.subscribe(manager, url, ('start',), scope='project')
    manager.book(acts.dummy(), end=NOON + hours(2))
    manager.run_until(NOON + hours(2))
    database.dispose()


class Managers:
    """Starts processes of managers; the processes are forked from one that has imported all."""

    def __init__(self, authority):
        self._authority = authority

    def start(self, folder, now, owner, crash_at=0):
        path = folder / 'climate.conf'
        path.write_text(_CONF.format(folder=folder, authority=self._authority))
        process = programs.FORKS.Process(target=delivery_round_process.run,
                                         args=(str(path), now, owner, crash_at))
        process.start()
        return process


@pytest.mark.proof
def test_a_manager_killed_between_any_two_steps_loses_no_notification(
        conf, tmp_path, migrated, hooks, record_property):
    a_day(conf, tmp_path / 'ready', migrated, hooks.url)
    managers = Managers(conf.webhook.ca_file)
    ended, number = [_KILLED], 0
    while _KILLED in ended:
        points = range(number + 1, number + 1 + _TOGETHER)
        number += _TOGETHER
        hooks.requests.clear()
        folders = [shutil.copytree(tmp_path / 'ready', tmp_path / str(each)) for each in points]
        ended = []
        # The one that dies, and one that comes when its claims have expired.
        for owner, moment, crash in (('dies', NOON + hours(2), True),
                                     ('next', NOON + hours(2) + minutes(6), False)):
            running = [managers.start(folder, moment, owner, point if crash else 0)
                       for folder, point in zip(folders, points, strict=True)]
            for each in running:
                each.join(60)
            ended += [each.exitcode for each in running]
        assert set(ended) <= {0, _KILLED}
        for point, folder in zip(points, folders, strict=True):
            database = engine.Database(f'sqlite:///{folder}/climate.sqlite')
            found = deliveries_of(database)
            database.dispose()
            assert len(found) == 3, (point, found)
            assert set(found.values()) == {notifications.DELIVERED}, (point, found)
        # All copies are owed the same ids. What a manager died of sending was sent twice, no more.
        received = collections.Counter(each['id'] for each in hooks.bodies)
        assert len(received) == 3
        assert all(_TOGETHER <= count <= 2 * _TOGETHER for count in received.values()), received
        for folder in folders:
            shutil.rmtree(folder)
    record_property('fault points', number)
    print(f'a manager was killed at about {number - _TOGETHER} fault points')
    assert number > 20


@pytest.mark.proof
def test_two_running_managers_deliver_each_notification_once(manager, conf, hooks):
    for scope in ('own', 'project', 'own'):
        delivery_rounds.subscribe(manager, hooks.url, ('start', 'end', 'change'), before_end=(60,),
                                  scope=scope)
    for _ in range(6):
        manager.book(acts.dummy(), end=NOON + hours(2))
    manager.run_until(NOON + hours(2))
    others = [builders.Manager(conf, engine.Database(manager.database.engine.url), manager.clock,
                               manager.cloud) for _ in range(2)]
    meeting = threading.Barrier(len(others))

    def work(other, owner):
        meeting.wait()
        # What another has claimed is not due for this one, and comes in one of the next rounds.
        for _ in range(40):
            delivery_rounds.deliver(other, owner)

    threads = [threading.Thread(target=work, args=(other, f'manager {number}'))
               for number, other in enumerate(others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in others:
        other.database.dispose()
    delivery_rounds.deliver(manager, 'the last')
    assert set(deliveries_of(manager.database).values()) == {notifications.DELIVERED}
    received = collections.Counter(each['id'] for each in hooks.bodies)
    assert set(received.values()) == {1}
    # Each lease: created, started, ended. A reminder of its end would come after the end.
    assert len(received) == 3 * 6 * 3

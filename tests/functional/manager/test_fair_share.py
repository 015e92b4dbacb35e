# SPDX-License-Identifier: Apache-2.0
"""Fair share in the wait queue: projects that have used less come first."""
import collections
import concurrent.futures
import datetime
import random

import acts
import pytest
from support import builders
from support import db_rows

from climate.db import fair_shares as stored
from climate.db import timeline_rows
from climate.db import wait_queue
from climate.domain import fair_shares
from climate.domain import lifecycle
from climate.manager.queue import fair_share
from climate.manager.usage import days

NOON, hours = builders.NOON, builders.hours
HALF_LIFE = 7
DAY = datetime.timedelta(days=1)
HEAVY, LIGHT = builders.a_member('h', 'heavy'), builders.a_member('l', 'light')


@pytest.fixture
def fair(conf, manager):
    """A manager that serves projects with less use first."""
    conf.set_override('fair_share_half_life_days', HALF_LIFE, group='acquire')
    return manager


def renew(manager):
    fair_share.FairShares(manager.core).renew(manager.clock())


def full(manager):
    """Lease three of four hosts to heavy, one to light; an hour later, store the shares."""
    manager.enrol(4)
    leases = [manager.create(builders.a_lease(end=NOON + hours(20)), caller)
              for caller in (HEAVY, HEAVY, HEAVY, LIGHT)]
    manager.run()
    manager.clock.advance(hours(1))
    renew(manager)
    return leases


def waiting(manager, caller, count=1, **fields):
    """A lease that waits for hosts, a second after the one before it."""
    manager.clock.advance(builders.seconds(1))
    return acts.sought(manager, 'wait', builders.hosts(count), caller=caller, **fields)


def order(manager):
    """The ids of the queue, as the timeline reads them."""
    with manager.database.reader() as connection:
        ids = [row.id for row in timeline_rows.waiting(connection, ['physical:host'], 100)]
        assert ids[0] == wait_queue.first(connection)
    return ids


def ids_of(*leases):
    return [lease.id for lease in leases]


def write_shares(manager, values):
    with manager.database.writer() as connection:
        wait_queue.lock(connection)
        stored.replace(connection, values, manager.clock())


def shares(manager):
    with manager.database.reader() as connection:
        return stored.every(connection)


def test_a_release_goes_to_the_project_with_less_use_and_not_to_the_older_request(fair):
    [ended, *_] = full(fair)
    old, new = waiting(fair, HEAVY), waiting(fair, LIGHT)
    fair.run()
    assert order(fair) == ids_of(new, old)
    acts.end(fair, ended)
    assert [fair.lease(lease).state for lease in (old, new)] == [
        lifecycle.ACQUIRING, lifecycle.ACTIVE]


def test_priority_comes_before_the_share_and_age_after_it(fair):
    full(fair)
    first, second = waiting(fair, HEAVY), waiting(fair, HEAVY)
    light = waiting(fair, LIGHT)
    urgent = waiting(fair, HEAVY, priority=1)
    assert order(fair) == ids_of(urgent, light, first, second)


def test_a_new_request_does_not_take_a_free_host_before_a_project_with_less_use(fair):
    [ended, *_] = full(fair)
    light = waiting(fair, LIGHT)
    fair.run()
    # The release wakes the waiting lease, and it is not tried yet.
    fair.change(ended, end_now=True)
    heavy = waiting(fair, HEAVY)
    assert fair.lease(heavy).state == lifecycle.ACQUIRING
    fair.run()
    assert [fair.lease(lease).state for lease in (heavy, light)] == [
        lifecycle.ACQUIRING, lifecycle.ACTIVE]


def test_new_shares_reorder_the_queue_and_wake_its_first_lease(fair):
    full(fair)
    heavy, light = waiting(fair, HEAVY), waiting(fair, LIGHT)
    fair.run()
    assert order(fair) == ids_of(light, heavy)
    write_shares(fair, {'heavy': 1, 'light': 2})
    assert order(fair) == ids_of(heavy, light)
    renew(fair)
    assert order(fair) == ids_of(light, heavy)
    acquisition = fair.lease(light).acquisition
    assert acquisition.wakes > acquisition.heard
    before = acquisition.wakes
    renew(fair)
    assert fair.lease(light).acquisition.wakes == before


def test_a_lease_explains_its_place_in_the_queue(fair):
    full(fair)
    heavy, light = waiting(fair, HEAVY), waiting(fair, LIGHT)
    fair.run()
    assert fair.lease(heavy).owner_reason.endswith(
        'It is number 2 in the queue: its project has had 75 % of the recent use, and 1 lease of a '
        'project with less use comes first.')
    assert fair.lease(light).owner_reason.endswith(
        'It is number 1 in the queue: its project has had 25 % of the recent use, and no lease of '
        'a project with less use comes first.')


def test_the_sentence_about_the_place_is_not_stored(fair):
    full(fair)
    heavy = waiting(fair, HEAVY)
    fair.run()
    assert 'recent use' in fair.lease(heavy).reason
    assert 'recent use' not in db_rows.lease_of(fair.database, heavy).reason


@pytest.mark.proof
@pytest.mark.parametrize('seed', range(3))
def test_shares_are_those_of_a_direct_computation(fair, seed):
    fair.enrol(8)
    draw = random.Random(seed)
    history = []
    for day in range(12):
        fair.run_until(NOON + day * DAY)
        for project in draw.sample(['a', 'b', 'c'], 2):
            start = NOON + day * DAY + hours(draw.randrange(0, 10))
            end, count = start + hours(draw.randrange(1, 30)), draw.randrange(1, 3)
            fair.create(builders.a_lease(builders.hosts(count), start=start, end=end),
                        builders.a_member(project, project))
            history.append((project, start, end, count))
    fair.run_until(NOON + 11 * DAY + hours(7))
    task = fair_share.FairShares(fair.core)
    for _ in range(2):
        task.renew(fair.clock())
        assert shares(fair) == computed(history, fair.clock())
        days.close(fair.database, fair.clock(), most=None)
        fair.run_until(fair.clock() + hours(9))
        task.renew(fair.clock())
        assert shares(fair) == computed(history, fair.clock())


def computed(history, now):
    """The shares of projects, added up hour by hour from the times of their leases."""
    uses = collections.Counter()
    for project, start, end, count in history:
        while start < min(end, now):
            midnight = start.replace(hour=0) + DAY
            uses[project] += count * 0.5 ** (max(now - midnight, datetime.timedelta()) / DAY
                                             / HALF_LIFE)
            start += hours(1)
    return {project: round(fair_shares.WHOLE * use / uses.total())
            for project, use in uses.items()}


def test_several_managers_may_compute_the_shares_at_the_same_time(fair):
    full(fair)
    heavy, light = waiting(fair, HEAVY), waiting(fair, LIGHT)
    write_shares(fair, {'heavy': 1, 'light': 2, 'gone': 3})
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: renew(fair), range(3)))
    assert order(fair) == ids_of(light, heavy)
    assert shares(fair) == {'heavy': 7500, 'light': 2500}


def test_shares_are_forgotten_when_fair_share_is_switched_off(conf, fair):
    full(fair)
    heavy, light = waiting(fair, HEAVY), waiting(fair, LIGHT)
    fair_share.forget(fair.core)
    assert order(fair) == ids_of(light, heavy)
    conf.set_override('fair_share_half_life_days', 0, group='acquire')
    fair_share.forget(fair.core)
    assert order(fair) == ids_of(heavy, light)
    assert shares(fair) == {}


def test_without_the_option_no_statement_is_about_shares_and_age_decides(manager):
    manager.enrol(4)
    with builders.statements() as made:
        manager.create(builders.a_lease(builders.hosts(4), end=NOON + hours(20)), HEAVY)
        manager.run()
        heavy, light = waiting(manager, HEAVY), waiting(manager, LIGHT)
        manager.run()
        assert 'queue:' in manager.lease(heavy).reason
        assert 'recent use' not in manager.lease(heavy).reason
    assert not [statement for statement in made if 'project_shares' in statement]
    assert order(manager) == ids_of(heavy, light)

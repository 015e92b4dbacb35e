# SPDX-License-Identifier: Apache-2.0
"""Idle hours, from the samples of use to the lines of statements."""
import decimal

import pytest
from support import billing_cases as cases
from support import billing_truths
from support import builders

from climate.db import use_samples
from climate.domain import use_sampling
from climate.manager.idle import sampler

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def manager(conf, manager):
    conf.set_override('sample_minutes', 10, group='idle')
    manager.enrol(2)
    cases.book(manager, idle={'percent': '50'}, rates=[{'rate': '1'}], lease_fee='0',
               short_notice={'hours': '1', 'percent': '0'})
    return manager


def live_until(manager, moment):
    """Advance the clock, with a sample every ten minutes, as in the daemon."""
    while manager.clock() < moment:
        manager.run()
        sampler.Sampler(manager.core, 'this manager').step(manager.clock())
        manager.clock.advance(minutes(10))
    manager.run()


def idle(manager, **query):
    """[(month, hours, amount)] of the lines of idle hours."""
    return [(each.month, str(decimal.Decimal(each.line.hours).normalize()), each.line.amount)
            for each in cases.lines(manager, **query) if each.line.kind == 'idle']


def running(manager, count, start, end):
    lease = manager.book(builders.hosts(count), start=start, end=end)
    live_until(manager, start + minutes(10))
    return manager.lease(lease)


def test_hours_in_which_nothing_ran_have_a_line_with_the_surcharge(manager):
    lease = running(manager, 2, NOON + minutes(10), NOON + hours(3))
    manager.cloud.boot('demo', 'one', {'reservation': lease.reservations[0].id})
    live_until(manager, NOON + hours(3))
    cases.bill(manager)
    # A server runs on one host from 12:20 on.
    total = decimal.Decimal('2.833333') + decimal.Decimal('0.166667')
    assert idle(manager) == [('2030-05', str(total.normalize()), '1.50')]
    billing_truths.statements_are_right(manager.database)


def test_idle_hours_belong_to_their_month_and_stay_when_the_samples_are_gone(manager):
    manager.clock.now = cases.day(5, 31, 22)
    running(manager, 1, cases.day(5, 31, 22) + minutes(10), cases.day(6, 1, 2))
    live_until(manager, cases.day(6, 1, 1))
    cases.bill(manager)
    live_until(manager, cases.day(6, 1, 2))
    cases.bill(manager)
    found = [('2030-05', '1.833333', '0.92'), ('2030-06', '2', '1.00')]
    assert idle(manager) == found
    with manager.database.writer() as connection:
        use_samples.delete(connection, cases.day(6, 30))
    manager.clock.advance(hours(24))
    assert cases.bill(manager) == 0
    assert idle(manager) == found


@pytest.mark.parametrize('end', [cases.day(5, 10), cases.day(6, 20)])
def test_idle_hours_are_billed_though_the_samples_are_older_than_keep_days(manager, conf, end):
    conf.set_override('keep_days', 1, group='idle')
    lease = running(manager, 1, NOON + minutes(10), end)
    key = lease.reservations[0].id, lease.reservations[0].resource_ids[0]

    def sampled_hours():
        sampler.Sampler(manager.core, 'this manager').step(manager.clock())
        with manager.database.reader() as connection:
            return [hour for *_, hour, sample in use_samples.by_hour(
                connection, [key[0]], NOON, end) if sample.seconds == 3600]
    measured = [cases.day(5, 2), cases.day(5, 3), cases.day(5, 9, 23)]
    with manager.database.writer() as connection:
        for hour in measured:
            use_samples.add(connection, hour, {key: use_sampling.Sample(3600, 3600, 0.0)})
    manager.run_until(cases.day(5, 31))
    assert sampled_hours() == measured
    manager.run_until(cases.day(6, 1, 1))
    assert sampled_hours() == measured
    cases.bill(manager)
    [(month, charged, _)] = idle(manager)
    # The first slot of the lease was idle, too.
    assert (month, charged) in (('2030-05', '3.166667'), ('2030-05', '3.333333'))
    manager.clock.advance(minutes(10))
    assert sampled_hours() == []
    manager.run_until(cases.day(6, 21))
    cases.bill(manager)
    assert [each for each in idle(manager) if each[0] == '2030-05'] == [(month, charged, idle(
        manager)[0][2])]


def resize(manager, lease, count):
    [reservation] = lease.reservations
    manager.change_reservation(lease, min=count, max=count)
    manager.run()
    for number in range(count):
        manager.cloud.boot('demo', f'server {number}', {'reservation': reservation.id})


def test_the_idle_part_of_an_hour_is_charged_once_if_a_host_comes_back_in_it(manager):
    lease = running(manager, 2, NOON + minutes(10), NOON + hours(2))
    live_until(manager, NOON + minutes(30))
    # Twenty minutes of each host were idle when one of them is returned for ten minutes.
    resize(manager, lease, 1)
    live_until(manager, NOON + minutes(40))
    resize(manager, lease, 2)
    live_until(manager, NOON + hours(2))
    cases.bill(manager)
    assert idle(manager) == [('2030-05', '0.666667', '0.33')]
    billing_truths.statements_are_right(manager.database)


def test_an_idle_hour_of_copies_counts_for_each_copy(manager):
    lease = manager.book(builders.instances(3, affinity=True, memory_mb=64))
    live_until(manager, NOON + hours(1))
    assert manager.lease(lease).reservations[0].state == 'deleted'
    cases.bill(manager)
    assert idle(manager) == [('2030-05', '3', '1.50')]


def test_an_hour_without_a_sample_is_not_idle(manager):
    running(manager, 1, NOON + minutes(10), NOON + hours(2))
    with manager.database.writer() as connection:
        use_samples.delete(connection, NOON + hours(9))
    manager.run_until(NOON + hours(2))
    cases.bill(manager)
    assert idle(manager) == []


@pytest.mark.parametrize('pieces', [[(0, 60)], [(0, 20), (20, 60)], [(0, 20), (0, 20), (40, 60)]])
@pytest.mark.parametrize('seconds', [0, 600, 1200, 2400, 3600])
def test_the_pieces_of_an_hour_share_its_idle_seconds(pieces, seconds):
    spans = [(NOON + minutes(first), NOON + minutes(last)) for first, last in pieces]
    found = use_sampling.idle_spans(NOON, seconds, spans)
    had = sum((last - first) * 60 for first, last in set(pieces))
    assert sum(each.duration.total_seconds() for each in found) == min(seconds, had)
    assert all(NOON <= each.start < each.end <= NOON + hours(1) for each in found)

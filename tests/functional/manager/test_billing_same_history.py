# SPDX-License-Identifier: Apache-2.0
"""Equal histories of allocations cost the same, in whatever steps they came about."""
import collections
import decimal

import acts
import pytest
import sqlalchemy as sa
from support import billing_cases as cases
from support import billing_truths
from support import builders
from support import thinning

from climate import errors
from climate.db import tables
from climate.domain import records
from climate.manager.leases import target_watch

NOON, hours = builders.NOON, builders.hours
START = NOON + hours(72)
END = START + hours(5)
_BROKEN = errors.CloudError(service='Nova', reason='no')


@pytest.fixture
def enrolled(manager):
    cases.book(manager, lease_fee='0')
    manager.enrol(3)
    return manager


def asked(manager, count, start, end):
    return manager.book(builders.hosts(count), start=start, end=end)


def resized(manager, lease, count):
    [reservation] = manager.lease(lease).reservations
    manager.change(lease, reservations=acts.asked(reservation, min=count, max=count))


def placeholder_moved_to_now(manager):
    lease = asked(manager, 2, NOON + hours(720), NOON + hours(725))
    manager.run_until(START)
    return lambda **more: manager.change(lease, start=START, end=END, **more)


def placeholder_moved_closer_in_two_steps(manager):
    lease = asked(manager, 2, NOON + hours(720), NOON + hours(725))
    manager.change(lease, start=START + hours(9), end=END + hours(9))
    manager.run_until(START - hours(1))
    return lambda **more: manager.change(lease, start=START, end=END, **more)


def postponed_shortly_before_its_start(manager):
    lease = asked(manager, 2, START - hours(1), END - hours(1))
    manager.run_until(START - hours(2))
    return lambda **more: manager.change(lease, start=START, end=END, **more)


def grown_shortly_before_its_start(manager):
    lease = asked(manager, 1, START, END)
    manager.run_until(START - hours(1))
    changed = acts.asked(manager.lease(lease).reservations[0], min=2, max=2)
    return lambda **more: manager.change(lease, reservations=changed, **more)


def prolonged_shortly_before_its_start(manager):
    lease = asked(manager, 2, START, START + hours(1))
    manager.run_until(START - hours(1))
    return lambda **more: manager.change(lease, end=END, **more)


@pytest.mark.parametrize('way', [
    placeholder_moved_to_now, placeholder_moved_closer_in_two_steps,
    postponed_shortly_before_its_start, grown_shortly_before_its_start,
    prolonged_shortly_before_its_start], ids=lambda way: way.__name__)
def test_a_change_before_the_start_costs_what_a_new_lease_would_cost(enrolled, way):
    change = way(enrolled)
    planned = change(dry_run=True).price
    change()
    enrolled.run_until(END + hours(1))
    cases.bill(enrolled)
    found = {each.line.kind: each.line.amount for each in cases.lines(enrolled)}
    assert found == {'resource_hours': '5.00', 'short_notice': '1.00'}
    assert planned.amount == '6.00'
    billing_truths.statements_are_right(enrolled.database)


@pytest.mark.parametrize('change', [
    lambda manager, lease: resized(manager, lease, 2),
    lambda manager, lease: manager.change(lease, end=END),
    lambda manager, lease: manager.change(lease, start=START + hours(1)),
    lambda manager, lease: manager.change(lease, name='other'),
    lambda manager, lease: manager.run_until(START) or manager.change(lease, end=END)],
    ids=['fewer', 'shorter', 'later inside', 'renamed', 'shorter while it runs'])
def test_a_lease_that_asks_for_less_shortly_before_its_start_pays_no_short_notice(
        enrolled, change):
    lease = asked(enrolled, 3, START, END + hours(1))
    enrolled.run_until(START - hours(1))
    change(enrolled, lease)
    enrolled.run_until(END + hours(2))
    cases.bill(enrolled)
    assert 'resource_hours' in {each.line.kind for each in cases.lines(enrolled)}
    assert 'short_notice' not in {each.line.kind for each in cases.lines(enrolled)}
    billing_truths.statements_are_right(enrolled.database)


def grown(manager, lease, at, count):
    manager.run_until(START + hours(at))
    resized(manager, lease, count)
    manager.run()


def moved_end(manager, lease, at, end):
    manager.run_until(START + hours(at))
    manager.change(lease, end=START + hours(end))
    manager.run()


def both(manager, lease, at, count, end):
    manager.run_until(START + hours(at))
    [reservation] = manager.lease(lease).reservations
    manager.change(
        lease, end=START + hours(end), reservations=acts.asked(reservation, min=count, max=count))
    manager.run()


# Each hour beyond the allocated ones has the notice of the change: none. The last lease is
# asked for shortly before it begins, because no lease can begin in 28 hours without notice.
ENLARGED = [(1, -72, 0, 30), (1, 2, 2, 40), (1, 29.5, 30, 40)]
# (count and hours of the lease that is asked for in time, its changes, the leases that have the
# same: count, asked at, start and end, in hours after its start).
WHILE_IT_RUNS = {
    'grown': ((1, 5), [(grown, 2, 3)], [(1, -72, 0, 5), (2, 2, 2, 5)]),
    'grown twice': ((1, 5), [(grown, 1, 2), (grown, 2, 3)], [
        (1, -72, 0, 5), (1, 1, 1, 5), (1, 2, 2, 5)]),
    'prolonged': ((2, 2), [(moved_end, 1, 5)], [(2, -72, 0, 2), (2, 1, 2, 5)]),
    'prolonged again and again': (
        (2, 2), [(moved_end, 1, 3), (moved_end, 2, 4), (moved_end, 3, 5)],
        [(2, -72, 0, 2), (2, 1, 2, 3), (2, 2, 3, 4), (2, 3, 4, 5)]),
    'prolonged long before its end': ((2, 48), [(moved_end, 1, 50)], [
        (2, -72, 0, 48), (2, 1, 48, 50)]),
    'prolonged just in time': ((1, 25), [(moved_end, 1, 50)], [(1, -72, 0, 25), (1, 1, 25, 50)]),
    'prolonged in time, then late': (
        (1, 48), [(moved_end, 1, 50), (moved_end, 49, 52)],
        [(1, -72, 0, 48), (1, 1, 48, 50), (1, 49, 50, 52)]),
    'grown, then prolonged': ((1, 30), [(grown, 2, 2), (moved_end, 3, 40)], [
        (1, -72, 0, 30), (1, 2, 2, 30), (2, 3, 30, 40)]),
    'grown, reduced, and grown again': (
        (1, 5), [(grown, 1, 2), (grown, 2, 1), (grown, 3, 2)],
        [(1, -72, 0, 5), (1, 1, 1, 2), (1, 3, 3, 5)]),
    'shortened, then prolonged': ((1, 5), [(moved_end, 1, 3), (moved_end, 2, 5)], [
        (1, -72, 0, 3), (1, 2, 3, 5)]),
    'grown and prolonged at once': ((1, 30), [(both, 2, 2, 40)], ENLARGED),
    'grown, then prolonged at the same moment': (
        (1, 30), [(grown, 2, 2), (moved_end, 2, 40)], ENLARGED),
    'prolonged, then grown at the same moment': (
        (1, 30), [(moved_end, 2, 40), (grown, 2, 2)], ENLARGED),
    'grown and prolonged at once, then again': (
        (1, 30), [(both, 2, 2, 40), (both, 3, 3, 50)], [
            (1, -72, 0, 30), (1, 2, 2, 40), (1, 3, 3, 50), (1, 29.5, 30, 40), (2, 39.5, 40, 50)]),
}


def kinds(manager):
    found = collections.Counter()
    for each in cases.lines(manager):
        found[each.line.kind] += decimal.Decimal(each.line.amount)
    return found


@pytest.mark.parametrize('grown_later', thinning.few(
    WHILE_IT_RUNS.values(), 5, is_tuple=True), ids=WHILE_IT_RUNS)
def test_a_change_of_a_running_lease_costs_what_new_leases_would_cost(
        conf, database, manager, clock, grown_later):
    (count, end), changes, same = grown_later
    cases.book(manager, lease_fee='0', early_end={'credit_percent': '100'})
    manager.enrol(6)
    lease = asked(manager, count, START, START + hours(end))
    for step, *how in changes:
        step(manager, lease, *how)
    manager.run_until(START + hours(60))
    cases.bill(manager)
    billing_truths.statements_are_right(database)
    billed = kinds(manager)
    assert 'resource_hours' in billed
    builders.clean(database)
    clock.now = NOON
    reference = builders.Manager(conf, database, clock)
    cases.book(reference, lease_fee='0')
    reference.enrol(6)
    for number, asked_at, first, last in same:
        reference.run_until(START + hours(asked_at))
        asked(reference, number, START + hours(first), START + hours(last))
    reference.run_until(START + hours(60))
    cases.bill(reference)
    assert kinds(reference) == billed


@pytest.mark.parametrize('fields', [
    {'end': START + hours(9)}, {'count': 2}, {'end': START + hours(9), 'count': 2}, {'count': 1}])
def test_a_dry_run_says_what_a_change_of_a_running_lease_costs(enrolled, fields):
    lease = asked(enrolled, 1, START, START + hours(5))
    moved_end(enrolled, lease, 1, 6)
    [reservation] = enrolled.lease(lease).reservations
    enrolled.run_until(START + hours(2))
    if 'count' in fields:
        count = fields.pop('count')
        fields = {**fields, 'reservations': acts.asked(reservation, min=count, max=count)}
    planned = enrolled.change(lease, dry_run=True, **fields).price
    enrolled.change(lease, **fields)
    enrolled.run_until(START + hours(10))
    cases.bill(enrolled)
    assert decimal.Decimal(planned.amount) == sum(kinds(enrolled).values())
    billing_truths.statements_are_right(enrolled.database)


def test_a_host_that_is_swapped_keeps_its_notice(enrolled):
    lease = asked(enrolled, 1, START, START + hours(5))
    grown(enrolled, lease, 1, 2)
    [_, added] = enrolled.lease(lease).reservations[0].resource_ids
    enrolled.run_until(START + hours(2))
    enrolled.client.swap_resource(builders.a_member(), lease.id, str(added))
    enrolled.run_until(START + hours(6))
    cases.bill(enrolled)
    # 4 hours of the second host at 0.50, and 20 %.
    assert kinds(enrolled) == {'resource_hours': decimal.Decimal('4.50'),
                               'short_notice': decimal.Decimal('0.40')}
    billing_truths.statements_are_right(enrolled.database)


def test_instances_that_a_swap_spreads_keep_their_notice(manager):
    cases.book(manager, lease_fee='0')
    [old] = manager.enrol(1)
    lease = manager.book(builders.instances(1, memory_mb=15 * 1024),
                         start=START, end=START + hours(5))
    manager.run_until(START + hours(1))
    counted_on(manager, lease, 4)
    for name in ('compute-2', 'compute-3'):
        manager.client.create_resource(builders.an_admin(), 'host', name, {})
    # Two of the four instances fit beside the others.
    for memory_gb in (222, 94):
        manager.book(builders.instances(1, memory_mb=memory_gb * 1024), end=START + hours(5))
    manager.client.swap_resource(builders.a_member(), lease.id, str(old.id))
    assert len(set(manager.lease(lease).reservations[0].resource_ids)) == 2
    manager.run_until(START + hours(6))
    cases.bill(manager)
    late = sum(decimal.Decimal(each.line.hours) for each in cases.lines(
        manager, lease_id=lease.id) if each.line.kind == 'short_notice')
    assert late == 12
    billing_truths.statements_are_right(manager.database)


def failing(manager, until):
    manager.cloud.faults.fail('nova.create_aggregate', 10 ** 6, _BROKEN)
    manager.run_until(until)
    manager.cloud.faults.fail('nova.create_aggregate', 0, None)


def down(manager, until):
    manager.clock.now = until


@pytest.mark.proof
@pytest.mark.parametrize('outage', [failing, down])
@pytest.mark.parametrize(('late', 'billed_at'), thinning.few([
    (hours(10), [8, 11]), (hours(10), []), (builders.minutes(1), [])], 1))
def test_hours_before_a_late_start_are_free(enrolled, outage, late, billed_at):
    lease = asked(enrolled, 1, NOON, NOON + hours(12))
    outage(enrolled, NOON + late)
    for hour in [*billed_at, 13]:
        enrolled.run_until(NOON + hours(hour))
        cases.bill(enrolled)
    [started_at] = started(enrolled)
    assert NOON + late <= started_at < NOON + late + hours(1)
    had = NOON + hours(12) - (NOON if late < hours(1) else started_at)
    assert [decimal.Decimal(each.line.hours) for each in cases.lines(enrolled, lease_id=lease.id)
            if each.line.kind == 'resource_hours'] == [
                round(decimal.Decimal(had.total_seconds()) / 3600, 6)]
    billing_truths.statements_are_right(enrolled.database)


def started(manager):
    with manager.database.reader() as connection:
        return connection.execute(sa.select(tables.RESERVATIONS.c.started_at)).scalars().all()


@pytest.mark.proof
def test_a_host_that_was_replaced_while_the_start_failed_costs_nothing(enrolled):
    asked(enrolled, 1, NOON, NOON + hours(12))
    enrolled.cloud.faults.fail('nova.create_aggregate', 10 ** 6, _BROKEN)
    enrolled.run_until(NOON + hours(4))
    [reservation] = enrolled.client.list_leases(
        builders.an_admin(), records.LeaseQuery())[0].reservations
    [host] = [each for each in enrolled.client.list_resources(builders.an_admin(), 'host')
              if each.id in reservation.resource_ids]
    acts.disable(enrolled, host)
    failing(enrolled, NOON + hours(10))
    enrolled.run_until(NOON + hours(13))
    cases.bill(enrolled)
    assert cases.total(cases.lines(enrolled)) < decimal.Decimal('1.21')
    billing_truths.statements_are_right(enrolled.database)


def in_one_change(manager, lease, count, end):
    manager.change(lease, end=end, reservations=acts.asked(
        manager.lease(lease).reservations[0], amount=count))


def shortened_then_counted(manager, lease, count, end):
    manager.change(lease, end=end)
    counted_on(manager, lease, count)


def counted_then_shortened(manager, lease, count, end):
    counted_on(manager, lease, count)
    manager.change(lease, end=end)


def in_several_changes_within_seconds(manager, lease, count, end):
    in_one_change(manager, lease, count, end)
    manager.run()
    manager.clock.advance(builders.seconds(1))
    counted_on(manager, lease, 4)
    counted_on(manager, lease, count)


def counted_on(manager, lease, count):
    manager.change(lease, reservations=acts.asked(
        manager.lease(lease).reservations[0], amount=count))
    manager.run()
    manager.clock.advance(builders.seconds(1))


@pytest.mark.parametrize('way', thinning.few([
    in_one_change, shortened_then_counted, counted_then_shortened,
    in_several_changes_within_seconds], 2), ids=lambda way: way.__name__)
@pytest.mark.parametrize('affinity', [True, None])
@pytest.mark.parametrize('count', [
    3, 5, *(pytest.param(count, marks=pytest.mark.proof) for count in (1, 4, 8))])
def test_allocated_hours_are_used_or_unused_in_any_order_of_returns(
        enrolled, way, count, affinity):
    lease = enrolled.book(builders.instances(4, affinity), end=NOON + hours(10))
    enrolled.run_until(NOON + hours(2))
    way(enrolled, lease, count, NOON + hours(3))
    enrolled.run_until(NOON + hours(11))
    cases.bill(enrolled)
    had = {kind: sum(decimal.Decimal(each.line.hours) for each in cases.lines(enrolled)
                     if each.line.kind == kind) for kind in ('resource_hours', 'unused_hours')}
    guaranteed = max(count, 4) if way is counted_then_shortened else 4
    unused = 7 * guaranteed + max(4 - count, 0)
    if way is in_several_changes_within_seconds:
        # A resource that was requested in between, and returned within a second.
        unused += abs(4 - count)
    assert had['unused_hours'] == pytest.approx(unused, abs=decimal.Decimal('0.01'))
    assert had['resource_hours'] == pytest.approx(8 + count, abs=decimal.Decimal('0.01'))
    billing_truths.statements_are_right(enrolled.database)


@pytest.mark.parametrize('count', [3, 5])
def test_a_dry_run_counts_the_unused_hours_of_copies_that_are_replaced(enrolled, count):
    lease = enrolled.book(builders.instances(4), end=NOON + hours(10))
    enrolled.run_until(NOON + hours(2))
    change = {'end': NOON + hours(3), 'reservations': acts.asked(
        enrolled.lease(lease).reservations[0], amount=count)}
    planned = enrolled.change(lease, **change, dry_run=True).price
    enrolled.change(lease, **change)
    enrolled.run_until(NOON + hours(11))
    cases.bill(enrolled)
    assert decimal.Decimal(planned.amount) == cases.total(cases.lines(enrolled))


def test_copies_that_an_administrator_removes_are_not_unused(enrolled):
    lease = enrolled.book(builders.instances(4), end=NOON + hours(10))
    enrolled.run_until(NOON + hours(2))
    enrolled.client.update_lease(builders.an_admin(), lease.id, records.LeaseChanges(
        end=NOON + hours(3),
        reservations=acts.asked(enrolled.lease(lease).reservations[0], amount=5)))
    enrolled.run_until(NOON + hours(11))
    cases.bill(enrolled)
    assert 'unused_hours' not in {each.line.kind for each in cases.lines(enrolled)}


@pytest.mark.parametrize('request_of', [
    lambda: builders.hosts(1), lambda: builders.instances(4)], ids=['host', 'instances'])
@pytest.mark.parametrize('goes_on', [False, True])
def test_a_swap_after_the_lease_was_shortened_changes_no_unused_hours(
        enrolled, request_of, goes_on):
    lease = enrolled.book(request_of(), end=NOON + hours(10))
    enrolled.run_until(NOON + hours(2))
    enrolled.change(lease, end=NOON + hours(3))
    [reservation] = enrolled.lease(lease).reservations
    enrolled.client.swap_resource(builders.a_member(), lease.id, str(reservation.resource_ids[0]))
    enrolled.run()
    if goes_on:
        enrolled.change(lease, end=NOON + hours(10))
    enrolled.run_until(NOON + hours(11))
    cases.bill(enrolled)
    copies = len(reservation.resource_ids)
    used = 10 if goes_on else 3
    assert {kind: sum(decimal.Decimal(each.line.hours) for each in cases.lines(enrolled)
                      if each.line.kind == kind)
            for kind in ('resource_hours', 'unused_hours')} == {
                'resource_hours': used * copies, 'unused_hours': (10 - used) * copies}
    billing_truths.statements_are_right(enrolled.database)


def deleted_in_nova(manager, lease, server):
    manager.cloud.delete_server(server.id)
    target_watch.TargetWatch(manager.core).check_all(manager.clock())


def deleted_in_climate(manager, lease, server):
    manager.delete(lease)


@pytest.mark.parametrize('way', [deleted_in_nova, deleted_in_climate],
                         ids=lambda way: way.__name__)
def test_a_leased_server_that_its_owner_deletes_costs_unused_hours(enrolled, way):
    server = enrolled.cloud.boot('demo', 'vm', {}, flavor='2')
    lease = enrolled.book(builders.a_server(server), start=NOON + hours(30), end=NOON + hours(40))
    enrolled.run_until(NOON + hours(32))
    way(enrolled, lease, server)
    enrolled.run_until(NOON + hours(41))
    cases.bill(enrolled)
    found = {each.line.kind: round(float(each.line.hours), 1) for each in cases.lines(enrolled)}
    assert found == {'resource_hours': 2, 'unused_hours': 8, 'early_end_credit': 8}
    billing_truths.statements_are_right(enrolled.database)

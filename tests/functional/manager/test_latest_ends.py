# SPDX-License-Identifier: Apache-2.0
"""The latest end of a lease is exactly the last end that a change accepts."""
import datetime

import pytest
from support import builders

from climate import errors
from climate.domain import latest_end
from climate.domain import maintenance_windows
from climate.domain import records
from climate.domain import timeline

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
MEMBER = builders.a_member()
SIZED = {'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1, 'amount': 2, 'affinity': None}


def _latest(manager, lease):
    return manager.client.latest_end(MEMBER, lease.id)


def _refused(manager, lease, end):
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=end, dry_run=True)
    return True


def _is_exact(manager, lease, found):
    manager.change(lease, end=found.end, dry_run=True)
    return _refused(manager, lease, found.end + datetime.timedelta(seconds=1))


@pytest.mark.parametrize('request_', [
    builders.hosts(2), records.ReservationRequest('virtual:instance', SIZED)])
def test_a_running_lease_can_last_until_another_lease_has_its_hosts(manager, request_):
    manager.enrol(2)
    lease = manager.active(request_)
    other = manager.book(builders.hosts(2), name='the next one', start=NOON + hours(5),
                         end=NOON + hours(6))
    found = _latest(manager, lease)
    assert (found.end, found.limited) == (NOON + hours(5), True)
    assert _is_exact(manager, lease, found)
    assert {(each.lease_id, each.lease_name, each.kind) for each in found.obstacles} == {
        (other.id, 'the next one', timeline.OWN)}
    assert 'hosts' in found.reason.owner


def test_a_future_lease_may_move_to_other_hosts(manager):
    manager.enrol(2)
    lease = manager.book(start=NOON + hours(1), end=NOON + hours(2))
    for start in (4, 7):
        manager.book(builders.hosts(1), start=NOON + hours(start), end=NOON + hours(9))
    found = _latest(manager, lease)
    assert found.end == NOON + hours(7)
    assert _is_exact(manager, lease, found)


def test_a_lease_whose_hosts_nobody_else_books_has_no_latest_end(manager):
    manager.enrol(1)
    lease = manager.active()
    found = _latest(manager, lease)
    assert not found.limited
    assert found.end == lease.end + latest_end.AHEAD
    assert found.obstacles == ()


def test_a_lease_that_ends_when_the_next_one_starts_cannot_be_extended(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.book(start=lease.end, end=lease.end + hours(1))
    found = _latest(manager, lease)
    assert (found.end, found.limited) == (lease.end, True)
    assert [each.start for each in found.obstacles] == [lease.end]


def test_the_time_for_cleaning_is_kept_free(conf, manager):
    conf.set_override('cleaning_minutes', 10, group='manager')
    # Parts of the manager read the option when they are made.
    cleaning = builders.Manager(conf, manager.database, manager.clock, manager.cloud)
    cleaning.enrol(1)
    lease = cleaning.active()
    cleaning.book(name='next', start=NOON + hours(3), end=NOON + hours(4))
    found = _latest(cleaning, lease)
    assert found.end == NOON + hours(3) - minutes(10)
    assert [each.lease_name for each in found.obstacles] == ['next']


def test_a_maintenance_is_named(manager):
    [host] = manager.enrol(1)
    lease = manager.active()
    manager.client.create_maintenance(
        builders.an_admin(), maintenance_windows.MaintenanceRequest(
            'host', NOON + hours(3), NOON + hours(4), 'new firmware', resources=(host.name,)))
    found = _latest(manager, lease)
    assert found.end == NOON + hours(3)
    assert [each.kind for each in found.obstacles] == [timeline.MAINTENANCE]
    assert 'new firmware' in found.reason.operator


def test_a_lease_without_resources_has_no_latest_end(manager):
    manager.enrol(2)
    manager.active()
    lease = manager.book(builders.hosts(2), acquire=records.AcquireRequest(
        'wait', not_after=NOON + hours(9)))
    with pytest.raises(errors.BadTransition, match='has no resources'):
        _latest(manager, lease)


def test_a_lease_that_is_over_has_no_latest_end(manager):
    manager.enrol(1)
    lease = manager.active()
    manager.run_until(lease.end + minutes(1))
    with pytest.raises(errors.LeaseEnded):
        _latest(manager, lease)


def test_the_question_changes_nothing(manager):
    manager.enrol(1)
    lease = manager.active()
    before = manager.lease(lease)
    _latest(manager, lease)
    assert manager.lease(lease) == before


def test_a_lease_that_never_ends_has_no_later_end(manager):
    manager.enrol(1)
    never = datetime.datetime(9998, 12, 31, 12, tzinfo=datetime.UTC)
    lease = manager.active(builders.hosts(1), end=never)
    assert _latest(manager, lease) == latest_end.LatestEnd(never, limited=False)


def test_a_limit_of_the_service_is_the_reason_for_the_latest_end(manager, conf):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1))
    conf.set_override('max_parts', 1, group='manager')
    found = _latest(manager, lease)
    assert (found.end, found.limited) == (lease.end, True)
    assert found.reason is not None

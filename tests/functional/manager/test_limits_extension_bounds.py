# SPDX-License-Identifier: Apache-2.0
"""Rules of extensions bind the owner of a running lease, and nobody else."""
import acts
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle

NOON, at, hours, seconds = builders.NOON, builders.at, builders.hours, builders.seconds
HOUR = 3600
MEMBER = builders.a_member()


def rules(manager, *extensions, **fields):
    """Write a version of the limit book that is valid now."""
    manager.client.create_limit_book(builders.an_admin(), None, {'extensions': [
        {'name': f'rule {number}', **extension} for number, extension in enumerate(extensions)],
        **fields})


@pytest.fixture
def lease(manager):
    """A lease of one of two hosts that runs for 10 hours."""
    manager.enrol(2)
    return manager.active(end=at(10))


def test_a_lease_is_extended_only_in_its_last_part(manager, lease):
    rules(manager, {'within': '2h', 'most': '4h'})
    manager.run_until(at(7))
    with pytest.raises(errors.ExtensionRefused) as caught:
        manager.change(lease, end=at(11))
    assert caught.value.details['opens_at'] == at(8).isoformat()
    with pytest.raises(errors.ExtensionRefused):
        manager.change(lease, end=at(11), dry_run=True)
    manager.run_until(at(8))
    with pytest.raises(errors.ExtensionRefused) as caught:
        manager.change(lease, end=at(15))
    assert caught.value.details['possible_end'] == at(14).isoformat()
    changed = manager.change(lease, end=at(14))
    assert (changed.end, changed.extended_count) == (at(14), 1)


def test_a_rule_does_not_bind_other_changes(manager, lease):
    rules(manager, {'times': 0})
    assert manager.change(lease, name='another name').name == 'another name'
    assert manager.change(lease, end=at(9)).extended_count == 0
    pending = manager.book(start=at(20), end=at(21))
    changed = manager.change(pending, end=at(25))
    assert (changed.end, changed.extended_count) == (at(25), 0)


def test_an_administrator_may_extend_a_lease_of_another_project(manager, lease):
    rules(manager, {'times': 0})
    changed = manager.change(lease, builders.an_admin(), end=at(11))
    assert (changed.end, changed.extended_count) == (at(11), 0)
    with pytest.raises(errors.ExtensionRefused):
        manager.change(lease, end=at(12))


def test_a_lease_is_extended_as_often_as_allowed(manager, lease):
    rules(manager, {'times': 2})
    for count in (1, 2):
        assert manager.change(lease, end=at(10 + count)).extended_count == count
    with pytest.raises(errors.ExtensionRefused, match='was extended 2 times'):
        manager.change(lease, duration_seconds=20 * HOUR)


def test_a_refused_booking_does_not_count_as_an_extension(manager, lease):
    manager.book(builders.hosts(2), start=at(11), end=at(12))
    with pytest.raises(errors.NotEnough):
        manager.change(lease, end=at(13))
    assert manager.lease(lease).extended_count == 0


def test_two_extensions_at_once_do_not_both_use_the_last_one(manager, lease, meddling):
    rules(manager, {'times': 1})
    second = builders.Manager(manager.core.conf, meddling, manager.clock, manager.cloud)
    meddling.before_writer = lambda: manager.change(lease, end=at(11))
    with pytest.raises(errors.BadTransition, match='changed by another request'):
        second.change(lease, end=at(12))
    assert manager.lease(lease).extended_count == 1
    with pytest.raises(errors.ExtensionRefused):
        second.change(lease, end=at(12))
    assert manager.lease(lease).end == at(11)


def test_the_latest_end_is_that_of_the_rule(manager, lease):
    rules(manager, {'most': '4h'})
    found = manager.client.latest_end(MEMBER, lease.id)
    assert (found.end, found.limited, found.rule, found.opens_at) == (
        at(14), True, 'rule 0', None)
    assert 'by at most 4h at a time' in found.reason.owner
    assert manager.change(lease, end=found.end)


def test_the_latest_end_names_the_moment_from_which_a_rule_allows_more(manager, lease):
    rules(manager, {'within': '25%'})
    found = manager.client.latest_end(MEMBER, lease.id)
    assert (found.end, found.limited, found.opens_at) == (at(10), True, at(7.5))


def test_the_latest_end_is_that_of_a_booking_before_the_one_of_the_rule(manager, lease):
    rules(manager, {'most': '4h'})
    manager.book(builders.hosts(2), start=at(12), end=at(13))
    found = manager.client.latest_end(MEMBER, lease.id)
    assert (found.end, found.rule) == (at(12), None)
    assert found.obstacles


def test_no_rule_binds_the_latest_end_for_an_administrator(manager, lease):
    rules(manager, {'times': 0})
    assert not manager.client.latest_end(builders.an_admin(), lease.id).limited


def test_steps_end_at_the_longest_total(manager):
    manager.enrol(1)
    lease = manager.active(end=at(2), while_free_seconds=HOUR)
    rules(manager, {'within': '1m', 'times': 0, 'total': '4h'})
    manager.run_until(at(3))
    lease = manager.lease(lease)
    assert (lease.end, lease.while_free_seconds) == (at(4), None)
    assert 'last step' in acts.history(manager, lease)
    manager.expect(lease, lifecycle.TERMINATED, at(4))


def test_a_rule_that_is_not_valid_any_more_does_not_bind(manager, lease):
    rules(manager, {'times': 0})
    manager.client.create_limit_book(builders.an_admin(), at(1), {'limits': []})
    manager.run_until(at(1))
    assert manager.change(lease, end=at(12)).end == at(12)

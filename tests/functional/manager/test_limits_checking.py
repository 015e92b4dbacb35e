# SPDX-License-Identifier: Apache-2.0
"""Limits hold for every request that creates or changes leases and offers."""
import datetime

import pytest
from support import builders

from climate import errors
from climate.domain import availability
from climate.domain import lifecycle
from climate.domain import records
from climate.manager.limits import books as limit_books

GPU = '["==", "$gpu", "A100"]'
HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)


@pytest.fixture
def in_force(manager):
    """A function that puts limits in force."""
    def put(*limits):
        limit_books.LimitBooks(manager.core).create(
            builders.an_admin(), None, {'limits': list(limits)})
    return put


def limit(measure, most=None, **fields):
    """A limit of a limit book."""
    bound = {} if most is None else {'most': most}
    return {'name': 'rule', 'measure': measure, **bound, **fields}


def refused(call, *arguments, **more):
    with pytest.raises(errors.LimitExceeded) as caught:
        call(*arguments, **more)
    return caught.value


def waiting(*reservations, **more):
    """A LeaseRequest that waits for its resources."""
    return builders.a_lease(*reservations, acquire=records.AcquireRequest('wait'), end=None,
                            duration_seconds=3600, **more)


def test_a_lease_beyond_the_number_of_open_leases_is_refused(manager, in_force):
    manager.enrol(4)
    in_force(limit('open_leases', 2))
    first = manager.book()
    manager.book()
    error = refused(manager.book)
    assert error.status == 403 and error.code == 'limit_exceeded'
    assert error.message == (
        'Limit "rule" (at most 2 open leases): there are 2 open leases. End or delete a lease, or '
        'wait until one ends.')
    assert error.details['limit'] == 'rule' and error.details['remaining'] == 0
    assert error.details['until'] == '2030-05-01T13:00:00Z'
    manager.delete(first)
    manager.run()
    manager.book()


def test_a_dry_run_is_refused_like_the_lease_and_writes_nothing(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 1))
    manager.book(dry_run=True)
    manager.book()
    assert refused(manager.book, dry_run=True).message == refused(manager.book).message


def test_a_lease_is_refused_if_its_resources_exceed_a_limit_at_any_moment(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 3, pool='host'))
    manager.book(builders.hosts(2), start=builders.at(2), end=builders.at(4))
    error = refused(manager.book, builders.hosts(2), end=builders.at(3))
    assert error.message == (
        'Limit "rule" (at most 3 hosts at one moment): 2 are held from 2030-05-01 14:00 UTC to '
        '2030-05-01 15:00 UTC, and this request adds 2, but 1 of 3 are left. Ask for 1 host, or '
        'for a start from 2030-05-01 16:00 UTC.')
    manager.book(builders.hosts(2), start=builders.at(4), end=builders.at(7))
    manager.book(builders.hosts(3), end=builders.at(2))


def test_the_leases_of_other_projects_do_not_count(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 1))
    manager.book()
    manager.create(builders.a_lease(), builders.a_member('eve', 'other'))


def test_a_limit_per_user_adds_up_the_leases_of_the_user_in_all_projects(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 1, per='user'))
    manager.book()
    manager.create(builders.a_lease(), builders.a_member('eve', 'demo'))
    assert refused(manager.create, builders.a_lease(), builders.a_member('demo', 'other'))


def test_resource_hours_of_a_lease_that_ended_early_are_given_back(manager, in_force, clock):
    manager.enrol(2)
    in_force(limit('resource_hours', 10, window='1d'))
    lease = manager.active(end=builders.at(10))
    error = refused(manager.book, start=builders.at(11), end=builders.at(12))
    assert error.details['remaining'] == 0
    clock.now = builders.at(4)
    manager.change(lease, end_now=True)
    manager.run()
    # Four hours are used; six are left until a day after noon.
    error = refused(manager.book, start=builders.at(11), end=builders.at(18))
    assert error.details['would_fit'] == {'end': '2030-05-02T05:00:00Z'}
    manager.book(start=builders.at(11), end=builders.at(17))


def test_the_end_that_would_fit_is_exact(manager, in_force):
    manager.enrol(2)
    in_force(limit('resource_hours', 5, window='1d'))
    manager.book(start=builders.at(0), end=builders.at(2))
    error = refused(manager.book, start=builders.at(3), end=builders.at(23))
    end = datetime.datetime.fromisoformat(error.details['would_fit']['end'])
    assert end == builders.at(6)
    assert refused(manager.book, start=builders.at(3), end=end + builders.seconds(1), dry_run=True)
    manager.book(start=builders.at(3), end=end)


def test_a_lease_cannot_be_extended_or_grown_beyond_a_limit(manager, in_force):
    manager.enrol(4)
    in_force(limit('resource_hours', 4, window='1d'), limit('resources', 2, name='hosts'))
    lease = manager.active(end=builders.at(2))
    assert refused(manager.change, lease, end=builders.at(5))
    assert refused(manager.change, lease, end=builders.at(5), dry_run=True)
    assert refused(manager.change_reservation, lease, min=3, max=3)
    lease = manager.change(lease, end=builders.at(4))
    manager.run()
    assert refused(manager.change_reservation, lease, min=2, max=2).details['limit'] == 'rule'


def test_a_pending_lease_moves_within_limits(manager, in_force):
    manager.enrol(2)
    in_force(limit('pause', least='2h'))
    manager.book(start=builders.at(10), end=builders.at(12))
    lease = manager.book(start=builders.at(20), end=builders.at(21))
    error = refused(manager.change, lease, start=builders.at(13), end=builders.at(14))
    assert error.details['would_fit'] == {'start': '2030-05-02T02:00:00Z'}
    manager.change(lease, start=builders.at(14), end=builders.at(15))
    # A lease that overlaps an earlier one must not end after it.
    error = refused(manager.change, lease, start=builders.at(11), end=builders.at(15))
    assert error.details['would_fit'] == {'end': '2030-05-02T00:00:00Z',
                                          'start': '2030-05-02T02:00:00Z'}
    manager.change(lease, start=builders.at(11), end=builders.at(12))


def test_a_lower_limit_breaks_nothing_that_is_booked_and_lets_leases_shrink(manager, in_force):
    manager.enrol(4)
    lease = manager.active(builders.hosts(3), end=builders.at(8))
    in_force(limit('resources', 1), limit('resource_hours', 2, window='1d', name='hours'),
             limit('lease_length', most='1h', name='length'), limit('open_leases', 0, name='open'))
    manager.change(lease, end=builders.at(7))
    manager.run()
    manager.change_reservation(manager.lease(lease), min=2, max=2)
    manager.run()
    assert refused(manager.change, manager.lease(lease), end=builders.at(7.5))
    manager.clock.advance(HOUR)
    manager.change(manager.lease(lease), end_now=True)
    manager.run()
    assert manager.lease(lease).state == lifecycle.TERMINATED


@pytest.mark.parametrize(('rule', 'fields', 'fits', 'text'), [
    (limit('lease_length', '1d'), {'end': builders.at(30)}, {'end': builders.at(24)},
     'this lease would last 1d6h. Ask for an end until 2030-05-02 12:00 UTC.'),
    (limit('ahead', '1d'), {'start': builders.at(30), 'end': builders.at(31)},
     {'start': builders.at(24), 'end': builders.at(31)},
     'would start 1d6h from now. Ask for a start until 2030-05-02 12:00 UTC.'),
    (limit('notice', least='1d'), {'start': builders.at(2), 'end': builders.at(31)},
     {'start': builders.at(24), 'end': builders.at(31)},
     'would start 2h from now. Ask for a start from 2030-05-02 12:00 UTC.'),
    (limit('notice', least='1d'), {}, {'start': builders.at(24), 'end': builders.at(31)},
     'would start as soon as it has its resources. Ask for a start from 2030-05-02 12:00 UTC.'),
])
def test_a_limit_of_the_times_of_a_lease_says_what_would_fit(
        manager, in_force, rule, fields, fits, text):
    manager.enrol(1)
    in_force(rule)
    with builders.statements() as executed:
        assert text in refused(manager.book, **fields).message
    assert not [each for each in executed if 'UNION' in each]
    manager.book(**fits)


def test_leases_that_start_at_once_are_refused_if_notice_is_needed_even_if_they_wait(
        manager, in_force):
    manager.enrol(1)
    manager.book(end=builders.at(5))
    in_force(limit('notice', least='1d'))
    assert refused(manager.create, waiting())


def test_offers_count_and_taking_one_is_checked(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 2), limit('held_offers', 1, name='offers'),
             limit('open_leases', 1, name='open'))
    offer = manager.hold(builders.a_lease(builders.hosts(2)))
    error = refused(manager.hold, builders.a_lease())
    assert {each['measure'] for each in error.details['limits']} == {'resources', 'held_offers'}
    assert refused(manager.book)
    manager.take(offer)
    assert refused(manager.hold, builders.a_lease(start=builders.at(0), end=builders.at(1)))
    second = manager.hold(builders.a_lease(start=builders.at(3), end=builders.at(4)))
    assert refused(manager.take, second).details['measure'] == 'open_leases'


def test_an_expired_offer_does_not_count(manager, in_force, clock):
    manager.enrol(4)
    in_force(limit('resources', 2), limit('held_offers', 1, name='offers'))
    manager.hold(builders.a_lease(builders.hosts(2)))
    clock.advance(builders.minutes(5))
    manager.hold(builders.a_lease(builders.hosts(2)))


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_waits_until_its_owner_is_below_the_limit(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 2))
    running = manager.active(builders.hosts(2), end=builders.at(2))
    lease = manager.create(waiting())
    assert lease.state == lifecycle.ACQUIRING
    assert 'at most 2 resources at one moment' in lease.owner_reason
    lease = manager.expect(lease, lifecycle.ACQUIRING, builders.at(1))
    assert 'at most 2 resources at one moment' in lease.owner_reason
    manager.run_until(builders.at(2.5))
    assert manager.lease(running).state == lifecycle.TERMINATED
    assert manager.lease(lease).state == lifecycle.ACTIVE


def test_a_lease_that_can_never_be_within_a_limit_does_not_wait(manager, in_force):
    manager.enrol(4)
    manager.book(builders.hosts(4), end=builders.at(5))
    in_force(limit('resources', 2))
    assert refused(manager.create, waiting(builders.hosts(3)))
    assert refused(manager.create, waiting(builders.hosts(3), dry_run=True))


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_is_given_up_if_a_new_limit_excludes_it(manager, in_force):
    manager.enrol(4)
    manager.book(builders.hosts(4), end=builders.at(2))
    lease = manager.create(waiting(builders.hosts(3)))
    in_force(limit('resources', 2))
    lease = manager.expect(lease, lifecycle.ERROR, builders.at(3))
    assert 'at most 2 resources' in lease.owner_reason


def test_the_number_of_waiting_leases_is_limited(manager, in_force):
    manager.enrol(1)
    manager.book(end=builders.at(9))
    in_force(limit('waiting_leases', 1))
    manager.create(waiting())
    assert refused(manager.create, waiting()).message == (
        'Limit "rule" (at most 1 waiting lease): there is 1 waiting lease. Delete a waiting lease, '
        'or wait until one gets its resources.')


def test_a_caller_without_a_role_gets_no_resources_that_meet_criteria(manager, in_force):
    manager.enrol(1, gpu='A100')
    in_force(limit('roles', roles=['gpu_user'], criteria=GPU))
    error = refused(manager.book)
    assert error.message == ('Limit "rule" (only with the role gpu_user, with gpu == A100): you do '
                             'not have this role. Ask your operator for it, or ask for other '
                             'resources.')
    caller = builders.a_member()
    caller.roles.append('gpu_user')
    lease = manager.create(builders.a_lease(), caller)
    assert refused(manager.create, waiting())
    manager.change(lease, end=builders.at(0.5))


def test_a_limit_with_criteria_counts_resources_that_meet_them(manager, in_force):
    manager.enrol(2, gpu='A100')
    in_force(limit('resources', 1, criteria=GPU),
             limit('resource_hours', 32, window='1d', unit='vcpus', name='cores'))
    manager.book()
    error = refused(manager.book)
    assert error.details['limit'] == 'rule' and error.details['used'] == 1


def test_a_share_of_a_pool_is_a_percentage_of_the_enrolled_capacity(manager, in_force):
    manager.enrol(4)
    in_force(limit('pool_share', 50, pool='host'))
    manager.book(builders.hosts(2))
    error = refused(manager.book)
    assert 'at most 50 % of all hosts' in error.message and '0 of 2 are left' in error.message


def test_a_swap_that_gives_a_lease_a_limited_resource_is_refused(manager, in_force):
    [plain, special] = manager.enrol(2)
    lease = manager.active()
    if special.id in lease.reservations[0].resource_ids:
        plain, special = special, plain
    manager.client.update_resource(builders.an_admin(), 'host', special.id, {'gpu': 'A100'})
    in_force(limit('resources', 0, criteria=GPU))
    assert refused(manager.client.swap_resource, builders.a_member(), lease.id, plain.name)


def test_a_swap_gives_no_resource_that_needs_a_role_of_a_caller_without_it(manager, in_force):
    [plain, special] = manager.enrol(2)
    lease = manager.active()
    if special.id in lease.reservations[0].resource_ids:
        plain, special = special, plain
    manager.client.update_resource(builders.an_admin(), 'host', special.id, {'gpu': 'A100'})
    in_force(limit('roles', roles=['gpu_user'], criteria=GPU))
    assert refused(manager.client.swap_resource, builders.a_member(), lease.id, plain.name)
    assert refused(manager.client.preview_swap, builders.a_member(), lease.id, plain.name)
    caller = builders.a_member()
    caller.roles.append('gpu_user')
    manager.client.swap_resource(caller, lease.id, plain.name)


def test_offers_that_other_users_hold_count_for_the_user_who_takes_them(manager, in_force):
    manager.enrol(2, gpu='A100')
    in_force(limit('resources', 1, per='user'), limit('resources', 2, name='project'),
             limit('roles', roles=['gpu_user'], criteria=GPU, name='roles'))
    friend, member = builders.a_member('eve', 'demo'), builders.a_member()
    for caller in (friend, member):
        caller.roles.append('gpu_user')
    manager.create(builders.a_lease(), member)
    offer = manager.hold(builders.a_lease(), friend)
    assert refused(manager.take, offer, member).details['limit'] == 'rule'
    friend.roles.remove('gpu_user')
    assert refused(manager.take, offer, friend.__class__(
        project_id='demo', user_id='mallory', roles=['member'])).details['limit'] == 'roles'
    manager.take(offer, friend)


def test_no_statement_is_added_without_limits_and_at_most_one_with_limits(manager, in_force):
    manager.enrol(4, gpu='none')
    manager.book()
    limit_books.known(manager.core, manager.clock())
    with builders.statements() as without_limits:
        manager.book()
    in_force(limit('open_leases', 9), limit('resources', 9, criteria=GPU, name='gpus'),
             limit('resource_hours', 900, window='1d', per='user', name='hours'),
             limit('pool_share', 90, pool='host', name='share'))
    limit_books.known(manager.core, manager.clock())
    with builders.statements() as with_limits:
        manager.book()
    locks = 0 if manager.database.dialect == 'sqlite' else 1
    assert len(with_limits) == len(without_limits) + 1 + locks


def test_sums_prove_that_an_owner_is_far_from_limits_by_one_small_statement(manager, in_force):
    manager.enrol(4)
    for number in range(10):
        manager.book(start=builders.at(number), end=builders.at(number + 1))
    in_force(limit('open_leases', 99), limit('resource_hours', 900, window='1d', per='user',
                                             name='hours'))
    manager.hold(builders.a_lease())
    with builders.statements() as executed:
        manager.book()
    assert [('sum(' in statement, 'allocation_id' in statement) for statement in executed
            if 'UNION ALL' in statement] == [(True, False)]


def query(**more):
    """An AvailabilityQuery for a host for two hours."""
    return availability.AvailabilityQuery(
        reservations=(builders.hosts(1),), duration_seconds=7200, **more)


def find(manager, **more):
    return manager.client.find_availability(builders.a_member(), query(**more))


def test_availability_has_starts_within_the_limits_only(manager, in_force):
    manager.enrol(2)
    in_force(limit('notice', least='1d'), limit('ahead', '2d', name='ahead'))
    [opening, *_] = find(manager).openings
    assert opening.start == builders.at(24)
    manager.book(start=opening.start, end=opening.end)


def test_availability_is_refused_if_no_start_is_within_the_limits(manager, in_force):
    manager.enrol(2)
    in_force(limit('lease_length', '1h'))
    assert 'leases of at most 1h' in refused(find, manager).message


def test_held_openings_stay_within_the_limits(manager, in_force):
    manager.enrol(4)
    in_force(limit('resources', 1))
    manager.book(end=builders.at(3))
    found = find(manager, hold=3, hold_seconds=120, hold_most=5)
    assert found.openings[0].start == builders.at(3)
    assert [each.id is not None for each in found.openings].count(True) == 1


def test_the_latest_end_is_the_one_that_the_limits_allow(manager, in_force):
    manager.enrol(2)
    in_force(limit('resource_hours', 5, window='1d'))
    lease = manager.active()
    latest = manager.client.latest_end(builders.a_member(), lease.id)
    assert latest.end == builders.at(5) and 'resource-hours within any 1d' in latest.reason.owner
    manager.change(lease, end=latest.end)


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_above_a_limit_does_not_hold_up_the_wait_queue(manager, in_force):
    manager.enrol(2)
    in_force(limit('resources', 1))
    manager.book(end=builders.at(20))
    stranger = builders.a_member('eve', 'other')
    manager.create(builders.a_lease(end=builders.at(2)), stranger)
    limited = manager.create(waiting())
    behind = manager.create(waiting(), builders.a_member('mallory', 'third'))
    manager.run_until(builders.at(2.5))
    assert manager.lease(limited).state == lifecycle.ACQUIRING
    assert manager.lease(behind).state == lifecycle.ACTIVE


@pytest.mark.usefixtures('rare_polls')
def test_a_waiting_lease_obeys_only_limits_of_resources_that_it_may_get(manager, in_force):
    [host] = manager.enrol(1, gpu='none')
    manager.book(end=builders.at(0.25))
    in_force(limit('lease_length', '30m', criteria=GPU), limit(
        'notice', least='1d', criteria=GPU, name='notice'))
    lease = manager.create(waiting())
    manager.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'A100'})
    assert {each['limit'] for each in refused(manager.create, waiting()).details['limits']} == {
        'rule', 'notice'}
    # The resource counts now, so that the attempt is refused for ever.
    manager.run_until(builders.at(0.5))
    assert manager.lease(lease).state == lifecycle.ERROR

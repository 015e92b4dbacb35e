# SPDX-License-Identifier: Apache-2.0
"""A request without criteria gets no more resources that count than limits with criteria allow."""
import pytest
from support import builders

from climate import errors
from climate.domain import availability
from climate.domain import lifecycle
from climate.domain import records

GPU = '["==", "$gpu", "A100"]'
NO_GPUS = {'name': 'no-gpus', 'measure': 'resources', 'most': 0, 'criteria': GPU,
           'projects': ['demo']}
ONE_GPU = {**NO_GPUS, 'name': 'one-gpu', 'most': 1}
GPU_USERS = {'name': 'gpu-users', 'measure': 'roles', 'roles': ['gpu_user'], 'criteria': GPU}


@pytest.fixture
def mixed(manager):
    """A manager with two hosts with a GPU, which are chosen first, and two other hosts."""
    for place, host in enumerate(manager.enrol(4, gpu='A100')):
        if place > 1:
            manager.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': 'none'})
    return manager


def allow(manager, *limits):
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': list(limits)})


def gpus(lease):
    """Return the number of hosts with a GPU of a lease. The first two hosts have one."""
    return sum(key < 3 for each in lease.reservations for key in each.resource_ids)


def create(manager, count, caller=None, criteria=None, **more):
    return manager.create(builders.a_lease(builders.hosts(count, criteria=criteria), **{
        'end': builders.at(2), **more}), caller)


@pytest.mark.parametrize('limit', [NO_GPUS, GPU_USERS])
def test_a_lease_gets_hosts_that_a_limit_does_not_count(mixed, limit):
    free = create(mixed, 1)
    assert gpus(mixed.lease(free)) == 1
    mixed.delete(free)
    allow(mixed, limit)
    preview = create(mixed, 2, dry_run=True)
    lease = create(mixed, 2)
    assert gpus(mixed.lease(lease)) == 0
    assert preview.reservations[0].resource_ids == lease.reservations[0].resource_ids
    with pytest.raises(errors.LimitExceeded):
        create(mixed, 1)


def test_a_lease_that_the_other_hosts_are_too_few_for_is_refused(mixed):
    allow(mixed, NO_GPUS)
    with pytest.raises(errors.LimitExceeded) as caught:
        create(mixed, 3)
    assert caught.value.details['limit'] == 'no-gpus'


@pytest.mark.parametrize('limit, count, most', [
    (ONE_GPU, 3, 1),
    # An hour of a host with a GPU is left after two hours of one.
    ({**NO_GPUS, 'name': 'gpu-hours', 'measure': 'resource_hours', 'most': 3, 'window': '30d'},
     3, 1),
    ({**NO_GPUS, 'name': 'gpu-cores', 'unit': 'vcpus', 'most': 17}, 3, 1),
    ({**NO_GPUS, 'name': 'gpu-share', 'measure': 'pool_share', 'pool': 'host', 'most': 50}, 3, 1)])
def test_a_lease_gets_some_hosts_that_a_limit_counts_and_some_that_it_does_not(
        mixed, limit, count, most):
    allow(mixed, limit)
    preview = create(mixed, count, dry_run=True)
    lease = create(mixed, count)
    assert gpus(mixed.lease(lease)) == most
    assert preview.reservations[0].resource_ids == lease.reservations[0].resource_ids
    mixed.delete(lease)
    with pytest.raises(errors.LimitExceeded):
        create(mixed, 4)


def test_a_range_of_hosts_gets_as_many_as_a_limit_allows(mixed):
    allow(mixed, ONE_GPU)
    lease = mixed.create(builders.a_lease(builders.hosts(2, 4), end=builders.at(2)))
    assert (gpus(mixed.lease(lease)), len(mixed.lease(lease).reservations[0].resource_ids)) == (
        1, 3)


def test_two_reservations_of_a_lease_share_what_a_limit_allows(mixed):
    allow(mixed, ONE_GPU)
    lease = mixed.create(builders.a_lease(builders.hosts(1), builders.hosts(2), end=builders.at(2)))
    assert gpus(mixed.lease(lease)) == 1
    mixed.delete(lease)
    with pytest.raises(errors.LimitExceeded):
        mixed.create(builders.a_lease(builders.hosts(2), builders.hosts(2), end=builders.at(2)))


def test_two_limits_count_resources_of_one_lease(manager):
    for place, host in enumerate(manager.enrol(5, gpu='A100')):
        gpu = ('A100', 'A100', 'H100', 'H100', 'none')[place]
        manager.client.update_resource(builders.an_admin(), 'host', host.id, {'gpu': gpu})
    allow(manager, ONE_GPU, {**ONE_GPU, 'name': 'one-h100', 'criteria': '["==", "$gpu", "H100"]'})
    [reservation] = create(manager, 3).reservations
    assert len({1, 2}.intersection(reservation.resource_ids)) == 1
    assert len({3, 4}.intersection(reservation.resource_ids)) == 1


def test_instances_are_on_hosts_that_count_only_as_far_as_a_limit_allows(mixed):
    allow(mixed, {**ONE_GPU, 'name': 'gpu-cores', 'unit': 'vcpus', 'most': 8})
    free = mixed.create(builders.a_lease(builders.hosts(
        2, criteria='["==", "$gpu", "none"]'), end=builders.at(2)), builders.a_member(
            project='other'))
    lease = mixed.create(builders.a_lease(builders.instances(2, vcpus=4), end=builders.at(2)))
    assert gpus(mixed.lease(lease)) > 0
    with pytest.raises(errors.LimitExceeded):
        mixed.create(builders.a_lease(builders.instances(1, vcpus=4), end=builders.at(2)))
    mixed.client.delete_lease(builders.a_member(project='other'), free.id)
    more = mixed.create(builders.a_lease(builders.instances(4, vcpus=4), end=builders.at(2)))
    assert gpus(mixed.lease(more)) == 0


def test_an_offer_holds_hosts_that_a_limit_does_not_count(mixed):
    allow(mixed, NO_GPUS)
    offer = mixed.hold(builders.a_lease(builders.hosts(2), end=builders.at(2)))
    assert gpus(mixed.take(offer)) == 0


def test_a_lease_grows_by_hosts_that_a_limit_does_not_count_and_keeps_those_that_it_has(mixed):
    lease = mixed.active(end=builders.at(2))
    assert gpus(mixed.lease(lease)) == 1
    allow(mixed, ONE_GPU)
    mixed.change_reservation(lease, min=3, max=3)
    mixed.run()
    lease = mixed.lease(lease)
    assert (gpus(lease), len(lease.reservations[0].resource_ids)) == (1, 3)


def test_a_swap_takes_a_host_that_a_limit_does_not_count(mixed):
    lease = mixed.active(builders.hosts(criteria='["==", "$gpu", "none"]'),
                         end=builders.at(2))
    [host] = lease.reservations[0].resource_ids
    mixed.change_reservation(lease, resource_properties='')
    mixed.run()
    allow(mixed, NO_GPUS)
    mixed.client.swap_resource(builders.a_member(), lease.id, str(host))
    mixed.run()
    assert gpus(mixed.lease(lease)) == 0


def test_a_waiting_lease_gets_hosts_that_a_limit_does_not_count(mixed):
    allow(mixed, ONE_GPU)
    other = create(mixed, 4, caller=builders.a_member(project='other'))
    lease = create(mixed, 2, end=None, duration_seconds=3600,
                   acquire=records.AcquireRequest('wait'))
    assert lease.state == lifecycle.ACQUIRING
    mixed.client.delete_lease(builders.a_member(project='other'), other.id)
    mixed.run()
    assert gpus(mixed.expect(lease, lifecycle.ACTIVE)) <= 1


def test_a_waiting_lease_waits_until_hosts_are_free_that_a_limit_does_not_count(mixed):
    allow(mixed, NO_GPUS)
    other = create(mixed, 2, caller=builders.a_member(project='other'),
                   criteria='["==", "$gpu", "none"]')
    lease = create(mixed, 1, end=None, duration_seconds=3600,
                   acquire=records.AcquireRequest('wait'))
    assert lease.state == lifecycle.ACQUIRING and 'no-gpus' in lease.reason_text.owner
    mixed.client.delete_lease(builders.a_member(project='other'), other.id)
    mixed.run()
    assert gpus(mixed.expect(lease, lifecycle.ACTIVE)) == 0


def test_a_refusal_names_only_the_limits_that_other_hosts_break_too(mixed):
    allow(mixed, {'name': 'hour', 'measure': 'lease_length', 'most': '1h'}, NO_GPUS)
    with pytest.raises(errors.LimitExceeded) as caught:
        create(mixed, 2)
    assert [each['limit'] for each in caught.value.details['limits']] == ['hour']
    with pytest.raises(errors.LimitExceeded) as caught:
        create(mixed, 3)
    assert [each['limit'] for each in caught.value.details['limits']] == ['hour', 'no-gpus']
    assert caught.value.kwargs['never']


def test_an_opening_starts_when_all_limits_allow_it(mixed):
    allow(mixed, {'name': 'notice', 'measure': 'notice', 'least': '4h'},
          {'name': 'two', 'measure': 'resources', 'most': 2})
    mixed.create(builders.a_lease(builders.hosts(1), start=builders.at(4.5), end=builders.at(7)))
    query = availability.AvailabilityQuery((builders.hosts(2),), 3600, limit=1)
    [opening] = mixed.client.find_availability(builders.a_member(), query).openings
    assert opening.start == builders.at(7)


def test_an_opening_has_hosts_that_a_limit_does_not_count(mixed):
    query = availability.AvailabilityQuery((builders.hosts(2),), 3600, limit=1)
    assert gpus_of_openings(mixed, query) == [2]
    allow(mixed, NO_GPUS)
    assert gpus_of_openings(mixed, query) == [0]


def gpus_of_openings(manager, query):
    """Return the number of hosts with a GPU of each opening."""
    answer = manager.client.find_availability(builders.a_member(), query)
    return [sum(group.count for share in opening.shares for group in share.groups
                if group.properties['gpu'] == 'A100') for opening in answer.openings]

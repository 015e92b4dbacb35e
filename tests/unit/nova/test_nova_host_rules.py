# SPDX-License-Identifier: Apache-2.0
"""The decision of the scheduler filter."""
import pytest

from climate.nova import host_rules

FREEPOOL = host_rules.NovaAggregate('freepool', None, {})
MINE = host_rules.NovaAggregate('r1', 'climate_r1', {'climate:owner': 'me'})
SHARED = host_rules.NovaAggregate('r1', 'climate_r1', {'climate:owner': 'them', 'me': 'x'})
THEIRS = host_rules.NovaAggregate('r1', 'climate_r1', {'climate:owner': 'them'})
ENDED = host_rules.NovaAggregate('r1', 'climate_r1', {})
ZONED = host_rules.NovaAggregate('az1', 'az1', {})
# Aggregates of reservations whose hosts keep the zones of the cloud.
BARE = host_rules.NovaAggregate('r1', None, {'climate:owner': 'me', 'climate:reservation': 'r1'})
BARE_THEIRS = host_rules.NovaAggregate('r1', None, {
    'climate:owner': 'them', 'climate:reservation': 'r1'})
BARE_ENDED = host_rules.NovaAggregate('r1', None, {'climate:reservation': 'r1'})
ORDINARY = host_rules.NovaAggregate('ssd', 'zone-a', {'ssd': 'true'})
ROOM = host_rules.NovaAggregate('r1', None, {'climate:owner': 'me', 'reservation': 'r1'})


def _passes(reservations, *aggregates, project_id='me', flavor_reserved=False, **options):
    return _refusal(reservations, project_id, aggregates, host_rules.AggregateNames(**options),
                    flavor_reserved) is None


def _refusal(reservations, project_id, aggregates, names, flavor_reserved=False):
    """Return the reason against a host, by its aggregates alone; None: it passes."""
    by_flavor = reservations is None and flavor_reserved
    request = host_rules.PlacementRequest([] if by_flavor else reservations, project_id, by_flavor)
    return host_rules.HostRules(request, names).refusals([(None, aggregates)])[0]


@pytest.mark.parametrize('aggregates', [(), (ORDINARY,), (ROOM,)])
def test_an_ordinary_host_takes_ordinary_servers(aggregates):
    assert _passes(None, *aggregates)


@pytest.mark.parametrize('fence', [FREEPOOL, MINE, SHARED, THEIRS, ENDED, BARE, BARE_THEIRS,
                                   BARE_ENDED])
def test_a_reserved_host_takes_no_ordinary_server(fence):
    assert not _passes(None, fence)
    assert not _passes(None, ORDINARY, fence)
    assert not _passes(None, ZONED, fence)


@pytest.mark.parametrize('aggregates', [(MINE,), (SHARED,), (ORDINARY, MINE), (FREEPOOL, MINE),
                                        (BARE,), (ZONED, BARE)])
def test_a_reservation_opens_its_own_hosts(aggregates):
    assert _passes(['r1'], *aggregates)


@pytest.mark.parametrize('aggregates', [(), (ORDINARY,), (FREEPOOL,), (THEIRS,), (ENDED,),
                                        (ZONED, BARE_THEIRS), (ZONED, BARE_ENDED)])
def test_a_reservation_opens_no_other_host(aggregates):
    assert not _passes(['r1'], *aggregates)


def test_a_reservation_does_not_open_the_host_of_another_one():
    assert not _passes(['r2'], MINE)


def test_one_of_several_reservations_opens_the_host():
    assert _passes(['r0', 'r1'], MINE)


def test_a_sub_lease_comes_before_its_parent_on_its_hosts():
    sub_lease = host_rules.NovaAggregate('s1', None, {
        'climate:owner': 'students', 'climate:reservation': 's1',
        host_rules.PARENT + 'r1': 'climate:parent'})
    for aggregates in ((MINE, sub_lease), (sub_lease, MINE)):
        assert not _passes(['r1'], *aggregates)
        assert _passes(['s1'], *aggregates, project_id='students')
        assert not _passes(['s1'], *aggregates)
        assert not _passes(None, *aggregates)


def test_an_empty_hint_opens_no_host():
    assert not _passes([], MINE)
    nameless = host_rules.NovaAggregate('', 'climate_', {'climate:owner': 'me'})
    assert not _passes([''], nameless, ORDINARY, project_id=None)


def test_an_empty_value_shares_nothing():
    assert not _passes(['r1'], host_rules.NovaAggregate('r1', 'climate_r1', {'me': ''}))


def test_a_request_without_a_project_owns_no_aggregate():
    nobody = host_rules.NovaAggregate('r1', 'climate_r1', {'climate:owner': None, '': 'x'})
    assert not _passes(['r1'], nobody, project_id=None)
    assert not _passes(['r1'], nobody, project_id='')


def test_a_flavor_of_a_reservation_is_restricted_by_its_resource_class():
    assert _passes(None, FREEPOOL, flavor_reserved=True)
    assert not _passes(['r2'], FREEPOOL, flavor_reserved=True)


def test_an_empty_prefix_reserves_no_zone():
    assert _passes(None, ORDINARY, zone_prefix='')


def test_each_refusal_has_its_own_reason():
    options = host_rules.AggregateNames()
    assert 'not for this project' in _refusal(['r1'], 'me', [THEIRS], options)
    assert 'not in the reservation' in _refusal(['r1'], 'me', [], options)
    assert 'for others' in _refusal(None, 'me', [FREEPOOL], options)
    assert _refusal(['r1'], 'me', [MINE], options) is None

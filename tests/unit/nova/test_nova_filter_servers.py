# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter and leased servers, in a stand-in for Nova's scheduler."""
import logging

import placing
import pytest
import requests
from support import nova_standin

WITH_R1 = placing.WITH_R1
ALL = placing.ALL
MINE = (ALL[1],)


def request(hints=(), to_host='mine', **options):
    """A request to unshelve or move the server s1, to one host unless that is None."""
    return placing.request(hints, instance_uuid='s1',
                           requested_destination=nova_standin.Destination(to_host), **options)


def paths(climate):
    return [each.path.removeprefix('/v1/') for each in climate.asked]


@pytest.mark.parametrize('reason', [None, 'Lease l1 has not started.', 'Lease l1 ended.'])
def test_an_ordinary_server_gets_ordinary_hosts(asking, climate, reason):
    climate.shows('r1', ordinary=True, reason=reason)
    assert placing.passed(asking, placing.request(WITH_R1)) == ['plain']


def test_an_ordinary_answer_opens_no_reserved_host(asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.shows('r1', ordinary=True, reason='It sleeps not.')
    assert placing.passed(asking, placing.request(WITH_R1), ALL[:2]) == []
    assert '2 reserved for others' in placing.told(caplog)[0]


def test_an_ordinary_server_may_use_ordinary_hosts_and_those_of_other_reservations(asking, climate):
    climate.shows('r0', ordinary=True)
    climate.shows('r1', ['mine'])
    wanted = placing.request({'reservation': ['r0', 'r1']})
    assert placing.passed(asking, wanted) == ['mine', 'plain']


def flavored(hints):
    return placing.request(hints, flavor=nova_standin.Flavor({placing.FLAVOR_KEY: 'r2'}))


def test_an_ordinary_server_gets_the_hosts_of_its_flavor(asking, climate):
    climate.shows('r1', ordinary=True)
    climate.shows('r2', ['free'])
    assert placing.passed(asking, flavored(WITH_R1), ALL[:2]) == ['free']


def test_a_flavor_does_not_open_hosts_before_the_start_of_the_lease(asking, climate):
    climate.shows('r1', reason='Lease l1 has not started.')
    climate.shows('r2', ['free'])
    assert placing.passed(asking, flavored(WITH_R1)) == []


def test_servers_that_boot_together_cost_few_calls(asking, climate):
    for index in range(100):
        climate.shows(f'r{index}', ordinary=True, reason='It has not started.')
    assert placing.passed(asking, placing.request(placing.naming(100))) == ['plain']
    assert len(climate.asked) == 10


def test_the_filter_asks_about_no_more_reservations_than_it_needs(asking, climate):
    for index in range(30):
        climate.shows(f'r{index}', reason='It has not started.')
    climate.shows('r15', ['mine'])
    assert placing.passed(asking, placing.request(placing.naming(30))) == ['mine']
    assert len(climate.asked) == 20


def test_a_server_that_was_booted_with_many_is_asked_about_itself(asking, climate):
    climate.leases('s1', 'r15', ['mine'])
    assert placing.passed(asking, request(placing.naming(30))) == ['mine']
    assert paths(climate) == ['servers/s1/hosts']


def test_a_server_that_just_boots_with_many_is_not_leased_yet(asking, climate):
    climate.leases_not('s1')
    for index in range(30):
        climate.shows(f'r{index}', ordinary=True)
    assert placing.passed(asking, request(placing.naming(30), None)) == ['plain']
    assert len(climate.asked) == 11


@pytest.mark.parametrize('hints', [{}, WITH_R1], ids=['no hint', 'an old hint'])
def test_a_server_that_was_leased_later_is_unshelved_on_its_host(asking, climate, hints):
    climate.shows('r1', reason='Lease l0 ended.')
    climate.leases('s1', 'r7', ['mine'])
    assert placing.passed(asking, request(hints), MINE) == ['mine']
    assert climate.asked[-1].qs == {'project_id': ['me']}


@pytest.mark.parametrize('answer', [
    {'reason': 'Lease l1 has not started.'}, {'hosts': ['elsewhere']}, {'ordinary': True},
    {'hosts': ['mine'], 'owner': 'them'}], ids=str)
def test_a_server_that_was_leased_later_gets_no_other_reserved_host(asking, climate, answer):
    climate.leases('s1', 'r7', **answer)
    theirs = (placing.host('mine', placing.pool(**{'climate:owner': 'them'})),)
    assert placing.passed(asking, request(), theirs) == []


def test_a_server_without_a_lease_gets_no_reserved_host(asking, climate):
    climate.leases_not('s1')
    assert placing.passed(asking, request(), MINE) == []
    assert paths(climate) == ['servers/s1/hosts']


def test_the_filter_does_not_ask_about_a_server_if_no_host_is_demanded_or_one_passes(
        asking, climate):
    assert placing.passed(asking, request(to_host=None), MINE) == []
    assert placing.passed(asking, placing.request(instance_uuid='s1'), MINE) == []
    assert placing.passed(asking, request(to_host='plain'), (ALL[2],)) == ['plain']
    assert climate.asked == []


def test_the_filter_does_not_ask_about_a_server_without_an_id(asking, climate):
    wanted = placing.request(requested_destination=nova_standin.Destination('mine'))
    assert placing.passed(asking, wanted, MINE) == []
    assert climate.asked == []


def test_without_climate_a_server_that_was_leased_later_is_refused(asking, climate):
    climate.is_down(requests.exceptions.ConnectionError)
    assert [placing.passed(asking, request(), MINE) for _ in range(3)] == [[]] * 3
    assert len(climate.asked) == 1, 'further calls pause'
    assert placing.passed(asking, request(WITH_R1), MINE) == []


def test_aggregates_alone_open_no_host_to_a_server_that_was_leased_later():
    with nova_standin.scheduler() as (filter_class, _conf):
        assert placing.passed(filter_class(), request(), MINE) == []


def test_a_server_that_outlives_its_lease_gets_ordinary_hosts(asking, climate):
    climate.knows_not('r1')
    woken = placing.request(WITH_R1, instance_uuid='s1',
                            requested_destination=nova_standin.Destination(cell='cell1'))
    assert placing.passed(asking, woken) == ['plain']
    climate.leases_not('s1')
    booted = placing.request(WITH_R1, instance_uuid='s1',
                             requested_destination=nova_standin.Destination('plain'))
    assert placing.passed(asking, booted) == []


def test_a_server_does_not_get_the_capacity_of_another(asking, climate):
    climate.shows('r1', ['mine'], server_id='s1')
    climate.leases_not('s2')
    assert placing.passed(asking, request(WITH_R1)) == ['mine']
    other = placing.request(WITH_R1, instance_uuid='s2')
    assert placing.passed(asking, other) == []


def test_servers_that_were_booted_together_use_their_own_reservations(asking, climate):
    climate.shows('r0', server_id='s0', ordinary=True, reason='Lease l0 is over.')
    climate.shows('r1', ['mine'], server_id='s1')
    together = {'reservation': ['r0', 'r1']}
    assert placing.passed(asking, request(together)) == ['mine']
    climate.shows('r2', server_id='s1', reason='Lease l1 has not started.')
    asleep = placing.request({'reservation': ['r0', 'r2']}, instance_uuid='s1')
    assert placing.passed(asking, asleep) == []


@pytest.mark.parametrize('other', ['purged', 'never came', 'another server'])
def test_a_lease_that_is_over_opens_no_host_to_a_server_booted_with_its_server(
        asking, climate, other):
    if other == 'purged':
        climate.knows_not('r0')
    else:
        climate.shows('r0', ordinary=True, reason='Lease l0 is over.',
                      server_id='s0' if other == 'another server' else None)
    climate.shows('r1', server_id='s1', reason='Lease l1 has not started.')
    woken = placing.request({'reservation': ['r0', 'r1']}, instance_uuid='s1',
                            requested_destination=nova_standin.Destination(cell='cell1'))
    assert placing.passed(asking, woken) == []
    climate.shows('r1', server_id='s1', ordinary=True, reason='Lease l1 is over.')
    assert placing.passed(asking, woken) == ['plain']


ROOM = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 20, 'CUSTOM_GPU': 1}
GPU = 'resources:CUSTOM_GPU'


@pytest.mark.parametrize('flavor', [
    placing.sized(), placing.sized(2, 2048, 20, **{GPU: '1'}), placing.sized(2, 2048, 10, 9, 1024),
    placing.sized(9, **{'resources:VCPU': '0'}), nova_standin.Flavor({})], ids=str)
def test_a_server_has_the_capacity_of_its_reservation(asking, climate, flavor):
    climate.shows('r1', ['mine'], server_id='s1', room=ROOM)
    assert placing.passed(asking, request(WITH_R1, flavor=flavor)) == ['mine']


@pytest.mark.parametrize('flavor', [
    placing.sized(3), placing.sized(2, 2049), placing.sized(2, 2048, 21),
    placing.sized(2, 2048, 15, 6), placing.sized(2, 2048, 20, 0, 1),
    placing.sized(**{GPU: '2'}), placing.sized(**{'resources:CUSTOM_FPGA': '1'}),
    placing.sized(**{'hw:cpu_policy': 'dedicated'})], ids=str)
def test_a_server_that_is_resized_gets_no_capacity_of_others(asking, climate, caplog, flavor):
    caplog.set_level(logging.INFO)
    climate.shows('r1', ['mine'], server_id='s1', room=ROOM)
    climate.leases('s1', 'r1', ['mine'], room=ROOM)
    assert placing.passed(asking, request(WITH_R1, flavor=flavor)) == []
    assert '1 larger than the capacity that its reservation holds' in placing.told(caplog)[0]
    assert placing.passed(asking, request(flavor=flavor), MINE) == []


def test_an_ordinary_server_may_grow_on_ordinary_hosts(asking, climate):
    climate.shows('r1', ['mine'], server_id='s1', room=ROOM, ordinary=True)
    large = request(WITH_R1, None, flavor=placing.sized(64))
    assert placing.passed(asking, large) == ['plain']


@pytest.mark.parametrize('room', ['big', [1], {'VCPU': 'many'}, {'VCPU': None}], ids=str)
def test_a_capacity_that_cannot_be_read_is_no_answer(asking, climate, room):
    climate.shows('r1', ['mine'], room=room)
    assert placing.passed(asking, request(WITH_R1)) == []


def test_an_older_climate_opens_no_host_to_an_idle_reservation(asking, climate):
    climate.answers('r1', {'json': {'reservation': {
        'id': 'r1', 'active': False, 'usable': False, 'reason': 'idle', 'service_hosts': []}}})
    assert placing.passed(asking, placing.request(WITH_R1)) == []


def test_a_server_gets_the_host_that_is_held_for_it(asking, climate):
    climate.shows('r1', ['free'])
    assert placing.passed(asking, placing.request(WITH_R1)) == ['free']


def test_a_server_before_its_start_gets_no_host(asking, climate):
    climate.shows('r1', reason='Lease l1 has not started.')
    assert placing.passed(asking, placing.request(WITH_R1)) == []

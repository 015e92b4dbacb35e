# SPDX-License-Identifier: Apache-2.0
"""The scheduler filter, in a stand-in for Nova's scheduler."""
import logging

import placing
import pytest
import requests
from support import nova_standin

ALL, FREEPOOL, WITH_R1 = placing.ALL, placing.FREEPOOL, placing.WITH_R1
host, pool, passed, told = placing.host, placing.pool, placing.passed, placing.told
request, flavored = placing.request, placing.flavored


@pytest.fixture
def alone():
    """The filter, deciding by aggregates alone."""
    with nova_standin.scheduler() as (filter_class, _conf):
        yield filter_class()


def test_an_ordinary_request_gets_ordinary_hosts(alone):
    assert passed(alone, request()) == ['plain']


def test_a_request_with_a_reservation_gets_its_hosts(alone):
    assert passed(alone, request(WITH_R1)) == ['mine']


def test_the_filter_decides_about_a_single_host(alone):
    assert alone.host_passes(ALL[1], request(WITH_R1))
    assert not alone.host_passes(ALL[1], request())


def test_a_flavor_of_a_reservation_passes(alone):
    assert passed(alone, flavored()) == ['free', 'mine', 'plain']


def test_a_flavor_without_loaded_extra_specs_is_ordinary(alone):
    assert passed(alone, request(flavor=nova_standin.Flavor(None))) == ['plain']


def test_the_filter_runs_once_per_request(alone):
    assert alone.run_filter_once_per_request


def test_a_refused_reservation_is_logged_with_the_reason(alone, caplog):
    caplog.set_level(logging.INFO)
    assert passed(alone, request(WITH_R1, project_id='other')) == []
    [line] = told(caplog)
    assert 'hint reservation=r1 of project other has no host' in line
    assert '1 its reservation is not for this project' in line
    assert '2 not in the reservation' in line


def test_a_filter_without_a_login_warns_once(caplog):
    with nova_standin.scheduler() as (filter_class, _conf):
        alone = filter_class()
        for _ in range(3):
            passed(alone, request(WITH_R1))
    assert [record.getMessage() for record in caplog.records
            if record.levelno == logging.WARNING] == [
        'ClimateFilter decides by aggregates alone: there is no auth_type in [climate]']


def test_a_filter_with_ask_climate_false_does_not_call_climate(climate, login, write):
    with nova_standin.scheduler(write(login | {'ask_climate': False})) as (filter_class, _conf):
        assert passed(filter_class(), request(WITH_R1)) == ['mine']
    assert climate.asked == []


def test_the_names_come_from_nova_conf(write):
    names = write({'availability_zone_prefix': 'other_', 'aggregate_freepool': 'elsewhere'})
    with nova_standin.scheduler(names) as (filter_class, _conf):
        assert passed(filter_class(), request()) == ['free', 'mine', 'plain']


def test_the_names_of_blazar_can_be_set(climate, login, write):
    theirs = nova_standin.Aggregate('r1', {'availability_zone': 'blazar_r1',
                                           'blazar:owner': 'me'})
    names = {'availability_zone_prefix': 'blazar_', 'aggregate_owner_key': 'blazar:owner'}
    hosts = (host('mine', theirs), host('plain'))
    climate.shows('r1', ['mine'])
    for options in (names, names | login):
        with nova_standin.scheduler(write(options)) as (filter_class, _conf):
            made = filter_class()
            assert passed(made, request(WITH_R1), hosts) == ['mine']
            assert passed(made, request(), hosts) == ['plain']


def test_the_filter_makes_one_call_for_any_number_of_hosts(asking, climate):
    climate.shows('r1', ['mine'])
    assert passed(asking, request(WITH_R1), ALL * 100) == ['mine'] * 100
    assert len(climate.asked) == 1


def test_an_ordinary_request_needs_no_call_of_climate(asking, climate):
    assert passed(asking, request()) == ['plain']
    assert climate.asked == []


def test_a_request_without_hosts_needs_no_call_of_climate(asking, climate):
    assert passed(asking, request(WITH_R1), ()) == []
    assert climate.asked == []


def test_a_rebuild_passes_without_a_call_of_climate(asking, climate):
    wanted = request({'_nova_check_type': ['rebuild'], 'reservation': ['gone']})
    assert passed(asking, wanted) == ['free', 'mine', 'plain']
    assert climate.asked == []


@pytest.mark.parametrize('reason', [
    'Lease l1 has not started; it starts at 2030-05-01 13:00:00 UTC.',
    'Lease l1 ended at 2030-05-01 13:00:00 UTC.'])
def test_a_lease_that_does_not_run_opens_no_host_and_the_log_has_the_reason(
        asking, climate, caplog, reason):
    caplog.set_level(logging.INFO)
    climate.shows('r1', reason=reason)
    assert passed(asking, request(WITH_R1)) == []
    [line] = told(caplog)
    assert line == f'Request with the hint reservation=r1 of project me has no host: 3 {reason}'


def test_an_unknown_reservation_opens_no_host(asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.knows_not('r1')
    assert passed(asking, request(WITH_R1)) == []
    assert '3 no reservation has this id' in told(caplog)[0]


def test_a_lease_of_another_project_opens_no_host(asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.shows('r1', ['mine'], owner='them')
    hosts = (host('mine', pool(**{'climate:owner': 'them'})), host('plain'))
    assert passed(asking, request(WITH_R1), hosts) == []
    assert '1 It belongs to another project.' in told(caplog)[0]


def test_a_lease_that_is_shared_opens_its_hosts(asking, climate):
    climate.shows('r1', ['mine', 'stale'], owner='them')
    shared = pool(**{'climate:owner': 'them', 'me': 'x'})
    hosts = (host('mine', shared), host('stale', FREEPOOL), host('not in it', shared))
    assert passed(asking, request(WITH_R1), hosts) == ['mine']


def test_a_share_by_climate_opens_no_host_after_its_withdrawal(asking, climate):
    climate.shows('r1', ['mine'], owner='them')
    # The event that removes the key from the aggregate has not been carried out yet.
    shared = pool(**{'climate:owner': 'them', 'me': 'climate:share'})
    assert passed(asking, request(WITH_R1), (host('mine', shared),)) == []


def test_a_shared_lease_opens_no_host_after_its_end(asking, climate):
    climate.shows('r1', owner='them', reason='Lease l1 ended.')
    assert passed(asking, request(WITH_R1), (host('mine', pool(me='x')),)) == []


@pytest.mark.parametrize(('hosts', 'expected'), [(['free'], ['free']), (['elsewhere'], [])])
def test_the_answer_of_climate_wins_over_outdated_aggregates(asking, climate, hosts, expected):
    climate.shows('r1', hosts)
    assert passed(asking, request(WITH_R1)) == expected


def test_a_cached_answer_that_the_aggregates_contradict_is_read_again(asking, climate):
    climate.shows('r1', ['mine'])
    assert passed(asking, request(WITH_R1)) == ['mine']
    climate.shows('r1', reason='Lease l1 ended.')
    assert passed(asking, request(WITH_R1)) == ['mine'], 'cached, and no aggregate contradicts it'
    assert len(climate.asked) == 1
    gone = (host('mine', FREEPOOL), host('plain'))
    assert passed(asking, request(WITH_R1), gone) == []
    assert len(climate.asked) == 2


def test_a_cached_answer_does_not_refuse_a_request(asking, climate):
    climate.shows('r1', ['mine'])
    assert passed(asking, request(WITH_R1)) == ['mine']
    climate.shows('r1', ['mine', 'new'])
    # Nova does not know the new aggregate of the host yet, either.
    assert passed(asking, request(WITH_R1), (host('new', FREEPOOL),)) == ['new']
    assert len(climate.asked) == 2


def test_a_boot_right_after_a_refused_one_sees_that_the_lease_has_started(asking, climate):
    climate.shows('r1', reason='Lease l1 has not started.')
    assert passed(asking, request(WITH_R1)) == []
    climate.shows('r1', ['mine'])
    assert passed(asking, request(WITH_R1)) == ['mine']


def test_requests_with_a_hint_are_refused_without_climate_and_other_requests_pass(
        asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.is_down(requests.exceptions.ConnectionError)
    assert passed(asking, request(WITH_R1)) == []
    assert passed(asking, flavored()) == []
    assert passed(asking, request()) == ['plain']
    assert '3 because Climate cannot be asked (ConnectFailure' in told(caplog)[0]


def test_one_of_several_reservations_opens_the_host(asking, climate):
    climate.knows_not('r0')
    climate.shows('r1', ['mine'])
    assert passed(asking, request({'reservation': ['r0', 'r1']})) == ['mine']


def test_too_many_reservations_are_not_asked_about(asking, climate, caplog):
    caplog.set_level(logging.INFO)
    assert passed(asking, request(placing.naming(101))) == []
    assert climate.asked == []
    assert 'more than 100 reservations' in told(caplog)[0]


def test_an_empty_hint_opens_no_host(asking, climate):
    assert passed(asking, request({'reservation': []})) == []
    assert passed(asking, request({'reservation': ['../leases']})) == []
    assert climate.asked == []


def test_the_filter_asks_about_the_reservation_of_a_flavor(asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.shows('r2', ['free'])
    assert passed(asking, flavored('r2')) == ['free']
    climate.shows('r3', reason='Lease l3 ended.')
    assert passed(asking, flavored('r3')) == []
    assert 'flavor of reservation=r3' in told(caplog)[0]


def test_a_hint_with_a_lease_gets_the_hosts_of_its_only_reservation(asking, climate):
    climate.answers('l1', {'json': {'reservation': {
        'id': 'r1', 'lease_id': 'l1', 'project_id': 'me', 'active': True, 'usable': True,
        'reason': None, 'hosts': ['mine'], 'service_hosts': ['mine']}}})
    for _ in range(2):
        assert passed(asking, request({'reservation': ['l1']})) == ['mine']
    # The second answer came from the cache: the aggregate of r1 did not make it doubtful.
    assert len(climate.asked) == 1


def test_a_lease_with_several_reservations_has_no_host_and_the_log_names_them(
        asking, climate, caplog):
    caplog.set_level(logging.INFO)
    climate.answers('l1', {'json': {'reservation': {
        'id': 'l1', 'lease_id': 'l1', 'project_id': 'me', 'active': False, 'usable': False,
        'reason': 'Lease l1 has 2 reservations: name one of them instead: r1, r2.',
        'hosts': [], 'service_hosts': []}}})
    assert passed(asking, request({'reservation': ['l1']})) == []
    assert 'Lease l1 has 2 reservations: name one of them instead: r1, r2.' in told(caplog)[0]

# SPDX-License-Identifier: Apache-2.0
"""The commands about leases, run as a user runs them."""
import re

import pytest
from unit.client import canned

URL = canned.URL
LEASE_ID = canned.LEASE_ID
LEASE_URL = f'{URL}/leases/{LEASE_ID}'


@pytest.fixture
def demo(requests_mock):
    """A service that has the lease "demo"."""
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease()]})
    requests_mock.get(LEASE_URL, json={'lease': canned.a_lease()}, headers={'ETag': '"7"'})
    requests_mock.put(LEASE_URL, json={'lease': canned.a_lease()})
    requests_mock.post(f'{URL}/leases', json={'lease': canned.a_lease()}, status_code=201)
    requests_mock.delete(LEASE_URL, status_code=204)
    losses = {'lease': canned.a_lease(), 'losses': []}
    requests_mock.put(f'{LEASE_URL}?dry_run=true', json=losses)
    requests_mock.delete(f'{LEASE_URL}?dry_run=true', json=losses)
    return requests_mock


def test_a_list_shows_id_name_status_and_what_remains(run, demo):
    outcome = run('lease', 'list')
    assert outcome.code == 0
    header, row = [line for line in outcome.out.splitlines() if '|' in line]
    assert header.split() == ['|', 'name', '|', 'status', '|', 'remaining', '|', 'id', '|']
    assert re.search('starts in .*| left | ago ', row)
    assert '2030-05-01 08:00 UTC' in run('lease', 'list', '-c', 'start').out
    assert outcome.err == ''


def test_programs_get_times_as_the_wire_has_them(run, demo):
    assert run('lease', 'list', '-f', 'json').json == [{
        'id': LEASE_ID, 'name': 'demo', 'status': 'inactive', 'start': '2030-05-01T08:00:00Z',
        'end': '2030-05-01T10:00:00Z'}]


def test_filters_of_a_list_are_sent(run, demo):
    run('lease', 'list', '--status', 'active', '--name', 'demo', '--project', 'p1',
        '--all-projects', '--deleted', '--long', '--sort', 'end:desc,name', '--limit', '5')
    assert demo.last_request.qs == {
        'status': ['active'], 'name': ['demo'], 'project': ['p1'], 'all_projects': ['true'],
        'deleted': ['true'], 'sort': ['end:desc,name'], 'limit': ['5']}


def test_all_statuses_that_are_given_are_taken(run, demo):
    run('lease', 'list', '--status', 'active', '--status', 'error')
    assert demo.last_request.qs['status'] == ['active,error']


def test_leases_that_are_over_are_listed_last(run, demo):
    over, fresh = (canned.a_lease(id=name, name=name) for name in ('over', 'fresh'))
    living = ('inactive,to_be_started,in_progress,starting,active,updating,terminating,deleting,'
              'error')
    demo.get(f'{URL}/leases?status={living}', json={'leases': [fresh]}, complete_qs=False)
    demo.get(f'{URL}/leases?status=terminated,timedout', json={'leases': [over, fresh]})
    assert run('lease', 'list', '-f', 'value', '-c', 'id').out == 'fresh\nover\n'
    assert run('lease', 'list', '--limit', '1', '-f', 'value', '-c', 'id').out == 'fresh\n'


def test_an_administrator_finds_a_lease_of_another_project_by_name(run, demo):
    demo.get(f'{URL}/leases', json={'leases': []})
    demo.get(f'{URL}/leases?all_projects=true', json={'leases': [canned.a_lease()]})
    assert run('lease', 'show', 'demo', '-f', 'value', '-c', 'id').out == f'{LEASE_ID}\n'
    demo.get(f'{URL}/leases?all_projects=true', status_code=403, json={
        'error_code': 403, 'error_name': 'forbidden', 'error_message': 'No.'})
    outcome = run('lease', 'show', 'demo')
    assert (outcome.code, outcome.out) == (1, '')
    assert 'No lease is called "demo".' in outcome.err


@pytest.mark.parametrize('words', [
    ('create', 'x', '--hosts', '1', '--duration', '1h'), ('set', LEASE_ID, '--name', 'x')])
def test_a_dry_run_says_that_nothing_was_made(run, demo, words):
    demo.post(f'{URL}/leases', json={'lease': canned.a_lease()})
    assert run('lease', *words, '--dry-run').err.endswith(
        'Dry run: nothing was created or changed.\n')
    assert 'Dry run' not in run('lease', *words).err


def test_a_dry_run_shows_the_price_in_lines(run, demo):
    demo.post(f'{URL}/leases', json={'lease': canned.a_lease(price={
        'amount': '7.00', 'currency': 'EUR', 'lines': [
            {'kind': 'lease_fee', 'amount': '2.00', 'price_book': 1},
            {'kind': 'resource_hours', 'amount': '5.00', 'price_book': 1, 'hours': '10.000000',
             'rate': '0.50', 'resource_type': 'physical:host', 'pool': 'host'}]})})
    out = run('lease', 'create', 'x', '--hosts', '1', '--duration', '10h', '--dry-run').out
    for line in (' 7.00 EUR ', '  2.00 lease_fee ',
                 '  5.00 resource_hours 10.000000 h of host at 0.50 '):
        assert f'{line.rstrip()}\n' in out


def test_show_tells_reservations_events_and_the_remaining_time(run, demo):
    outcome = run('lease', 'show', 'demo')
    assert """
Reservations
  physical:host, pending: number 3, number 4
    1 to 2 wanted
    that meet vcpus>=16
    id r1

Boot a server with this lease
  not before the lease is active:
  openstack server create --image IMAGE --flavor FLAVOR \\
      --hint reservation=r1 NAME

Events
  2030-05-01 08:00 UTC  start, planned
  2030-05-01 10:00 UTC  end, planned

Record
""" in outcome.out
    shown = run('lease', 'show', LEASE_ID, '-f', 'json').json
    assert shown['remaining'].startswith(('starts in', 'ended'))
    assert shown['reservations'][0]['resources'] == ['3', '4']


def reservation(**changes):
    return {'id': 'r2', 'resource_type': 'virtual:instance', 'status': 'pending', **changes}


@pytest.mark.parametrize('found, line, more', [
    ({'resource_type': 'physical:host'},
     'openstack server create --image IMAGE --flavor FLAVOR --hint reservation=r2 NAME',
     {'arguments': ['--hint', 'reservation=r2']}),
    ({'flavor_id': 'r2', 'server_group_id': None},
     'openstack server create --image IMAGE --flavor r2 NAME', {'arguments': [
        '--flavor', 'r2']}),
    ({'resource_type': 'flavor:instance', 'flavor_id': 'r2', 'server_group_id': 'g'},
     'openstack server create --image IMAGE --flavor r2 --hint group=g NAME',
     {'arguments': ['--flavor', 'r2', '--hint', 'group=g']}),
    ({'resource_id': 's1', 'flavor_id': '2'}, 'nothing: server s1 is leased itself',
     {'server_id': 's1'}),
    ({'resource_id': None, 'flavor_id': '2'}, 'nothing: reservation r2 waits for its server',
     {'server_id': None}),
])
def test_show_tells_what_to_pass_to_server_create(run, demo, found, line, more):
    for status in ('active', 'pending'):
        demo.get(LEASE_URL, json={'lease': canned.a_lease(
            reservations=[reservation(status=status, **found)])})
        usable = {'usable': status == 'active'} if 'arguments' in more else {}
        early = 'not before the lease is active: ' if usable == {'usable': False} else ''
        out = run('lease', 'show', LEASE_ID).out
        shown = run('lease', 'show', LEASE_ID, '-f', 'json').json
        assert shown['server_create'] == [{'reservation_id': 'r2', **usable, **more}]
        assert f'{early}{line}' in ' '.join(out.replace('\\\n', '').split())


def test_held_back_resources_are_not_shown_as_those_of_the_lease(run, demo):
    reservation = {**canned.a_lease()['reservations'][0], 'resources': ['3', '4']}
    for status, words in (('in_progress', 'pending: held back: number 3, number 4'),
                          ('active', 'pending: number 3, number 4')):
        demo.get(LEASE_URL, json={'lease': canned.a_lease(
            status=status, reservations=[reservation], events=[])})
        assert words in run('lease', 'show', LEASE_ID).out


def test_a_lease_that_waits_has_no_times_yet(run, demo):
    waiting = canned.a_lease(status='in_progress', before_end='2030-05-01T09:00:00Z', events=[])
    demo.get(LEASE_URL, json={'lease': waiting})
    demo.get(f'{URL}/leases', json={'leases': [waiting]})
    for words, count in ((('list',), 1), (('list', '-c', 'start', '-c', 'end'), 2),
                         (('show', LEASE_ID), 3)):
        out = run('lease', *words).out
        assert (out.count('not known yet'), '08:00' in out) == (count, False)
    assert run('lease', 'show', LEASE_ID, '-f', 'json').json['start'] == '2030-05-01T08:00:00Z'


@pytest.mark.parametrize('found', [
    {'resource_type': 'virtual:floatingip'}, {'resource_id': 's1', 'status': 'deleted'},
    *({'resource_type': f'virtual:{kind}', 'resource_id': resource_id}
      for kind in ('volume', 'stack', 'cluster') for resource_id in (None, 's1')),
    {'resource_type': 'physical:host', 'status': 'error'}])
def test_no_server_is_created_with_what_is_over_or_of_another_kind(run, demo, found):
    demo.get(LEASE_URL, json={'lease': canned.a_lease(reservations=[reservation(**found)])})
    assert run('lease', 'show', LEASE_ID, '-f', 'json').json['server_create'] == []


def test_a_dry_run_does_not_tell_what_to_pass_to_server_create(run, demo):
    words = ('lease', 'create', 'demo', '--hosts', '1', '--duration', '1h', '-f', 'json')
    assert 'server_create' not in run(*words, '--dry-run').json
    assert run(*words).json['server_create'] == [
        {'reservation_id': 'r1', 'usable': False, 'arguments': ['--hint', 'reservation=r1']}]


def test_a_server_is_leased_with_reservation_words_too(run, demo):
    outcome = run('lease', 'create', 'demo', '--duration', '1h', '--reservation',
                  f'type=virtual:instance,resource_id={canned.SERVER_ID},on_end=shelve')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(demo).json()['reservations'] == [{
        'resource_type': 'virtual:instance', 'resource_id': canned.SERVER_ID,
        'on_end': 'shelve'}]


def test_create_with_reservation_words(run, demo):
    outcome = run('lease', 'create', 'demo', '--reservation',
                  'type=physical:host,min=1,max=2,properties=[">=","$vcpus","16"]',
                  '--end', '2030-5-1 10:00', '--before-end', '2030-5-1 09:00', '--key', 'k1')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(demo).json() == {
        'name': 'demo', 'start': 'now', 'end': '2030-05-01T10:00:00Z',
        'before_end': '2030-05-01T09:00:00Z', 'reservations': [{
            'resource_type': 'physical:host', 'min': 1, 'max': 2,
            'resource_properties': '[">=","$vcpus","16"]'}]}
    assert canned.last_change(demo).headers['Idempotency-Key'] == 'k1'


def test_reservations_are_put_in_order(run, demo):
    outcome = run('lease', 'create', 'demo', '--duration', '1h',
                  '--reservation', 'type=virtual:dummy,label=net',
                  '--reservation', 'type=virtual:dummy,depends_on=net')
    assert outcome.code == 0, outcome.err
    assert canned.last_change(demo).json()['reservations'] == [
        {'resource_type': 'virtual:dummy', 'label': 'net'},
        {'resource_type': 'virtual:dummy', 'depends_on': ['net']}]


def test_create_with_hosts_and_conditions(run, demo):
    run('lease', 'create', 'demo', '--hosts', '1-4', '--require', 'vcpus>=16', '--require',
        'gpu=True', '--duration', '2h', '--dry-run')
    assert canned.last_change(demo).json() == {
        'name': 'demo', 'start': 'now', 'duration': 7200, 'reservations': [{
            'resource_type': 'physical:host', 'min': 1, 'max': 4, 'resource_properties':
            '["and", [">=", "$vcpus", "16"], ["==", "$gpu", "True"]]'}]}
    assert canned.last_change(demo).qs == {'dry_run': ['true']}


def test_end_and_duration_leave_the_start_to_the_service(run, demo):
    run('lease', 'create', 'demo', '--hosts', '1', '--end', '2030-5-1 10:00', '--duration', '1h')
    assert 'start' not in canned.last_change(demo).json()


def test_create_and_wait_reports_progress_on_stderr_only(run, demo):
    demo.post(f'{URL}/leases', status_code=201, json={'lease': canned.a_lease(
        start='2020-01-01T00:00:00Z', status='to_be_started')})
    demo.get(LEASE_URL, json={'lease': canned.a_lease(status='active')})
    outcome = run('lease', 'create', 'demo', '--hosts', '1', '--duration', '1h', '--wait', '-f',
                  'value', '-c', 'status')
    assert (outcome.code, outcome.out, outcome.err) == (0, 'active\n', 'Lease demo: active\n')


def test_create_and_wait_for_a_later_lease_waits_until_it_is_booked(run, demo):
    later = {'lease': canned.a_lease(start='2999-01-01T00:00:00Z', end='2999-01-01T01:00:00Z')}
    demo.post(f'{URL}/leases', status_code=201, json=later)
    demo.get(LEASE_URL, json=later)
    outcome = run('lease', 'create', 'demo', '--hosts', '1', '--start', '2999-1-1 00:00',
                  '--duration', '1h', '--wait', '-f', 'value', '-c', 'status')
    assert (outcome.code, outcome.out) == (0, 'inactive\n')


@pytest.mark.parametrize('words, expected', [
    (['--hosts', '1'], 'The lease has no end: give --duration 2h'),
    (['--duration', '1h'], 'What to reserve? Give --hosts 2'),
    (['--hosts', '1', '--start', 'now', '--end', '+2h', '--duration', '1h'], 'Give two of'),
    (['--hosts', '1', '--duration', 'long'], '--duration: "long" is not a duration'),
    (['--hosts', '1', '--start', 'soon'], '--start: "soon" is not a time: write'),
    (['--hosts', '1', '--end', '+2h', '--dry-run', '--wait'],
     '--wait cannot be combined with --dry-run.'),
])
def test_a_wrong_create_says_what_is_expected_and_sends_nothing(
        run, requests_mock, words, expected):
    outcome = run('lease', 'create', 'demo', *words)
    assert outcome.code != 0
    assert expected in outcome.err
    assert 'Traceback' not in outcome.err
    assert requests_mock.call_count == 0


def test_a_status_that_does_not_exist_is_answered_with_those_that_do(run):
    outcome = run('lease', 'wait', 'demo', '--status', 'done')
    assert outcome.code == 2
    assert 'active' in outcome.err


def test_set_sends_what_changes(run, demo):
    run('lease', 'set', 'demo', '--name', 'new', '--end', '2030-5-1 11:00', '--reservation',
        'id=r1,max=3')
    assert canned.last_change(demo).json() == {
        'name': 'new', 'end': '2030-05-01T11:00:00Z', 'reservations': [{'id': 'r1', 'max': 3}]}


def test_a_condition_beside_a_reservation_that_it_would_not_hold_for_is_refused(
        run, requests_mock):
    outcome = run('lease', 'create', 'demo', '--reservation', 'type=physical:host,min=1',
                  '--require', 'vcpus>=64', '--duration', '1h')
    assert (outcome.code, requests_mock.call_count) == (2, 0)
    assert '--require is for --hosts' in outcome.err


def test_set_without_a_change_is_refused(run, requests_mock):
    outcome = run('lease', 'set', 'demo')
    assert outcome.code == 2
    assert 'Nothing to change: give --name' in outcome.err


@pytest.mark.parametrize('words, end', [
    (['--by', '30m'], '2030-05-01T10:30:00Z'),
    (['--to', '2030-5-1 12:00'], '2030-05-01T12:00:00Z')])
def test_extend_by_a_span_or_to_a_time(run, demo, words, end):
    assert run('lease', 'extend', 'demo', *words).code == 0
    assert canned.last_change(demo).json() == {'end': end}


LATEST = {'end': '2030-05-01T15:00:00Z', 'limited': True, 'reason': 'Only 0 of 1 hosts are free.',
          'obstacles': [{'resource_id': '1', 'resource_name': 'compute-1', 'kind': 'own',
                         'start': '2030-05-01T15:00:00Z', 'lease_id': LEASE_ID,
                         'lease_name': 'next'}]}


def test_extend_shows_the_latest_end_and_what_prevents_a_later_one(run, demo):
    demo.get(f'{LEASE_URL}/latest_end', json={'latest_end': LATEST})
    outcome = run('lease', 'extend', 'demo', '--show-latest')
    assert outcome.code == 0
    assert 'lease next from 2030-05-01 15:00 UTC: compute-1' in outcome.out
    assert [call.method for call in demo.request_history if call.method == 'PUT'] == []


@pytest.mark.parametrize('option', ['--max', '--latest'])
def test_extend_as_far_as_possible_says_what_prevents_a_later_end(run, demo, option):
    demo.get(f'{LEASE_URL}/latest_end', json={'latest_end': LATEST})
    outcome = run('lease', 'extend', 'demo', option)
    assert outcome.code == 0
    assert canned.last_change(demo).json() == {'end': '2030-05-01T15:00:00Z'}
    assert ('Extended until 2030-05-01 15:00 UTC. What prevents a later end: Only 0 of 1 hosts are '
            'free.') in outcome.err


def test_extend_as_far_as_possible_names_an_end_if_nothing_limits_it(run, demo):
    demo.get(f'{LEASE_URL}/latest_end', json={'latest_end': {
        **LATEST, 'limited': False, 'reason': None, 'obstacles': []}})
    outcome = run('lease', 'extend', 'demo', '--max')
    assert outcome.code == 2
    assert 'it can be extended until 2030-05-01 15:00 UTC at least' in outcome.err
    assert 'climate lease extend demo --to "2030-05-01 15:00 UTC"' in outcome.err


def test_extend_as_far_as_possible_gives_the_reason_if_no_later_end_is_possible(run, demo):
    demo.get(f'{LEASE_URL}/latest_end', json={'latest_end': {
        **LATEST, 'end': '2030-05-01T10:00:00Z', 'reason': 'Ask again tomorrow.'}})
    outcome = run('lease', 'extend', 'demo', '--max')
    assert outcome.code == 2
    assert 'The lease cannot be extended now: Ask again tomorrow.' in outcome.err


@pytest.mark.parametrize('words, step', [
    (['extend', 'demo', '--while-free', '1d'], 86400),
    (['set', 'demo', '--while-free', '2h'], 7200),
    (['set', 'demo', '--no-while-free'], 0)])
def test_a_lease_gets_steps_or_loses_them(run, demo, words, step):
    assert run('lease', *words).code == 0
    assert canned.last_change(demo).json() == {'while_free': step}


def test_a_lease_shows_its_steps(run, demo):
    demo.get(LEASE_URL, json={'lease': canned.a_lease(while_free=86400)})
    outcome = run('lease', 'show', LEASE_ID, '-c', 'while_free', '-f', 'table')
    assert 'goes on in steps of 1d while nobody else needs its resources' in outcome.out
    assert run('lease', 'show', LEASE_ID, '-c', 'while_free', '-f', 'value').out == '86400\n'


def test_end_and_wait(run, demo):
    demo.get(LEASE_URL, json={'lease': canned.a_lease(status='terminated')})
    outcome = run('lease', 'end', LEASE_ID, '--wait', '-f', 'value', '-c', 'status')
    assert (outcome.code, outcome.out) == (0, 'terminated\n')
    assert [call.json() for call in demo.request_history if call.method == 'PUT'] == [
        {'end': 'now'}]


def test_delete_several_goes_on_after_a_failure(run, demo):
    other = '99999999-2222-4333-8444-555555555555'
    demo.get(f'{URL}/leases/{other}', status_code=404, json={'error_message': 'No such lease.'})
    outcome = run('lease', 'delete', other, 'demo')
    assert outcome.code == 1
    assert outcome.err == (
        f'{other}: No such lease.\n1 of 2 leases failed.\n'
        'Hint: The others are done: repeat the command with the failed ones only.\n')
    assert {call.path for call in demo.request_history if call.method == 'DELETE'} == {
        f'/v1/leases/{LEASE_ID}'}


def test_delete_says_nothing_when_all_went_well(run, demo):
    outcome = run('lease', 'delete', 'demo')
    assert (outcome.code, outcome.out, outcome.err) == (0, '', '')


def test_delete_and_wait_until_it_is_gone(run, demo):
    demo.get(LEASE_URL, [{'json': {'lease': canned.a_lease()}},
                         {'status_code': 404, 'json': {'error_message': 'gone'}}])
    assert run('lease', 'delete', LEASE_ID, '--wait').code == 0


def test_wait_fails_with_the_reason(run, demo):
    demo.get(LEASE_URL, json={'lease': canned.a_lease(status='error', status_reason='No power')})
    outcome = run('lease', 'wait', 'demo')
    assert outcome.code == 1
    assert 'is error and will not become active: No power' in outcome.err


def test_a_wait_that_is_broken_off_names_the_lease(run, demo):
    demo.get(LEASE_URL, [{'json': {'lease': canned.a_lease()}}, {'exc': KeyboardInterrupt}])
    outcome = run('lease', 'wait', LEASE_ID)
    assert outcome.code == 130
    assert f'lease {LEASE_ID} goes on' in outcome.err


def test_a_create_whose_wait_is_broken_off_names_the_lease(run, demo):
    demo.post(f'{URL}/leases', status_code=201, json={'lease': canned.a_lease()})
    demo.get(LEASE_URL, exc=KeyboardInterrupt)
    outcome = run('lease', 'create', 'demo', '--hosts', '1', '--start', 'now', '--duration', '1h',
                  '--wait')
    assert outcome.code == 130
    assert f'lease {LEASE_ID} goes on' in outcome.err


def test_wait_gives_up(run, demo):
    outcome = run('lease', 'wait', 'demo', '--timeout', '0')
    assert outcome.code == 1
    assert 'is still inactive after 0 s' in outcome.err


def test_a_refusal_prints_the_message_and_with_debug_the_request_id(run, demo):
    demo.post(f'{URL}/leases', status_code=409, json={
        'error_code': 409, 'error_name': 'not_enough', 'request_id': 'req-42',
        'error_message': 'Only 2 of 4 hosts are free.', 'details': {}})
    words = ('lease', 'create', 'demo', '--hosts', '4', '--duration', '1h')
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (1, (
        'Only 2 of 4 hosts are free.\n'
        'Hint: "climate availability" with the same resources finds free times.\n'))
    assert 'request id req-42' in run('--debug', *words).err


def test_an_offer_is_taken_by_its_id(run, demo):
    run('lease', 'create', 'demo', '--offer', 'o1', '--before-end', '2030-05-01 09:30', '--key',
        'k1')
    assert canned.last_change(demo).json() == {
        'name': 'demo', 'offer': 'o1', 'before_end': '2030-05-01T09:30:00Z'}
    assert canned.last_change(demo).headers['Idempotency-Key'] == 'k1'


@pytest.mark.parametrize('more', [
    ('--hosts', '2'), ('--require', 'vcpus>=16'), ('--reservation', 'type=physical:host'),
    ('--start', 'now'), ('--end', '+1h'), ('--duration', '1h'), ('--acquire', 'wait')])
def test_an_offer_goes_with_nothing_that_it_says_itself(run, demo, more):
    outcome = run('lease', 'create', 'demo', '--offer', 'o1', *more)
    assert outcome.code != 0
    assert f'leave out {more[0]}, or --offer' in outcome.err
    assert demo.call_count == 0


def test_a_lease_like_another_one_has_its_reservations_and_duration(run, demo):
    hosts = {'resource_type': 'physical:host', 'min': 2, 'max': 2}
    demo.get(f'{LEASE_URL}/request', json={'request': {
        'name': 'demo', 'duration': 7200, 'reservations': [hosts]}})
    assert run('lease', 'create', 'again', '--like', 'demo').code == 0
    assert canned.last_change(demo).json() == {
        'name': 'again', 'reservations': [hosts], 'start': 'now', 'duration': 7200}
    assert run('lease', 'create', 'again', '--like', LEASE_ID, '--duration', '1h').code == 0
    assert canned.last_change(demo).json()['duration'] == 3600


@pytest.mark.parametrize('words', [
    ('--hosts', '1'), ('--require', 'gpu=A100'), ('--reservation', 'type=physical:host,min=1'),
    ('--offer', LEASE_ID)])
def test_like_goes_with_nothing_else_that_says_what_to_reserve(run, demo, words):
    outcome = run('lease', 'create', 'again', '--like', 'demo', *words)
    assert outcome.code == 2 and '--like' in outcome.err
    assert not any(call.method == 'POST' for call in demo.request_history)

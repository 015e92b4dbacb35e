# SPDX-License-Identifier: Apache-2.0
"""GET /v1/timeline: the visible parts of a pool over time, and the refusal of bad input."""
import pytest
from support import builders

from climate.db import absences
from climate.domain import acquire
from climate.domain import records
from climate.domain import utilisation

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
MEMBER = {'token': 'other:elsewhere:member', 'version': '1.1'}
SPAN = '/v1/timeline?start=2030-05-01T08:00:00Z&end=2030-05-02T08:00:00Z'


@pytest.fixture
def lease(manager):
    manager.enrol(2, rack='r7')
    return manager.book(end=builders.at(6))


def timeline(api, path=SPAN, **options):
    answer = api.get(path, **options)
    assert answer.status_int == 200, answer.body
    return answer.json['timeline']


def test_an_administrator_sees_names_of_leases_and_hosts(api, lease):
    found = timeline(api, **ADMIN)
    assert (found['pool'], found['start'], found['end']) == (
        'host', '2030-05-01T08:00:00Z', '2030-05-02T08:00:00Z')
    assert [each['name'] for each in found['resources']] == ['compute-1', 'compute-2']
    assert found['resources'][0]['properties'] == {'rack': 'r7'}
    (shown,) = found['leases']
    assert shown == {'id': lease.id, 'name': lease.name, 'project_id': 'demo', 'user_id': 'demo',
                     'user_name': None, 'project_name': None}
    bars = found['bars']
    assert [found['statuses'][each] for each in bars['status']] == ['to_be_started']
    assert (bars['start'], bars['end'], bars['lease']) == ([4 * 3600], [10 * 3600], [0])
    assert found['kinds'][bars['kind'][0]] == 'others'


def test_a_member_of_another_project_sees_that_it_is_taken_and_no_names(api, lease):
    found = timeline(api, **MEMBER)
    assert found['leases'] == [] and found['bars']['lease'] == [-1]
    assert found['kinds'][found['bars']['kind'][0]] == 'others'
    assert found['bars']['status'] == [-1]
    assert [each['name'] for each in found['resources']] == [None, None]


def test_a_member_sees_the_own_lease_by_name(api, lease):
    found = timeline(api, version='1.1')
    assert [each['name'] for each in found['leases']] == [lease.name]
    assert found['kinds'][found['bars']['kind'][0]] == 'own'


def test_an_offer_is_shown_as_held(api, manager):
    manager.enrol(1)
    manager.hold(builders.a_lease(end=builders.at(1)))
    found = timeline(api, **ADMIN)
    assert [found['kinds'][kind] for kind in found['bars']['kind']] == ['offer']


def test_criteria_choose_the_resources(api, manager, lease):
    manager.client.update_resource(builders.an_admin(), 'host', 2, {'rack': 'r8'})
    found = timeline(api, f'{SPAN}&criteria=["==", "$rack", "r8"]', **ADMIN)
    assert [each['name'] for each in found['resources']] == ['compute-2']


def test_an_unchanged_timeline_is_not_sent_again(api, manager, lease):
    first = api.get(SPAN, **ADMIN)
    again = api.get(SPAN, headers={'If-None-Match': first.headers['ETag']}, **ADMIN)
    assert (again.status_int, again.body) == (304, b'')
    manager.book(end=builders.at(1))
    changed = api.get(SPAN, headers={'If-None-Match': first.headers['ETag']}, **ADMIN)
    assert changed.status_int == 200


def bars(found, wanted):
    """Return [(resource, start, end)] of the bars of one kind, in hours."""
    columns = found['bars']
    return [(place, start / 3600, end if end is None else end / 3600)
            for place, start, end, kind in zip(*map(columns.get, (
                'resource', 'start', 'end', 'kind')), strict=True)
            if found['kinds'][kind] == wanted]


def test_a_host_that_is_out_of_order_has_a_bar_without_an_end(api, manager, lease, clock):
    manager.client.update_resource(builders.an_admin(), 'host', 2, {}, False)
    found = timeline(api, **ADMIN)
    assert bars(found, 'out_of_order') == [(1, 4, None)]
    assert [each['reservable'] for each in found['resources']] == [True, False]


@pytest.mark.parametrize(('query', 'status', 'words'), [
    ('end=2030-04-01T00:00:00Z', 400, 'end'), ('end=2130-01-01T00:00:00Z', 400, 'end'),
    ('start=soon', 400, 'start'), ('pool=moon', 404, 'moon'), ('step=1h', 400, 'step'),
    ('resolution=-1', 400, 'resolution'), ('resolution=1.5', 400, 'resolution'),
    ('criteria=[', 400, 'Criteria'), ('criteria=["==", "$moon", "1"]', 400, 'moon'),
    ('pool=host&pool=host', 400, 'pool')])
def test_bad_input_is_refused_and_names_the_field(api, query, status, words):
    answer = api.get(f'/v1/timeline?{query}', **ADMIN)
    assert answer.status_int == status, answer.body
    assert words in answer.json['error_message']


def test_rest_1_0_has_no_timeline(api):
    assert api.get('/v1/timeline').status_int == 404


def test_more_bars_than_an_answer_has_are_refused(api, manager, monkeypatch):
    monkeypatch.setattr('climate.domain.timeline.MOST_BARS', 1)
    manager.enrol(2)
    for _ in range(2):
        manager.book(end=builders.at(1))
    answer = api.get(SPAN, **ADMIN)
    assert (answer.status_int, 'shorter' in answer.json['error_message']) == (400, True)


def test_absences_are_bars_too_and_those_of_another_pool_are_not(api, manager, monkeypatch):
    monkeypatch.setattr('climate.domain.timeline.MOST_BARS', 1)
    hosts = manager.enrol(2)
    backend = manager.client.create_resource(builders.an_admin(), 'backend', 'storage@ssd#ssd', {})
    with manager.database.writer() as connection:
        for each in (hosts[0], backend):
            absences.begin(connection, each.id, utilisation.ASLEEP, builders.NOON)
    assert api.get(SPAN, **ADMIN).status_int == 200
    with manager.database.writer() as connection:
        absences.begin(connection, hosts[1].id, utilisation.ASLEEP, builders.NOON)
    answer = api.get(SPAN, **ADMIN)
    assert (answer.status_int, 'shorter' in answer.json['error_message']) == (400, True)


def test_maintenance_to_come_has_a_bar(api, manager, lease):
    plan_maintenance(api)
    assert bars(timeline(api, **ADMIN), 'maintenance') == [(1, 6, 7)]


def plan_maintenance(api):
    answer = api.post('/v1/maintenances', {
        'hosts': ['compute-2'], 'start': '+2h', 'end': '+3h', 'reason': 'new firmware'}, **ADMIN)
    assert answer.status_int == 201, answer.body


def test_a_running_maintenance_ends_as_planned_until_it_is_late(api, manager, lease, clock):
    plan_maintenance(api)
    clock.advance(builders.minutes(125))
    # The manager has not begun it yet.
    assert bars(timeline(api, **ADMIN), 'maintenance') == [(1, 6, 7)]
    with manager.database.writer() as connection:
        absences.begin(connection, 2, utilisation.MAINTAINED, clock())
    later = '/v1/timeline?start=2030-05-01T16:00:00Z&end=2030-05-02T08:00:00Z'
    assert bars(timeline(api, **ADMIN), 'maintenance') == [(1, 6, 7)]
    assert bars(timeline(api, later, **ADMIN), 'maintenance') == []
    clock.advance(builders.minutes(60))
    assert bars(timeline(api, **ADMIN), 'maintenance') == [(1, 6 + 5 / 60, None)]


def waiting(api, **options):
    return timeline(api, **options)['waiting']


@pytest.fixture
def queue(manager):
    """Two leases that wait for hosts: one of demo, then one of elsewhere."""
    manager.enrol(2)
    manager.book(builders.hosts(2))
    first = manager.book(
        builders.hosts(2), name='first', end=builders.at(2),
        acquire=records.AcquireRequest(acquire.WAIT, not_after=builders.at(9)))
    manager.clock.advance(builders.minutes(1))
    manager.create(builders.a_lease(
        name='second', end=builders.at(2),
        acquire=records.AcquireRequest(acquire.RETRIES)), builders.a_member('eve', 'elsewhere'))
    return first


def test_an_administrator_sees_the_wait_queue_with_names_and_reasons(api, queue):
    first, second = waiting(api, **ADMIN)
    assert (first['position'], first['wanted'], first['since'], first['acquire_type']) == (
        1, 2, '2030-05-01T12:00:00Z', 'wait')
    assert first['lease'] == {'id': queue.id, 'name': 'first', 'project_id': 'demo',
                              'user_id': 'demo', 'user_name': None, 'project_name': None}
    assert 'Only 0 of 2 hosts are free' in first['status_reason']
    assert (second['position'], second['lease']['name']) == (2, 'second')


def test_a_member_sees_the_own_waiting_lease_and_of_others_no_names(api, queue):
    first, second = waiting(api, version='1.1')
    assert (first['kind'], first['lease']['name']) == ('own', 'first')
    assert second == {'position': 2, 'since': '2030-05-01T12:01:00Z', 'acquire_type': 'retries',
                      'wanted': 1, 'kind': 'others', 'lease': None, 'status_reason': None}


def test_a_deleted_request_leaves_the_queue(api, manager, queue):
    manager.delete(queue)
    (left,) = waiting(api, **ADMIN)
    assert (left['position'], left['lease']['name']) == (1, 'second')


def test_the_queue_is_of_the_pool_that_is_shown(api, queue):
    assert timeline(api, f'{SPAN}&pool=address', **ADMIN)['waiting'] == []


def test_a_long_queue_is_cut(api, queue, monkeypatch):
    monkeypatch.setattr('climate.domain.timeline.MOST_WAITING', 1)
    found = timeline(api, **ADMIN)
    assert ([each['lease']['name'] for each in found['waiting']], found['more_wait']) == (
        ['first'], True)

# SPDX-License-Identifier: Apache-2.0
"""Idle leases on the wire: how they are shown, listed and exempted."""
import pytest
from support import builders

from climate.manager.idle import detection

NOON = builders.NOON
BODY = {'name': 'a lease', 'duration': '9d', 'reservations': [
    {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}


@pytest.fixture
def idle(conf, manager):
    """A lease that is idle since noon, and one that has just begun."""
    for name, value in {'sample_minutes': 60, 'idle_hours': 2, 'action': 'end'}.items():
        conf.set_override(name, value, group='idle')
    manager.enrol(2)
    lease = manager.book(end=NOON + builders.hours(99))
    for hour in range(4):
        manager.run_until(NOON + builders.hours(hour))
        detection.IdleDetection(manager.core, 'this manager').step(manager.clock())
    manager.book(end=NOON + builders.hours(99), name='new')
    manager.run()
    return lease


def test_an_idle_lease_says_since_when_and_when_it_is_taken_back(api, idle):
    [shown, new] = api.get('/v1/leases', version='1.1').json['leases']
    assert {name: shown[name] for name in ('idle_since', 'reclaim_at', 'idle_exempt')} == {
        'idle_since': '2030-05-01T12:00:00Z', 'reclaim_at': '2030-05-04T14:00:00Z',
        'idle_exempt': False}
    assert (new['idle_since'], new['reclaim_at']) == (None, None)


def test_at_1_0_a_lease_says_nothing_of_it(api, idle):
    shown = api.get(f'/v1/leases/{idle.id}').json['lease']
    assert not {'idle_since', 'reclaim_at', 'idle_exempt'} & set(shown)


def test_idle_leases_are_listed_alone(api, idle):
    found = api.get('/v1/leases?idle=true', version='1.1').json['leases']
    assert [each['id'] for each in found] == [idle.id]
    assert len(api.get('/v1/leases?idle=false', version='1.1').json['leases']) == 2
    answer = api.get('/v1/leases?idle=maybe', version='1.1')
    assert answer.status_int == 400
    assert 'idle' in answer.text


def test_administrators_alone_exempt_leases(api, manager, idle):
    answer = api.post('/v1/leases', {**BODY, 'idle_exempt': True}, version='1.1')
    assert answer.status_int == 403
    assert 'climate:leases:exempt_from_idle' in answer.text
    path = f'/v1/leases/{idle.id}'
    assert api.put(path, {'idle_exempt': True}, version='1.1').status_int == 403
    # What does not change needs no permission.
    assert api.put(path, {'idle_exempt': False, 'name': 'x'}, version='1.1').status_int == 200
    shown = api.put(path, {'idle_exempt': True}, version='1.1',
                    token=builders.ADMIN).json['lease']
    assert (shown['idle_exempt'], shown['idle_since'], shown['reclaim_at']) == (True, None, None)
    # Its owner may change it on, but not lose the exemption by accident.
    assert api.put(path, {'name': 'y'}, version='1.1').json['lease']['idle_exempt'] is True


def test_an_exemption_may_come_with_other_changes(api, idle):
    shown = api.put(f'/v1/leases/{idle.id}', {'idle_exempt': True, 'end': '2030-05-09 12:00'},
                    version='1.1', token=builders.ADMIN).json['lease']
    assert (shown['idle_exempt'], shown['idle_since']) == (True, None)
    assert shown['end'] == '2030-05-09T12:00:00Z'


def test_a_dry_run_exempts_nothing(api, idle):
    path = f'/v1/leases/{idle.id}'
    shown = api.put(f'{path}?dry_run=true', {'idle_exempt': True}, version='1.1',
                    token=builders.ADMIN).json['lease']
    assert shown['idle_exempt'] is True
    assert api.get(path, version='1.1').json['lease']['idle_exempt'] is False


@pytest.mark.parametrize('value', ['yes', 1, None])
def test_an_exemption_is_true_or_false(api, value):
    answer = api.post('/v1/leases', {**BODY, 'idle_exempt': value}, version='1.1')
    assert answer.status_int == 400
    assert 'idle_exempt' in answer.text


def test_at_1_0_an_exemption_is_an_unknown_field(api, manager):
    manager.enrol(1)
    made = api.post('/v1/leases', builders.a_body(idle_exempt=True))
    assert made.status_int == 201
    found = manager.client.get_lease(builders.a_member(), made.json['lease']['id'])
    assert found.idle_exempt is False


def test_a_lease_made_by_an_administrator_may_be_exempt(api, manager):
    manager.enrol(1)
    made = api.post('/v1/leases', {**BODY, 'idle_exempt': True}, version='1.1',
                    token=builders.ADMIN)
    assert made.status_int == 201
    assert made.json['lease']['idle_exempt'] is True


def test_leases_that_are_updated_by_status_include_those_that_are_taken_back(api, manager, idle):
    with manager.database.writer() as connection:
        connection.exec_driver_sql("UPDATE leases SET task = 'reclaim' WHERE idle_since IS NOT "
                                   'NULL')
    found = api.get('/v1/leases?status=updating', version='1.1').json['leases']
    assert [(each['id'], each['status']) for each in found] == [(idle.id, 'updating')]
    hosts = manager.client.reservation_hosts(
        builders.an_admin(), idle.reservations[0].id, 'demo')
    assert not hosts.usable

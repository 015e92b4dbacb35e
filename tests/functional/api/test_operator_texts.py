# SPDX-License-Identifier: Apache-2.0
"""Members read what happened to their leases; names of hosts and words of Nova are for others."""
import json

import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate import policy
from climate.db import tables

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
URL = 'http://10.0.0.7:8774/v2.1/os-aggregates/1/action'
BODY = {'name': 'a lease', 'duration': '1h',
        'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]}


@pytest.fixture
def api(conf, manager):
    return builders.Api(conf, manager)


@pytest.fixture
def read(api):
    """Reads a lease with its history, as text: what one caller sees of it."""
    def as_text(lease_id, token):
        lease = api.get(f'/v1/leases/{lease_id}', token=token, version='1.1').json['lease']
        history = api.get(f'/v1/leases/{lease_id}/history', token=token, version='1.1').json
        return json.dumps([lease['status_reason'], [each['why'] for each in history['history']]])
    return as_text


def create(api, **more):
    answer = api.post('/v1/leases', {**BODY, **more}, version='1.1')
    assert answer.status_int == 201, answer.json
    return answer.json['lease']['id']


@pytest.mark.proof
def test_the_reason_of_a_disabled_host_is_for_operators(api, manager, read):
    [host] = manager.enrol(1)
    lease_id = create(api, start='2030-05-01T13:00:00Z')
    manager.cloud.mark_host(host.name, enabled=False, reason='broken, ticket 4711 of ACME')
    manager.run_until(NOON + hours(1) + minutes(5))
    seen, told = read(lease_id, builders.DEMO), read(lease_id, builders.ADMIN)
    assert 'ticket 4711' in told and host.name in told
    assert 'ticket' not in seen and host.name not in seen
    assert 'Out of use: 1 of its resources; and there is no substitute.' in seen


def test_the_words_of_nova_are_for_operators(api, manager, read):
    manager.enrol(1)
    lease_id = create(api)
    manager.cloud.fail('nova.add_host', 9, errors.CloudError(
        service='Nova', reason=f'Unable to establish connection to {URL}'))
    manager.run_until(NOON + minutes(5))
    seen = read(lease_id, builders.DEMO)
    assert URL in read(lease_id, builders.ADMIN)
    assert 'http' not in seen
    assert 'Nova refused what Climate asked of it, or failed.' in seen


def test_an_unexpected_error_leads_operators_to_the_log(api, manager, read, caplog):
    manager.enrol(1)
    lease_id = create(api)
    manager.cloud.fail('nova.add_host', 99, KeyError('compute-1 secret'))
    manager.run_until(NOON + minutes(5))
    seen = read(lease_id, builders.DEMO)
    assert 'secret' not in seen and 'KeyError' not in seen
    [event] = [each for each in manager.client.get_lease(builders.an_admin(), lease_id).events
               if each.kind == 'start_lease']
    assert f'under event {event.id}.' in seen
    assert any(event.id in each.getMessage() and each.exc_info for each in caplog.records)


@pytest.mark.proof
def test_the_reservation_of_another_project_that_is_late_is_not_named(api, manager, read):
    [host] = manager.enrol(1)
    first = manager.create(builders.a_lease(end=NOON + hours(1)),
                           builders.a_member('eve', 'other'))
    manager.run()
    manager.cloud.boot('other', 'slow', {'reservation': first.reservations[0].id})
    manager.cloud.fail('nova.delete_server', 99, errors.CloudError(service='Nova', reason=URL))
    lease_id = create(api, start='2030-05-01T13:00:00Z')
    manager.run_until(NOON + hours(1) + minutes(15))
    seen, told = read(lease_id, builders.DEMO), read(lease_id, builders.ADMIN)
    assert first.reservations[0].id in told
    assert first.reservations[0].id not in seen and host.name not in seen
    assert '1 of its resources is still being released by others' in seen


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_failed_request_is_told_by_its_id(api, manager, caplog):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.CloudError(
        service='Keystone', reason=f'{URL} answered 500'))
    answer = api.post('/v1/leases', BODY, version='1.1')
    assert answer.status_int == 502
    assert 'http' not in answer.text
    request_id = answer.json['request_id']
    assert any(request_id in line and URL in line for line in caplog.messages)
    manager.cloud.fail('keystone.create_trust', 1, errors.CloudError(
        service='Keystone', reason=f'{URL} answered 500'))
    assert URL in api.post('/v1/leases', BODY, version='1.1', token=builders.ADMIN).text


@pytest.mark.usefixtures('each_lease_has_a_trust')
@pytest.mark.parametrize('version', ['1.0', '1.1'])
def test_a_refused_trust_has_no_words_of_keystone(api, manager, version):
    manager.enrol(1)
    manager.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason=f'{URL}: 403.'))
    body = BODY if version == '1.1' else builders.a_body()
    answer = api.post('/v1/leases', body, version=version)
    assert answer.status_int == 403
    assert 'http' not in answer.text
    assert 'not an application credential' in answer.text


def test_notifications_have_the_version_of_the_owner(api, manager):
    [host] = manager.enrol(1)
    create(api, start='2030-05-01T13:00:00Z')
    manager.cloud.mark_host(host.name, enabled=False, reason='broken, ticket 4711')
    manager.run_until(NOON + hours(1) + minutes(5))
    with manager.database.reader() as connection:
        payloads = list(connection.execute(sa.select(tables.OUTBOX.c.payload)).scalars())
    assert any('Out of use: 1 ' in (each['reason'] or '') for each in payloads)
    assert not any('ticket' in str(each) or host.name in str(each) for each in payloads)


def test_a_row_of_an_earlier_release_has_a_neutral_text_for_its_owner(api, manager, read):
    manager.enrol(1)
    lease_id = create(api)
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).values(reason=URL, owner_reason=None))
        connection.execute(sa.update(tables.HISTORY).values(why=URL, owner_why=None))
    seen = read(lease_id, builders.DEMO)
    assert URL in read(lease_id, builders.ADMIN)
    assert 'http' not in seen
    assert f'by the id of the lease: {lease_id}.' in seen


def test_a_policy_rule_allows_to_read_the_operators_version(conf, manager, tmp_path):
    rules = tmp_path / 'policy.yaml'
    rules.write_text('"climate:leases:operator_texts": "role:member"\n')
    policy.Policy(conf)  # Registers the options.
    conf.set_override('policy_file', str(rules), group='oslo_policy')
    api = builders.Api(conf, manager)
    [host] = manager.enrol(1)
    lease_id = create(api, start='2030-05-01T13:00:00Z')
    manager.cloud.mark_host(host.name, enabled=False)
    manager.run_until(NOON + hours(1) + minutes(5))
    lease = api.get(f'/v1/leases/{lease_id}', version='1.1').json['lease']
    assert host.name in lease['status_reason']


@pytest.mark.parametrize(('grain', 'nearest'), [(15, '13:45'), (60, '14:00'), (0, '13:31')])
def test_the_nearest_time_is_rounded_for_those_who_see_no_hosts(conf, manager, grain, nearest):
    conf.set_override('nearest_minutes', grain, group='manager')
    api = builders.Api(conf, manager)
    manager.enrol(1)
    create(api, duration='91m')
    answer = api.post('/v1/leases', BODY, version='1.1')
    assert answer.json['details']['nearest'] == f'2030-05-01T{nearest}:00+00:00'
    assert f'It fits from 2030-05-01 {nearest} UTC.' in answer.json['error_message']
    asked = {**BODY, 'start': answer.json['details']['nearest']}
    exact = api.post('/v1/leases', BODY, version='1.1', token=builders.ADMIN)
    assert exact.json['details']['nearest'] == '2030-05-01T13:31:00+00:00'
    assert api.post('/v1/leases', asked, version='1.1').status_int == 201


def test_a_rounded_time_at_which_it_does_not_fit_is_not_named(api, manager):
    manager.enrol(1)
    create(api, duration='91m')
    create(api, start='2030-05-01T14:40:00Z', duration='1h')
    # It fits from 13:31 to 13:40 only, and then again from 15:40.
    answer = api.post('/v1/leases', BODY, version='1.1')
    assert answer.json['details']['nearest'] == '2030-05-01T15:45:00+00:00'

# SPDX-License-Identifier: Apache-2.0
"""The resources of a lease and its latest end, as callers of REST 1.1 read them."""
import pytest
from support import builders

NOON, hours = builders.NOON, builders.hours
ADMIN = {'token': builders.ADMIN}
OTHER = 'u2:another:member,reader'


@pytest.fixture
def leased(conf, manager):
    """(the API, a running lease on compute-1, and a lease of another project after it)."""
    manager.enrol(1, rack='r1')
    lease = manager.active()
    manager.create(builders.a_lease(name='secret-name', start=NOON + hours(5),
                                    end=NOON + hours(6)), builders.a_member('u2', 'another'))
    return builders.Api(conf, manager), lease


def _get(api, lease, what, **more):
    return api.get(f'/v1/leases/{lease.id}/{what}', version='1.1', **more)


def test_an_owner_sees_the_health_of_the_resources_without_names(leased):
    api, lease = leased
    assert api.put('/v1/resources/host/1', {'out_of_order': 'secret-ticket'}, version='1.1',
                   **ADMIN).status_int == 200
    answer = _get(api, lease, 'resources')
    [resource] = answer.json['resources']
    assert (resource['id'], resource['name'], resource['pool']) == ('1', None, 'host')
    assert resource['reservation_id'] == lease.reservations[0].id
    assert resource['properties'] == {'rack': 'r1'}
    assert resource['health']['state'] == 'out_of_order'
    assert resource['health']['since']
    assert 'secret' not in answer.text


def test_an_administrator_sees_names_and_reasons(leased):
    api, lease = leased
    api.put('/v1/resources/host/1', {'out_of_order': 'secret-ticket'}, version='1.1', **ADMIN)
    [resource] = _get(api, lease, 'resources', **ADMIN).json['resources']
    assert resource['name'] == 'compute-1'
    assert resource['health']['reason'] == 'secret-ticket'


def test_the_latest_end_hides_leases_of_other_projects(leased):
    api, lease = leased
    answer = _get(api, lease, 'latest_end')
    found = answer.json['latest_end']
    assert (found['end'], found['limited']) == ('2030-05-01T17:00:00Z', True)
    assert found['obstacles'] == [{
        'resource_id': '1', 'resource_name': None, 'kind': 'others',
        'start': '2030-05-01T17:00:00Z', 'lease_id': None, 'lease_name': None}]
    assert 'secret' not in answer.text


def test_an_administrator_sees_which_lease_prevents_a_later_end(leased):
    api, lease = leased
    [obstacle] = _get(api, lease, 'latest_end', **ADMIN).json['latest_end']['obstacles']
    assert (obstacle['resource_name'], obstacle['lease_name']) == ('compute-1', 'secret-name')


@pytest.mark.parametrize('what', ['resources', 'latest_end'])
def test_other_projects_and_rest_1_0_get_404(leased, what):
    api, lease = leased
    assert _get(api, lease, what, token=OTHER).status_int == 404
    assert api.get(f'/v1/leases/{lease.id}/{what}').status_int == 404


def test_a_reader_may_not_ask_for_the_latest_end(leased):
    api, lease = leased
    reader = {'token': 'u3:demo:reader'}
    assert _get(api, lease, 'latest_end', **reader).status_int == 403
    assert _get(api, lease, 'resources', **reader).status_int == 200

# SPDX-License-Identifier: Apache-2.0
"""Answers of REST 1.0 with [api] chameleon where Chameleon's fork differs from Blazar."""
import pytest
from support import builders

ADMIN = {'token': builders.ADMIN}


@pytest.fixture
def dialect(conf, manager, enrol_hosts):
    enrol_hosts(2)
    conf.set_override('chameleon', True, group='api')
    return builders.Api(conf, manager)


def lease_of(api, **more):
    answer = api.post('/v1/leases', builders.a_body(), **more)
    assert answer.status_int == 201, answer.text
    return f'/v1/leases/{answer.json["lease"]["id"]}'


def test_a_delete_answers_200_with_an_empty_object(dialect):
    for path, token in ((lease_of(dialect), builders.DEMO), ('/v1/os-hosts/2', builders.ADMIN)):
        answer = dialect.delete(path, token=token)
        assert (answer.status_int, answer.json) == (200, {})
        assert answer.content_type == 'application/json'
        assert dialect.get(path, token=token).status_int == 404


def test_a_delete_answers_204_without_the_option_and_from_1_1_on(api, dialect):
    for service, version in ((api, None), (dialect, '1.1')):
        answer = service.delete(lease_of(service), version=version)
        assert (answer.status_int, answer.body) == (204, b'')


def test_a_lease_of_another_project_is_forbidden(dialect):
    path = lease_of(dialect)
    stranger = {'token': builders.STRANGER}
    for answer in (dialect.get(path, **stranger), dialect.put(path, {'name': 'x'}, **stranger),
                   dialect.delete(path, **stranger), dialect.get(f'{path}/hosts', **stranger),
                   dialect.get(f'{path}/devices', **stranger)):
        assert answer.status_int == 403
        assert answer.json['error_code'] == 403
    assert dialect.get(path).status_int == 200
    assert dialect.get(path, version='1.1', **stranger).status_int == 404
    assert dialect.get('/v1/leases/nobody', **stranger).status_int == 404


def test_a_deleted_lease_is_not_found(dialect):
    path = lease_of(dialect)
    assert dialect.delete(path).status_int == 200
    assert dialect.get(path, token=builders.STRANGER).status_int == 404

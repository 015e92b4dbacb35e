# SPDX-License-Identifier: Apache-2.0
"""GET /v1/audit: what the newest audit of the managers found."""
import pytest
from support import builders

from climate.db import managers
from climate.domain import audit

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
FINDING = audit.AuditFinding('held', 'host compute-1', 'its reservation is over', 'releases it')


def test_before_the_first_audit_there_is_none(api):
    assert api.get('/v1/audit', **ADMIN).json == {'audit': {
        'at': None, 'manager': None, 'finding_count': 0, 'findings': []}}


def test_an_administrator_reads_the_newest_one(api, manager):
    with manager.database.writer() as connection:
        managers.write_audit(connection, audit.Result(builders.NOON, 'one:7', 0, ()))
        managers.write_audit(connection, audit.Result(builders.NOON, 'two:8', 1, (FINDING,)))
    assert api.get('/v1/audit', **ADMIN).json == {'audit': {
        'at': '2030-05-01T12:00:00Z', 'manager': 'two:8', 'finding_count': 1, 'findings': [{
            'kind': 'held', 'what': 'host compute-1', 'problem': 'its reservation is over',
            'remedy': 'releases it'}]}}


def test_rest_1_0_has_no_audit(api):
    answer = api.get('/v1/audit', token=builders.ADMIN)
    assert (answer.status_int, 'REST 1.1' in answer.json['error_message']) == (404, True)


@pytest.mark.parametrize('path', ['/v1/audit', '/v1/services'])
def test_a_parameter_that_is_unknown_is_named(api, path):
    answer = api.get(f'{path}?since=2030', **ADMIN)
    assert (answer.status_int, 'since' in answer.json['error_message']) == (400, True)

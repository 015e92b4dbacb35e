# SPDX-License-Identifier: Apache-2.0
"""Conditional requests: 304 while nothing changes, at the cost of one statement."""
import pytest
from support import builders
from support import thinning

from climate import errors

SPAN = '/v1/timeline?start=2030-05-01T08:00:00Z&end=2030-05-02T08:00:00Z'
USAGE = '/v1/usage?start=2030-04-01T00:00:00Z&end=2030-04-03T00:00:00Z'


@pytest.fixture
def again(api):
    """callable(path, first, **options): the status of a request with the ETag of `first`."""
    def ask(path, first, **options):
        return api.get(path, headers={'If-None-Match': first.headers['ETag']}, version='1.1',
                       **options).status_int
    return ask


def first(api, path=SPAN, **options):
    answer = api.get(path, version='1.1', **options)
    assert answer.status_int == 200, answer.body
    return answer


@pytest.mark.parametrize('path', [SPAN, USAGE])
def test_an_unchanged_answer_costs_one_statement(api, manager, path):
    manager.enrol(2)
    manager.book(end=builders.at(6))
    before = first(api, path)
    with builders.statements() as made:
        answer = api.get(path, headers={'If-None-Match': before.headers['ETag']}, version='1.1')
    assert (answer.status_int, answer.body) == (304, b'')
    assert answer.headers['ETag'] == before.headers['ETag']
    assert answer.headers['OpenStack-API-Version'] == 'reservation 1.1'
    assert len(made) == 1 and 'change_counts' in made[0], made


def test_each_kind_of_change_is_seen(api, manager, again):
    manager.enrol(3)
    admin = builders.an_admin()
    lease = manager.book(end=builders.at(6))
    for change in (
            lambda: manager.client.update_resource(admin, 'host', 2, {'rack': 'r8'}),
            lambda: manager.client.update_resource(admin, 'host', 3, {}, False),
            lambda: manager.change(lease, name='renamed'),
            lambda: manager.hold(builders.a_lease(end=builders.at(1))),
            manager.run,
            lambda: manager.delete(lease)):
        before = first(api)
        assert again(SPAN, before) == 304
        change()
        assert again(SPAN, before) == 200


def test_the_start_of_a_lease_changes_an_answer_though_the_database_does_not(
        api, manager, clock, again):
    manager.enrol(1)
    manager.book(start=builders.at(1), end=builders.at(2))
    clock.now = builders.at(1) - builders.minutes(2)
    before = first(api)
    assert again(SPAN, before) == 304
    clock.now = builders.at(1)
    assert again(SPAN, before) == 200
    (status,) = first(api).json['timeline']['statuses']
    assert status == 'to_be_started'


def test_the_planned_end_of_a_maintenance_changes_an_answer(api, manager, clock, again):
    manager.enrol(1)
    api.post('/v1/maintenances', {'hosts': ['compute-1'], 'start': '+1h', 'end': '+2h',
                                  'reason': 'disk'}, token=builders.ADMIN, version='1.1')
    clock.now = builders.at(2) - builders.minutes(2)
    before = first(api)
    assert again(SPAN, before) == 304
    clock.now = builders.at(2)
    assert again(SPAN, before) == 200


def test_an_answer_is_computed_again_after_five_minutes(api, manager, clock, again):
    manager.enrol(1)
    before = first(api)
    clock.advance(builders.minutes(4))
    assert again(SPAN, before) == 304
    clock.advance(builders.minutes(1))
    assert again(SPAN, before) == 200


def test_an_etag_is_of_one_caller_and_one_query(api, manager, again):
    manager.enrol(1)
    before = first(api)
    for token in ('other:elsewhere:member', 'demo:demo:member,admin', 'eve:demo:member'):
        assert again(SPAN, before, token=token) == 200
    assert again(SPAN + '&resolution=60', before) == 200
    assert again(SPAN, before, token='demo:demo:nobody') == 403


@pytest.mark.parametrize('path', [
    '/v1/timeline', '/v1/timeline?start=now', '/v1/timeline?start=2030-05-01T08:00:00Z&end=%2B8h',
    '/v1/usage', '/v1/usage?start=2030-05-01T00:00:00Z&end=2030-05-03T00:00:00Z'])
def test_an_answer_that_grows_with_time_has_no_etag(api, manager, path):
    assert 'ETag' not in first(api, path).headers


@pytest.mark.parametrize('tag', thinning.few([
    '"', '*', '"1"', '"9-9-x"', '"99999999999-0-' + 32 * '0' + '"', 'W/"a", "b"',
    '"' + 40 * '9' + '-0-' + 32 * 'a' + '"'], 3))
def test_a_foreign_etag_is_no_match(api, manager, tag):
    manager.enrol(1)
    assert api.get(SPAN, headers={'If-None-Match': tag}, version='1.1').status_int == 200


class OldManager:
    """A ManagerClient whose managers are of a release that does not count changes."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client, name)

    def count_changes(self, caller):
        raise errors.ManagerOutdated(retry_after=5)


def test_a_manager_that_does_not_count_gives_full_answers(api, conf, manager):
    manager.enrol(1)
    tag = first(api).headers['ETag']
    old = builders.Api(conf, manager, client=OldManager(manager.client))
    assert old.get(SPAN, headers={'If-None-Match': tag}, version='1.1').status_int == 200
    assert 'ETag' not in first(old, USAGE).headers

# SPDX-License-Identifier: Apache-2.0
"""A page of a list has a limit of bytes as well as of items; the next page begins where it ends.

The lists are those of the OpenAPI document, so that a new list must be added here.
"""
import dataclasses
import itertools
import json
import tracemalloc

import pytest
from support import builders
from support import db_rows
from support import thinning

from climate.api import openapi
from climate.db import deliveries
from climate.db import journal
from climate.db import series
from climate.domain import subscriptions
from climate.domain import texts
from climate.domain.series import series_records
from climate.manager import endpoint
from climate.rpc import client

ADMIN = {'token': builders.ADMIN, 'version': '1.1'}
NOON = builders.NOON
COUNT, ITEM_BYTES, PAGE_BYTES = 12, 5_000, 22_000
LONG = 'x' * ITEM_BYTES
# The length of each of their items is limited by the tables.
SMALL = ('/allocations', '/calendar', '/statements', '/statements/{id}')


class _Bus(builders.Wire):
    """The wire to a manager; `longest` is the length of its longest answer that is a list."""

    longest = 0

    def call(self, *called, **more):
        answer = super().call(*called, **more)
        if isinstance(answer, list):
            self.longest = max(self.longest, len(json.dumps(answer)))
        return answer


def _save(manager, name, request, **more):
    lease = db_rows.a_lease(name, project_id='admin', **more)
    db_rows.saved(manager.database, dataclasses.replace(lease, reservations=(
        db_rows.a_reservation(lease.id, request),)))


def _leases(api, manager):
    for number in range(COUNT):
        _save(manager, f'{number:02}', {'min': 1, 'max': 1, 'resource_properties': LONG})


def _leases_with_reasons(api, manager):
    for number in range(COUNT):
        _save(manager, f'{number:02}', {'min': 1, 'max': 1}, reason=LONG, owner_reason='short')


def _history(api, manager):
    lease = db_rows.saved(manager.database, db_rows.a_lease())
    with manager.database.writer() as connection:
        for number in range(COUNT):
            journal.note(connection, lease.id, NOON, 'climate', f'try {number}', texts.same(LONG))
    return lease.id


def _subscription(api, address='https://example.org/hook'):
    return api.post('/v1/subscriptions', {'transport': 'webhook', 'address': address},
                    **ADMIN).json['subscription']['id']


def _subscriptions(api, manager):
    for _ in range(COUNT):
        _subscription(api, 'https://example.org/' + 'a' * 1900)


def _log(api, manager):
    found = _subscription(api)
    told = subscriptions.Subscription(
        id=found, project_id='admin', user_id='admin', transport='webhook', scope='user',
        created_at=NOON, address=None, events=(), before_end=())
    with manager.database.writer() as connection:
        deliveries.add(connection, [
            (told, f'outbox:{number}', 'error', NOON, {'lease': {'id': 'x', 'reason': LONG}}, NOON)
            for number in range(COUNT)])
    return found


def _maintenances(api, manager):
    manager.enrol(1)
    for number in range(COUNT):
        day = f'2030-06-{number + 1:02}'
        assert api.post('/v1/maintenances', {
            'hosts': ['compute-1'], 'start': f'{day} 20:00', 'end': f'{day} 21:00',
            'reason': 'r' * 1000}, **ADMIN).status_int == 201


def _resources(pool):
    def fill(api, manager):
        name = 'physnet1:vlan:' if pool == 'segment' else f'{pool}-'
        ids = db_rows.hosts(manager.database, *(f'{name}{number + 1}' for number in range(COUNT)),
                            pool=pool)
        for number in ids:
            db_rows.set_properties(manager.database, number, {
                f'p{place}': 'x' * 512 for place in range(10)}, pool=pool)
    return fill


def _series(api, manager):
    with manager.database.writer() as connection:
        for number in range(COUNT):
            series.add(connection, series_records.Series(
                id=db_rows.an_id(), project_id='admin', user_id='admin', name=f'{number:02}',
                request=({'resource_type': 'physical:host', 'request': {
                    'min': 1, 'max': 1, 'resource_properties': LONG}},),
                start='2030-06-03T09:00:00', seconds=3600, rule='FREQ=WEEKLY;COUNT=4',
                time_zone='UTC', status=series_records.ACTIVE, created_at=NOON))


LARGE = {
    '/leases': _leases, '/leases?sort=name': _leases_with_reasons, '/leases/{id}/history': _history,
    '/subscriptions': _subscriptions, '/subscriptions/{id}/log': _log,
    '/maintenances': _maintenances, '/series': _series, '/os-hosts': _resources('host'),
    '/floatingips': _resources('address'), '/networks': _resources('segment'),
    **{f'/resources/{pool}': _resources(pool)
       for pool in ('host', 'address', 'segment', 'backend')},
}


@pytest.fixture
def bus(manager):
    return _Bus(endpoint.InProcess(endpoint.Endpoint(manager.core)))


@pytest.fixture
def api(conf, manager, bus):
    conf.set_override('subscriptions_per_user', COUNT, group='notifications')
    return builders.Api(conf, manager, client=client.ManagerClient(bus))


def _pages(api, path):
    """Return the pages of a list, each as the list of its items."""
    found = []
    while path:
        answer = api.get(path, **ADMIN)
        assert answer.status_int == 200, answer.text
        [items] = [value for key, value in answer.json.items() if not key.endswith('_links')]
        [links] = [value for key, value in answer.json.items() if key.endswith('_links')] or [[]]
        found.append(items)
        path = links and links[0]['href'].removeprefix('http://localhost')
    return found


def test_every_list_with_pages_is_known(conf):
    document = openapi.document(builders.manager_plugins(conf))
    lists = {path for path, operations in document['paths'].items()
             if 'marker' in [each['name'] for each in operations.get('get', {}).get(
                 'parameters', ())]}
    assert {path for path in lists if not path.endswith(SMALL)} == {
        path for path in LARGE if '?' not in path}


@pytest.mark.parametrize('path', thinning.few(LARGE, 5))
def test_a_page_ends_early_at_the_limit_of_bytes_and_no_item_is_lost(conf, api, manager, bus, path):
    known = LARGE[path](api, manager)
    path = '/v1' + path.replace('{id}', known or '')
    conf.set_override('max_page_bytes', 64 * 1024 * 1024, group='api')
    [whole] = _pages(api, path)
    assert len(whole) >= COUNT
    conf.set_override('max_page_bytes', PAGE_BYTES, group='api')
    bus.longest = 0
    pages = _pages(api, path)
    assert list(itertools.chain.from_iterable(pages)) == whole
    assert len(pages) > 1 and all(pages)
    assert bus.longest < 1.5 * PAGE_BYTES
    few = _pages(api, f'{path}{"&" if "?" in path else "?"}limit=2')
    assert [len(page) for page in few][:-1] == [2] * (len(few) - 1)
    assert list(itertools.chain.from_iterable(few)) == whole


def test_an_item_that_is_larger_than_a_page_is_a_page(conf, api, manager):
    _leases(api, manager)
    conf.set_override('max_page_bytes', 1024, group='api')
    assert [len(page) for page in _pages(api, '/v1/leases')] == [1] * COUNT


def test_the_memory_for_a_page_does_not_grow_with_the_number_of_large_leases(conf, api, manager):
    conf.set_override('max_page_bytes', 100_000, group='api')
    for number in range(200):
        _save(manager, f'{number}', {'min': 1, 'max': 1, 'resource_properties': 'x' * 50_000})
    api.get('/v1/leases?limit=1', **ADMIN)
    tracemalloc.start()
    try:
        answer = api.get('/v1/leases', **ADMIN)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(answer.json['leases']) == 1
    assert peak < 3_000_000

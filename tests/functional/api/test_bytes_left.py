# SPDX-License-Identifier: Apache-2.0
"""The bytes that the requests of a member leave are bounded, and gone after the retention.

The requests are those of the OpenAPI document and the tables those of the metadata, so that a new
operation must be added here, and a new table is measured.
"""
import itertools
import threading

import pytest
import sqlalchemy as sa
from support import builders
from support import every_type

from climate.api import openapi
from climate.db import migrate
from climate.db import tables
from climate.manager import periodic

NEW = {'version': '1.1'}
NOON, hours = builders.NOON, builders.hours
HOSTS = 3
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
STACK = {'resource_type': 'virtual:stack', 'files': {'a.sh': 'x' * 5_000}, 'template': {
    'heat_template_version': '2021-04-16', 'resources': {
        'word': {'type': 'OS::Heat::RandomString'}}}}
# Sums of days and hours, whose number does not depend on the number of requests, and one row for
# each kind of work.
SUMS = {'usage_days', 'pool_hours', 'audits', 'work_slots', 'managers', 'reminder_scans'}
# Tables in which a round of requests leaves rows; otherwise the test would prove little.
LEFT = {'acquisitions', 'allocations', 'events', 'history', 'idempotency_keys', 'leases',
        'outbox', 'refusals', 'reservations'}
# Nothing that a round leases can be bound.
REFUSED = {('PUT', '/reservations/{id}')}


class Member:
    """A member who sends a round of requests of every kind and deletes what they made.

    :ivar sent: the operations, (method, path), that were carried out or refused by a limit.
    """

    def __init__(self, api, manager):
        self._api, self._manager = api, manager
        self._numbers = itertools.count()
        self.sent = set()

    def send(self, method, path, body=None, found='', **more):
        """Send a request and return its answer; `found` is the id in the path."""
        answer = self._api.call(method, '/v1' + path.replace('{id}', found), body, **NEW, **more)
        assert answer.status_int not in (400, 403, 404, 405) and answer.status_int < 500, (
            method, path, answer.text)
        self.sent.add((method, path))
        return answer

    def lease(self, *reservations, **more):
        """Ask for a lease; return it, or None if it was refused."""
        number = next(self._numbers)
        body = {'name': f'lease {number}', 'reservations': list(reservations),
                **({'start': '+1h', 'duration': '1h'} | more)}
        answer = self.send('POST', '/leases', body, headers={'Idempotency-Key': f'key {number}'})
        return answer.json.get('lease')

    def round(self):
        """Send requests of every kind."""
        self._subscribe()
        made = [self.lease(STACK), self.lease(HOST), self.lease(HOST, start='now')]
        made += [self.lease({'resource_type': each.type, **each.request})
                 for each in every_type.POOLS]
        for reservation in (
                {**HOST, 'min': 1000, 'max': 1000},
                {**HOST, 'resource_properties': ['=', '$hypervisor_type', 'x' * 3_000]}):
            number = next(self._numbers)
            assert self.lease(reservation, start=f'+{number}h', duration='36500d') is None
        made += [self.lease({**HOST, 'min': 2, 'max': 2}, acquire=acquire, start='now')
                 for acquire in ({'type': 'wait', 'not_after': '+1d'}, {'type': 'retries'},
                                 {'type': 'best-effort'})]
        made = [each for each in made if each is not None]
        for lease in made:
            self._change(lease)
        self._offers()
        self._manager.run()
        for lease in made:
            self.send('DELETE', '/leases/{id}', found=lease['id'])
            self._manager.run()
        for each in self._api.get('/v1/subscriptions', **NEW).json['subscriptions']:
            self.send('DELETE', '/subscriptions/{id}', found=each['id'])

    def _subscribe(self):
        for transport in ({'transport': 'webhook', 'address': 'https://example.org/hook'},
                          {'transport': 'calendar'}):
            made = self.send('POST', '/subscriptions', {
                **transport, 'scope': 'project', 'before_end': ['1h']}).json['subscription']
            self.send('PUT', '/subscriptions/{id}', {'name': 'x' * 80}, found=made['id'])
            if transport['transport'] == 'webhook':
                self.send('POST', '/subscriptions/{id}/test', found=made['id'])

    def _change(self, lease):
        place = {'found': lease['id']}
        self.send('PUT', '/leases/{id}', {'name': 'new name'}, **place)
        if self.send('PUT', '/leases/{id}', {'duration': '2h'}, **place).status_int == 200:
            self.send('PUT', '/leases/{id}', {'events': [{'type': 'notify', 'time': '+90m'}]},
                      **place)
        if lease['reservations'][0]['resources'] and lease['start'] == '2030-05-01T12:00:00Z':
            self._manager.run()
            self.send('POST', '/leases/{id}/swap', {
                'host': lease['reservations'][0]['resources'][0]}, **place)

    def _offers(self):
        for _ in range(2):
            self.send('POST', '/availability', {
                'duration': '1h', 'hold': 2, 'reservations': [HOST]})
        for each in self._api.get('/v1/offers', **NEW).json['offers'][1:]:
            self.send('DELETE', '/offers/{id}', found=each['id'])


def _sizes(database):
    """Return {table: its number of rows and the length of its texts and JSON values together}."""
    with database.reader() as connection:
        return {table.name: sum(1 + _length(row) for row in connection.execute(
            sa.select(table)).mappings()) for table in tables.METADATA.sorted_tables}


def _length(row):
    return sum(len(str(value)) for value in row.values()
               if isinstance(value, str | list | dict | tuple))


def _counts(database):
    """Return {table: the number of its rows}."""
    with database.reader() as connection:
        return {table.name: connection.execute(sa.select(sa.func.count()).select_from(
            table)).scalar() for table in tables.METADATA.sorted_tables}


def _retain(manager, days):
    """Run all periodic tasks of some days, except those that send notifications."""
    tasks = periodic.Periodic(manager.core, 'this manager', threading.Event()).tasks()
    for _ in range(days):
        manager.run_until(manager.clock() + hours(24))
        for name, (task, _) in tasks.items():
            if not name.startswith('deliver'):
                task(manager.clock())
    migrate.purge(manager.database, manager.clock() - hours(24))


@pytest.fixture
def member(conf, api, manager):
    conf.set_override('clock_jump_seconds', 0, group='manager')
    for group, name in (('forecast', 'refusals_days'), ('notifications', 'log_days'),
                        ('idle', 'keep_days')):
        conf.set_override(name, 1, group=group)
    manager.enrol(HOSTS)
    for each in every_type.POOLS:
        each.enrol(manager)
    return Member(api, manager)


@pytest.mark.proof
def test_all_that_a_member_s_requests_leave_is_gone_after_the_retention(
        conf, api, manager, member):
    before = _sizes(manager.database)
    member.round()
    during = _sizes(manager.database)
    assert {name for name, size in during.items() if size > before[name]} >= LEFT
    _retain(manager, 3)
    after = _sizes(manager.database)
    assert {name for name in after if after[name] > before[name]} <= SUMS
    document = openapi.document(builders.manager_plugins(conf))
    open_to_members = {
        (method.upper(), path) for path, operations in document['paths'].items()
        for method in operations if method in ('post', 'put', 'patch', 'delete') and api.call(
            method.upper(), '/v1' + path.replace('{id}', 'nope'), {}, **NEW).status_int != 403}
    assert open_to_members == member.sent | REFUSED


@pytest.mark.proof
def test_more_requests_leave_no_more_sums(manager, member):
    counts = []
    for rounds in (1, 3):
        before = _counts(manager.database)
        for _ in range(rounds):
            member.round()
        _retain(manager, 3)
        after = _counts(manager.database)
        counts.append({name: after[name] - before[name] for name in after})
    once, thrice = counts
    # Each resource has one sum for a day at most, as all amounts are the same.
    assert thrice.pop('usage_days') - once.pop('usage_days') <= HOSTS
    assert thrice == {name: count if name == 'pool_hours' else 0 for name, count in once.items()}

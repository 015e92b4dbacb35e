# SPDX-License-Identifier: Apache-2.0
"""The words for the status of a lease, as clients of each version see them."""
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import status_words

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
# (at REST 1.0, from 1.1). Clients rely on these words, so they are repeated here.
WORDS = {
    ('PENDING', 'inactive'), ('PENDING', 'to_be_started'), ('CREATING', 'in_progress'),
    ('STARTING', 'starting'), ('UPDATING', 'updating'), ('TERMINATING', 'terminating'),
    ('DELETING', 'deleting'), ('ACTIVE', 'active'), ('TERMINATED', 'terminated'),
    ('ERROR', 'timedout'), ('ERROR', 'error')}


class Clients:
    """A user who asks for whole hosts at REST 1.1, and reads the lease at both versions.

    :ivar seen: all pairs of words that were seen.
    """

    def __init__(self, api, manager):
        self._api, self._manager = api, manager
        self.seen = set()

    def ask(self, acquire=None, hosts=1, **more):
        """The path of the new lease."""
        body = {'name': 'x', 'duration': '1h', **more, 'reservations': [
            {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}]}
        if acquire is not None:
            body['acquire'] = acquire
        answer = self._api.post('/v1/leases', body, version='1.1')
        assert answer.status_int < 300, answer.body
        return f'/v1/leases/{answer.json["lease"]["id"]}'

    def change(self, path, **changes):
        answer = self._api.put(path, changes, version='1.1')
        assert answer.status_int == 200, answer.body

    def delete(self, path):
        assert self._api.delete(path, version='1.1').status_int == 204

    def get(self, path):
        return self._api.get(path, version='1.1').json['lease']

    def words(self, path):
        """The status words of a lease: (at REST 1.0, at 1.1)."""
        pair = tuple(self._api.get(path, version=version).json['lease']['status']
                     for version in ('1.0', '1.1'))
        self.seen.add(pair)
        return pair

    def words_while(self, path):
        """Return the words during the next change of a lease, which the cloud refuses once."""
        self._manager.cloud.fail('nova.add_host', 1,
                                 errors.CloudError(service='Nova', reason='no'))
        self._manager.run()
        words = self.words(path)
        self._manager.run_until(self._manager.clock() + minutes(1))
        return words


@pytest.fixture
def clients(api, manager):
    return Clients(api, manager)


@pytest.mark.proof
@pytest.mark.usefixtures('rare_polls')
def test_every_word_of_both_versions_is_seen(clients, manager):
    first, second = manager.enrol(2)
    lease = clients.ask(duration='12h')
    assert clients.words(lease) == ('PENDING', 'to_be_started')
    assert clients.words_while(lease) == ('STARTING', 'starting')
    assert clients.words(lease) == ('ACTIVE', 'active')
    [reservation] = clients.get(lease)['reservations']
    clients.change(lease, reservations=[{'id': reservation['id'], 'min': 2, 'max': 2}])
    assert clients.words_while(lease) == ('UPDATING', 'updating')
    assert clients.words(lease) == ('ACTIVE', 'active')

    retried = clients.ask({'type': 'retries', 'retries': 1, 'retry_pause_seconds': 10})
    waiting = clients.ask({'type': 'wait', 'not_after': '2030-05-01 12:20'})
    lucky = clients.ask({'type': 'wait', 'not_after': '2030-05-02 12:00'})
    for path in (retried, waiting, lucky):
        assert clients.words(path) == ('CREATING', 'in_progress')
    manager.run_until(NOON + minutes(20))
    assert clients.words(retried) == ('ERROR', 'error')
    assert clients.words(waiting) == ('ERROR', 'timedout')
    assert clients.words(lucky) == ('CREATING', 'in_progress')

    clients.change(lease, end='now')
    assert clients.words_while(lease) == ('TERMINATING', 'terminating')
    assert clients.words(lease) == ('TERMINATED', 'terminated')
    assert clients.words(lucky) == ('ACTIVE', 'active')
    clients.delete(lucky)
    assert clients.words(lucky) == ('DELETING', 'deleting')
    manager.run()

    later = clients.ask(start='2030-05-01 14:00')
    assert clients.words(later) == ('PENDING', 'inactive')
    for host in (first, second):
        manager.client.update_resource(builders.an_admin(), 'host', host.id, {}, reservable=False)
    manager.run_until(NOON + hours(2.5))
    assert clients.words(later) == ('ERROR', 'error')
    assert 'Out of use: ' in clients.get(later)['status_reason']

    assert clients.seen == WORDS


def test_the_table_has_all_status_words():
    shown = {status_words.words(state, task, start, NOON) for state in lifecycle.STATES
             for task in (None, *lifecycle.TASKS) for start in (NOON, NOON + hours(1))}
    assert shown == WORDS


def test_from_1_1_on_every_status_is_in_lower_case(clients, api, manager):
    manager.enrol(1)
    path = clients.ask()
    manager.run()
    lease = clients.get(path)
    assert (lease['status'], lease['reservations'][0]['status']) == ('active', 'active')
    assert {event['type']: event['status'] for event in lease['events']} == {
        'start_lease': 'done', 'before_end_lease': 'done', 'end_lease': 'undone'}
    old = api.get(path).json['lease']
    assert (old['status'], {event['status'] for event in old['events']}) == (
        'ACTIVE', {'DONE', 'UNDONE'})


@pytest.mark.parametrize(('words', 'found'), [
    ('active', 1), ('ACTIVE', 1), ('Active,terminated', 1), ('inactive', 1), ('INACTIVE', 1),
    ('to_be_started', 0), ('TO_BE_STARTED', 0), ('PENDING', 1), ('pending', 1), ('CREATING', 0),
    ('ACTIVE,pending', 2), ('ERROR', 0), ('Terminating', 0)])
def test_a_filter_takes_the_words_of_both_versions_in_both_spellings(
        clients, api, manager, words, found):
    manager.enrol(2)
    clients.ask()
    clients.ask(start='2030-05-01 14:00')
    manager.run()
    answer = api.get(f'/v1/leases?status={words}', version='1.1')
    assert len(answer.json['leases']) == found

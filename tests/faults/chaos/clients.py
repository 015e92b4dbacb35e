# SPDX-License-Identifier: Apache-2.0
"""Clients who lease hosts, change their leases and end them, whatever the answers are."""
import collections
import dataclasses
import datetime
import threading
import time
import uuid

import requests

from chaos import subscriber
from chaos import things

# What a lease asks for that takes its time to be acquired, and how often one does.
_PATIENT = 0.4
# How often a lease asks for something else than hosts.
_OTHER = 0.4
# A lost connection, and what a frozen API never answers, beside the codes of the answers.
LOST = 'no answer'
_DOUBTFUL = (LOST, 500, 502, 503, 504)
_REPEATS = 6


@dataclasses.dataclass
class Promise:
    """The knowledge of one client about one lease that it asked for.

    :ivar seconds: how long it was to be, where it is counted from when it was acquired.
    :ivar doubtful: an answer was lost, so a manager that stood still may make the lease even
        after another one has refused it.
    :ivar ends: when the lease may end by what was answered; `perhaps_ends` by what is in doubt.
    :ivar deleted: "no", "perhaps" or "yes".
    """

    key: str
    project: str
    body: dict
    seconds: int = 0
    lease_id: str | None = None
    refused: bool = False
    doubtful: bool = False
    ends: set = dataclasses.field(default_factory=set)
    perhaps_ends: set = dataclasses.field(default_factory=set)
    deleted: str = 'no'
    others: set = dataclasses.field(default_factory=set)


class Door:
    """The APIs, of which one is asked after the other; counts the answers.

    :ivar answers: {(method, code or LOST): how often}.
    :ivar told: a line for each request, for the search for a cause.
    """

    def __init__(self, urls, chances, seconds, roles='member,reader'):
        self._urls, self._roles = urls, roles
        self._chances = chances
        self._seconds = seconds
        self._session = requests.Session()
        self._session.trust_env = False
        self.answers = collections.Counter()
        self.errors, self.told = [], []

    def ask(self, method, path, project, body=None, key=None):
        """(code or LOST, the body of the answer or None)."""
        headers = {'X-Auth-Token': f'user:{project}:{self._roles}',
                   'OpenStack-API-Version': 'reservation 1.1'}
        if key is not None:
            headers['Idempotency-Key'] = key
        url, began = self._chances.choice(self._urls), time.time()
        try:
            answer = self._session.request(method, f'{url}/v1{path}', json=body,
                                           headers=headers, timeout=self._seconds)
            code, found = answer.status_code, answer.json() if answer.content else None
        except requests.RequestException:
            code, found = LOST, None
        self.answers[method, code] += 1
        self.told.append(f'{_text(datetime.datetime.fromtimestamp(began, datetime.UTC))} '
                         f'{time.time() - began:5.1f} s {url} {method} {path} {key} {body}: '
                         f'{code} {found}')
        if code in (500, 502):
            self.errors.append(f'{method} {path} {body}: {found}')
        return code, found

    def create(self, promise):
        """Request the lease of a planned request, with its key; return the code."""
        code, found = self.ask('POST', '/leases', promise.project, promise.body, promise.key)
        if code in (201, 202):
            lease = found['lease']
            if promise.lease_id not in (None, lease['id']):
                promise.others.add(lease['id'])
            promise.lease_id = lease['id']
            if code == 201:
                promise.ends.add(lease['end'])
        else:
            promise.refused = code not in _DOUBTFUL
            promise.doubtful |= not promise.refused
        return code


class Client(threading.Thread):
    """One client. It ends some seconds after the signal to stop."""

    def __init__(self, plan, urls, number, stopping):
        super().__init__(daemon=True)
        self._chances = plan.chances(f'client {number}')
        # As long as an API waits for a manager and for a teardown, and a little more.
        self.door = Door(urls, self._chances, plan.answer_seconds + 4)
        self._project = subscriber.PROJECTS[number % len(subscriber.PROJECTS)]
        self._stopping = stopping
        self.promises = []

    def run(self):
        while not self._stopping.is_set():
            self._live_one_lease()
            self._pause(0.1, 0.5)

    def _live_one_lease(self):
        promise = Promise(key=str(uuid.UUID(int=self._chances.getrandbits(128))),
                          project=self._project, body={})
        promise.seconds = self._chances.randint(2, 8)
        if self._chances.random() < _OTHER:
            wanted, span = things.wanted(self._chances), self._start()
        else:
            wanted = [things.hosts(self._chances.choice((1, 1, 2)))]
            span = self._patience() if self._chances.random() < _PATIENT else self._start()
        promise.body = {'name': promise.key, **span, 'duration': f'{promise.seconds}s',
                        'reservations': wanted}
        self.promises.append(promise)
        for _ in range(self._chances.randint(1, _REPEATS)):
            if self.door.create(promise) not in _DOUBTFUL or self._stopping.is_set():
                break
            self._pause(0.2, 2)
        for _ in range(self._chances.randrange(4)):
            if promise.lease_id is None or promise.deleted != 'no' or self._stopping.is_set():
                return
            self._pause(0.2, 2)
            acts = (self._move_end, self._end, self._delete_lease)
            self._chances.choices(acts, (6, 1, 2))[0](promise)

    def _start(self):
        """Now, or soon."""
        if self._chances.random() < 0.5:
            return {}
        return {'start': _text(_now() + datetime.timedelta(seconds=self._chances.randint(1, 6)))}

    def _patience(self):
        """Whenever it can be had, in one of the ways in which that can be asked for."""
        not_after = _now() + datetime.timedelta(seconds=self._chances.randint(2, 15))
        return {'acquire': self._chances.choice((
            {'type': 'retries', 'retries': 3, 'retry_pause_seconds': 1},
            {'type': 'wait', 'not_after': _text(not_after)},
            {'type': 'best-effort', 'timeout_seconds': 10}))}

    def _move_end(self, promise):
        """Prolong or shrink it."""
        self._change(promise, _text(_now() + datetime.timedelta(
            seconds=self._chances.randint(1, 10))))

    def _end(self, promise):
        self._change(promise, 'now')

    def _change(self, promise, end):
        code, found = self.door.ask('PUT', f'/leases/{promise.lease_id}', promise.project,
                                    {'end': end})
        if code == 200:
            # What was in doubt before may still be waiting in a manager that stands still.
            promise.ends.add(found['lease']['end'])
        elif code in _DOUBTFUL:
            promise.perhaps_ends.add(end)

    def _delete_lease(self, promise):
        code, _ = self.door.ask('DELETE', f'/leases/{promise.lease_id}', promise.project)
        if code in (204, 404):
            promise.deleted = 'yes'
        elif code in _DOUBTFUL:
            promise.deleted = 'perhaps'

    def _pause(self, shortest, longest):
        self._stopping.wait(self._chances.uniform(shortest, longest))


class Crowd:
    """All clients of a plan."""

    def __init__(self, plan, urls):
        self._stopping = threading.Event()
        self.clients = [Client(plan, urls, number, self._stopping)
                        for number in range(plan.clients)]

    def start(self):
        for client in self.clients:
            client.start()

    def stop(self):
        """Return when nobody asks for anything any more."""
        self._stopping.set()
        until = time.monotonic() + 60
        for client in self.clients:
            client.join(max(0, until - time.monotonic()))
            if client.is_alive():
                raise AssertionError('A client does not come to its end.')

    @property
    def promises(self):
        return [promise for client in self.clients for promise in client.promises]

    @property
    def answers(self):
        return sum((client.door.answers for client in self.clients), collections.Counter())

    @property
    def told(self):
        return sorted(line for client in self.clients for line in client.door.told)

    @property
    def errors(self):
        return [error for client in self.clients for error in client.door.errors]


def resolve(door, promise):
    """Ask again for what is in doubt, until it is answered; the service is well."""
    until = time.monotonic() + 60
    promise.refused &= not promise.doubtful
    while promise.lease_id is None and not promise.refused:
        if time.monotonic() > until:
            raise AssertionError(f'{promise.body} stays without an answer.')
        door.create(promise)


def _now():
    return datetime.datetime.now(datetime.UTC)


def _text(moment):
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + 'Z'

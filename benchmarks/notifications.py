# SPDX-License-Identifier: Apache-2.0
"""The time from the commit of an event to its arrival at a webhook, at a steady rate.

``python -m benchmarks.notifications``: two managers, each a process of its own, share a PostgreSQL
(one manager, on SQLite). Receivers are HTTPS servers on loopback. The events of a lease come one
after the other, and must arrive in this order.
"""
import collections
import dataclasses
import ipaddress
import itertools
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time

from support import builders

from benchmarks import claims
from benchmarks import hook_receivers
from benchmarks import report
from benchmarks import worlds
from climate.db import subscriptions
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import subscriptions as domain
from climate.manager import service
from climate.manager.notifications import outbox

SECONDS = {'short': 4, 'bench': 10, 'long': 60}
EVENTS_OF_A_LEASE = 4
#: {number of events a second: the goal of the 95th percentile in milliseconds}.
GOALS = {50: 150, 200: 250}
# The goal is later by this time if other receivers take nothing.
_DELAY = 100
#: Tuples (number of events a second, number of receivers, whether bad receivers are beside them).
CASES = {'short': ((50, 50, True),)}
CASES['bench'] = CASES['long'] = (
    (50, 1, False), (50, 50, False), (200, 1, False), (200, 50, False), (50, 50, True))
#: The receivers that take nothing, in one of the runs.
BAD = (hook_receivers.HANGS, hook_receivers.FAILS, hook_receivers.REDIRECTS)
LIMIT_SECONDS = 120
_PROCESSES = multiprocessing.get_context('spawn')


@dataclasses.dataclass(frozen=True)
class Run:
    """The measurements of one run.

    :ivar taken: the milliseconds of each notification, from the commit to the arrival.
    :ivar disordered: the number of notifications that came before an earlier one of their lease.
    :ivar repeated: the number of notifications that came again.
    :ivar processor: the milliseconds of the managers' processors for each notification.
    """

    taken: tuple
    disordered: int
    repeated: int
    processor: float

    def percentile(self, share):
        """The milliseconds within which this share of the notifications arrived."""
        return sorted(self.taken)[int(len(self.taken) * share)]


def work(url, ca_file, ready, stop, spent):
    """Run one manager in a process of its own until it is stopped."""
    conf = claims.configured(url)
    conf.set_override('ca_file', ca_file, group='webhook')
    conf.set_override('allowed_networks', [ipaddress.ip_network('127.0.0.0/8'),
                                           ipaddress.ip_network('::1/128')], group='webhook')
    conf.set_override('role_check_seconds', 0, group='notifications')
    manager = service.Manager(conf, serve_rpc=False)
    manager.start()
    ready.release()
    began = _processor_seconds()
    stop.wait()
    spent.put(_processor_seconds() - began)
    manager.stop()


def _processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def subscribe(database, ports):
    """Add a subscription for each port, in a project of its own."""
    now = database.now()
    with database.writer() as connection:
        for number, port in enumerate(ports):
            subscriptions.add(connection, domain.Subscription(
                id=f'subscription-{number}', project_id=f'project-{number}', user_id='ann',
                scope='project', transport='webhook',
                address=f'https://{hook_receivers.NAME}:{port}/hook', before_end=(),
                events=('change',), created_at=now), 1, secret='the-key')


def leases(database, projects):
    """Yield Leases without end: each of them several times, mixed with others, in each project."""
    now = database.now()
    for number in itertools.count():
        group = [records.Lease(
            id=f'lease-{number}-{project}', name='bench', project_id=f'project-{project}',
            user_id='ann', start=now, end=now + builders.hours(9), state=lifecycle.ACTIVE,
            created_at=now) for project in range(projects)]
        for turn in range(EVENTS_OF_A_LEASE):
            for lease in group:
                yield dataclasses.replace(lease, name=str(turn))


def publish(database, projects, rate, seconds):
    """Commit events at a steady rate; return {(lease id, its turn): the moment of the commit}."""
    committed = {}
    began = time.monotonic()
    for number, lease in enumerate(itertools.islice(
            leases(database, projects), int(rate * seconds))):
        time.sleep(max(0, began + number / rate - time.monotonic()))
        with database.writer() as connection:
            outbox.publish(connection, lease, database.now(), 'update')
        committed[lease.id, lease.name] = time.time()
    return committed


def measured(database, rate, seconds, receivers, bad=()):
    """Return the Run of events at a rate for some receivers, beside bad ones."""
    with tempfile.TemporaryDirectory() as folder, hook_receivers.running(
            folder, [hook_receivers.OK] * receivers + list(bad)) as (hooks, ca_file):
        subscribe(database, hooks.ports)
        ready, stop = _PROCESSES.Semaphore(0), _PROCESSES.Event()
        spent = _PROCESSES.Queue()
        url = database.engine.url.render_as_string(hide_password=False)
        managers = 1 if database.dialect == 'sqlite' else 2
        workers = [_PROCESSES.Process(target=work, args=(url, ca_file, ready, stop, spent))
                   for _ in range(managers)]
        for worker in workers:
            worker.start()
        for _ in workers:
            assert ready.acquire(timeout=60), 'A manager did not start.'
        time.sleep(2)
        committed = publish(database, len(hooks.ports), rate, seconds)
        expected = sum(int(lease_id.rpartition('-')[2]) < receivers for lease_id, _ in committed)
        until = time.monotonic() + LIMIT_SECONDS
        while hooks.count() < expected and time.monotonic() < until:
            time.sleep(0.2)
        arrivals = hooks.arrivals()
        stop.set()
        used = sum(spent.get(timeout=60) for _ in workers)
        for worker in workers:
            worker.join(60)
    return evaluated(committed, arrivals, expected, used)


def evaluated(committed, arrivals, expected, used):
    """Return the Run of these commits and arrivals.

    :param used: the seconds of processor time of the managers.
    """
    first, turns = {}, collections.defaultdict(list)
    for at, _, body in arrivals:
        key = body['lease']['id'], body['lease']['name']
        if key not in first:
            first[key] = at
            turns[key[0]].append(int(key[1]))
    assert len(first) == expected, f'{expected - len(first)} notifications did not arrive.'
    disordered = sum(earlier > later for order in turns.values()
                     for earlier, later in itertools.pairwise(order))
    return Run(tuple((at - committed[key]) * 1000 for key, at in first.items()), disordered,
               len(arrivals) - len(first), used * 1000 / expected)


def figures(form):
    """Measure the notifications, on each kind of database."""
    for kind in worlds.kinds_in(form):
        for rate, receivers, beside_bad in CASES[form]:
            yield from _figures(kind, SECONDS[form], rate, receivers, BAD if beside_bad else ())


def _figures(kind, seconds, rate, receivers, bad):
    with worlds.emptied(kind) as database:
        run = measured(database, rate, seconds, receivers, bad)
        what = (f'{rate} events/s to {receivers} receivers'
                f'{f" beside {len(bad)} bad ones" if bad else ""}, {database.dialect}')
    goal = GOALS[rate] + (_DELAY if bad else 0)
    yield report.Figure(21, what, statistics.median(run.taken), 'ms')
    yield report.Figure(21, f'{what}: p95', run.percentile(0.95), 'ms', goal=goal)
    yield report.Figure(21, f'{what}: processor for each', run.processor, 'ms')
    yield report.Figure(21, f'{what}: not in order', run.disordered, 'notifications', goal=0,
                        firm=True)


if __name__ == '__main__':
    sys.exit(report.main(figures))

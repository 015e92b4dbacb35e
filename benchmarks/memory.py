# SPDX-License-Identifier: Apache-2.0
"""The start of a manager on a database with very many hosts and allocations, and its memory.

``python -m benchmarks.memory``: that of an API too; each is a program of its own, with RabbitMQ
between them where it is installed, else both are one. Memory is measured when leases were read,
listed and created.
"""
import contextlib
import datetime
import pathlib
import sys
import tempfile

from benchmarks import broker
from benchmarks import callers
from benchmarks import fill
from benchmarks import programs
from benchmarks import report
from benchmarks import worlds

HOSTS, EACH, LEASES = 10_000, 50, 10_000
CREATED, READ, READ_LONG = 24, 50, 4
RUNS = {'bench': 3, 'long': 20}
GOAL_READY_S, GOAL_MANAGER_MB, GOAL_API_MB = 2, 300, 150


def figures(form):
    """Yield the Figures; none in the short form, as the database takes its time to fill."""
    if form == 'short':
        return
    with worlds.emptied(apart='memory') as database, tempfile.TemporaryDirectory() as folder, \
            contextlib.ExitStack() as stack:
        filled(database)
        words = f'{HOSTS:,} hosts, {HOSTS * EACH:,} allocations, {database.dialect}'
        url = database.engine.url.render_as_string(hide_password=False)
        yield report.seconds(12, f'climate-manager is ready, {words}',
                             [ready(folder, url) for _ in range(RUNS[form])], GOAL_READY_S)
        if not broker.is_installed():
            program, port = stack.enter_context(programs.standalone(folder, url))
            worked(port)
            yield report.Figure(11, f'manager and API in one process, {words}',
                                program.memory_mb(), 'MB', goal=GOAL_MANAGER_MB + GOAL_API_MB)
            return
        transport = stack.enter_context(broker.running(pathlib.Path(folder)))
        path, port = programs.configured(folder, url, f'transport_url = {transport}')
        manager = stack.enter_context(programs.manager(folder, path))
        api = stack.enter_context(programs.api(folder, path, port))
        worked(port)
        yield report.Figure(11, f'manager, {words}', manager.memory_mb(), 'MB',
                            goal=GOAL_MANAGER_MB)
        yield report.Figure(11, f'API, {words}', api.memory_mb(), 'MB', goal=GOAL_API_MB)


def filled(database):
    """Write hosts, their allocations, and leases that are over."""
    fill.hosts(database, HOSTS)
    fill.allocations(database, EACH)
    fill.ended_leases(database, LEASES, HOSTS)
    worlds.analyzed(database)


def ready(folder, url):
    """Return the seconds until a manager is ready."""
    path, _ = programs.configured(folder, url, 'transport_url = fake:/')
    with programs.manager(folder, path) as program:
        return program.ready_seconds


def worked(port):
    """Send requests of each kind to an API and its manager."""
    tomorrow = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    requests = [('POST', '/v1/leases', callers.body(
        name='bench', start=f'{tomorrow:%Y-%m-%dT%H:%M:%SZ}', duration='30m', reservations=[
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}])) for _ in range(CREATED)]
    requests += [('GET', f'/v1/{path}?limit={limit}', b'') for path in ('leases', 'os-hosts')
                 for limit, times in ((100, READ), (1000, READ_LONG)) for _ in range(times)]
    answers, _ = callers.many(port, 4, requests)
    statuses = {status for _, status, _ in answers}
    # With the hosts of this hour all allocated, a lease may be refused.
    assert statuses <= {200, 201, 409} and 200 in statuses, statuses


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The worst list that a member can cause: an administrator's list of allocations.

``python -m benchmarks.worst_list``: a member leases as many slots as one lease may have, many
times, each slot on another host. How large the answers are is firm, and so is how many statements
a page costs.
"""
import contextlib
import json
import sys
import time

from support import builders

from benchmarks import fill
from benchmarks import report
from benchmarks import worlds

LEASES = {'short': 10, 'bench': 200, 'long': 200}
ROUNDS = {'short': 2, 'bench': 20, 'long': 50}
_PATH = '/v1/os-hosts/allocations'
_AMOUNT = {'vcpus': 1, 'memory_mb': 1, 'disk_gb': 0}
_HOUR_SECONDS = 3600
# One of the ids of the hosts, one of the allocations, one of the names of their owners.
GOAL_STATEMENTS = 3
# Of one page of 1.1, with the default of [api] max_limit; and of one slot at REST 1.0.
GOAL_PAGE_MB, GOAL_SLOT_BYTES = 0.5, 300
GOAL_PAGE_MS = 200


def figures(form):
    """Yield the Figures."""
    for kind in worlds.kinds_in(form):
        with contextlib.ExitStack() as stack:
            database = stack.enter_context(worlds.emptied(kind))
            conf = worlds.configured()
            conf.set_override('auth_strategy', 'noauth', group='api')
            slots = fill_worst(database, LEASES[form], conf.manager.max_slots)
            api = builders.Api(conf, builders.Manager(conf, database, builders.Clock()))
            yield from paged(api, slots, ROUNDS[form], database.dialect)
            yield from whole(api, slots, database.dialect)


def fill_worst(database, count, slots):
    """Allocate `slots` slots to each of a number of leases; return the number of slots."""
    fill.hosts(database, slots)
    worlds.analyzed(database)
    with database.writer() as connection:
        for number in range(count):
            fill.allocate(connection, f'worst{number}', builders.NOON, [
                (host, 2 * number * _HOUR_SECONDS, (2 * number + 1) * _HOUR_SECONDS, False,
                 _AMOUNT, 1) for host in range(1, slots + 1)])
    return count * slots


def paged(api, slots, rounds, dialect):
    """Yield what a page from REST 1.1 on costs, after all of them were read once."""
    path, seen, largest, taken = _PATH, 0, 0, []
    while path:
        with builders.statements() as statements:
            milliseconds, found = asked(api, path, '1.1')
        taken.append(milliseconds)
        largest = max(largest, len(found))
        document = json.loads(found)
        seen += sum(each['count'] for element in document['allocations']
                    for each in element['reservations'])
        [link] = document.get('allocations_links', [{'href': None}])
        # Of very many pages a few are enough, and the last one has none after it.
        path = link['href'] if len(taken) < 10 * rounds else None
    assert seen == slots or len(taken) == 10 * rounds, seen
    what = f'allocations of {slots:,} slots, {dialect}'
    yield report.Figure(0, f'a page of {what}', len(statements), 'statements',
                        goal=GOAL_STATEMENTS, firm=True)
    yield report.Figure(0, f'a page of {what}: the largest', largest / 1e6, 'MB',
                        goal=GOAL_PAGE_MB, firm=True)
    yield report.timed(0, f'a page of {what}', taken, goal=GOAL_PAGE_MS)


def whole(api, slots, dialect):
    """Yield what the list costs at REST 1.0, which has no pages and an element for each slot."""
    milliseconds, found = asked(api, _PATH, '1.0')
    assert found.count(b'"lease_id"') == slots
    what = f'all allocations of {slots:,} slots at REST 1.0, {dialect}'
    yield report.Figure(0, what, len(found) / 1e6, 'MB', goal=slots * GOAL_SLOT_BYTES / 1e6,
                        firm=True)
    yield report.timed(0, what, [milliseconds])


def asked(api, path, version):
    """(milliseconds, document) of an answer to an administrator."""
    began = time.perf_counter()
    answer = api.get(path, token=builders.ADMIN, version=version)
    assert answer.status_int == 200, answer.body
    return (time.perf_counter() - began) * 1000, answer.body


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

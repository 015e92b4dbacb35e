# SPDX-License-Identifier: Apache-2.0
"""The time to read one lease, and a page of a very long list.

``python -m benchmarks.lists``: over REST, API and manager in one process. How many statements each
costs is counted in this process, by the same API without a network.
"""
import collections
import contextlib
import json
import random
import statistics
import sys
import tempfile

from support import builders

from benchmarks import callers
from benchmarks import fill
from benchmarks import programs
from benchmarks import report
from benchmarks import worlds

HOSTS = {'short': 1_000, 'bench': 10_000, 'long': 10_000}
LEASES = {'short': (1_000, 3_000), 'bench': (10_000, 100_000), 'long': (10_000, 100_000)}
ROUNDS = {'short': 0, 'bench': 100, 'long': 1_000}
# An administrator, of the project that has the leases.
_TOKEN = f'root:{fill.PROJECT}:admin,member,reader'
PAGE = 100
GOAL_MS, GOAL_P99_MS = 8, 25
GOAL_GROWTH = 1.2
# One lease: itself, its reservations, what these have, its events, the names of its owner. A page
# of them the same, and where it begins. Of hosts: themselves, what is said of them, their
# maintenance, and their power.
# Of pages also the bytes of their rows, which may end them early, and of those of leases whether
# any lease is shared with the caller.
GOAL_STATEMENTS = {'one lease': 5, 'a page of leases': 7, 'a later page of leases': 8,
                   'a page of leases by start': 7, 'a page of leases by status': 7,
                   'a page of hosts': 5}


def figures(form):
    """Yield the Figures."""
    for kind in worlds.kinds_in(form):
        with contextlib.ExitStack() as stack:
            filled = {}
            for count in LEASES[form]:
                database = stack.enter_context(worlds.emptied(kind, f'of_{count}'))
                fill.hosts(database, HOSTS[form])
                questions = asked(fill.ended_leases(database, count, HOSTS[form]))
                worlds.analyzed(database)
                filled[count] = database, questions
                yield from counted(database, questions, count)
            if ROUNDS[form]:
                yield from compared(filled, ROUNDS[form], database.dialect)


def asked(ids):
    """{what is read: a function that returns a path of it, and how many items are there}."""
    made = random.Random(1)
    return {
        'one lease': lambda: (f'/v1/leases/{made.choice(ids)}', None),
        'a page of leases': lambda: (f'/v1/leases?limit={PAGE}', PAGE),
        'a later page of leases': lambda: (
            f'/v1/leases?limit={PAGE}&marker={made.choice(ids[:-PAGE])}', None),
        'a page of leases by start': lambda: (
            f'/v1/leases?limit={PAGE}&sort=start:desc', PAGE),
        'a page of leases by status': lambda: (f'/v1/leases?limit={PAGE}&sort=status', PAGE),
        'a page of hosts': lambda: (
            f'/v1/os-hosts?limit={PAGE}&marker={made.randrange(PAGE)}', PAGE)}


def counted(database, questions, count):
    """Yield how many statements each question costs, with all that an API does in this process."""
    conf = worlds.configured()
    conf.set_override('auth_strategy', 'noauth', group='api')
    api = builders.Api(conf, builders.Manager(conf, database, builders.Clock()))
    for name, question in questions.items():
        path, items = question()
        with builders.statements() as statements:
            answer = api.get(path, token=_TOKEN, version='1.1')
        checked(answer.status_int, answer.body, items)
        yield report.Figure(4, f'{name} of {count:,}, {database.dialect}', len(statements),
                            'statements', goal=GOAL_STATEMENTS[name], firm=True)


def compared(filled, rounds, dialect):
    """Yield how long each question takes over REST, and how much longer where there are more.

    They are asked of both in turns, so that a machine that is busy for a while is so for both.

    :param filled: {how many leases: (the database that has them, the questions)}, two of them.
    """
    taken = collections.defaultdict(list)
    with contextlib.ExitStack() as stack:
        hearing = {count: stack.enter_context(served(database))
                   for count, (database, _) in filled.items()}
        for number in range(rounds + rounds // 10):
            for count, (_, questions) in filled.items():
                for name, question in questions.items():
                    path, items = question()
                    milliseconds, status, document = hearing[count].timed('GET', path)
                    checked(status, document, items)
                    # The first ones of a process that has just begun are not measured.
                    if number >= rounds // 10:
                        taken[name, count].append(milliseconds)
    for (name, count), mine in taken.items():
        yield report.timed(4, f'{name} of {count:,}, over REST, {dialect}', mine,
                           goal=GOAL_MS, p99_goal=GOAL_P99_MS)
    few, many = filled
    for name in filled[few][1]:
        yield report.Figure(
            4, f'{name}: {many:,} leases to {few:,}, {dialect}',
            statistics.median(taken[name, many]) / statistics.median(taken[name, few]), 'x',
            goal=GOAL_GROWTH)


@contextlib.contextmanager
def served(database):
    """A Caller of an API and a manager, one process, that serve a database."""
    url = database.engine.url.render_as_string(hide_password=False)
    with tempfile.TemporaryDirectory() as folder, \
            programs.standalone(folder, url) as (_program, port):
        caller = callers.Caller(port)
        yield caller
        caller.close()


def checked(status, document, items):
    """Assert that an answer is right.

    :param items: how many of them there are; None: some.
    """
    assert status == 200, document
    [found, *_] = json.loads(document).values()
    assert found and (items is None or len(found) == items), len(found)


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

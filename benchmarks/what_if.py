# SPDX-License-Identifier: Apache-2.0
"""The time of a what-if: row 16 of the table.

``python -m benchmarks.what_if``: 1,000 hosts with 10,000 leases of 30 days. A tenth of the hosts
goes, another tenth is out for a week, there is half as much demand more, or all of it at once.
"""
import datetime
import random
import sys
import time

from support import builders

from benchmarks import fill
from benchmarks import peak_memory
from benchmarks import report
from benchmarks import worlds
from climate.domain import what_if

HOSTS = {'short': 100, 'bench': 1_000, 'long': 1_000}
EACH = 10
ROUNDS = {'short': 1, 'bench': 3, 'long': 10}
GOAL_S = 5
_DAYS = 30


def figures(form):
    """Yield the Figures of each kind of database."""
    hosts = HOSTS[form]
    for kind in worlds.kinds_in(form):
        with worlds.emptied(kind) as database:
            start = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
            fill.hosts(database, hosts)
            fill.coming_leases(database, spans(hosts, start, random.Random(1)))
            worlds.analyzed(database)
            manager = builders.Manager(worlds.configured(), database, builders.Clock(start))
            for words, question in questions(hosts, start).items():
                taken, before = [], peak_memory.anew()
                for _ in range(ROUNDS[form]):
                    began = time.perf_counter()
                    answer = manager.client.what_if(builders.an_admin(), question)
                    taken.append(time.perf_counter() - began)
                assert answer.leases == hosts * EACH
                yield report.seconds(
                    16, f'{words}, {hosts:,} hosts with {hosts * EACH:,} leases, '
                    f'{database.dialect}', taken, GOAL_S)
                yield report.Figure(16, f'{words}: memory at the most, beyond {before:.0f} MB',
                                    peak_memory.peak() - before, 'MB')


def spans(hosts, start, made):
    """Yield (host, start, end): ten leases of each host, which leave a quarter of it free."""
    slot = datetime.timedelta(days=_DAYS) / EACH
    for host in range(1, hosts + 1):
        for number in range(EACH):
            begin = start + (number + made.random() / 4) * slot + datetime.timedelta(minutes=1)
            yield host, begin, begin + slot * 0.7


def questions(hosts, start):
    """Return {words: Question}."""
    end = start + datetime.timedelta(days=_DAYS)
    gone = tuple(f'host-{number}' for number in range(1, hosts // 10 + 1))
    out = what_if.Outage(tuple(f'host-{number}' for number in range(
        hosts // 10 + 1, hosts // 5 + 1)), start, start + datetime.timedelta(days=7))
    each = {'a tenth of the hosts goes': {'remove': gone},
            'half as much demand more': {'demand_factor': 1.5},
            'all of it': {'remove': gone, 'out': (out,), 'demand_factor': 1.5,
                          'add': (what_if.Added(hosts // 20, 'host-1'),)}}
    return {words: what_if.WhatIfQuestion('host', start, end, **more)
            for words, more in each.items()}


if __name__ == '__main__':
    sys.exit(report.main(figures))

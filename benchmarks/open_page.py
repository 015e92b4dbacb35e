# SPDX-License-Identifier: Apache-2.0
"""The processor time of a page that is open, and of what a member reads among many allocations.

``python -m benchmarks.open_page``: a standalone with its console. Nearly all leases belong to other
projects. Requests follow each other at once, so the time between them does not count.
"""
import datetime
import http.client
import json
import os
import pathlib
import sys
import tempfile
import urllib.parse

import sqlalchemy as sa
from support import browser

from benchmarks import report
from benchmarks import timeline as bars
from benchmarks import worlds
from climate.db import tables

ALLOCATIONS = {'short': 2_000, 'bench': 40_000, 'long': 40_000}
ROUNDS = {'short': 20, 'bench': 400, 'long': 2_000}
_FEW_ROUNDS = 5
GOAL_UNCHANGED_MS = 2
# A page asks this often in a minute (static/js/timeline/source.js).
_A_MINUTE = 24
_TICK_MS = 1000 / os.sysconf('SC_CLK_TCK')
_MEMBER = 'eve:few:member,reader'
# The simulated cloud does not know the hosts of the database.
_QUIET = {'MANAGER__REFRESH_SECONDS': '0', 'MANAGER__AUDIT_INTERVAL_SECONDS': '0',
          'HEALTH__POLL_SECONDS': '0'}
_WEEK = datetime.timedelta(days=7)


def figures(form):
    """Yield the Figures."""
    count, rounds = ALLOCATIONS[form], ROUNDS[form]
    with tempfile.TemporaryDirectory() as folder, worlds.emptied('sqlite', 'open') as database:
        start = bars.filled(database, count)
        own_leases(database)
        settings = {'DATABASE__CONNECTION': database.engine.url.render_as_string(
            hide_password=False), **_QUIET}
        with browser.running(pathlib.Path(folder), **settings) as standalone:
            pid = json.loads((pathlib.Path(folder) / 'standalone.json').read_text())['pid']
            program = Program(pid, standalone)
            spans = {'a week': span(start, _WEEK), 'all of it': bars.window(start)}
            cookie = program.cookie()
            for words, sight in spans.items():
                yield from of_page(program, cookie, (words, sight), rounds, count)
            yield from of_member(program, spans, rounds, count)


def own_leases(database):
    """Give one lease in a hundred to the project of the member."""
    with database.writer() as connection:
        connection.execute(sa.update(tables.LEASES).where(tables.LEASES.c.id.endswith('00')).values(
            project_id='few'))


def span(start, length):
    return {name: f'{moment:%Y-%m-%dT%H:%M:%SZ}' for name, moment in (
        ('start', start), ('end', start + length))}


class Program:
    """A standalone, and a connection to its API or to its console."""

    def __init__(self, pid, standalone):
        self._pid = pid
        api, console = map(urllib.parse.urlsplit, (standalone.url, standalone.address))
        self.prefix = api.path
        self.api = http.client.HTTPConnection(api.netloc)
        self.console = http.client.HTTPConnection(console.netloc)
        self.login = f'{console.path}?{console.query}'

    def cookie(self):
        """Log in to the console; return the cookie."""
        self.console.request('GET', self.login)
        answer = self.console.getresponse()
        answer.read()
        return answer.headers['Set-Cookie'].partition(';')[0]

    def spent_ms(self):
        """Return the processor time of all threads so far."""
        fields = pathlib.Path(f'/proc/{self._pid}/stat').read_text().rpartition(')')[2].split()
        return (int(fields[11]) + int(fields[12])) * _TICK_MS

    def each_ms(self, connection, path, headers, rounds, status):
        """Return (the processor time of a request, the last response)."""
        before = self.spent_ms()
        for _ in range(rounds):
            connection.request('GET', path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status, answer.status
        return (self.spent_ms() - before) / rounds, answer


def of_page(program, cookie, shown, rounds, count):
    """Yield what an idle timeline in a browser costs a minute.

    :param shown: (words, the query of the span in sight).
    """
    words, sight = shown
    path = f'/rest/v1/timeline?{urllib.parse.urlencode({"resolution": 600, **sight})}'
    headers = {'Cookie': cookie, 'Accept': 'application/json'}
    full, answer = program.each_ms(program.console, path, headers, _FEW_ROUNDS, 200)
    headers['If-None-Match'] = answer.headers['ETag']
    each, _ = program.each_ms(program.console, path, headers, rounds, 304)
    for what, milliseconds in (('computed each time', full), ('unchanged', each)):
        yield report.Figure(
            19, f'an idle open page, {words}, a minute, {what}, {count:,} allocations',
            milliseconds * _A_MINUTE, 'ms of processor', runs=rounds)


def of_member(program, spans, rounds, count):
    """Yield what the answers to a member cost in climate-api and the manager."""
    headers = {'X-Auth-Token': _MEMBER, 'OpenStack-API-Version': 'reservation 1.1'}
    for words, sight in spans.items():
        query = urllib.parse.urlencode(sight)
        for noun in ('timeline', 'usage'):
            each, answer = program.each_ms(program.api, f'{program.prefix}/{noun}?{query}', headers,
                                           _FEW_ROUNDS, 200)
            yield report.Figure(19, f"a member's {noun}, {words}, {count:,} allocations", each,
                                'ms of processor', runs=_FEW_ROUNDS)
            if noun == 'timeline':
                each, _ = program.each_ms(
                    program.api, f'{program.prefix}/{noun}?{query}',
                    {**headers, 'If-None-Match': answer.headers['ETag']}, rounds, 304)
                yield report.Figure(
                    19, f"a member's unchanged {noun}, {words}, {count:,} allocations", each,
                    'ms of processor', goal=GOAL_UNCHANGED_MS, runs=rounds)


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

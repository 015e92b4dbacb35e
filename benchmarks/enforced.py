# SPDX-License-Identifier: Apache-2.0
"""The effect of a slow enforcement service on projects for which it is not asked.

``python -m benchmarks.enforced``: 7 clients create leases, while an eighth client of an enforced
project creates others, each of which waits two seconds for the service. The same without the
eighth client is the goal, less a tenth.
"""
import contextlib
import http.server
import json
import statistics
import sys
import tempfile
import threading
import time

from support import loopback

from benchmarks import callers
from benchmarks import create
from benchmarks import fill
from benchmarks import programs
from benchmarks import report
from benchmarks import worlds

RUNS = {'short': 0, 'bench': 3, 'long': 9}
LEASES = {'short': 0, 'bench': 300, 'long': 900}
HOSTS, CLIENTS, WARM_UP = 1_000, 7, 80
ANSWER_SECONDS = 2
_ENFORCED = 'slow:slow:member,reader'
_OPTIONS = '''
[enforcement]
driver = http
url = http://127.0.0.1:{port}
token = secret
exempt_projects = demo
auth_url = http://127.0.0.1:5000/v3
'''


class _Slow(http.server.BaseHTTPRequestHandler):
    """Allows everything after a while."""

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        time.sleep(ANSWER_SECONDS)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


def figures(form):
    """Yield the Figures of leases with and without the enforced project."""
    alone, beside, asked = [], [], 0
    for _ in range(RUNS[form]):
        alone.append(_rate(LEASES[form], enforced=False)[0])
        rate, count = _rate(LEASES[form], enforced=True)
        beside.append(rate)
        asked += count
    if alone:
        yield report.Figure(
            0, f'create a lease by {CLIENTS} clients, beside one whose service answers in '
            f'{ANSWER_SECONDS} s ({asked} leases), sqlite', statistics.median(beside), 'leases/s',
            goal=round(0.9 * statistics.median(alone)), more=True, runs=len(beside))


def _rate(leases, enforced):
    """Return (the leases of the exempt project per second, the number of enforced leases)."""
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(loopback.serving(
            http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Slow)))
        database = stack.enter_context(worlds.emptied(worlds.FILE))
        fill.hosts(database, HOSTS)
        worlds.analyzed(database)
        _, own_port = stack.enter_context(programs.standalone(
            stack.enter_context(tempfile.TemporaryDirectory()),
            database.engine.url.render_as_string(hide_password=False),
            _OPTIONS.format(port=port)))
        requests = [('POST', '/v1/leases', create.body(start))
                    for start in create.spread(2 * (WARM_UP + leases))]
        callers.many(own_port, CLIENTS, requests[:WARM_UP])
        stopping, made = threading.Event(), []
        thread = threading.Thread(target=_create_enforced, args=(
            own_port, requests[WARM_UP + leases:], stopping, made))
        if enforced:
            thread.start()
        answers, seconds = callers.many(own_port, CLIENTS, requests[WARM_UP:WARM_UP + leases])
        stopping.set()
        if enforced:
            thread.join()
    refused = [json.loads(document) for _, status, document in answers if status != 201]
    assert not refused, (len(refused), refused[0])
    return leases / seconds, len(made)


def _create_enforced(port, requests, stopping, made):
    """Create leases of the enforced project, one after the other, until `stopping` is set."""
    caller = callers.Caller(port, _ENFORCED)
    for request in requests:
        if stopping.is_set():
            break
        status, document = caller.call(*request)
        assert status == 201, document
        made.append(status)
    caller.close()


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

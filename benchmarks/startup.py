# SPDX-License-Identifier: Apache-2.0
"""The time until the ``climate`` command has answered.

``python -m benchmarks.startup``: ``climate --help``, and ``climate lease list`` with an API that
answers at once. How soon a manager is ready tells ``benchmarks.memory``, which has the database.
"""
import contextlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from benchmarks import report

RUNS = {'short': 0, 'bench': 5, 'long': 20}
GOAL_HELP_S, GOAL_LIST_S = 0.3, 0.6
_CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
_CLIMATE = 'import sys; from climate.client import shell; sys.exit(shell.main())'


def figures(form):
    """Yield the Figures; none in the short form, which has no times."""
    runs = RUNS[form]
    if not runs:
        return
    yield report.seconds(12, 'climate --help', [_command('--help') for _ in range(runs)],
                         GOAL_HELP_S)
    with answering() as url:
        options = ('--os-auth-type', 'none', '--os-endpoint', url)
        yield report.seconds(12, 'climate lease list',
                             [_command(*options, 'lease', 'list') for _ in range(runs)],
                             GOAL_LIST_S)


@contextlib.contextmanager
def answering():
    """The address of a service that has one lease, which it tells at once."""
    class Service(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = json.dumps({'leases': [_LEASE]}).encode()
            self.send_response(200)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}/v1'
    server.shutdown()
    server.server_close()


_LEASE = {
    'id': 'b0000-0001', 'name': 'a lease', 'user_id': 'demo', 'project_id': 'demo',
    'status': 'active', 'status_reason': None, 'degraded': False,
    'start': '2030-05-01T12:00:00Z', 'end': '2030-05-01T13:00:00Z', 'before_end': None,
    'created_at': '2030-05-01T12:00:00Z', 'updated_at': None, 'ended_at': None,
    'deleted_at': None, 'acquire': {'type': 'immediate'}, 'reservations': [], 'events': []}


def _command(*words):
    """Return the seconds of a climate command that succeeds."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith('OS_')}
    began = time.monotonic()
    done = subprocess.run([sys.executable, '-c', _CLIMATE, *words], capture_output=True, text=True,
                          check=False, env={**environ, 'PYTHONPATH': str(_CHECKOUT)})
    seconds = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    assert '--help' in words or 'a lease' in done.stdout, done.stdout
    return seconds


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())

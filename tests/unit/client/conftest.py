# SPDX-License-Identifier: Apache-2.0
"""Canned HTTP, a clock that does not wait, and the command run in this process."""
import contextlib
import dataclasses
import io
import json
import os
import re

from keystoneauth1 import session as sessions
from keystoneauth1 import token_endpoint
import pytest
from unit.client import canned

from climate import client
from climate.client import completion_cache
from climate.client import http
from climate.client import shell


class FakeClock(http.Clock):
    """Time passes only by sleeping."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@dataclasses.dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def climate(clock):
    """A client with a fixed token and address."""
    auth = token_endpoint.Token(canned.URL, 'a-token')
    return client.Client(sessions.Session(auth=auth), clock=clock)


@pytest.fixture
def with_nova(clock):
    """A client that also knows the address of Nova."""
    auth = token_endpoint.Token(canned.URL, 'a-token')
    return client.Client(sessions.Session(auth=auth), clock=clock, compute_endpoint=canned.NOVA)


@pytest.fixture
def requests_mock(requests_mock):
    """The requests-mock with a service that does not list the resources of a lease."""
    requests_mock.get(
        re.compile(f'{re.escape(canned.URL)}/leases/[^/]+/resources'), status_code=403,
        json={'error_code': 403, 'error_name': 'forbidden', 'error_message': 'No.'})
    return requests_mock


@pytest.fixture
def listing(requests_mock):
    """The requests-mock with a service that has no lease."""
    requests_mock.get(f'{canned.URL}/leases', json={'leases': []})
    return requests_mock


class FakeTerminal(io.StringIO):
    """The text that a program prints to a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def run(monkeypatch):
    """Run the command with words; all streams are captured, no environment is seen.

    With `width`, the command prints to a terminal of that many columns.
    """
    def run_it(*words, environ=None, width=None):
        out, err = io.StringIO() if width is None else FakeTerminal(), io.StringIO()
        monkeypatch.setenv('COLUMNS', str(width or 80))
        app = shell.Shell(stdin=io.StringIO(), stdout=out, stderr=err, environ=environ or {
            'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': canned.URL, 'OS_TOKEN': 'a-token'})
        # argparse knows no other stream than that of the process.
        with contextlib.redirect_stderr(err):
            try:
                code = app.run(list(words))
            except SystemExit as exit_:
                code = exit_.code or 0
        return Outcome(code, out.getvalue(), err.getvalue())
    return run_it


@pytest.fixture
def asks_at_once(monkeypatch):
    """Completion asks the service in this process, which has threads and must not fork."""
    def start(place, ask):
        reader, writer = os.pipe()
        with contextlib.suppress(Exception):
            completion_cache._write(place, ask())
        os.close(writer)
        return reader
    monkeypatch.setattr(completion_cache, '_start', start)


@pytest.fixture
def keystone(listing):
    """The requests-mock with a service that has no lease, and two addresses of Keystone."""
    for url in (canned.KEYSTONE, canned.OTHER_KEYSTONE):
        listing.get(url, json={'version': {'id': 'v3.14', 'status': 'stable', 'links': [
            {'rel': 'self', 'href': url}]}})
        listing.post(f'{url}/auth/tokens', headers={'X-Subject-Token': 'fresh'},
                     json={'token': canned.a_token()})
    return listing


@pytest.fixture
def lab(tmp_path):
    """The environment of a user whose cloud is in clouds.yaml, in region one."""
    file = tmp_path / 'clouds.yaml'
    file.write_text(f"""
clouds:
  lab:
    auth: {{auth_url: '{canned.KEYSTONE}', username: u, password: p, project_name: x,
           user_domain_name: Default, project_domain_name: Default}}
    regions: [one, two]
""")
    return {'OS_CLIENT_CONFIG_FILE': str(file), 'OS_CLOUD': 'lab'}

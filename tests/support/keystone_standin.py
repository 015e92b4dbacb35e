# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Keystone on loopback: it logs in and out, and knows the projects of a user. The
console meets the real one in tests/cloud."""
import http.server
import json

from keystoneauth1 import fixture

PASSWORD = 'secret'


class Keystone(http.server.ThreadingHTTPServer):
    """Gives tokens that a climate-api with noauth takes: "user:project:member,reader".

    :param reservation_url: the URL of climate-api in the catalog; None: it is not there.
    :ivar revoked: the tokens that were revoked.
    :ivar projects: the projects of each user.
    """

    daemon_threads = True

    def __init__(self, reservation_url):
        super().__init__(('127.0.0.1', 0), _Handler)
        self.reservation_url = reservation_url
        self.revoked = []
        self.projects = ['demo', 'lab']

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_port}/v3'


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/v3/auth/projects':
            known = self.headers['X-Auth-Token'] not in self.server.revoked
            self._answer(*(200, {'projects': [
                {'id': each, 'name': each, 'domain_id': 'default', 'enabled': True}
                for each in self.server.projects]}) if known else (401, {}))
            return
        self._answer(200, {'version': fixture.V3Discovery(self.server.url)})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))['auth']
        identity = asked['identity']
        if 'password' in identity:
            user, project = identity['password']['user'], asked['scope']['project']['name']
            allowed, name = user['password'] == PASSWORD, user['name']
        elif 'token' in identity:
            name, project = identity['token']['id'].split(':')[0], asked['scope']['project']['id']
            allowed = project in self.server.projects
        else:
            credential = identity['application_credential']
            allowed = credential['secret'] == PASSWORD
            name = project = credential['id']
        if not allowed:
            self._answer(401, {'error': {'code': 401, 'message': 'No.', 'title': 'Unauthorized'}})
            return
        token = fixture.V3Token(user_name=name, user_id=name, project_id=project,
                                project_name=project)
        token.add_role('member')
        if self.server.reservation_url:
            token.add_service('reservation').add_standard_endpoints(
                public=self.server.reservation_url, region='RegionOne')
        self._answer(201, token, {'X-Subject-Token': f'{name}:{project}:member,reader'})

    def do_DELETE(self):
        self.server.revoked.append(self.headers['X-Subject-Token'])
        self._answer(204, None)

    def _answer(self, status, body, headers=()):
        content = b'' if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(content)))
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        """Log nothing: the tests read no log."""

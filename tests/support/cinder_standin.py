# SPDX-License-Identifier: Apache-2.0
"""A small Cinder with a Keystone beside it, which answer HTTP as the real ones do."""
import contextlib
import http.server
import itertools
import json
import re
import threading
from urllib import parse

from keystoneauth1 import fixture

SERVICE = 'service'
_PATH = re.compile('/volume/v3/(scheduler-stats/get_pools|volumes/detail|volumes)(?:/(.+))?')


class Cinder:
    """The state of both services.

    :ivar url: where they are.
    :ivar backends: {volume backend name: GB}; each has a volume type of its name.
    :ivar volumes: {id: what Cinder shows of a volume, with its project and its backend}.
    :ivar trusts: callable() → the Trusts that there are; none at first.
    """

    def __init__(self, backends):
        self.url = None
        self.backends = backends
        self.volumes = {}
        self.trusts = tuple
        self._numbers = itertools.count(1)

    def answer(self, method, path, query, project, body):
        """Return (status, body) of a request of a project; None: it has no valid token."""
        if path == '/identity/v3':
            keystone = fixture.DiscoveryList(href=f'{self.url}/identity', v2=False)
            return 200, {'version': keystone.versions[0]}
        if path == '/volume/v3':
            return 200, {'versions': [{
                'id': 'v3.0', 'status': 'CURRENT', 'version': '3.70', 'min_version': '3.0',
                'links': [{'rel': 'self', 'href': f'{self.url}/volume/v3/'}]}]}
        if project is None:
            return 401, {'error': {'message': 'The request you have made requires authentication.'}}
        found = _PATH.fullmatch(path)
        called = {('GET', 'scheduler-stats/get_pools'): self._pools,
                  ('GET', 'volumes/detail'): self._list, ('POST', 'volumes'): self._create,
                  ('DELETE', 'volumes'): self._delete}[method, found[1]]
        return called(project=project, query=query, body=body, volume_id=found[2])

    def token(self, body):
        """Return (status, token): that of Climate itself, or that of a trust."""
        trust = body['auth'].get('scope', {}).get('OS-TRUST:trust')
        project = SERVICE if trust is None else next(
            (each.project_id for each in self.trusts() if each.id == trust['id']), None)
        if project is None:
            return 404, {'error': {'message': f'Could not find trust: {trust["id"]}.'}}
        token = fixture.V3Token(user_id='somebody')
        token.set_project_scope(id=project)
        token.add_service('block-storage').add_standard_endpoints(
            public=f'{self.url}/volume/v3', region='RegionOne')
        return 201, token

    def _pools(self, project, **_):
        if project != SERVICE:
            return 403, {'forbidden': {'message': 'Policy does not allow this.'}}
        return 200, {'pools': [
            {'name': f'storage@{name}#{name}',
             'capabilities': {'total_capacity_gb': size, 'volume_backend_name': name}}
            for name, size in self.backends.items()]}

    def _list(self, project, query, **_):
        everybody = project == SERVICE and query.get('all_tenants') == ['True']
        wanted = [each for each in self.volumes.values()
                  if (everybody or each['project'] == project)
                  and each['name'] in query.get('name', [each['name']])]
        answer = {'volumes': [dict(each) for each in wanted]}
        # What was begun is done by the time of the next look.
        for each in wanted:
            if each['status'] == 'deleting':
                del self.volumes[each['id']]
            elif each['status'] == 'creating':
                each['status'] = 'available'
        return 200, answer

    def _create(self, project, body, **_):
        asked = body['volume']
        if asked['volume_type'] not in self.backends:
            return 404, {'itemNotFound': {'message': (
                f'Volume type with name {asked["volume_type"]} could not be found.')}}
        made = {'id': f'volume-{next(self._numbers)}', 'name': asked['name'],
                'size': asked['size'], 'status': 'creating', 'project': project,
                'backend': asked['volume_type']}
        self.volumes[made['id']] = made
        return 202, {'volume': dict(made)}

    def _delete(self, volume_id, **_):
        volume = self.volumes.get(volume_id)
        if volume is None:
            return 404, {'itemNotFound': {'message': f'Volume {volume_id} could not be found.'}}
        if volume['status'] not in ('available', 'error'):
            return 400, {'badRequest': {'message': 'Volume status must be available or error.'}}
        volume['status'] = 'deleting'
        return 202, None


@contextlib.contextmanager
def served(backends):
    """Serve a Cinder on a port of loopback."""
    cinder = Cinder(backends)

    class Handler(http.server.BaseHTTPRequestHandler):
        """One request; a token is the id of its project."""

        protocol_version = 'HTTP/1.1'

        def do_GET(self):
            url = parse.urlsplit(self.path)
            path, query = url.path.rstrip('/'), parse.parse_qs(url.query)
            length = int(self.headers.get('Content-Length') or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if path == '/identity/v3/auth/tokens':
                status, answer = cinder.token(body)
            else:
                status, answer = cinder.answer(self.command, path, query,
                                               self.headers.get('X-Auth-Token'), body)
            content = b'' if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            if status == 201:
                self.send_header('X-Subject-Token', answer.project_id)
            self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *_):
            """Say nothing."""

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        server.daemon_threads = True
        cinder.url = f'http://127.0.0.1:{server.server_port}'
        serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        try:
            yield cinder
        finally:
            server.shutdown()
            serving.join()

# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the list of hypervisors of Nova, as openstacksdk reads it for Horizon."""
import http.server
import json

_HYPERVISOR = {
    'id': 1, 'hypervisor_hostname': 'compute-9', 'hypervisor_type': 'QEMU', 'state': 'up',
    'hypervisor_version': 8002000, 'status': 'enabled', 'host_ip': '127.0.0.1', 'vcpus': 4,
    'memory_mb': 8192, 'local_gb': 100, 'service': {'id': 1, 'host': 'compute-9'}}


class Nova(http.server.ThreadingHTTPServer):
    """Has one hypervisor, and says which versions it speaks."""

    daemon_threads = True

    def __init__(self):
        super().__init__(('127.0.0.1', 0), _Handler)

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_port}/v2.1'


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if '/os-hypervisors/detail' in self.path:
            self._answer(200, {'hypervisors': [_HYPERVISOR]})
        elif self.path.rstrip('/') in ('', '/v2.1'):
            self._answer(200, {'version': {
                'id': 'v2.1', 'status': 'CURRENT', 'version': '2.96', 'min_version': '2.1',
                'links': [{'rel': 'self', 'href': self.server.url}]}})
        else:
            self._answer(404, {'itemNotFound': {'code': 404, 'message': 'It is not here.'}})

    def _answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(content)))
        self.send_header('Content-Type', 'application/json')
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        """Write no log: the tests read none."""

# SPDX-License-Identifier: Apache-2.0
"""climate-api behind a proxy: a real nginx that reads etc/climate/climate-api-nginx.conf."""
import http.client
import json
import pathlib
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest
from support import api_server
from support import balanced
from support import builders
from support import loopback
from support import waiting

NGINX = shutil.which('nginx', path=balanced.PATH)
SAMPLE = pathlib.Path(__file__).parents[2] / 'etc/climate/climate-api-nginx.conf'
# What a token may ask at once in that file.
AT_ONCE = 41


@pytest.fixture
def backend(conf, manager):
    """The port on which climate-api listens."""
    with api_server.climate_api(conf, manager) as port:
        conf.set_override('enable_proxy_headers_parsing', True, group='oslo_middleware')
        yield port


@pytest.fixture
def nginx(tmp_path, backend):
    """Start nginx with the sample, some words of it replaced; returns how to ask it."""
    if NGINX is None:
        pytest.skip('nginx is not installed')
    running = []
    certificate, key = tmp_path / 'cert.pem', tmp_path / 'key.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=localhost',
                    '-addext', 'subjectAltName=DNS:localhost', '-out', certificate,
                    '-keyout', key], check=True, capture_output=True)

    def start(**replaced):
        port = builders.a_free_port()
        text = SAMPLE.read_text()
        for old, new in {
                'listen 1234': f'listen 127.0.0.1:{port}', '127.0.0.1:1235': f'127.0.0.1:{backend}',
                '/etc/climate/tls/climate.pem': str(certificate),
                '/etc/climate/tls/climate.key': str(key), **replaced}.items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / 'climate.conf').write_text(text)
        config = balanced.nginx_file(tmp_path, f'include {tmp_path}/climate.conf;')
        running.append(subprocess.Popen([NGINX, '-p', tmp_path, '-c', config]))
        waiting.until(lambda: loopback.listens(port), 'nginx does not listen.')
        return Asker(port, certificate)
    yield start
    for process in running:
        process.terminate()
        process.wait(30)


class Asker:
    """Sends requests to nginx, whose certificate it checks."""

    def __init__(self, port, certificate):
        self.address = f'https://localhost:{port}'
        self._context = ssl.create_default_context(cafile=certificate)

    def __call__(self, path, body=None, **headers):
        """(status, headers, body) of the answer."""
        request = urllib.request.Request(self.address + path, data=body, headers={
            name.replace('_', '-'): value for name, value in headers.items()})
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=60) as answer:
                return answer.status, answer.headers, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.load(error)


@pytest.mark.parametrize(('believed', 'scheme'), [(True, 'https'), (False, 'http')])
def test_the_server_leaves_it_to_the_service_whether_a_proxy_is_believed(
        conf, backend, believed, scheme):
    conf.set_override('enable_proxy_headers_parsing', believed, group='oslo_middleware')
    connection = http.client.HTTPConnection('127.0.0.1', backend, timeout=60)
    connection.request('GET', '/', headers={'X-Forwarded-Proto': 'https'})
    [version] = json.load(connection.getresponse())['versions']
    connection.close()
    assert version['links'][0]['href'] == f'{scheme}://127.0.0.1:{backend}/v1'


def test_links_are_of_the_proxy_whatever_a_caller_says(nginx):
    ask = nginx()
    for headers in ({}, {'X_Forwarded_Host': 'evil.example', 'X_Forwarded_Prefix': '/evil',
                         'Forwarded': 'host=evil.example;proto=http',
                         'X_Forwarded_Proto': 'gopher'}):
        status, _, found = ask('/', **headers)
        links = [link['href'] for each in found['versions'] for link in each['links']]
        assert status == 300
        assert links
        assert {link.startswith(f'{ask.address}/') for link in links} == {True}


@pytest.mark.proof
def test_a_token_that_asks_too_often_is_told_to_wait_others_are_not(nginx):
    # So slow that it does not matter how fast this machine is.
    ask = nginx(**{'rate=20r/s': 'rate=1r/m'})
    answers = [ask('/v1/leases', X_Auth_Token=builders.DEMO) for _ in range(AT_ONCE + 5)]
    assert {status for status, _, _ in answers[:AT_ONCE]} == {200}
    status, headers, found = next(each for each in answers if each[0] != 200)
    assert (status, headers['Retry-After'], headers['Content-Type']) == (
        429, '1', 'application/json')
    assert found['error_name'] == 'too_many_requests'
    assert ask('/v1/leases', X_Auth_Token=builders.STRANGER)[0] == 200


def test_networks_of_the_cloud_itself_are_not_counted(nginx):
    ask = nginx(**{'rate=20r/s': 'rate=1r/m', '10.0.0.0/24': '127.0.0.0/8'})
    assert {ask('/v1/leases', X_Auth_Token=builders.DEMO)[0] for _ in range(AT_ONCE + 5)} == {200}


def test_a_large_body_is_refused_by_the_proxy_in_words(nginx):
    status, _, found = nginx()('/v1/leases', b' ' * (1 << 20) + b'{}', X_Auth_Token=builders.DEMO,
                               Content_Type='application/json')
    assert (status, found['error_name']) == (413, 'body_too_large')

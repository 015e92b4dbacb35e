# SPDX-License-Identifier: Apache-2.0
"""The console behind a real nginx that reads etc/climate/climate-console-nginx.conf."""
import contextlib
import pathlib
import shutil
import sys

import pytest
import requests
from support import balanced
from support import builders
from support import keystone_standin
from support import loopback
from support import programs
import trustme

NGINX = shutil.which('nginx', path=balanced.PATH)
BIN = pathlib.Path(sys.executable).parent
SAMPLE = pathlib.Path(__file__).parents[3] / 'etc/climate/climate-console-nginx.conf'
CONSOLE = '''
[console]
port = {port}
auth_url = {auth_url}
cafile = {folder}/ca.pem
[oslo_middleware]
enable_proxy_headers_parsing = True
'''


@pytest.fixture
def address(tmp_path, url):
    """The URL of a console behind nginx, with TLS."""
    if NGINX is None:
        pytest.skip('nginx is not installed')
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / 'ca.pem')
    pair = authority.issue_cert('localhost')
    pair.cert_chain_pems[0].write_to_path(tmp_path / 'console.pem')
    pair.private_key_pem.write_to_path(tmp_path / 'console.key')
    console, tls, plain = (builders.a_free_port() for _ in range(3))
    text = SAMPLE.read_text()
    for old, new in {'listen 443': f'listen 127.0.0.1:{tls}', '/etc/climate/tls': str(tmp_path),
                     'server 127.0.0.1:1236': f'server 127.0.0.1:{console}'}.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / 'console.conf').write_text(text)
    config = balanced.nginx_file(tmp_path, f'server {{ listen 127.0.0.1:{plain}; }}\n'
                                           f'include {tmp_path}/console.conf;')
    with contextlib.ExitStack() as stack:
        keystone = keystone_standin.Keystone(url)
        stack.enter_context(loopback.serving(keystone))
        (tmp_path / 'climate.conf').write_text(CONSOLE.format(
            port=console, auth_url=keystone.url, folder=tmp_path))
        stack.enter_context(programs.listening(
            BIN / 'climate-console', '--config-file', tmp_path / 'climate.conf', port=console))
        stack.enter_context(programs.listening(
            NGINX, '-p', tmp_path, '-c', config, port=plain))
        yield f'https://localhost:{tls}'


@pytest.mark.proof
def test_the_session_stays_on_tls_and_changes_are_accepted(address, manager, tmp_path):
    manager.enrol(1)
    browser = requests.Session()
    browser.verify, browser.trust_env = str(tmp_path / 'ca.pem'), False
    answer = browser.post(f'{address}/login', allow_redirects=False, data={
        'username': 'demo', 'password': keystone_standin.PASSWORD, 'user_domain': 'Default',
        'project': 'demo', 'project_domain': 'Default'}, headers={
            'Origin': address, 'X-Forwarded-Host': 'evil.example'})
    assert answer.status_code == 302
    assert not answer.headers['Location'].startswith('http:')
    assert 'evil' not in answer.headers['Location']
    assert [cookie.secure for cookie in browser.cookies] == [True]
    page = browser.get(f'{address}/leases').text
    made = browser.post(f'{address}/rest/v1/leases', json={
        'name': 'kept', 'duration': '1h', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}, headers={
                'Origin': address, 'Idempotency-Key': 'one',
                'X-CSRF-Token': page.partition('data-csrf-token="')[2].partition('"')[0]})
    assert made.status_code == 201, made.text
    too_large = browser.post(f'{address}/rest/v1/leases', data=b'x' * 300_000)
    assert too_large.status_code == 413

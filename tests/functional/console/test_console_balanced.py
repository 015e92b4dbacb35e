# SPDX-License-Identifier: Apache-2.0
"""Two consoles behind a balancer, with their sessions in a real memcached."""
import contextlib
import pathlib
import shutil
import signal
import sys

import pytest
import requests
from support import balanced as balancing
from support import builders
from support import keystone_standin
from support import loopback
from support import programs

BIN = pathlib.Path(sys.executable).parent
NGINX = '''
    upstream consoles {{
        {servers}
    }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://consoles;
            proxy_set_header Host $http_host;
        }}
    }}
'''
CONSOLE = '''
[console]
port = {port}
auth_url = {auth_url}
[cache]
enabled = true
backend = dogpile.cache.memcached
memcache_servers = 127.0.0.1:{memcached}
'''


@pytest.fixture
def balanced(tmp_path, url):
    """Two consoles behind nginx: (the URL of nginx, the processes of the consoles)."""
    if balancing.missing():
        pytest.skip('memcached or nginx is not installed')
    *ports, cache = [builders.a_free_port() for _ in range(4)]
    with contextlib.ExitStack() as stack:
        keystone = keystone_standin.Keystone(url)
        stack.enter_context(loopback.serving(keystone))
        balancing.begin(stack, 'memcached', '-l', '127.0.0.1', '-p', cache, '-u', 'nobody',
                        '-U', '0')
        consoles = []
        for place, port in enumerate(ports[:2]):
            config = tmp_path / f'console-{place}.conf'
            config.write_text(CONSOLE.format(port=port, auth_url=keystone.url, memcached=cache))
            consoles.append(stack.enter_context(programs.listening(
                BIN / 'climate-console', '--config-file', config, port=port)))
        config = balancing.nginx_file(tmp_path, NGINX.format(port=ports[2], servers='\n'.join(
            f'server 127.0.0.1:{port} max_fails=1 fail_timeout=1s;' for port in ports[:2])))
        stack.enter_context(programs.listening(
            shutil.which('nginx', path=balancing.PATH), '-p', tmp_path, '-c', config,
            port=ports[2]))
        yield f'http://127.0.0.1:{ports[2]}', consoles


@pytest.mark.proof
def test_two_consoles_serve_one_session_and_a_killed_one_loses_nothing(balanced, manager):
    address, consoles = balanced
    manager.enrol(1)
    browser = requests.Session()
    answer = browser.post(f'{address}/login', allow_redirects=False, data={
        'username': 'demo', 'password': keystone_standin.PASSWORD, 'user_domain': 'Default',
        'project': 'demo', 'project_domain': 'Default'})
    assert answer.status_code == 302
    pages = [browser.get(f'{address}/leases', allow_redirects=False) for _ in range(6)]
    assert {each.status_code for each in pages} == {200}
    csrf_token = pages[0].text.partition('data-csrf-token="')[2].partition('"')[0]
    consoles[0].send_signal(signal.SIGKILL)
    consoles[0].wait(30)
    made = browser.post(f'{address}/rest/v1/leases', json={
        'name': 'kept', 'duration': '1h', 'reservations': [
            {'resource_type': 'physical:host', 'min': 1, 'max': 1}]},
        headers={'X-CSRF-Token': csrf_token, 'Idempotency-Key': 'one'})
    assert made.status_code == 201, made.text
    assert [each.name for each in manager.client.list_leases(
        builders.a_member(), builders.records.LeaseQuery())] == ['kept']
    browser.post(f'{address}/logout', data={'csrf_token': csrf_token})
    assert browser.get(f'{address}/rest/v1/leases').status_code == 401

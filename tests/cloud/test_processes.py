# SPDX-License-Identifier: Apache-2.0
"""Climate's daemons as processes of their own, over RabbitMQ and MariaDB."""
import time

import pytest
import requests
import scene as scenes

from tools.cloud import climate_service
from tools.cloud import commands
from tools.cloud import processes
from tools.cloud import settings

IMPATIENT = 'climate-api-impatient'
PORT = 11234
SECONDS = 2


@pytest.fixture
def impatient(cloud, scene):
    """The URL of a second API that waits two seconds only for a manager."""
    file = cloud.conf / 'climate' / 'impatient.conf'
    commands.write(file, f'[DEFAULT]\nrpc_response_timeout = {SECONDS}\n[api]\nport = {PORT}\n')
    processes.refuse_taken_ports(cloud, [(IMPATIENT, PORT)])
    processes.start(cloud, IMPATIENT, [
        cloud.climate_venv / 'bin' / 'climate-api', '--config-file',
        climate_service.conf_file(cloud), '--config-file', file])
    processes.wait_for_port(cloud, IMPATIENT, PORT)
    yield f'http://127.0.0.1:{PORT}'
    processes.stop(cloud, IMPATIENT)


def _health():
    return requests.get(settings.url('climate', '/healthcheck'), timeout=30)


def test_the_health_check_says_when_no_manager_lives(cloud, climate):
    assert (_health().status_code, _health().text) == (200, 'OK')
    try:
        processes.stop(cloud, 'climate-manager')
        health = _health()
        assert health.status_code == 503
        assert 'no manager answers' in health.text
    finally:
        scenes.tool(cloud, 'climate-up')
    scenes.until(lambda: _health().status_code == 200, 'the health check to be well')


def test_a_manager_that_stands_still_is_a_time_out_that_names_the_place_to_look(
        cloud, scene, impatient, demo):
    headers = {'X-Auth-Token': demo.session.get_token(),
               'OpenStack-API-Version': 'reservation 1.1', 'Idempotency-Key': scene.name()}
    body = {'name': scene.name(), 'start': '2031-01-01 10:00', 'duration': '1h', 'reservations': [
        {'resource_type': 'physical:host', 'min': 1, 'max': 1}]}

    def ask(method, where, **more):
        return requests.request(method, where, headers=headers, timeout=30, **more)
    assert ask('GET', f'{impatient}/v1/leases').status_code == 200
    with scenes.frozen(cloud, 'climate-manager'):
        began = time.monotonic()
        listed = ask('GET', f'{impatient}/v1/leases')
        made = ask('POST', f'{impatient}/v1/leases', json=body)
        assert time.monotonic() - began < 2 * SECONDS + 3
        assert (listed.status_code, made.status_code) == (504, 504)
        assert made.json()['error_name'] == 'manager_silent'
        place = made.headers['Location']
        assert place.startswith(f'{impatient}/v1/leases/')
        assert place in made.json()['error_message']
    # The same request once more: whatever became of the first one, there is one lease.
    again = ask('POST', f'{impatient}/v1/leases', json=body)
    assert again.status_code == 201, again.text
    scene.remember(again.json()['lease']['id'])
    named = ask('GET', f'{impatient}/v1/leases', params={'name': body['name']}).json()['leases']
    assert [lease['id'] for lease in named] == [again.json()['lease']['id']]
    print(f'the first request was carried out later: {ask("GET", place).status_code == 200}')

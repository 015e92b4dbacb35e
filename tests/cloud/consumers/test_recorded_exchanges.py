# SPDX-License-Identifier: Apache-2.0
"""Replays of the requests of programs that only exist as public repositories."""
import datetime

import api_options
import exchange
import openstack
import pytest

from tools.cloud import settings


@pytest.fixture
def recorded(request, record_property):
    """An exchange, as a dict."""
    found = exchange.read(request.param)
    record_property('consumer', (f'{request.param} (replayed)', found['version']))
    return found


@pytest.fixture
def options(recorded, scene, cloud, tmp_path):
    """The options and policies that the program needs."""
    if not recorded.get('dialect'):
        yield
        return
    with api_options.changed(cloud, '\n[api]\nchameleon = true\n',
                             api_options.MEMBERS_LIST_HOSTS, tmp_path):
        yield


@pytest.fixture
def senders(recorded, scene, demo):
    """The people of the exchange, {name: connection}."""
    if not recorded.get('credential'):
        return scene.people
    owner = demo.current_user_id
    credential = demo.identity.create_application_credential(owner, scene.name())
    scene.afterwards(lambda: demo.identity.delete_application_credential(owner, credential))
    program = openstack.connect(
        auth_type='v3applicationcredential', auth_url=settings.url('keystone', '/v3'),
        application_credential_id=credential.id,
        application_credential_secret=credential.secret, region_name='RegionOne')
    scene.afterwards(program.close)
    return {**scene.people, 'demo': program}


@pytest.mark.usefixtures('options', 'segment')
@pytest.mark.parametrize('recorded', exchange.NAMES, indirect=True)
def test_the_answers_are_those_that_the_program_needs(recorded, senders, scene, demo):
    hour = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    replay = exchange.Exchange(senders, {
        'name': scene.name(), 'hour': f'{hour:%Y-%m-%d %H:%M}',
        'flavor': demo.compute.find_flavor('m1.nano').id}, scene.remember)
    for step in recorded['steps']:
        replay.play(step)

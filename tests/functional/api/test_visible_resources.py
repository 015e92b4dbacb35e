# SPDX-License-Identifier: Apache-2.0
"""An operator can open the list of hosts to members: they see no secrets of operators there."""
import json

import pytest
from support import builders

from climate import policy

ADMIN = {'token': builders.ADMIN}
PATHS = [('/v1/os-hosts', '1.0'), ('/v1/os-hosts/1', '1.0'), ('/v1/os-hosts', '1.1'),
         ('/v1/os-hosts/1', '1.1'), ('/v1/resources/host', '1.1'), ('/v1/resources/host/1', '1.1')]


@pytest.fixture
def opened(conf, manager, tmp_path):
    """The API of a cloud whose policy lets members see hosts; one host has all secrets."""
    policy.Policy(conf)  # Registers the options.
    path = tmp_path / 'policy.yaml'
    rule = '"rule:project_reader_or_admin"'
    path.write_text(f'"climate:oshosts:get": {rule}\n"climate:resources:host:get": {rule}\n')
    conf.set_override('policy_file', str(path), group='oslo_policy')
    api = builders.Api(conf, manager)
    manager.enrol(1, rack='secret-rack', gpu='A100')
    for request in (
            api.call('PATCH', '/v1/os-hosts/properties/rack', {'private': True}, **ADMIN),
            api.put('/v1/resources/host/1', {'out_of_order': 'secret-ticket'}, version='1.1',
                    **ADMIN),
            api.post('/v1/maintenances', {
                'pool': 'host', 'resources': ['1'], 'start': '2030-05-03T08:00:00Z',
                'end': '2030-05-03T10:00:00Z', 'reason': 'secret-reason'}, version='1.1', **ADMIN)):
        assert request.status_int in (200, 201, 202), request.body
    return api


@pytest.mark.parametrize(('path', 'version'), PATHS)
def test_members_see_hosts_without_private_properties_and_reasons(opened, path, version):
    answer = opened.get(path, version=version)
    assert answer.status_int == 200
    assert 'secret' not in answer.text
    assert 'A100' in answer.text


@pytest.mark.parametrize(('path', 'version'), PATHS)
def test_administrators_see_all(opened, path, version):
    text = opened.get(path, version=version, **ADMIN).text
    assert 'secret-rack' in text
    assert ('secret-ticket' in text) == (version != '1.0')


def test_the_answer_of_a_member_has_the_same_fields(opened):
    found = [json.loads(opened.get('/v1/os-hosts/1', version='1.1', **who).text)['host']
             for who in ({}, ADMIN)]
    assert set(found[1]) - set(found[0]) == {'rack'}
    assert found[0]['health']['state'] == 'out_of_order'

# SPDX-License-Identifier: Apache-2.0
"""climate-status upgrade check beside a real Keystone, RabbitMQ and Nova."""
import json
import subprocess

from tools.cloud import climate_service
from tools.cloud import commands
from tools.cloud import settings

RABBIT = f'rabbit://openstack:wrong@127.0.0.1:{settings.PORTS["rabbitmq"]}/'


def _checked(cloud, *files):
    """(exit status, {check: (code, details)})"""
    named = [word for file in (climate_service.conf_file(cloud), *files)
             for word in ('--config-file', str(file))]
    done = subprocess.run(
        [cloud.climate_venv / 'bin' / 'climate-status', 'upgrade', 'check', '--json', *named,
         '--nova-config-file', str(cloud.conf / 'nova' / 'nova.conf')],
        capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout, done.stderr
    return done.returncode, {each['check']: (each['result'], each['details'])
                             for each in json.loads(done.stdout)['checks']}


def test_a_manager_has_all_that_it_needs(cloud, climate):
    code, found = _checked(cloud)
    assert (code, {name for name, (result, _why) in found.items() if result}) == (0, set()), found


def test_wrong_passwords_are_found(cloud, climate):
    wrong = cloud.conf / 'climate' / 'wrong.conf'
    commands.write(wrong, f'[DEFAULT]\ntransport_url = {RABBIT}\n[keystone]\npassword = wrong\n')
    code, found = _checked(cloud, wrong)
    assert code == 2
    assert {name for name, (result, _why) in found.items() if result == 2} == {'Bus', 'Cloud'}
    assert 'the login is refused' in found['Bus'][1]
    assert 'the login in [keystone] is refused' in found['Cloud'][1]

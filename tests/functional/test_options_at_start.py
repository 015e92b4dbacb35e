# SPDX-License-Identifier: Apache-2.0
"""A wrong option ends each program with one line that names it and the way out."""
import re
import socket

import pytest
from support import programs

LOGIN = ('[cloud]\ndriver = openstack\n[keystone]\nauth_type = password\nusername = climate\n'
         'password = p\nuser_domain_name = Default\nauth_url = ')

NOAUTH = '[api]\nauth_strategy = noauth\n'
CHECKS = '[keystone_authtoken]\nauth_type = password\nauth_url = '

# (program and words, more options, what the line says)
CASES = [
    ('climate-manager', '[DEFAULT]\nplugins = nonsense', '[DEFAULT] plugins: "nonsense" is not'),
    ('climate-manager', '[DEFAULT]\nplugins =', '[DEFAULT] plugins'),
    ('climate-manager', '[DEFAULT]\ntransport_url = nonsense', '[DEFAULT] transport_url'),
    ('climate-manager', '[DEFAULT]\ntransport_url = bogus://127.0.0.1/', '[DEFAULT] transport_url'),
    ('climate-manager', '[DEFAULT]\ntransport_url = rabbit://h:port/', '[DEFAULT] transport_url'),
    ('climate-manager', '[nova]\nnotifications = true\nnotification_transport_url = nonsense',
     '[nova] notification_transport_url'),
    ('climate-manager', '[oslo_messaging_notifications]\ndriver = messagingv2\n'
     'transport_url = bogus://127.0.0.1/', '[oslo_messaging_notifications] transport_url'),
    ('climate-manager', '[DEFAULT]\nlog_config_append = /nowhere', 'log_config_append'),
    ('climate-manager', '[DEFAULT]\nlog_dir = /proc/nowhere', 'log_dir'),
    ('climate-manager', '[database]\nconnection =', '[database] connection is not set'),
    ('climate-manager', '[database]\nconnection = nonsense', '[database] connection is not'),
    ('climate-manager', '[database]\nconnection = mysql://u:p@127.0.0.1/x', 'MySQLdb'),
    ('climate-manager', '[database]\nconnection = sqlite:////nowhere/x', '[database] connection'),
    ('climate-manager', '[database]\nconnection = mysql+pymysql://u:p@127.0.0.1:9/x\n'
     'max_retries = 1\nretry_interval = 1',
     '[database] connection'),
    ('climate-manager', '[cloud]\ndriver = openstack', '[keystone] auth_type is not set'),
    ('climate-manager', '[cloud]\ndriver = openstack\n[keystone]\nauth_type = nonsense',
     '[keystone] auth_type'),
    ('climate-manager', LOGIN, '[keystone] auth_url'),
    ('climate-manager', f'{LOGIN}nonsense', '[keystone] auth_url'),
    ('climate-manager', f'{LOGIN}http://127.0.0.1:9/v3\ncafile = /nowhere', '[keystone] cafile'),
    ('climate-manager', f'{LOGIN}http://127.0.0.1:9/v3\n[nova]\nendpoint_override = nonsense',
     '[nova] endpoint_override'),
    ('climate-manager', '[health]\nsources = nonsense', '[health] sources'),
    ('climate-manager', '[health]\nsources = http', '[health] http_url'),
    ('climate-manager', '[health]\nsources = http\nhttp_url = nonsense', '[health] http_url'),
    ('climate-manager', '[health]\nsources = http\nhttp_url = https://h/\nhttp_ca_file = /nowhere',
     '[health] http_ca_file'),
    ('climate-manager', '[energy]\ndriver = nonsense', '[energy] driver'),
    ('climate-manager', '[energy]\ndriver = redfish', '[energy] bmc_file'),
    ('climate-manager', '[energy]\ndriver = redfish\nbmc_file = /nowhere', '[energy] bmc_file'),
    ('climate-manager', '[energy]\ndriver = command', '[energy] command'),
    ('climate-manager', '[energy]\ndriver = command\ncommand = /nowhere', '[energy] command'),
    ('climate-manager', '[forecast]\nmethod = nonsense', '[forecast] method'),
    ('climate-manager', '[acquire]\nmigration_strategy = nonsense',
     '[acquire] migration_strategy'),
    ('climate-manager', '[notifications]\nencryption_keys = nonsense',
     '[notifications] encryption_keys'),
    ('climate-manager', '[mail]\nhost = h\nca_file = /nowhere', '[mail] ca_file'),
    ('climate-manager', '[mail]\nhost = h\nsender = nonsense', '[mail] sender'),
    ('climate-manager', '[webhook]\nca_file = /nowhere', '[webhook] ca_file'),
    ('climate-manager', '[webhook]\nallowed_networks = 10.0.0.0/99', '[webhook] allowed_networks'),
    ('climate-manager', '[manager]\nmetrics_port = 80000', '[manager] metrics_port'),
    ('climate-manager', '[manager]\nmetrics_port = 9\nmetrics_cert_file = /nowhere',
     '[manager] metrics_cert_file'),
    ('climate-manager', '[manager]\nmetrics_port = 9\nmetrics_host = 192.0.2.1',
     'cannot listen on 192.0.2.1:9: Cannot assign requested address.'),
    ('climate-manager', '[manager]\nbackend = nonsense', 'backend'),
    ('climate-manager audit', '[database]\nconnection = nonsense', '[database] connection'),
    ('climate-manager audit', '[DEFAULT]\nplugins = nonsense', '[DEFAULT] plugins'),
    ('climate-db version', '[database]\nconnection =', '[database] connection is not set'),
    ('climate-db version', '[database]\nconnection = sqlite:////nowhere/x',
     '[database] connection'),
    ('climate-db upgrade', '[database]\nconnection = bogus://u:secret@h/x', '"bogus"'),
    ('climate-db upgrade nonsense', '', 'nonsense'),
    ('climate-status managers', '[database]\nconnection = nonsense', '[database] connection'),
    ('climate-status managers', '[manager]\nclaim_seconds = never', '[manager] claim_seconds'),
    ('climate-status cloud', '[DEFAULT]\nplugins = nonsense', '[DEFAULT] plugins'),
    ('climate-api', '[api]\nport = 80000', '[api] port'),
    ('climate-api', f'{NOAUTH}host = 192.0.2.1', '[api] host'),
    ('climate-api', f'{NOAUTH}host = nowhere.invalid', '[api] host = nowhere.invalid'),
    ('climate-api', '[api]\nauth_strategy = nonsense', '[api] auth_strategy'),
    ('climate-api', '[api]\nauth_strategy = http_basic\nhttp_basic_file = /nowhere',
     '[api] http_basic_file'),
    ('climate-api', '[DEFAULT]\nplugins = nonsense', '[DEFAULT] plugins'),
    ('climate-api', '', '[keystone_authtoken] auth_type is not set'),
    ('climate-api', '[keystone_authtoken]\nauth_type = nonsense',
     '[keystone_authtoken] auth_type'),
    ('climate-api', '[keystone_authtoken]\nauth_section = nonsense',
     '[keystone_authtoken] auth_type'),
    ('climate-api', '[keystone_authtoken]\nauth_type = password', 'were not given: auth_url. Set'),
    ('climate-api', CHECKS, '[keystone_authtoken] auth_url is not set'),
    ('climate-api', f'{CHECKS}nonsense', '[keystone_authtoken] auth_url is not a URL'),
    ('climate-api', f'{CHECKS}http://127.0.0.1:9/v3\ncafile = /nowhere',
     '[keystone_authtoken] cafile'),
    ('climate-api', f'{CHECKS}http://127.0.0.1:9/v3\nwww_authenticate_uri = nonsense',
     '[keystone_authtoken] www_authenticate_uri'),
    ('climate-api', '[DEFAULT]\ntransport_url = nonsense', '[DEFAULT] transport_url'),
    ('climate-api', '[oslo_policy]\npolicy_file = FOLDER/broken.yaml', '[oslo_policy] policy_file'),
    ('climate-api', '[oslo_policy]\npolicy_file = /nowhere/p.yaml', '[oslo_policy] policy_file'),
    ('climate-console', '[console]\nport = 80000', '[console] port'),
    ('climate-console', '[console]\nauth_url = nonsense', '[console] auth_url'),
    ('climate-console', '[console]\ncafile = /nowhere', '[console] cafile'),
    ('climate-console', '[cache]\nbackend = nonsense', '[cache] backend'),
    ('climate-console', '[cache]\nbackend = dogpile.cache.pylibmc', '[cache] backend'),
    ('climate-standalone', '[DEFAULT]\nplugins = nonsense', '[DEFAULT] plugins'),
    ('climate-standalone', '[database]\nconnection = nonsense', '[database] connection'),
    ('climate-standalone', '[cloud]\ndriver = nonsense', '[cloud] driver'),
    ('climate-standalone', '[simulated]\nstate = /nowhere/x', '[simulated] state'),
]

# The first case of each program; the others are proofs.
QUICK = {case[0].split()[0]: case for case in reversed(CASES)}.values()


@pytest.mark.parametrize('command,options,said', [
    pytest.param(*case, marks=() if case in QUICK else pytest.mark.proof) for case in CASES])
def test_a_wrong_option_ends_the_program_with_one_line(run_program, tmp_path, command, options,
                                                       said):
    (tmp_path / 'broken.yaml').write_text('"climate:leases:get": [')
    program, *words = command.split()
    status, output = run_program(program, *words, seconds=60,
                                 options=options.replace('FOLDER', str(tmp_path)) + '\n')
    assert status == 1, output
    lines = [line for line in output.splitlines() if line.strip()]
    assert lines[-1].startswith(program) and said in lines[-1]
    # Daemons may log before that, each message on one line.
    assert all(re.match(r'\d{4}-\d\d-\d\d ', line) for line in lines[:-1]), output
    assert 'Traceback' not in output and 'secret@' not in output


@pytest.mark.parametrize('program', [
    'climate-status', pytest.param('climate-manager', marks=pytest.mark.proof)])
def test_a_file_that_cannot_be_read_ends_the_program_with_one_line(tmp_path, program):
    path = tmp_path / 'climate.conf'
    path.write_bytes('[DEFAULT]\n\n[mail]\nsender = René <r@example.org>\n'.encode('latin-1'))
    status, _, error = programs.run(program, '--config-file', path)
    assert (status, error) == (1, f'{program}: a configuration file is not written in UTF-8: see '
                                  'its line 4.\n')
    status, _, error = programs.run(program, '--config-file', tmp_path)
    assert (status, error) == (1, f'{program}: {tmp_path} cannot be read: Is a directory.\n')


@pytest.mark.proof
@pytest.mark.parametrize(('program', 'options'), [
    ('climate-manager', '[manager]\nmetrics_port = {}'), ('climate-api', f'{NOAUTH}port = {{}}'),
    ('climate-console', '[console]\nport = {}')])
def test_a_port_that_another_program_uses_ends_the_program_with_one_line(run_program, program,
                                                                         options):
    with socket.create_server(('127.0.0.1', 0)) as other:
        port = other.getsockname()[1]
        status, output = run_program(program, seconds=60, options=options.format(port) + '\n')
    assert status == 1
    assert f'listen on 127.0.0.1:{port}: Address already in use.' in output.splitlines()[-1]
    assert 'Traceback' not in output

# SPDX-License-Identifier: Apache-2.0
"""climate-status: everything that a manager needs is checked, and wrong passwords are found."""
import http.server
import json

import pytest
from support import builders
from support import loopback
from support import programs
from support import refusing_broker

from climate.cmd import status
from climate.db import migrate
from climate.plugins.compute import scheduler_filter

CLOUD = """
[cloud]
driver = openstack
[keystone]
auth_type = v3password
auth_url = http://127.0.0.1:{port}/v3
username = climate
password = wrong-secret
user_domain_name = Default
project_name = service
project_domain_name = Default
"""
NOVA = """
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = climate.nova.filter.ClimateFilter
enabled_filters = ComputeFilter,ClimateFilter
[climate]
auth_type = password
"""


class _RefusingKeystone(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.dumps({'error': {'code': 401, 'message': 'The request you have made requires '
                                                             'authentication.'}}).encode()
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(401)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass


def refusing_keystone():
    """A Keystone that refuses each login in a block, which gets its port."""
    return loopback.serving(http.server.ThreadingHTTPServer(('127.0.0.1', 0), _RefusingKeystone))


@pytest.fixture
def run(database, tmp_path):
    """callable(program, words…, more, seconds): (exit status, stdout, stderr); FILE is the file."""
    if database.dialect != 'sqlite':
        pytest.skip('The programs read a configuration with a file of SQLite.')

    def run(program, *words, more='', seconds=120):
        path = builders.on_files(tmp_path, more)
        return programs.run(program, *[path if word == 'FILE' else word for word in words],
                            seconds=seconds, CLIMATE_STATE=str(tmp_path))
    return run


def results(text):
    """{check: (code, details)} of the JSON of an upgrade check."""
    return {each['check']: (each['result'], each['details'])
            for each in json.loads(text)['checks']}


@pytest.mark.proof
@pytest.mark.parametrize('words', [
    ('--config-file', 'FILE', 'upgrade', 'check'), ('upgrade', 'check', '--config-file', 'FILE')])
def test_options_stand_before_or_after_the_words(run, words):
    code, out, err = run('climate-status', *words, '--json')
    assert (code, err) == (0, '')
    found = results(out)
    assert set(found) == {'Configuration', 'Database', 'Bus', 'Plugins', 'Strategies',
                          'Forecasts', 'Metrics', 'Notifiers', 'Enforcement service', 'Cloud',
                          'Scheduler filter'}
    assert {result for result, _details in found.values()} == {0}


@pytest.mark.proof
def test_the_check_reminds_of_the_last_step_of_an_upgrade(run, database):
    builders.drop_everything(database)
    migrate.expand(database)
    _code, out, _err = run('climate-status', '--config-file', 'FILE', 'upgrade', 'check', '--json')
    code, details = results(out)['Database']
    assert code == 1 and 'run "climate-db upgrade"' in details


@pytest.mark.parametrize('words', [
    ('--config-file', 'FILE', 'managers'), ('managers', '--config-file', 'FILE')])
def test_so_they_do_with_the_list_of_managers(run, words):
    assert run('climate-status', *words) == (0, '', '')


def test_the_help_names_every_command(run):
    code, out, _err = run('climate-status', '--help')
    assert code == 0
    assert all(f'{name}:' in ' '.join(out.split()) for name in status.COMMANDS)


@pytest.mark.parametrize(('words', 'told'), [
    ((), 'a command is missing'), (('upgrade',), '"upgrade" is not a command')])
def test_a_wrong_word_is_answered_with_the_commands_and_no_result_of_a_check(run, words, told):
    code, out, err = run('climate-status', *words, '--config-file', 'FILE')
    assert (code, out) == (255, '')
    assert err == (f'climate-status: {told}; there are: upgrade check, cloud, managers (see '
                   '--help).\n')


@pytest.mark.proof
def test_wrong_passwords_and_a_nova_without_the_filter_are_failures(run, tmp_path):
    (tmp_path / 'nova.conf').write_text('[filter_scheduler]\nenabled_filters = ComputeFilter\n')
    with refusing_keystone() as keystone, refusing_broker.listening() as broker:
        more = CLOUD.format(port=keystone) + (
            f'[DEFAULT]\ntransport_url = rabbit://climate:wrong-secret@127.0.0.1:{broker}/\n')
        code, out, err = run(
            'climate-status', '--config-file', 'FILE', 'upgrade', 'check', '--json',
            '--nova-config-file', str(tmp_path / 'nova.conf'), more=more)
    assert (code, err) == (2, '')
    found = results(out)
    assert {name for name, (result, _details) in found.items() if result == 2} == {
        'Bus', 'Cloud', 'Scheduler filter'}
    assert '[DEFAULT] transport_url: the login is refused: ' in found['Bus'][1]
    assert '[keystone] Keystone: the login in [keystone] is refused: ' in found['Cloud'][1]
    assert 'enabled_filters lacks ClimateFilter' in found['Scheduler filter'][1]
    assert 'secret' not in out


@pytest.mark.proof
def test_a_bus_that_nobody_serves_is_a_failure(run):
    more = '[DEFAULT]\ntransport_url = rabbit://climate:p@127.0.0.1:9/\n'
    code, out, err = run('climate-status', 'upgrade', 'check', '--json', '--config-file', 'FILE',
                         more=more)
    assert (code, err) == (2, '')
    assert results(out)['Bus'] == (
        2, '[DEFAULT] transport_url: it cannot be reached: [Errno 111] Connection refused')


@pytest.mark.parametrize(('more', 'problem'), [
    ('', None),
    ('aggregate_freepool = pool', '[climate] aggregate_freepool is "pool", but [nova] '
                                  'aggregate_freepool of climate.conf is "freepool"'),
    ('[filter_scheduler]\nenabled_filters = ComputeFilter', 'lacks ClimateFilter'),
    ('[climate]\nauth_type =', '[climate] has no login')])
def test_the_filter_in_nova_conf_is_compared(conf, tmp_path, more, problem):
    path = tmp_path / 'nova.conf'
    path.write_text(NOVA + more)
    found = scheduler_filter.problems(conf, [str(path)])
    assert len(found) == (1 if problem else 0)
    assert (problem or '') in ''.join(found)


def test_a_nova_conf_that_is_not_there_is_named(conf, tmp_path):
    with pytest.raises(scheduler_filter.Unreadable, match=r'none\.conf'):
        scheduler_filter.problems(conf, [str(tmp_path / 'none.conf')])


@pytest.mark.parametrize('refusal', [
    refusing_broker.PASSWORD,
    *(pytest.param(each, marks=pytest.mark.proof) for each in refusing_broker.VIRTUAL_HOSTS)])
def test_a_manager_that_the_bus_refuses_ends_with_a_message(run, refusal):
    with refusing_broker.listening(refusal) as port:
        code, _out, err = run('climate-manager', '--config-file', 'FILE', seconds=30, more=(
            f'[DEFAULT]\ntransport_url = rabbit://climate:wrong-secret@127.0.0.1:{port}/unknown\n'))
    assert code == 1
    assert 'climate-manager: [DEFAULT] transport_url: the login is refused: ' in err
    assert refusal[1].decode() in err
    assert err.splitlines()[-1].endswith('Correct its user, password or virtual host, or create '
                                         'them in RabbitMQ.')
    assert 'Traceback' not in err
    assert 'wrong-secret' not in err

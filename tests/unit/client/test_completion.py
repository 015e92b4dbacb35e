# SPDX-License-Identifier: Apache-2.0
"""Commands, options and values of the service are completed."""
import re
import subprocess
import sys

import pytest
from unit.client import canned

from climate.client import completion
from climate.client import errors

argcomplete = pytest.importorskip('argcomplete', reason='argcomplete is not installed')
URL = canned.URL


@pytest.fixture
def environ(tmp_path, asks_at_once):
    return {'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': URL, 'OS_TOKEN': 'a-token',
            'XDG_CACHE_HOME': str(tmp_path)}


@pytest.fixture
def completed(environ):
    """callable(words, prefix): what a shell would show behind the words."""
    def complete(*words, prefix=''):
        parser = completion.parser_of([*words, prefix], environ)
        finder = argcomplete.CompletionFinder(
            parser, always_complete_options=False, append_space=False,
            default_completer=argcomplete.completers.SuppressCompleter())
        # argcomplete puts a backslash before a space in a word.
        return sorted(value.replace('\\', '') for value in finder._get_completions(
            ['climate', *words], prefix, '', None))
    return complete


@pytest.fixture
def service(requests_mock):
    requests_mock.get(re.compile(f'{URL}/leases.*'), json={'leases': [
        canned.a_lease(), canned.a_lease(id='l2', name='the second lease')]})
    requests_mock.get(f'{URL}/leases/{canned.LEASE_ID}', json={'lease': canned.a_lease()})
    requests_mock.get(f'{URL}/leases/{canned.LEASE_ID}/resources', json={'resources': [
        {'id': '3', 'name': 'cmp-3', 'pool': 'host'}, {'id': '4', 'name': None, 'pool': 'host'}]})
    requests_mock.get(f'{URL}/os-hosts', json={'hosts': [
        canned.a_host(), canned.a_host(hypervisor_hostname='cmp-4')]})
    requests_mock.get(f'{URL}/resources/address', json={'resources': [
        {'id': '1', 'name': '10.0.0.1'}]})
    requests_mock.get(f'{URL}/resources/%20', status_code=404, json={
        'error_message': 'x', 'details': {'enabled': 'address, host'}})
    requests_mock.get(f'{URL}/os-hosts/properties', json={'resource_properties': [
        {'property': 'gpu', 'private': False, 'values': ['A100', 'H100']}]})
    requests_mock.get(f'{URL}/offers', json={'offers': [{'id': 'o1', 'start': 'x'}]})
    requests_mock.get(f'{URL}/maintenances', json={'maintenances': [{'id': 'm1', 'reason': 'x'}]})
    requests_mock.get(f'{URL}/notifications', json={'subscriptions': []})
    return requests_mock


@pytest.mark.parametrize(('words', 'prefix', 'values'), [
    ((), 'le', ['lease']),
    (('lease',), 'tr', ['transfer']),
    (('lease', 'transfer'), 'o', ['offer']),
    (('lease', 'transfer', 'offer'), '--ho', ['--hosts']),
    (('lease',), 's', ['set', 'share', 'shares', 'show', 'sub-lease', 'sub-leases', 'swap']),
    (('lease', 'list'), '--stat', ['--status']),
    (('lease', 'list', '--status'), 'act', ['active']),
    (('lease', 'list', '-f'), 'y', ['yaml']),
    (('completion',), '', ['bash', 'fish', 'zsh']),
    (('lease', 'show'), '', ['demo', 'the second lease']),
    (('lease', 'delete', 'demo'), 'the', ['the second lease']),
    (('allocation', 'list', '--lease'), 'd', ['demo']),
    (('host', 'show'), 'cmp-', ['cmp-3', 'cmp-4']),
    (('lease', 'swap', 'demo'), '', ['4', 'cmp-3']),
    (('address', 'show'), '', ['10.0.0.1']),
    (('resource', 'list', '--pool'), '', ['address', 'host']),
    (('resource', 'show', '--pool', 'address'), '', ['10.0.0.1']),
    (('lease', 'create', 'x', '--require'), 'g', ['gpu=']),
    (('lease', 'create', 'x', '--require'), 'gpu=', ['gpu=A100', 'gpu=H100']),
    (('lease', 'create', 'x', '--require'), 'v', ['vcpus=']),
    (('lease', 'create', 'x', '--offer'), '', ['o1']),
    (('property', 'set'), '', ['gpu']),
    (('offer', 'show'), '', ['o1']),
    (('maintenance', 'show'), '', ['m1'])])
def test_words_and_values_are_completed(completed, service, words, prefix, values):
    assert completed(*words, prefix=prefix) == values


def test_the_arguments_of_every_command_can_be_completed(completed, service):
    for noun in completed():
        for verb in completed(noun):
            assert '--help' in completed(noun, verb, prefix='--')


def test_values_are_asked_for_once(completed, service):
    completed('lease', 'show')
    service.get(re.compile(f'{URL}/leases.*'), status_code=500)
    assert completed('lease', 'show') == ['demo', 'the second lease']


def test_another_user_has_other_values(completed, service, environ):
    assert completed('lease', 'show') != []
    service.get(re.compile(f'{URL}/leases.*'), json={'leases': []})
    environ['OS_TOKEN'] = 'b-token'
    assert completed('lease', 'show') == []


@pytest.mark.parametrize('answer', [
    {'status_code': 403}, {'status_code': 500}, {'text': '<html>'}, {'json': {}}])
def test_a_refusal_gives_no_values_and_no_error(completed, requests_mock, answer):
    requests_mock.get(re.compile(f'{URL}/.*'), **answer)
    assert completed('lease', 'show') == []
    assert completed('lease', 'create', 'x', '--require') == []


def test_the_command_prints_what_a_shell_reads(run):
    for shell in completion.SHELLS:
        outcome = run('completion', shell)
        assert outcome.code == 0
        assert 'climate' in outcome.out and '_ARGCOMPLETE' in outcome.out
    assert run('completion', 'tcsh').code == 2


def test_without_argcomplete_the_command_says_how_to_install_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, 'argcomplete', None)
    outcome = run('completion', 'bash')
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        'Completion needs argcomplete, which is not installed.',
        "Hint: python3 -m pip install 'openstack-climate[completion]'"]
    with pytest.raises(errors.NotConfigured):
        completion.script('bash')


def test_a_completion_without_a_service_prints_no_error(tmp_path):
    done = subprocess.run(
        [sys.executable, '-m', 'climate.client.shell'], capture_output=True, check=False,
        stdin=subprocess.DEVNULL, env={
            '_ARGCOMPLETE': '1', 'COMP_LINE': 'climate lease show ', 'COMP_POINT': '19',
            'HOME': str(tmp_path), 'PYTHONPATH': ':'.join(filter(None, sys.path))})
    assert (done.stdout, done.stderr) == (b'', b'')


@pytest.mark.parametrize('variable', [completion.LOG_VARIABLE, 'OTHER'])
def test_an_error_of_a_completion_is_written_to_the_file_of_the_variable(tmp_path, variable):
    log = tmp_path / 'errors'
    done = subprocess.run(
        [sys.executable, '-m', 'climate.client.shell'], capture_output=True, check=False,
        stdin=subprocess.DEVNULL, env={
            '_ARGCOMPLETE': '1', 'COMP_LINE': 'climate lease ', 'COMP_POINT': 'nowhere',
            variable: str(log), 'HOME': str(tmp_path),
            'PYTHONPATH': ':'.join(filter(None, sys.path))})
    assert (done.returncode, done.stdout, done.stderr) == (1, b'', b'')
    if variable == completion.LOG_VARIABLE:
        assert "invalid literal for int() with base 10: 'nowhere'" in log.read_text()
    else:
        assert not log.exists()

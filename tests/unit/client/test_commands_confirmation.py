# SPDX-License-Identifier: Apache-2.0
"""The commands that delete or stop objects list them by name and ask first."""
import contextlib
import io

import pytest
from unit.client import canned

from climate.client import shell

URL, LEASE_ID = canned.URL, canned.LEASE_ID
LEASE_URL = f'{URL}/leases/{LEASE_ID}'
LOSSES = [
    {'kind': 'server', 'id': 's1', 'name': 'web', 'project_id': 'p1', 'fate': 'deleted',
     'saved': True, 'resource': 'compute-7', 'at': None},
    {'kind': 'server', 'id': None, 'name': None, 'project_id': None, 'fate': 'deleted',
     'saved': False, 'resource': None, 'at': None},
    {'kind': 'port', 'id': 'q1', 'name': '', 'project_id': 'p1', 'fate': 'deleted',
     'saved': False, 'resource': None, 'at': None}]
LINES = ('  server web (s1) on compute-7: deleted, after an image of it is made\n'
         '  a server of another project: deleted\n'
         '  port q1: deleted\n')
#: Commands, with the method and the path of their requests.
COMMANDS = [
    (['lease', 'delete', 'demo'], 'DELETE', LEASE_URL),
    (['lease', 'end', 'demo'], 'PUT', LEASE_URL),
    (['lease', 'set', 'demo', '--reservation', 'id=r1,max=1'], 'PUT', LEASE_URL),
    (['lease', 'swap', 'demo', 'compute-7'], 'POST', f'{LEASE_URL}/swap')]


class Terminal(io.StringIO):
    """A terminal at which a user types a text."""

    def isatty(self):
        return True


@pytest.fixture
def demo(requests_mock):
    """A service whose lease "demo" runs and has objects."""
    lease = canned.a_lease(status='active')
    requests_mock.get(f'{URL}/leases', json={'leases': [lease]})
    requests_mock.get(LEASE_URL, json={'lease': lease}, headers={'ETag': '"7"'})
    for method, url in (('PUT', LEASE_URL), ('POST', f'{LEASE_URL}/swap')):
        requests_mock.register_uri(method, url, json={'lease': lease})
        requests_mock.register_uri(method, f'{url}?dry_run=true', json={
            'lease': lease, 'losses': LOSSES})
    requests_mock.delete(LEASE_URL, status_code=204)
    requests_mock.delete(f'{LEASE_URL}?dry_run=true', json={'losses': LOSSES})
    return requests_mock


def typed(words, text, err=None):
    """Run a command at a terminal at which a user types; return (exit code, standard error)."""
    err = Terminal() if err is None else err
    app = shell.Shell(stdin=Terminal(text), stdout=io.StringIO(), stderr=err, environ={
        'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': URL, 'OS_TOKEN': 'a-token'})
    with contextlib.redirect_stderr(err):
        return app.run(words), err.getvalue()


def changes(service):
    """(method, whether it is a dry run) of the requests that could change something."""
    return [(call.method, 'dry_run' in call.qs) for call in service.request_history
            if call.method != 'GET']


@pytest.mark.parametrize(('words', 'method', 'url'), COMMANDS)
def test_without_a_terminal_a_loss_is_listed_and_nothing_is_changed(run, demo, words, method, url):
    outcome = run(*words)
    assert outcome.code == 1
    assert 'With this, 3 objects are lost in lease demo:\n' + LINES in outcome.err
    assert 'Nothing was changed. Give --yes' in outcome.err
    assert changes(demo) == [(method, True)]


@pytest.mark.parametrize(('words', 'method', 'url'), COMMANDS)
def test_with_yes_nothing_is_asked_nor_listed(run, demo, words, method, url):
    outcome = run(*words, '--yes')
    assert (outcome.code, outcome.err) == (0, '')
    assert changes(demo) == [(method, False)]


@pytest.mark.parametrize(('words', 'method', 'url'), COMMANDS)
def test_a_script_goes_on_if_nothing_is_lost(run, demo, words, method, url):
    demo.register_uri(method, f'{url}?dry_run=true', json={
        'lease': canned.a_lease(), 'losses': []})
    outcome = run(*words)
    assert (outcome.code, outcome.err) == (0, '')
    assert changes(demo) == [(method, True), (method, False)]


@pytest.mark.parametrize(('text', 'code'), [('y\n', 0), ('Yes\n', 0), ('n\n', 1), ('\n', 1),
                                            ('', 1)])
def test_at_a_terminal_the_user_decides(demo, text, code):
    exit_code, err = typed(['lease', 'delete', 'demo'], text)
    assert exit_code == code
    assert f'{LINES}Delete lease demo? [y/N] ' in err
    assert changes(demo) == [('DELETE', True), ('DELETE', False)][:2 - code]


def test_nobody_is_asked_who_does_not_see_the_question(demo):
    exit_code, err = typed(['lease', 'delete', 'demo'], 'y\n', io.StringIO())
    assert exit_code == 1
    assert '[y/N]' not in err and 'Nothing was changed. Give --yes' in err
    assert changes(demo) == [('DELETE', True)]


@pytest.mark.parametrize('words', [words for words, _, _ in COMMANDS])
def test_a_dry_run_lists_and_changes_nothing(run, demo, words):
    outcome = run(*words, '--dry-run')
    assert outcome.code == 0
    assert LINES in outcome.err and 'Dry run: nothing was created or changed.' in outcome.err
    assert {dry for _, dry in changes(demo)} == {True}


def test_a_lease_that_waits_is_deleted_without_a_dry_run(run, demo):
    demo.get(LEASE_URL, json={'lease': canned.a_lease(status='in_progress')})
    assert run('lease', 'delete', LEASE_ID).code == 0
    assert changes(demo) == [('DELETE', False)]


LATE_CANCEL = {'amount': '3.00', 'currency': 'EUR', 'lines': [
    {'kind': 'late_cancel', 'amount': '3.00', 'price_book': 1, 'percent': '50'}]}
COST = ('Lease demo starts soon. This costs 3.00 EUR: 50 % of the price of what is cancelled.\n')


@pytest.mark.parametrize(('words', 'method', 'url'), COMMANDS[:3])
def test_the_cost_of_a_late_cancellation_is_asked_for(run, demo, words, method, url):
    demo.get(f'{URL}/leases', json={'leases': [canned.a_lease(status='inactive')]})
    demo.register_uri(method, f'{url}?dry_run=true', json={
        'lease': canned.a_lease(), 'losses': [], 'late_cancel': LATE_CANCEL})
    outcome = run(*words)
    assert outcome.code == 1
    assert outcome.err.startswith(COST) and 'Give --yes' in outcome.err
    assert changes(demo) == [(method, True)]
    code, err = typed(words, 'y\n')
    assert code == 0 and COST in err and '[y/N]' in err
    assert run(*words, '--dry-run').err == f'{COST}Dry run: nothing was created or changed.\n'


def test_another_name_needs_no_dry_run(run, demo):
    assert run('lease', 'set', 'demo', '--name', 'other').code == 0
    assert changes(demo) == [('PUT', False)]


@pytest.mark.parametrize('answer', [
    {'json': {'losses': None}},
    {'status_code': 503, 'json': {'error_message': 'Nova is not available now.'}}])
def test_unknown_losses_are_a_refusal_with_the_way_out(run, demo, answer):
    demo.delete(f'{LEASE_URL}?dry_run=true', **answer)
    outcome = run('lease', 'delete', 'demo')
    assert outcome.code == 1
    assert 'What would be lost is not known' in outcome.err
    assert 'Give --yes to go on without the list.' in outcome.err
    assert changes(demo) == [('DELETE', True)]


def test_an_earlier_end_says_when_the_objects_are_lost(run, demo):
    demo.put(f'{LEASE_URL}?dry_run=true', json={'lease': canned.a_lease(), 'losses': [
        {**LOSSES[0], 'at': '2030-05-01T09:00:00Z'}]})
    outcome = run('lease', 'set', 'demo', '--end', '2030-05-01 09:00')
    assert '1 object is lost in lease demo at 2030-05-01 09:00 UTC:' in outcome.err


def test_a_long_list_names_the_first_objects(run, demo):
    demo.delete(f'{LEASE_URL}?dry_run=true', json={'losses': LOSSES[:1] * 60})
    assert '  and 10 more\n' in run('lease', 'delete', 'demo').err

# SPDX-License-Identifier: Apache-2.0
"""The command that lists what the newest audit found, run as a user runs it."""
import canned

FOUND = {'audit': {'at': '2030-05-01T12:00:00Z', 'manager': 'one:7', 'finding_count': 1,
                   'findings': [{'kind': 'held', 'what': 'host compute-1', 'problem': 'it is over',
                                 'remedy': 'releases it'}]}}
NONE = {'audit': {'at': None, 'manager': None, 'finding_count': 0, 'findings': []}}


def test_findings_are_listed_with_when_and_by_whom(run, requests_mock):
    requests_mock.get(f'{canned.URL}/audit', json=FOUND)
    outcome = run('audit', 'list')
    assert outcome.code == 0, outcome.err
    assert 'host compute-1' in outcome.out and 'releases it' in outcome.out
    assert outcome.out.endswith('1 found by one:7 at 2030-05-01 12:00 UTC.\n')


def test_a_cloud_without_audits_says_which_option_makes_them(run, requests_mock):
    requests_mock.get(f'{canned.URL}/audit', json=NONE)
    assert 'audit_interval_seconds' in run('audit', 'list').out
    assert run('audit', 'list', '-f', 'json').json == []

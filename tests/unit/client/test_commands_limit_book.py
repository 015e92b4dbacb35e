# SPDX-License-Identifier: Apache-2.0
"""The commands about the limit book."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/limit-books'
BOOK = {'version': 1, 'valid_from': '2030-05-01T12:00:00Z', 'valid_until': None,
        'description': 'Rules of 2030',
        'limits': [{'name': 'four', 'measure': 'open_leases', 'most': '4'}]}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'limit_books': [BOOK]})
    requests_mock.get(f'{URL}/valid', json={'limit_book': BOOK})
    requests_mock.post(URL, status_code=201, json={'limit_book': BOOK})
    return requests_mock


def test_versions_are_listed_with_the_numbers_of_their_rules(run, service):
    [book] = run('limit-book', 'list', '-f', 'json').json
    assert (book['limits'], book['extensions'], book['version']) == (1, 0, 1)
    assert '2030-05-01 12:00 UTC' in run('limit-book', 'list').out


def test_the_valid_version_is_shown_as_people_write_it(run, service):
    assert run('limit-book', 'show', '-f', 'json').json == BOOK
    shown = run('limit-book', 'show').out
    assert "- {name: four, measure: open_leases, most: '4'}" in shown
    assert 'None' not in shown


@pytest.mark.parametrize('words', [(), ('--file',)])
def test_a_file_is_sent_with_its_criteria_as_a_list(run, service, tmp_path, words):
    path = tmp_path / 'limits.yaml'
    path.write_text(
        'valid_from: 2027-01-01T00:00:00Z\nlimits:\n'
        "- {name: a, measure: resources, most: 4, criteria: 'gpu=A100'}\n"
        "- {name: b, measure: resources, most: 4, criteria: 'gpu=A100 vcpus>=16'}\n"
        '- {name: c, measure: resources, most: 4, criteria: \'["=", "$gpu", "A100"]\'}\n'
        '- {name: d, measure: lease_length, most: 7d}\n')
    assert run('limit-book', 'create', *words, str(path)).code == 0
    sent = service.last_request.json()
    assert sent['valid_from'] == '2027-01-01T00:00:00Z'
    assert [limit.get('criteria') for limit in sent['limits']] == [
        ['==', '$gpu', 'A100'], ['and', ['==', '$gpu', 'A100'], ['>=', '$vcpus', '16']],
        '["=", "$gpu", "A100"]', None]
    assert sent['limits'][3]['most'] == '7d'


@pytest.mark.parametrize('text, words', [
    ('x' * 10 ** 7, 'is larger than'), ('- a', 'has no limit book'), ('{a: [', 'neither YAML'),
    ('limits: []\nlimits: []', 'given twice'),
    ('limits: [{name: a, criteria: gpu}]', 'limits.0.criteria: "gpu" is not a condition')])
def test_a_file_that_is_no_limit_book_is_refused(run, service, tmp_path, text, words):
    path = tmp_path / 'limits.yaml'
    path.write_text(text)
    outcome = run('limit-book', 'create', str(path))
    assert outcome.code == 1
    assert words in outcome.err
    assert not service.called


def test_exactly_one_file_is_needed(run, service, tmp_path):
    for words in ((), ('a', '--file', 'b')):
        outcome = run('limit-book', 'create', *words)
        assert outcome.code == 1
        assert 'the name of one file' in outcome.err
    assert 'cannot be read' in run('limit-book', 'create', str(tmp_path / 'no')).err

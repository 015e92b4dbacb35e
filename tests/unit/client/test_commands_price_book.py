# SPDX-License-Identifier: Apache-2.0
"""The commands about the price book."""
import pytest
from unit.client import canned

URL = f'{canned.URL}/price-books'
BOOK = {'version': 1, 'currency': 'EUR', 'valid_from': '2030-05-01T12:00:00Z',
        'valid_until': None, 'rates': [{'rate': '0.10'}]}


@pytest.fixture
def service(requests_mock):
    requests_mock.get(URL, json={'price_books': [BOOK]})
    requests_mock.get(f'{URL}/valid', json={'price_book': BOOK})
    requests_mock.post(URL, status_code=201, json={'price_book': BOOK})
    return requests_mock


def test_versions_are_listed_and_the_valid_one_is_shown(run, service):
    assert '2030-05-01 12:00 UTC' in run('price-book', 'list').out
    assert run('price-book', 'show', '-f', 'json').json == BOOK


def test_people_read_the_rates_as_they_write_them_and_no_word_for_nothing(run, service):
    shown = run('price-book', 'show').out
    assert '| rates       | - {rate: \'0.10\'}' in shown
    assert 'None' not in shown + run('price-book', 'list').out


def test_a_file_is_sent_with_its_numbers_as_they_are_written(run, service, tmp_path):
    path = tmp_path / 'book.yaml'
    path.write_text('currency: EUR\nlease_fee: 0.10\npeak_hours:\n  timezone: UTC\n  windows:\n'
                    '    - {days: [mon], from: 18:00, to: 24:00, percent: 20}\n')
    assert run('price-book', 'create', '--file', str(path)).code == 0
    assert service.last_request.json() == {
        'currency': 'EUR', 'lease_fee': '0.10', 'peak_hours': {'timezone': 'UTC', 'windows': [
            {'days': ['mon'], 'from': '18:00', 'to': '24:00', 'percent': '20'}]}}


@pytest.mark.parametrize('text, words', [
    ('x' * 2 ** 20, 'is larger than'), ('- a', 'has no price book'), ('{a: [', 'neither YAML'),
    ('\x00', 'neither YAML')])
def test_a_file_that_is_no_price_book_is_refused(run, service, tmp_path, text, words):
    path = tmp_path / 'book.yaml'
    path.write_text(text)
    outcome = run('price-book', 'create', '--file', str(path))
    assert outcome.code == 1
    assert words in outcome.err
    assert 'cannot be read' in run('price-book', 'create', '--file', str(tmp_path / 'no')).err

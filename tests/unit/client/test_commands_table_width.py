# SPDX-License-Identifier: Apache-2.0
"""Tables fit a width: ids are shortened, wide columns wrapped, others left out."""
import io

import pytest
from unit.client import canned

from climate.client.commands import charts
from climate.client.commands import columns
from climate.client.commands import table_width

ID = '11111111-2222-4333-8444-555555555555'


def fitted(names, row, width):
    names, [row] = table_width.fitted(names, [row], width)
    return dict(zip(names, row, strict=True))


def test_a_table_that_fits_is_unchanged():
    assert fitted(['name', 'id'], ['demo', ID], 80) == {'name': 'demo', 'id': ID}


def test_ids_are_shortened_before_names_are_wrapped():
    name = 'the lease of the second team'
    assert fitted(['name', 'id'], [name, ID], 45) == {'name': name, 'id': ID[:8]}


def test_the_widest_column_is_wrapped_first():
    reason = 'a very long reason for a very short lease'
    row = fitted(['name', 'why'], ['demo', reason], 40)
    assert row['name'] == 'demo'
    assert max(map(len, row['why'].splitlines())) <= 40 - 7 - 4
    assert row['why'].replace('\n', ' ') == reason


def test_a_word_without_spaces_is_broken():
    row = fitted(['address'], ['https://example.org/' + 'x' * 50], 40)
    assert ''.join(row['address'].split('\n')) == 'https://example.org/' + 'x' * 50


def test_numbers_stay_numbers_and_are_never_wrapped():
    row = fitted(['number', 'why'], [1234567890, 'word ' * 20], 30)
    assert row['number'] == 1234567890


def test_columns_that_do_not_fit_are_left_out_from_the_end():
    assert list(fitted(['first', 'second', 'third'], ['x' * 20] * 3, 25)) == ['first', 'second']


@pytest.mark.parametrize(('name', 'width'), [('hypervisor_hostname', 24), ('x' * 73, 80)])
def test_values_beside_long_names_of_fields_still_have_some_letters_a_line(name, width):
    [cell] = columns.fitted([name], ['word ' * 20], width)
    assert max(map(len, cell.splitlines())) <= 20


def test_a_sparkline_has_fewer_blocks_in_a_narrow_table():
    row = fitted(['name', 'use'], ['demo', charts.Sparkline([0, 1] * 15)], 30)
    assert len(row['use']) == 30 - 7 - 4


def test_letters_of_two_columns_are_counted_as_such():
    row = fitted(['name', 'why'], ['\u6771\u4eac' * 10, ''], 30)
    assert all(table_width._width(line) <= 30 - 7 - 3 for line in row['name'].splitlines())


def test_ids_are_the_last_columns():
    names, rows = table_width.ids_last(['id', 'name', 'project_id', 'end'], [(1, 2, 3, 4)])
    assert (names, rows) == (['name', 'end', 'id', 'project_id'], [[2, 4, 1, 3]])


def test_a_terminal_has_a_width_and_a_file_has_none(monkeypatch):
    monkeypatch.setenv('COLUMNS', '70')
    terminal = io.StringIO()
    assert table_width.of_terminal(terminal) is None
    terminal.isatty = lambda: True
    assert table_width.of_terminal(terminal) == 70
    terminal.close()
    monkeypatch.undo()
    closed = io.StringIO()
    closed.close()
    assert table_width.of_terminal(closed) is None


def test_a_list_without_rows_says_so(run, requests_mock):
    requests_mock.get(f'{canned.URL}/leases', json={'leases': []})
    assert run('lease', 'list').out == (
        'Nothing found in your project. Administrators find more with --all-projects.\n')
    assert run('lease', 'list', '--all-projects', width=80).out == 'Nothing found.\n'
    assert run('lease', 'list', '-f', 'json').json == []
    assert run('lease', 'list', '-f', 'value').out == ''


@pytest.mark.parametrize(('line', 'width', 'lines'), [
    ('a line', None, 'a line'), ('a line', 80, 'a line'), ('a long line', 8, 'a long\n  line')])
def test_a_line_below_a_table_is_wrapped(line, width, lines):
    assert table_width.line_wrapped(line, width) == lines

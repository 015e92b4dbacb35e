# SPDX-License-Identifier: Apache-2.0
"""The prose check: `tools.prose` with the rules of ``tools/words.toml``."""
import pytest

from tools import prose


@pytest.mark.parametrize('text', [
    'The lease waits in vain.', 'Its hosts are taken\nback.', 'A user and his leases.'])
def test_the_check_refuses_a_word_of_the_list(text):
    assert list(prose.words(text))


@pytest.mark.parametrize('text', [
    'The field ``room`` of a request.', 'See https://example.org/door.', 'Enrol a host by hand.'])
def test_the_check_leaves_code_addresses_and_right_uses_alone(text):
    assert not list(prose.words(text))


@pytest.mark.parametrize('text', ['What decides about a price.', 'The same of a host.',
                                  'Those of a lease.'])
def test_the_check_refuses_a_docstring_without_a_subject(text):
    assert prose.opener(text)


@pytest.mark.parametrize('text', ['Return the price.', 'The price of a lease.',
                                  'Whatsoever.'])
def test_the_check_accepts_a_docstring_with_a_subject(text):
    assert not prose.opener(text)


def test_the_check_refuses_a_name_of_a_test_without_a_subject():
    assert prose.test_name('test_it_is_ahead')
    assert not prose.test_name('test_items_are_sorted')


def test_a_finding_names_its_line(tmp_path):
    file = tmp_path / 'page.rst'
    file.write_text('A page.\n\nIt waits\nin vain.\n')
    assert [finding[:2] for finding in prose.check(file)] == [(4, 'in vain')]

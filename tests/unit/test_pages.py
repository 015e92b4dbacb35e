# SPDX-License-Identifier: Apache-2.0
"""The commands of a page are found, run in one shell, and changed only where a caller says so."""
import os
import pathlib

import pytest

from tools import pages

PAGE = '''\
=====
Title
=====

First
=====

Text, and a ``literal``::

   not a block

.. code-block:: bash

   cd sub
   export PLACE=there
   for word in a b; do
       echo "$word" >> words
   done

.. code-block:: ini
   :caption: /etc/it.conf

   [group]
   key = PASSWORD

Second
======

1. In a list:

   .. code-block:: bash

      echo "$PLACE $(pwd)"
      useradd somebody
      cat words
'''


@pytest.fixture
def page(tmp_path):
    path = tmp_path / 'page.rst'
    path.write_text(PAGE)
    return path


@pytest.fixture
def reader(tmp_path):
    folder = tmp_path / 'shell'
    (folder / 'sub').mkdir(parents=True)
    return pages.Reader(folder, dict(os.environ), ['cat'])


def test_blocks_have_their_title_language_and_caption(page):
    first, file, second = pages.blocks(page)
    assert (first.section, first.language, first.caption) == ('First', 'bash', None)
    assert first.text.splitlines()[-2:] == ['    echo "$word" >> words', 'done']
    assert (file.caption, file.text) == ('/etc/it.conf', '[group]\nkey = PASSWORD\n')
    assert second.text.startswith('echo "$PLACE')
    assert pages.blocks(page, 'Second') == [second]
    with pytest.raises(pages.PageError, match='Third'):
        pages.blocks(page, 'Third')


def test_one_block_finds_what_the_one_before_left(page, reader, tmp_path):
    reader.omit('useradd somebody', 'The users stay as they are.')
    reader.change('/etc', str(tmp_path / 'etc'))
    reader.change('PASSWORD', 'secret')
    *_, printed = [reader.follow(block) for block in pages.blocks(page)]
    assert printed == f'there {tmp_path}/shell/sub\na\nb\n'
    assert (tmp_path / 'etc' / 'it.conf').read_text() == '[group]\nkey = secret\n'
    assert reader.unused() == []


def test_the_longest_change_wins_and_is_not_changed_again(page, reader, tmp_path):
    reader.change('/etc', str(tmp_path))
    reader.change('key = PASSWORD', 'PASSWORD = PASSWORD')
    reader.change('PASSWORD', 'other')
    reader.follow(pages.blocks(page)[1])
    assert reader.done == ['[group]\nPASSWORD = PASSWORD\n']
    assert reader.unused() == ['PASSWORD']


def test_a_command_that_fails_is_named_with_its_page_and_what_it_printed(reader):
    block = pages.Block('page.rst', 'First', 'bash', None, 'echo said; false; echo never\n')
    with pytest.raises(pages.PageError) as raised:
        reader.follow(block)
    assert 'page.rst, First: exit code 1' in str(raised.value)
    assert str(raised.value).endswith('It printed:\nsaid\n')


def test_sql_goes_to_its_own_command(reader):
    block = pages.Block('page.rst', 'First', 'sql', None, 'SELECT 1;\n')
    assert reader.follow(block) == 'SELECT 1;\n'


@pytest.mark.parametrize('name', ['install', 'backup', 'upgrade', 'remove'])
def test_a_page_that_the_cloud_test_follows_has_commands_and_files_only(name):
    page = pathlib.Path(__file__).parents[2] / f'doc/source/admin/{name}.rst'
    found = {block.language for block in pages.blocks(page) if not block.caption}
    assert found and found <= {'bash', 'sql'}


def test_a_language_that_is_not_known_is_refused(reader):
    with pytest.raises(pages.PageError, match='console'):
        reader.follow(pages.Block('page.rst', 'First', 'console', None, '$ ls\n'))

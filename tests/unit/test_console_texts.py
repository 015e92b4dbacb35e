# SPDX-License-Identifier: Apache-2.0
"""Every text that the console names is in its catalogue."""
import pathlib
import re

from climate.console import texts

CONSOLE = pathlib.Path(texts.__file__).parent
_NAMED = re.compile(r"""\bt\('([\w.:-]+)'[,)]""")


def test_every_text_that_pages_and_scripts_name_is_in_the_catalogue():
    files = [each for each in CONSOLE.rglob('*') if each.suffix in ('.html', '.js')
             and each.parent.name != 'vendor']
    named = {(each.name, key) for each in files for key in _NAMED.findall(each.read_text())}
    assert len(named) > 150
    assert {pair for pair in named if pair[1] not in texts.all_texts()} == set()


def test_values_in_a_text_of_a_page_are_escaped():
    assert texts.markup('who', user='<b>', project='"') == '&lt;b&gt; in &#34;'
    assert texts.markup('operator.idle') == 'Idle leases'


def test_a_moment_of_a_page_has_its_iso_text_for_scripts():
    assert texts.moment('2030-05-01T08:00:00Z') == (
        '<time datetime="2030-05-01T08:00:00Z">2030-05-01 08:00 UTC</time>')
    assert texts.moment(None) == ''
    assert '<script>' not in texts.moment('<script>')

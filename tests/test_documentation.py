# SPDX-License-Identifier: Apache-2.0
"""The form of the documentation: its first sentences, its lines, and the types that it names."""
import importlib.metadata
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / 'doc' / 'source'
PAGES = sorted(path for path in SOURCE.rglob('*.rst') if path.name != 'index.rst')
TEXTS = [*PAGES, *SOURCE.rglob('index.rst'), *ROOT.glob('*.rst'), *ROOT.glob('devstack/*.rst')]
#: The start of a block whose lines stand as they are: commands, answers, pictures.
LITERAL = re.compile(r'(?:^|.*[^.])::$|\.\. (?:code-block|literalinclude|image|parsed-literal)::')


def prose(path):
    """Yield the number and the text of each line that is not in a literal block."""
    outside = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if outside is not None and indent > outside:
            continue
        outside = None
        yield number, line
        if LITERAL.match(line.strip()) and not re.match(r'\.\. \w+::$', line.strip()):
            outside = indent


@pytest.mark.parametrize('path', PAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_page_begins_with_what_it_is_for(path):
    lines = [line for _, line in prose(path) if not line.startswith('.. _')]
    assert re.match(r'This page (?:shows|lists|explains|defines|follows) ', lines[3]), lines[3]


@pytest.mark.parametrize('path', TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_has_lines_of_at_most_100_characters(path):
    assert not [f'{path.relative_to(ROOT)}:{number}' for number, line in prose(path)
                if len(line) > 100 and ' ' in line.strip('- ').removeprefix('* ')]


def test_the_first_page_names_every_resource_type():
    types = {point.name for point in importlib.metadata.entry_points(group='climate.plugins')}
    assert types - {'virtual:dummy'} == set(
        re.findall(r'\* - ``([\w:]+)``', (SOURCE / 'index.rst').read_text()))


@pytest.mark.parametrize('namespace', ['climate.cloud.openstack', 'climate.cloud.simulated'])
def test_the_page_on_plugins_lists_every_interface_of_every_service(namespace):
    table = dict(re.findall(r'\* - ``(\w+)``\n     - ((?:``\w+``(?:, )?)+)',
                            (SOURCE / 'contributor' / 'plugin.rst').read_text()))
    adapters = {point.name: point.load()
                for point in importlib.metadata.entry_points(group=namespace)}
    assert {name: set(re.findall(r'\w+', table[name])) for name in adapters} == {
        name: set(adapter.interfaces) for name, adapter in adapters.items()}

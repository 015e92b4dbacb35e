# SPDX-License-Identifier: Apache-2.0
"""The options that the pages and the sample name exist, with the defaults that these say."""
import pathlib
import re

from oslo_config import cfg
from oslo_log import log

from climate import conf as configuration
from climate.conf import checking

ROOT = pathlib.Path(__file__).parents[3]
PAGES = sorted((ROOT / 'doc/source').rglob('*.rst'))
# It describes the options of an example.
OF_AN_EXAMPLE = 'plugin.rst'
# Its tables are of nova.conf.
OF_NOVA = 'nova.rst'
# Options in the files of other services.
FOREIGN = {('trust', 'max_redelegation_count'), ('cinder', 'cross_az_attach'),
           ('climate', 'ask_climate'), ('token', 'allow_rescope_scoped_token')}
NOT_OF_CLIMATE = {'nova.conf', 'api-paste.ini'}
UNITS = {'': 1, 'KiB': 2 ** 10, 'MiB': 2 ** 20, 'seconds': 1, 'minutes': 60, 'hours': 3600}
NAMED = re.compile(r'``\[([\w:.-]+)\] (\w+)(?: = [^`]*)?``((?:, ``\w+``)*)')
BLOCK = re.compile(r'code-block:: ini\n(?: +:caption: (\S+)\n)?\n((?: +\S.*\n|\n)+)')
WITH_VALUE = re.compile(r'``(?:\[([\w:.-]+)\] )?(\w+)`` \(([\d,.]+) ?(\w*)[;:,)]')


def options():
    """Return {group: {name: option}} of all that Climate reads."""
    return checking._known()


def text_of(page):
    return re.sub(r'\s+', ' ', page.read_text())


def test_every_option_that_a_page_names_exists():
    known, named = options(), set()
    for page in PAGES:
        for group, first, others in NAMED.findall(text_of(page)):
            named |= {(group, name) for name in (first, *re.findall(r'\w+', others))}
    assert len(named) > 100
    assert {(group, name) for group, name in named if name not in known.get(group, ())} == FOREIGN


def test_every_default_that_a_page_says_is_that_of_the_option():
    known, checked, wrong = options(), 0, []
    for page in PAGES:
        for group, name, number, unit in WITH_VALUE.findall(text_of(page)):
            listed = [known[group]] if group in known else known.values()
            defaults = {each[name].default for each in listed if each.get(name)}
            if defaults and unit in UNITS and (group or page.name != OF_NOVA):
                checked += 1
                if float(number.replace(',', '')) * UNITS[unit] not in defaults:
                    wrong.append((page.name, name, number, unit, defaults))
    assert checked > 40
    assert wrong == []


def test_every_option_in_a_block_of_a_page_exists():
    known, wrong, checked = options(), [], 0
    for page in PAGES:
        for caption, block in BLOCK.findall(page.read_text()):
            if page.name == OF_AN_EXAMPLE or pathlib.Path(caption).name in NOT_OF_CLIMATE or (
                    caption.startswith('/etc/systemd')):
                continue
            group = 'DEFAULT'
            for line in map(str.strip, block.splitlines()):
                if heading := re.fullmatch(r'\[(.*)\]', line):
                    group = heading[1]
                elif re.match(r'\w+ =', line):
                    checked += 1
                    name = line.partition(' ')[0]
                    # A login has the options of its auth_type.
                    if not {name, 'auth_type'} & set(known.get(group, ())):
                        wrong.append((page.name, group, name))
    assert checked > 40
    assert wrong == []


def test_the_defaults_of_the_sample_are_those_of_the_programs():
    conf = configuration.register(cfg.ConfigOpts())
    log.register_options(conf)
    infos = {('DEFAULT', name): info for name, info in conf._opts.items()}
    infos |= {(name, option): info for name, group in conf._groups.items()
              for option, info in group._opts.items()}
    assert len(infos) > 200
    # A default that is set for one configuration is in no sample.
    assert [where for where, info in infos.items() if 'default' in info] == []
    sample = (ROOT / 'etc/climate/climate.conf.sample').read_text()
    assert f'#max_pool_size = {conf.database.max_pool_size}\n' in sample

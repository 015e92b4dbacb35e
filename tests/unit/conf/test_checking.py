# SPDX-License-Identifier: Apache-2.0
"""Wrong values and misspelt names in configuration files are reported on one line."""
import itertools
import pathlib

from oslo_config import cfg
from oslo_config import types
import pytest

from climate import conf as configuration
from climate.cloud import registry as adapters
from climate.conf import checking
from climate.plugins import registry

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPTIONS = [(str(getattr(group, 'name', group)), option)
           for group, options in itertools.chain(
               configuration.list_opts(), registry.list_opts(), adapters.list_opts())
           for option in options]


def wrong_values(option):
    """Return texts that an option must not accept."""
    kind = option.type
    empty = [] if option.default is None else ['']
    if getattr(kind, 'choices', None):
        return ['nonsense', *(text for text in empty if text not in kind.choices)]
    if isinstance(kind, types.Boolean) or kind is bool:
        return ['maybe', '2', '']
    if isinstance(kind, types.Number) or kind is int:
        limits = [f'{limit + step:g}' for limit, step in (
            (getattr(kind, 'min', None), -1), (getattr(kind, 'max', None), 1))
            if limit is not None]
        return ['abc', '3 days', *(['nan', 'inf'] if isinstance(kind, types.Float) else ['1.5']),
                *empty, *limits]
    if isinstance(kind, types.List):
        return {types.Integer: ['a,b', '1,,x'], types.String: []}.get(
            type(kind.item_type), ['nonsense'])
    if getattr(kind, 'regex', None):
        return ['']
    return {types.URI: ['nonsense'], types.HostAddress: ['a host!']}.get(type(kind), [])


#: The n-th file has the n-th wrong value of each option.
FILES = [[(group, option, text) for (group, option), texts in zip(
    OPTIONS, [wrong_values(option) for _group, option in OPTIONS], strict=True)
          for text in texts[number:number + 1]] for number in range(8)]


def read(tmp_path, text, options):
    path = tmp_path / 'climate.conf'
    path.write_text(text)
    conf = configuration.register(cfg.ConfigOpts())
    for group, option in options:
        conf.register_opt(option, group=None if group == 'DEFAULT' else group)
    conf(['--config-file', str(path)], project='climate', default_config_dirs=[])
    return conf, path


def test_every_option_refuses_every_kind_of_wrong_value(tmp_path):
    assert sum(map(len, FILES)) > 600
    assert FILES[-1] == []
    for cases in FILES:
        lines = ''.join(f'[{group}]\n{option.dest} = {text}\n' for group, option, text in cases)
        conf, path = read(tmp_path, lines, [(group, option) for group, option, _text in cases])
        for group, option, text in cases:
            with pytest.raises(checking.WrongValue) as caught:
                checking.values(conf, [(group, [option])])
                pytest.fail(f'[{group}] {option.name} accepts "{text}"')
            said = str(caught.value)
            assert said.startswith(f'[{group}] {option.name} = "{text}" in {path} cannot be used (')
            assert ' Write ' in said
            assert '\n' not in said


def test_an_option_with_the_name_of_a_property_accepts_each_form_of_unicode(tmp_path):
    names = ('spare_by', 'watts_property', 'node_property')
    text = '[energy]\n' + ''.join(f'{name} = gro\u0308\u00dfe\n' for name in names)
    conf, _path = read(tmp_path, text, [])
    assert {conf.energy[name] for name in names} == {'gr\u00f6\u00dfe'}


def test_every_option_accepts_its_default(tmp_path):
    optional = [(group, option) for group, option in OPTIONS if not option.required]
    conf, _path = read(tmp_path, '', optional)
    checking.values(conf, [(group, [option]) for group, option in optional])


def test_a_secret_is_not_shown(tmp_path):
    option = cfg.IntOpt('pin', secret=True)
    conf, _path = read(tmp_path, '[safe]\npin = hidden\n', [('safe', option)])
    with pytest.raises(checking.WrongValue) as caught:
        checking.values(conf, [('safe', [option])])
    assert 'hidden' not in str(caught.value)


def test_a_wrong_variable_of_the_environment_is_named(tmp_path, monkeypatch):
    conf, _path = read(tmp_path, '', [])
    monkeypatch.setenv('OS_MANAGER__POLL_SECONDS', 'soon')
    with pytest.raises(checking.WrongValue, match='"soon" in the environment variable OS_MANAGER'):
        checking.values(conf, configuration.list_opts())


@pytest.mark.parametrize('text,said', [
    ('[databse]\nconnection = x\n', 'there is no group [databse]. Did you mean database?'),
    ('[manager]\npol_seconds = 3\n', '[manager] has no option pol_seconds. Did you mean '
                                     'poll_seconds?'),
    ('plugin = physical:host\n', '[DEFAULT] has no option plugin. Did you mean plugins?'),
    ('[keystone]\nauth_type = password\nusrname = x\n',
     '[keystone] has no option usrname. Did you mean username?'),
    ('[zzz]\na = 1\n', 'there is no group [zzz].'),
    ('[manager]\nPoll_seconds = 3\n', '[manager] has no option Poll_seconds. Did you mean '
                                      'poll_seconds?')])
def test_a_name_that_nothing_reads_is_reported_with_the_nearest(tmp_path, text, said):
    text = text if text.startswith('[') else f'[DEFAULT]\n{text}'
    conf, path = read(tmp_path, text, [])
    assert checking.names(conf) == [f'{path}: {said}']


@pytest.mark.parametrize('text', [
    '[DEFAULT]\ndebug = true\nlog-dir = /x\ntransport_url = fake:\n',
    '[health]\nswaps_per_lease = 3\n',
    '[oslo_messaging_rabbit]\nheartbeat_rate = 3\n[cors]\nallowed_origin = *\n',
    '[keystone]\nauth_section = shared\n[shared]\nauth_type = v3applicationcredential\n'
    'application_credential_id = x\n[keystone_authtoken]\nauth_type = password\nusername = x\n',
    '[virtual:volume]\nordinary_type = x\n[heat]\nauth_type = password\nproject-name = x\n'])
def test_a_name_that_something_reads_is_not_reported(tmp_path, text):
    conf, _path = read(tmp_path, text, [])
    assert checking.names(conf) == []


def test_the_checks_know_each_namespace_of_the_sample():
    generated = (ROOT / 'etc/climate/climate-config-generator.conf').read_text()
    listed = {line.partition('= ')[2] for line in generated.splitlines()
              if line.startswith('namespace')}
    assert listed <= set(checking.NAMESPACES)

# SPDX-License-Identifier: Apache-2.0
"""Options may stand before, between and after the words of a command, at every program."""
import itertools

from oslo_config import cfg
import pytest
from support import programs

from climate.conf import command_line

COMMANDS = ['climate-db upgrade', 'climate-db version', 'climate-db purge --before 2030-05-01',
            'climate-db confirm-clock', 'climate-db new-key', 'climate-db upgrade head',
            'climate-status managers', 'climate-status upgrade check', 'climate-manager audit']


@pytest.fixture
def conf():
    made = cfg.ConfigOpts()
    made.register_cli_opts([
        cfg.BoolOpt('debug', short='d'), cfg.StrOpt('log-file'),
        cfg.StrOpt('word', positional=True),
        cfg.SubCommandOpt('command', handler=lambda subparsers: None)])
    made.register_cli_opt(cfg.StrOpt('name'), group='of')
    return made


@pytest.mark.parametrize(('given', 'expected'), [
    ('upgrade --config-file F', '--config-file F upgrade'),
    ('upgrade --config-file=F head', '--config-file=F upgrade head'),
    ('purge --before D --config-dir F --debug', '--config-dir F --debug purge --before D'),
    ('a --nodebug b -d c', '--nodebug -d a b c'),
    ('a --log-file F --log_file G --of-name N', '--log-file F --log_file G --of-name N a'),
    # The value of an option is never a word of the command.
    ('--log-file upgrade --config-file audit upgrade',
     '--log-file upgrade --config-file audit upgrade'),
    # The rest is for argparse: unknown options, a missing value, what follows "--".
    ('upgrade --unknown --help', 'upgrade --unknown --help'),
    ('upgrade --config-file', 'upgrade --config-file'),
    ('upgrade -- --debug', 'upgrade -- --debug'),
    ('', ''),
])
def test_options_come_before_the_words(conf, given, expected):
    assert command_line.options_first(conf, given.split()) == expected.split()


@pytest.mark.proof
@pytest.mark.parametrize('command', COMMANDS)
def test_each_program_takes_options_in_any_place(tmp_path, command):
    """Each order of words and options prints the same, and the file that it names is read."""
    program, *words = command.split()
    results = set()
    for place, count in itertools.product(range(len(words) + 1), (1, 2)):
        file = tmp_path / f'{place}-{count}.conf'
        file.write_text('[database]\nconnection = nonsense\n')
        options = ['--config-file', file, '--debug'][:2 if count == 1 else 3]
        if words[place - 1:place] == ['--before']:
            continue
        code, out, err = programs.run(program, *words[:place], *options, *words[place:])
        assert '[database] connection' in out + err, (words, options, out, err)
        results.add(code)
    assert len(results) == 1

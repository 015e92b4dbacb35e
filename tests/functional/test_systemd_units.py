# SPDX-License-Identifier: Apache-2.0
"""The systemd units in etc/climate, and their drop-ins, which pass secrets as credentials."""
import configparser
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from oslo_config import cfg
from oslo_service import opts as service
import pytest

from climate import conf as configuration

ETC = pathlib.Path(__file__).parents[2] / 'etc/climate'
BIN = pathlib.Path(sys.executable).parent
PROGRAMS = pytest.mark.parametrize('program', ['climate-api', 'climate-manager'])
UNITS = pytest.mark.parametrize('program', ['climate-api', 'climate-manager', 'climate-purge'])


def commands(path):
    """Return the values of ExecStart in a file, in order."""
    return re.findall('^ExecStart=(.*)$', path.read_text(), re.MULTILINE)


def secrets(program):
    """The file of secrets that the comment of a drop-in shows."""
    text = (ETC / f'{program}-credentials.conf').read_text()
    return '\n'.join(re.findall(r'^#   (\[.*|[a-z_]+ = .*)$', text, re.MULTILINE))


def said(conf, group, name):
    """Return the value of an option in the files."""
    place = None if group == 'DEFAULT' else group
    # Libraries register theirs later.
    with contextlib.suppress(cfg.DuplicateOptError):
        conf.register_opt(cfg.StrOpt(name), group=place)
    return (conf[place] if place else conf)[name]


@UNITS
def test_a_credential_is_the_last_of_the_configuration_files(program):
    [plain] = commands(ETC / f'{program}.service')
    assert commands(ETC / f'{program}-credentials.conf') == [
        '', f'{plain} --config-file ${{CREDENTIALS_DIRECTORY}}/climate-secrets']


@PROGRAMS
def test_the_content_of_a_credential_counts(program, tmp_path):
    shown = secrets(program)
    (tmp_path / 'climate.conf').write_text(re.sub('= .*', '= not secret', shown))
    (tmp_path / 'climate-secrets').write_text(shown)
    command = commands(ETC / f'{program}-credentials.conf')[1].replace(
        '/etc/climate', str(tmp_path)).replace('${CREDENTIALS_DIRECTORY}', str(tmp_path))
    conf = configuration.register(cfg.ConfigOpts())
    conf(command.split()[1:], project='climate', default_config_files=[])
    wanted = configparser.ConfigParser(interpolation=None, default_section=None)
    wanted.read_string(shown)
    assert 'PASSWORD' in shown
    for group in wanted.sections():
        for name, value in wanted[group].items():
            assert said(conf, group, name) == value


@pytest.mark.parametrize('program', ['climate-api', 'climate-console', 'climate-manager'])
def test_a_unit_reloads_and_lets_a_program_stop_gracefully(program):
    text = (ETC / f'{program}.service').read_text()
    conf = cfg.ConfigOpts()
    service.register_service_opts(conf)
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    [seconds] = re.findall('^TimeoutStopSec=(.*)$', text, re.MULTILINE)
    assert int(seconds) > conf.graceful_shutdown_timeout
    assert 'ExecReload=/bin/kill -HUP $MAINPID\n' in text


@UNITS
@pytest.mark.skipif(not shutil.which('systemd-analyze'), reason='systemd is not installed')
def test_systemd_understands_the_units(program, tmp_path):
    (tmp_path / f'{program}.service.d').mkdir()
    for source, target in ((f'{program}.service', f'{program}.service'),
                           (f'{program}-credentials.conf', f'{program}.service.d/secrets.conf')):
        # It looks whether the program is there.
        text = (ETC / source).read_text().replace('/usr/bin/', f'{BIN}/')
        (tmp_path / target).write_text(text)
    found = subprocess.run(
        ['systemd-analyze', 'verify', '--man=no', tmp_path / f'{program}.service'],
        env={**os.environ, 'SYSTEMD_UNIT_PATH': f'{tmp_path}:'}, capture_output=True, text=True)
    assert (found.returncode, [line for line in found.stderr.splitlines() if program in line]) == (
        0, [])

# SPDX-License-Identifier: Apache-2.0
"""The help of the command, its table of commands, and the plug-in of openstack."""
import argparse
import importlib
import importlib.metadata
import io
import subprocess
import sys

import pytest
from unit.client import canned

from climate.client import commands
from climate.client import osc
from climate.client import shell

URL = canned.URL


@pytest.mark.parametrize('name', sorted(commands.TABLE))
def test_every_command_has_help(run, name):
    outcome = run(*name.split(), '--help')
    assert outcome.code == 0
    assert f'usage: climate {name}' in outcome.out


@pytest.mark.parametrize('encoding', ['ascii', 'latin-1', 'cp1252', 'utf-8'])
@pytest.mark.parametrize('name', ['Z\u00fcrich', '\u6771\u4eac', '\U0001f600'])
def test_names_are_printed_in_any_encoding(monkeypatch, requests_mock, encoding, name):
    requests_mock.get(f'{URL}/leases', json={'leases': [canned.a_lease(name=name)]})
    for key, value in (('OS_AUTH_TYPE', 'admin_token'), ('OS_ENDPOINT', URL), ('OS_TOKEN', 't')):
        monkeypatch.setenv(key, value)
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr('sys.stdout', out)
    assert shell.main(['lease', 'list', '-f', 'value', '-c', 'name']) == 0
    out.flush()
    printed = out.buffer.getvalue().decode(encoding)
    assert printed.encode().decode('unicode_escape' if '\\' in printed else 'utf-8') == f'{name}\n'


def test_the_help_imports_neither_http_nor_sdk():
    script = ('import sys; from climate.client import shell\n'
              'try: shell.main(["--help"])\n'
              'except SystemExit: pass\n'
              'print([name for name in ("requests", "keystoneauth1", "openstack") '
              'if name in sys.modules], file=sys.stderr)')
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True)
    assert done.stderr == '[]\n'


def test_the_client_imports_the_version_and_the_readers_of_text_alone_of_climate():
    script = ('import sys, climate.client.service, climate.client.shell, climate.client.login, '
              'climate.client.osc, climate.client.commands.lease\n'
              'print(sorted(name for name in sys.modules if name.startswith("climate.") '
              'and not name.startswith("climate.client")))')
    done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True,
                          check=True)
    assert done.stdout == "['climate.json_text', 'climate.moments', 'climate.version']\n"


def test_every_line_of_the_table_is_a_command():
    for name, target in commands.TABLE.items():
        loaded = importlib.metadata.EntryPoint(name, target, 'climate.cli').load()
        assert (loaded.__doc__ or '').strip(), name


def test_the_plug_in_of_openstack_does_not_take_blazars_name():
    parser = osc.build_option_parser(argparse.ArgumentParser())
    assert osc.API_NAME == 'climate'
    assert parser.parse_args([]).os_climate_api_version is None


class FakeManager:
    """The manager that openstack passes to a plug-in."""

    interface = 'public'
    region_name = None

    def __init__(self, session, configuration):
        self.session = session
        self._configuration = configuration

    def get_configuration(self):
        return self._configuration


def test_the_plug_in_makes_a_client_from_openstacks_session(climate, listing):
    session = climate.http._transport.session
    made = osc.make_client(FakeManager(session, {'reservation_endpoint_override': URL}))
    assert list(made.leases.list()) == []


def test_the_commands_run_in_another_program(climate, listing, capsys):
    # As openstack does it: the app gives the command a client_manager, nothing else of ours.
    app = shell.Shell()
    app.options = argparse.Namespace(verbose_level=1)
    app.client_manager = argparse.Namespace(climate=climate)
    command_class, name, _rest = app.command_manager.find_command(['lease', 'list'])
    command = command_class(app, None, cmd_name=name)
    assert command.run(command.get_parser('openstack reservation lease list').parse_args([])) == 0

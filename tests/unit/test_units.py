# SPDX-License-Identifier: Apache-2.0
"""The systemd units that the package brings can be read, and name its programs below a root."""
import pathlib
import shutil

import pytest

from tools import units

ETC = pathlib.Path(__file__).resolve().parents[2] / 'etc' / 'climate'


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / units.UNITS
    folder.mkdir(parents=True)
    for unit in ETC.glob('*.service'):
        shutil.copy(unit, folder)
    return tmp_path


@pytest.mark.parametrize('name', ['climate-api', 'climate-manager'])
def test_a_unit_starts_its_program_with_the_configuration_below_the_root(root, name):
    assert units.command(root, name) == [
        f'{root}/usr/bin/{name}', '--config-file', f'{root}/etc/climate/climate.conf']


def test_all_units_can_be_read_at_once(root):
    assert units.main([str(root), 'daemon-reload']) == 0


def test_an_unknown_command_is_refused(root, capsys):
    assert units.main([str(root), 'mask', 'climate-api']) == 2
    assert 'mask' in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
"""The five commands of the README are those that `make run` prints, and they work."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

import pytest
from support import programs
from support import standalones

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.executable).parent


def test_the_five_commands_of_the_readme_work_for_the_administrator_and_a_member(tmp_path):
    written = re.findall(r'^    \.venv/bin/(climate .*)$', (ROOT / 'README.rst').read_text(),
                         re.MULTILINE)
    with standalones.running(tmp_path) as (env, printed):
        assert printed == written
        assert len(written) == 5
        url = json.loads(pathlib.Path(env['CLIMATE_STANDALONE_FILE']).read_text())['url']
        member = {**env, 'OS_AUTH_TYPE': 'admin_token', 'OS_TOKEN': 'ann:research:member',
                  'OS_ENDPOINT': url}
        for environ in (env, member):
            for command in written:
                status, _, error = programs.run(*shlex.split(command), **environ)
                assert status == 0, f'{command}: {error}'


@pytest.mark.proof
def test_a_second_one_leaves_the_command_to_the_first(tmp_path):
    first, second = tmp_path / 'first', tmp_path / 'second'
    first.mkdir()
    second.mkdir()
    with standalones.running(first) as (env, _):
        note = pathlib.Path(env['CLIMATE_STANDALONE_FILE'])
        before = note.read_text()
        with standalones.running(second, note):
            assert note.read_text() == before
            assert (second / 'standalone.json').exists()
        assert note.read_text() == before
    assert not note.exists()


@pytest.mark.proof
def test_a_value_that_is_none_is_told_with_its_file(tmp_path):
    wrong = tmp_path / 'wrong.conf'
    wrong.write_text('[api]\nport = abc\n')
    status, _, error = programs.run('climate-standalone', '--config-file', wrong,
                                    CLIMATE_STATE=str(tmp_path))
    assert status == 1
    assert '[api] port = "abc"' in error
    assert str(wrong) in error


@pytest.mark.proof
def test_a_second_one_says_that_the_port_is_taken_and_touches_nothing(tmp_path):
    first, second = tmp_path / 'first', tmp_path / 'second'
    first.mkdir()
    second.mkdir()
    with standalones.running(first) as (env, _):
        env = {**env, 'CLIMATE_STATE': str(second)}
        done = subprocess.run([BIN / 'climate-standalone', '--config-file',
                               first / 'standalone.conf'], env=env, capture_output=True,
                              text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert 'cannot listen on' in done.stderr
    assert not (second / 'climate.sqlite').exists()

# SPDX-License-Identifier: Apache-2.0
"""bash, zsh and fish complete commands, options, and values of a running service."""
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import time

import pytest
from support import standalones

pytestmark = pytest.mark.proof
pytest.importorskip('argcomplete', reason='argcomplete is not installed')
# bash calls its function with these variables; "complete -p" names it.
BASH = '''
source <(climate completion bash)
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_python_argcomplete climate
printf '%s\\n' "${COMPREPLY[@]}"
'''
FISH = 'climate completion fish | source; complete --do-complete "$argv[1]"'
# ^X prints the line as zsh has it.
ZSH = '''autoload -U compinit; compinit -u -D; source <(climate completion zsh)
shown() { print -r -- "[[$BUFFER]]"; }; zle -N shown; bindkey '^X' shown
'''
CASES = [
    ('climate le', 'lease'), ('climate lease sw', 'swap'), ('climate lease show th', 'the first'),
    ('climate lease list --stat', '--status'), ('climate lease list --status inac', 'inactive'),
    ('climate host show compute-8', 'compute-8'), ('climate resource list --pool seg', 'segment'),
    ('climate lease create x --require vcp', 'vcpus=')]


@pytest.fixture(scope='module')
def environ(tmp_path_factory):
    """The environment of a user with a lease whose name has a space."""
    folder = tmp_path_factory.mktemp('completion')
    with standalones.running(folder) as (env, _printed):
        env = {**env, 'PATH': f'{standalones.BIN}:{os.environ["PATH"]}', 'HOME': str(folder),
               'TERM': 'dumb', 'XDG_CACHE_HOME': str(folder / 'cache')}
        subprocess.run(['climate', 'lease', 'create', 'the first', '--hosts', '1', '--start', '+1h',
                        '--duration', '1h'], env=env, check=True, capture_output=True)
        yield env


def needs(shell):
    if not shutil.which(shell):
        pytest.skip(f'{shell} is not installed: apt-get install {shell}')


def printed(words, env):
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.stderr == ''
    return done.stdout


@pytest.mark.parametrize(('line', 'value'), CASES)
def test_bash_completes(environ, line, value):
    needs('bash')
    # bash puts a backslash before a space in a word.
    assert value in printed(['bash', '-c', BASH, 'bash', line], environ).replace('\\', '')


@pytest.mark.parametrize(('line', 'value'), CASES)
def test_fish_completes(environ, line, value):
    needs('fish')
    out = printed(['fish', '--no-config', '-c', FISH, line], environ).replace('\\', '')
    assert any(found.startswith(value) for found in out.splitlines()), out


@pytest.mark.parametrize(('line', 'value'), CASES)
def test_zsh_completes(environ, line, value):
    """Type the line and a tab into a terminal, as a user does."""
    needs('zsh')
    terminal, of_zsh = pty.openpty()
    process = subprocess.Popen(['zsh', '-f', '-i'], env=environ, stdin=of_zsh, stdout=of_zsh,
                               stderr=of_zsh, start_new_session=True)
    try:
        os.write(terminal, f'{ZSH}{line}\t\x18'.encode())
        assert value in _read_until(terminal, r'\[\[(climate .*?)\]\]').replace('\\', '')
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(of_zsh)


def _read_until(terminal, pattern):
    """Read from a terminal until it has shown a text, and return the group in the pattern."""
    shown, until = '', time.monotonic() + 60
    while not (match := re.search(pattern, shown)):
        assert select.select([terminal], [], [], max(0, until - time.monotonic()))[0], shown
        shown += os.read(terminal, 4096).decode(errors='replace').replace('\r', '')
    return match[1]


@pytest.mark.parametrize('shell', ['bash', 'fish'])
def test_a_service_that_never_answers_stops_no_shell(environ, shell, tmp_path):
    needs(shell)

    with socket.socket() as silent:
        silent.bind(('127.0.0.1', 0))
        silent.listen()
        env = {**environ, 'XDG_CACHE_HOME': str(tmp_path), 'OS_AUTH_TYPE': 'none',
               'OS_ENDPOINT': f'http://127.0.0.1:{silent.getsockname()[1]}/v1'}
        words = {'bash': ['bash', '-c', BASH, 'bash'],
                 'fish': ['fish', '--no-config', '-c', FISH]}[shell]
        assert printed([*words, 'climate lease show '], env).strip() == ''

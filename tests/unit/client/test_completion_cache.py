# SPDX-License-Identifier: Apache-2.0
"""Answers of the service are kept, and a shell never waits long for one."""
import os
import subprocess
import sys
import time

import pytest

from climate.client import completion_cache


@pytest.fixture
def environ(tmp_path, asks_at_once):
    return {'XDG_CACHE_HOME': str(tmp_path)}


def fail():
    raise RuntimeError('x')


def age(environ, seconds):
    for path in completion_cache.folder(environ).iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


def test_an_answer_is_kept(environ):
    assert completion_cache.values('a', lambda: {'x': 'y'}, environ) == {'x': 'y'}
    assert completion_cache.values('a', fail, environ) == {'x': 'y'}
    assert completion_cache.values('b', lambda: {'z': ''}, environ) == {'z': ''}


def test_an_old_answer_is_asked_for_again(environ):
    completion_cache.values('a', lambda: {'x': ''}, environ)
    age(environ, completion_cache.FRESH_SECONDS + 1)
    assert completion_cache.values('a', lambda: {'z': ''}, environ) == {'z': ''}


def test_an_old_answer_is_used_if_no_new_one_comes(environ):
    completion_cache.values('a', lambda: {'x': ''}, environ)
    age(environ, completion_cache.FRESH_SECONDS + 1)
    assert completion_cache.values('a', fail, environ) == {'x': ''}


def test_a_question_without_an_answer_is_not_repeated_at_once(environ):
    assert completion_cache.values('a', fail, environ) == {}
    assert completion_cache.values('a', lambda: {'x': ''}, environ) == {}
    age(environ, completion_cache.FRESH_SECONDS + 1)
    assert completion_cache.values('a', lambda: {'x': ''}, environ) == {'x': ''}


PROCESS = """
import os, sys, threading
from climate.client import completion_cache
completion_cache.PATIENCE_SECONDS, completion_cache._ASK_SECONDS = float(sys.argv[1]), 1
print(completion_cache.values('a', {
    'answer': lambda: {'x': ''}, 'fail': lambda: 1 / 0,
    'never': lambda: threading.Event().wait()}[sys.argv[2]], os.environ))
"""


@pytest.mark.parametrize(('patience', 'answer', 'values'), [
    ('60', 'answer', "{'x': ''}"), ('60', 'fail', '{}'), ('0.05', 'never', '{}')])
def test_the_shell_gets_an_answer_or_stops_waiting(tmp_path, patience, answer, values):
    done = subprocess.run(
        [sys.executable, '-c', PROCESS, patience, answer], capture_output=True, text=True,
        check=False, env={'HOME': str(tmp_path), 'PYTHONPATH': ':'.join(filter(None, sys.path))})
    assert (done.stdout, done.stderr) == (f'{values}\n', '')


def test_others_cannot_read_the_answers(environ):
    completion_cache.values('a', lambda: {'x': ''}, environ)
    [path] = completion_cache.folder(environ).iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize('content', ['', '[]', '{', 'null'])
def test_a_damaged_file_is_replaced(environ, content):
    completion_cache.values('a', lambda: {'x': ''}, environ)
    [path] = completion_cache.folder(environ).iterdir()
    path.write_text(content)
    assert completion_cache.values('a', lambda: {'z': ''}, environ) == {'z': ''}


def test_a_home_that_cannot_be_written_gives_no_values(tmp_path):
    file = tmp_path / 'file'
    file.write_text('')
    environ = {'HOME': str(file)}
    assert completion_cache.values('a', lambda: {'x': ''}, environ) == {}
    assert completion_cache.folder(environ) == file / '.cache' / 'climate' / 'completion'

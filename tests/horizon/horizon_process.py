# SPDX-License-Identifier: Apache-2.0
"""A real Horizon with blazar-dashboard, installed as the page of the administrator guide says."""
import contextlib
import os
import pathlib
import shutil
import subprocess

import keystone_process
from support import builders
from support import programs

from tools import pages
from tools.cloud import settings

HERE = pathlib.Path(__file__).resolve().parent
PAGE = settings.CHECKOUT / 'doc/source/admin/horizon.rst'


def _local(python):
    """Return the folder "local" of the Horizon in a virtualenv."""
    return pathlib.Path(subprocess.run(
        [python, '-c', 'import openstack_dashboard; print(openstack_dashboard.__path__[0])'],
        check=True, capture_output=True, text=True).stdout.strip(), 'local')


def _install(bin_folder, folder, env, console_url):
    """Follow the page; what an earlier run left is taken away before."""
    local = _local(bin_folder / 'python')
    for old in (local / 'enabled').glob('_9*.py'):
        old.unlink()
    shutil.copy(HERE / 'horizon_local_settings.py', local / 'local_settings.py')
    reader = pages.Reader(folder, env, [])
    reader.change('local_settings.py', str(local / 'local_settings.py'))
    reader.change('https://climate.example.org/', console_url)
    reader.change('/opt/climate/etc/', f'{settings.CHECKOUT}/etc/')
    plugin, assets, link, setting = pages.blocks(PAGE)
    # What is compressed knows all settings.
    for block in (plugin, link, setting, assets):
        reader.follow(block)
    assert reader.unused() == []


@contextlib.contextmanager
def running(bin_folder, log, keystone_url, console_url):
    """Run a Horizon from a virtualenv; yields its URL. Its files are in the folder of its log."""
    folder = log.parent
    env = {**os.environ, 'PATH': f'{bin_folder}:{os.environ["PATH"]}',
           'HORIZON_TEST_KEYSTONE': keystone_url, 'HORIZON_TEST_STATIC': str(folder / 'static')}
    _install(bin_folder, folder, env, console_url)
    port = builders.a_free_port()
    with programs.listening(bin_folder / 'python', keystone_process.RUNNER,
                            'horizon_with_static', port, port=port, log=log,
                            env={**env, 'PYTHONPATH': str(HERE)}):
        yield f'http://127.0.0.1:{port}'

# SPDX-License-Identifier: Apache-2.0
"""The sdist and the wheels of this tree, and an environment in which a wheel is installed."""
import shutil
import sys

import pytest
from support import building


@pytest.fixture(scope='session')
def tree(tmp_path_factory):
    """A copy of this tree without git and without the files that git ignores."""
    ignored = [line.strip('/').rpartition('/')[2]
               for line in (building.ROOT / '.gitignore').read_text().splitlines()]
    copied = tmp_path_factory.mktemp('tree') / 'climate'
    shutil.copytree(building.ROOT, copied, symlinks=True,
                    ignore=shutil.ignore_patterns('.git', *ignored))
    return copied


@pytest.fixture(scope='session')
def sdist(tree, tmp_path_factory):
    """The path of the sdist of this tree."""
    return building.built(tree, tmp_path_factory.mktemp('sdist'), '--sdist')


@pytest.fixture(scope='session')
def wheel(tree, tmp_path_factory):
    """The path of the wheel of this tree."""
    return building.built(tree, tmp_path_factory.mktemp('wheel'), '--wheel')


@pytest.fixture(scope='session')
def wheel_of_sdist(sdist, tmp_path_factory):
    """The path of the wheel that is built from the sdist alone."""
    folder = tmp_path_factory.mktemp('unpacked')
    shutil.unpack_archive(sdist, folder, filter='data')
    [unpacked] = folder.iterdir()
    return building.built(unpacked, tmp_path_factory.mktemp('wheel-of-sdist'), '--wheel')


@pytest.fixture(scope='session')
def installed(wheel, tmp_path_factory):
    """The bin folder of an environment with the wheel, [service,mysql], and nothing else."""
    folder = tmp_path_factory.mktemp('installed') / 'venv'
    building.run(sys.executable, '-m', 'venv', folder, cwd=folder.parent)
    building.run(folder / 'bin' / 'python', '-m', 'pip', 'install', '--quiet', '--constraint',
                 building.ROOT / 'constraints.txt', f'{wheel}[service,mysql]', cwd=folder.parent)
    return folder / 'bin'

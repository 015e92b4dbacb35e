# SPDX-License-Identifier: Apache-2.0
"""Install Debian packages without letting Debian start what is in them."""
import contextlib
import os
import pathlib

from tools.cloud import commands
from tools.cloud import settings

_POLICY = pathlib.Path('/usr/sbin/policy-rc.d')


def install(place, missing):
    """Install the packages `missing`; quick when there are none.

    :raises CloudError: something is missing, and we are not root; or apt-get failed.
    """
    if not missing:
        return
    if os.geteuid() != 0:
        raise settings.CloudError(
            f'Debian packages are missing. As root: apt-get install {" ".join(missing)}')
    commands.say(f'apt-get install {" ".join(missing)}')
    env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    with _nothing_starts():
        commands.run(place, ['apt-get', 'update'], 'apt.log', env)
        commands.run(place, ['apt-get', 'install', '-y', '--no-install-recommends', *missing],
                     'apt.log', env)


@contextlib.contextmanager
def _nothing_starts():
    """Debian asks this script before a new package starts its service; 101 is no."""
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text('#!/bin/sh\nexit 101\n')
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()

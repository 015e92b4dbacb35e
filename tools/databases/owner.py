# SPDX-License-Identifier: Apache-2.0
"""Servers that root must not run, or that refuse root: a user of their own, and its folder."""
import hashlib
import os
import pathlib
import pwd
import shutil
import subprocess

from tools.cloud import settings


def home(place, name, user):
    """The folder that belongs to the server's user; made when missing.

    Below the place of the databases, or in /var/tmp where that user may not enter it, as below
    the home of root.
    """
    found = place.data / name
    if os.geteuid() == 0 and subprocess.run(command('/', user, ['test', '-x', place.data]),
                                            check=False).returncode:
        short = hashlib.sha256(str(place.folder).encode()).hexdigest()[:12]
        found = pathlib.Path('/var/tmp') / f'climate-{name}-{short}'
    found.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        if found.is_symlink() or found.owner() not in ('root', user):
            raise settings.CloudError(f'{found} must be a folder of {user}. Remove it.')
        shutil.chown(found, user, pwd.getpwnam(user).pw_gid)
    return found


def command(folder, user, words):
    """The command as it is run in a folder: root becomes that user first."""
    if os.geteuid() != 0:
        return [*words]
    group = pwd.getpwnam(user).pw_gid
    return ['env', '--chdir', str(folder if pathlib.Path(folder).exists() else '/'), 'setpriv',
            f'--reuid={user}', f'--regid={group}', '--init-groups', *map(str, words)]

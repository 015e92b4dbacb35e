# SPDX-License-Identifier: Apache-2.0
"""The standalone Climate on this machine, found by the file that it writes."""
from collections.abc import Mapping
import dataclasses
import json
import os
import pathlib


@dataclasses.dataclass(frozen=True)
class Standalone:
    url: str
    token: str
    pid: int


def path(environ: Mapping[str, str]) -> pathlib.Path:
    """Return the path of the file with the URL and the token of a standalone."""
    if environ.get('CLIMATE_STANDALONE_FILE'):
        return pathlib.Path(environ['CLIMATE_STANDALONE_FILE']).expanduser()
    state = environ.get('XDG_STATE_HOME')
    base = pathlib.Path(state) if state else _home(environ) / '.local' / 'state'
    return base / 'climate' / 'standalone.json'


def _home(environ: Mapping[str, str]) -> pathlib.Path:
    """Return the home of the user; a folder that does not exist if the user has none."""
    if environ.get('HOME'):
        return pathlib.Path(environ['HOME'])
    try:
        return pathlib.Path.home()
    except RuntimeError:
        # The user of a container may not be in its list of users.
        return pathlib.Path('/nonexistent')


def find(environ: Mapping[str, str]) -> Standalone | None:
    """Return the running standalone; None if none runs, or if its file cannot be read."""
    try:
        content = json.loads(path(environ).read_text())
        running = Standalone(str(content['url']), str(content['token']), int(content['pid']))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return running if _alive(running.pid) else None


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True

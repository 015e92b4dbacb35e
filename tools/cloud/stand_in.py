# SPDX-License-Identifier: Apache-2.0
"""Another climate-manager beside this cloud: one that is watched, or that dies on command."""
import sys

from tools.cloud import climate_service
from tools.cloud import processes

_NAME = 'climate-manager'


def start(cloud, path, program):
    """Start another manager, unless one runs.

    :param path: the file into which its program is written.
    :param program: its text, in Python.
    """
    path.write_text(f'#!{sys.executable}\n{program}', encoding='utf-8')
    path.chmod(0o755)
    climate_service.start(cloud, _NAME, path)


def stop(cloud):
    """Stop whichever manager runs."""
    processes.stop(cloud, _NAME)


def end(cloud):
    """Start the ordinary manager again."""
    stop(cloud)
    climate_service.start(cloud, _NAME)

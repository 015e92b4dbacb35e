# SPDX-License-Identifier: Apache-2.0
"""Small things that every step needs: say what happens, run a command, write a file, wait."""
import concurrent.futures
import os
import subprocess
import time

from tools.cloud import settings

STARTED = time.monotonic()


def say(message):
    """Print one line with the seconds since the start of this command."""
    print(f'[{time.monotonic() - STARTED:6.1f} s] {message}', flush=True)


def environment(cloud):
    """The environment of everything that belongs to the cloud; no proxies, for all is local."""
    kept = {name: value for name, value in os.environ.items()
            if not name.lower().endswith('_proxy') and not name.startswith(('OS_', 'PYTHON'))}
    return kept | {
        'PATH': f'{cloud.venv}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(cloud.run),
        'PYTHONUNBUFFERED': '1',
        'PYTHONWARNINGS': 'ignore',
        'OS_KEYSTONE_CONFIG_DIR': str(cloud.conf / 'keystone'),
        'OS_KEYSTONE_CONFIG_FILES': 'keystone.conf',
        'OS_PLACEMENT_CONFIG_DIR': str(cloud.conf / 'placement'),
        'OS_GLANCE_CONFIG_DIR': str(cloud.conf / 'glance'),
        'OS_NEUTRON_CONFIG_DIR': str(cloud.conf / 'neutron'),
        'CINDER_CONFIG_DIR': str(cloud.conf / 'cinder'),
    }


def run(cloud, command, log, env=None, allowed=(0,)):
    """Run a command to its end, its output appended to a log file.

    :param log: a file name in the cloud's log folder.
    :param allowed: the exit codes that are no failure.
    :raises CloudError: another exit code; the message has the end of the log.
    """
    path = cloud.log / log
    with path.open('ab') as output:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              env=env or environment(cloud), check=False).returncode
    if code not in allowed:
        raise settings.CloudError(
            f'"{" ".join(map(str, command))}" failed with code {code}. {last_lines(path)}')


def last_lines(path, count=12):
    """The file to read more in, and its last lines."""
    if not path.exists():
        return f'{path} was not written.'
    lines = path.read_text(errors='replace').splitlines()[-count:]
    return '\n    '.join([f'The end of {path}:', *lines])


def write(path, text):
    """Write a file in one step, so that no reader sees half of it; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f'{path.name}.{os.getpid()}.new')
    unfinished.write_text(text)
    unfinished.replace(path)


def together(jobs, width):
    """Run functions side by side, `width` at a time; the first error is raised again."""
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        for job in [pool.submit(job) for job in jobs]:
            job.result()


def wait(ready, what, seconds=120, pause=0.2):
    """Call `ready` until it is true.

    :raises CloudError: it was not within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise settings.CloudError(f'Waited {seconds} s without success for {what}.')
        time.sleep(pause)

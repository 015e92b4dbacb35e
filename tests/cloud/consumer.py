# SPDX-License-Identifier: Apache-2.0
"""Programs of others that speak to Climate, each in a virtualenv of its own."""
import contextlib
import json
import pathlib
import subprocess
import sys

import scene as scenes

from tools.cloud import settings

INSIDE = pathlib.Path(__file__).resolve().parent / 'consumers' / 'inside'
# They are imported only once, because that takes long. blazarclient.shell is missing, because it
# reads the arguments when it is imported.
_MODULES = ('blazarclient.v1.client', 'blazarclient.v1.shell_commands.leases', 'cliff.app',
            'keystoneauth1.loading', 'openstackclient.shell')


class Consumer:
    """A distribution from PyPI in its virtualenv.

    :param requirements: what pip installs; the first one is the distribution, "NAME==VERSION".
    :param folder: another name of its folder than that of the distribution.
    """

    def __init__(self, cloud, *requirements, folder=None):
        self.cloud = cloud
        self.name, _, self.version = requirements[0].partition('==')
        self._requirements = requirements
        self.folder = cloud.folder / 'consumers' / (folder or f'{self.name}-{self.version}')

    def install(self):
        """Make the virtualenv, unless an earlier run has made the same one."""
        stamp, wanted = self.folder / 'complete', '\n'.join(map(str, self._requirements))
        if stamp.exists() and stamp.read_text() == wanted:
            return
        scenes.run(self.cloud, sys.executable, '-m', 'venv', '--clear', self.folder)
        scenes.run(self.cloud, self.program('pip'), 'install', '--quiet',
                   '--disable-pip-version-check', *self._requirements, seconds=1200)
        stamp.write_text(wanted)

    def program(self, name):
        return self.folder / 'bin' / name

    def python(self, script, *words, person='demo', seconds=300, **variables):
        """Run a script of `INSIDE` in the virtualenv; return the JSON that it prints at the end."""
        out, _ = scenes.run(self.cloud, self.program('python'), '-W', 'ignore', INSIDE / script,
                            *words, seconds=seconds, **{**login(person), **variables})
        return json.loads(out.splitlines()[-1])

    @contextlib.contextmanager
    def commands(self):
        """Yield a function (words, person) that runs a command of a client of Blazar.

        It returns a dict with code, out and err.
        """
        with subprocess.Popen(
                [self.program('python'), '-W', 'ignore', INSIDE / 'command_server.py', *_MODULES],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=scenes.environment(self.cloud)) as process:
            def run(words, person):
                command = {'words': [str(self.program(words[0])), *map(str, words[1:])],
                           'environment': login(person)}
                process.stdin.write(f'{json.dumps(command)}\n')
                process.stdin.flush()
                return json.loads(process.stdout.readline())
            yield run
            process.stdin.close()


class Commands:
    """Runs the subcommands of one program of a Consumer."""

    def __init__(self, run, program):
        self._run, self._program = run, program

    def __call__(self, *words, person='admin', code=0):
        """Return (stdout, stderr)."""
        answer = self._run((self._program, *words), person)
        assert answer['code'] == code, f'{words}: {answer}'
        return answer['out'], answer['err']

    def read(self, *words, person='admin'):
        """Return its output, read as JSON without the sentences before."""
        said, _warnings = self(*words, '-f', 'json', person=person)
        begins = min(said.find(each) for each in '[{' if each in said)
        return json.loads(said[begins:])

    def refused(self, *words, person='admin'):
        """Return its output; the command must fail."""
        return ''.join(self(*words, person=person, code=1))


def login(person):
    """Return the variables with which a person logs in."""
    return {'OS_AUTH_TYPE': 'password', 'OS_AUTH_URL': settings.url('keystone', '/v3'),
            'OS_USERNAME': person, 'OS_PASSWORD': settings.PASSWORD,
            'OS_USER_DOMAIN_NAME': 'Default', 'OS_PROJECT_DOMAIN_NAME': 'Default',
            'OS_REGION_NAME': 'RegionOne', 'OS_PROJECT_NAME': person}

# SPDX-License-Identifier: Apache-2.0
"""The power driver "command": a program of the administrator switches resources."""
import shutil
import subprocess

from climate import errors
from climate.power import base

_LONGEST = 200


class Command(base.Driver):
    """Calls [energy] command, without a shell, with "on", "off" or "state" and the name."""

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        if not conf.energy.command:
            raise errors.ConfigurationError(
                '[energy] command is not set, and [energy] driver is command.')
        if shutil.which(conf.energy.command) is None:
            raise errors.ConfigurationError(
                f'[energy] command = "{conf.energy.command}" is not a program that this user can '
                'execute.')

    def state(self, machine):
        answer = self._run('state', machine).strip().lower()
        if answer not in (base.ON, base.OFF):
            raise errors.PowerFailed(resource=machine.name, reason=(
                f'the command answers "{answer[:_LONGEST]}" for its state, not "on" or "off".'))
        return answer

    def wake(self, machine):
        self._run('on', machine)

    def sleep(self, machine):
        self._run('off', machine)

    def _run(self, word, machine):
        # A name that begins with a dash would be an option of the program.
        if machine.name.startswith('-'):
            raise errors.PowerFailed(resource=machine.name, reason='its name begins with "-".')
        try:
            done = subprocess.run(
                [self.conf.energy.command, word, machine.name], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, errors='replace',
                timeout=self.conf.energy.timeout_seconds, check=False)
        except subprocess.TimeoutExpired:
            raise errors.PowerFailed(resource=machine.name, reason=(
                f'the command did not end within {self.conf.energy.timeout_seconds} s.')) from None
        except OSError as error:
            raise errors.PowerFailed(resource=machine.name, reason=str(error)) from error
        if done.returncode:
            raise errors.PowerFailed(resource=machine.name, reason=(
                f'the command failed with {done.returncode}: '
                f'{done.stderr.strip()[-_LONGEST:]}'))
        return done.stdout

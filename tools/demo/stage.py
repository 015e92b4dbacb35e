# SPDX-License-Identifier: Apache-2.0
"""The tools of every story: steps, checks, and the `climate` command."""
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import time

from climate import context

BIN = pathlib.Path(sys.executable).parent
#: The longest wait for anything.
SECONDS = 30
# A long JSON object in a command, of which the reader needs to see only that it is there.
_LONG = re.compile(r'\{.{60,}\}')


class Failed(Exception):
    """A step did not show what it should."""


class Stage:
    """The surroundings of a story.

    :ivar cloud: the SimulatedCloud.
    :param environ: the environment in which `climate` finds its service.
    """

    def __init__(self, environ, cloud):
        self.cloud = cloud
        self._environ = environ

    def climate(self, *words):
        """Run a `climate` command; its JSON answer where that was asked for, else its text.

        :raises Failed: it exits with an error.
        """
        self._print(words)
        return self.quietly(*words)

    def quietly(self, *words):
        """Run a `climate` command as `climate` does, without showing it.

        :raises Failed: it exits with an error.
        """
        done = self._run(words)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout) if 'json' in words else done.stdout

    def refused(self, *words):
        """Run a `climate` command that must fail; what it says.

        :raises Failed: it succeeds.
        """
        self._print(words)
        done = self._run(words)
        if not done.returncode:
            raise Failed('it was not refused')
        return done.stderr.strip()

    @contextlib.contextmanager
    def user(self):
        """Give the services of the cloud as a user of the project "demo" sees them."""
        keystone = self.cloud.as_service().keystone
        trust = keystone.create_trust(context.RequestContext(
            user_id='demo', project_id='demo', roles=['member'], overwrite=False))
        try:
            yield self.cloud.as_user(trust.id)
        finally:
            keystone.delete_trust(trust.id)

    @staticmethod
    def _print(words):
        shown = ' '.join(word if ' ' not in word else f"'{word}'" for word in words)
        shown = _LONG.sub('{…}', shown).replace(' --reservation ', '\n       --reservation ')
        print(f'   $ climate {shown}')

    def _run(self, words):
        try:
            return subprocess.run([BIN / 'climate', *words], env=self._environ, text=True,
                                  capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Failed(f'it was not done within {SECONDS} seconds') from None


def step(text):
    """Say what comes next."""
    print(f'\n{text}')


def check(held, text):
    """Print what was seen.

    :raises Failed: it is not what should be.
    """
    if not held:
        raise Failed(text)
    print(f'   ✓ {text}')


def soon(question):
    """Return what `question()` returns as soon as that is true; False if it never is."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        if found := question():
            return found
        time.sleep(0.05)
    return False

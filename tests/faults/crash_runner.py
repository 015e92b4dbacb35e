# SPDX-License-Identifier: Apache-2.0
"""A runner of real managers that die: a warm process that forks one for each request.

Reads lines of JSON from its standard input: {"folder", "story", "crash_at", "arrange"}; answers
each with a line {"folder", "status"}, the exit status of the child, -9 where it was killed. It
has no threads of its own, so that forking is safe.
"""
from climate import backend

backend.prefer_threads()

import contextlib  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402

import sqlalchemy as sa  # noqa: E402
import stories  # noqa: E402
from stories import base  # noqa: E402
from stories import picture  # noqa: E402
from support import waiting  # noqa: E402

from climate import conf as configuration  # noqa: E402
from climate import errors  # noqa: E402
from climate.cloud import simulated  # noqa: E402, F401
from climate.db import engine  # noqa: E402
from climate.db import tables  # noqa: E402
from climate.domain import lifecycle  # noqa: E402
from climate.manager import endpoint  # noqa: E402
from climate.manager import service  # noqa: E402
from climate.plugins import registry  # noqa: E402
from climate.rpc import client  # noqa: E402

_TOGETHER = 6
_PLUGINS = ['physical:host', 'virtual:instance', 'virtual:dummy', 'virtual:floatingip']


class Running:
    """A real manager with its threads, in the words of the stories."""

    def __init__(self, conf):
        manager = service.Manager(conf, serve_rpc=False)
        manager.start()
        self.core, self.cloud = manager.core, manager.core.cloud
        self.database = manager.core.database
        self.client = client.ManagerClient(endpoint.InProcess(manager.endpoint))

    def run(self):
        """The threads work by themselves."""
        time.sleep(0.01)

    def is_idle(self):
        """Return True if no event is claimed, not even by a manager that died."""
        with self.database.reader() as connection:
            return connection.execute(
                sa.select(sa.func.count()).select_from(tables.EVENTS).where(
                    tables.EVENTS.c.status == lifecycle.EVENT_IN_PROGRESS)).scalar_one() == 0

    @property
    def clock(self):
        return _RealClock()


class _RealClock:
    def advance(self, _span):
        """Real time passes by itself."""


def _die_at_commit(crash_at):
    """Kill this process at a commit of this thread: before it, or after it."""
    real, thread, reached = engine.Database.writer, threading.get_ident(), itertools.count(1)

    def reach():
        if threading.get_ident() == thread and next(reached) == crash_at:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def writer(self, counted=True):
        with real(self, counted) as connection:
            yield connection
            reach()
        reach()
    engine.Database.writer = writer


def _options(folder, crash_at):
    """The arguments of a manager on the files in `folder`."""
    return {
        ('DEFAULT', 'plugins'): ','.join(_PLUGINS),
        ('DEFAULT', 'transport_url'): 'fake:/',
        ('DEFAULT', 'log_file'): f'{folder}/climate.log',
        ('cloud', 'driver'): 'simulated',
        ('database', 'connection'): f'sqlite:///{folder}/climate.sqlite',
        ('simulated', 'state'): f'{folder}/cloud.sqlite',
        ('simulated', 'crash_at'): crash_at,
        ('simulated', 'delete_seconds'): 0.05,
        ('acquire', 'lent_aggregate'): base.LENT,
        # Each lease has a trust, so that crashes while it is created and deleted are tried.
        ('keystone', 'trust_required'): True,
        ('manager', 'claim_seconds'): 1,
        ('manager', 'poll_seconds'): 0.05,
        ('manager', 'busy_seconds'): 0.05,
        ('manager', 'retry_seconds'): 0.05,
        ('manager', 'trust_reaper_seconds'): 0,
        ('manager', 'audit_interval_seconds'): 0,
        ('manager', 'refresh_seconds'): 0,
        ('health', 'poll_seconds'): 0,
        ('virtual:instance', 'audit_seconds'): 0,
    }


def _configured(folder, crash_at):
    text = {}
    for (group, name), value in _options(folder, crash_at).items():
        text.setdefault(group, []).append(f'{name} = {value}')
    path = os.path.join(folder, 'climate.conf')
    with open(path, 'w') as file:
        for group, lines in text.items():
            file.write(f'[{group}]\n' + '\n'.join(lines) + '\n')
    return configuration.load([], 'climate-manager', files=[path])


def _play(request):
    """Play a story in this process, which may die on the way."""
    story = stories.STORIES[request['story']]
    conf = _configured(request['folder'],
                       0 if story.dies_at_commits else request['crash_at'])
    manager = Running(conf)
    if request['arrange']:
        picture.subscribe(manager)
        story.arrange(manager)
    else:
        if story.dies_at_commits:
            _die_at_commit(request['crash_at'])
        story.act(manager)
        waiting.until(lambda: story.is_over(manager) and manager.is_idle(),
                      'The story does not end.')


def _fork(request):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        _play(request)
        status = 0
    except (errors.ClimateError, AssertionError):
        traceback.print_exc()
    finally:
        # Without what the parent would do at its own exit.
        sys.stderr.flush()
        os._exit(status)


def main():
    """Serve requests until standard input ends."""
    logging.disable(logging.CRITICAL)
    registry.load(_PLUGINS)
    waiting, children, tail = [], {}, b''
    open_input = True
    while open_input or waiting or children:
        while waiting and len(children) < _TOGETHER:
            request = waiting.pop(0)
            children[_fork(request)] = request['folder']
        pause = 0.005 if children else None
        if open_input and select.select([0], [], [], pause)[0]:
            chunk = os.read(0, 65536)
            open_input = bool(chunk)
            *lines, tail = (tail + chunk).split(b'\n')
            waiting += map(json.loads, lines)
        elif not open_input and children:
            time.sleep(0.005)
        child, status = os.waitpid(-1, os.WNOHANG) if children else (0, 0)
        if child:
            answer = {'folder': children.pop(child), 'status': os.waitstatus_to_exitcode(status)}
            os.write(1, json.dumps(answer).encode() + b'\n')


if __name__ == '__main__':
    main()

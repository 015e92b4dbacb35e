# SPDX-License-Identifier: Apache-2.0
"""climate-standalone: API and manager in one process, on SQLite and the simulated cloud."""
import json
import os
import pathlib
import random
import signal
import sys
import threading

from oslo_utils import netutils

from climate import conf as configuration
from climate import context
from climate import forecasts
from climate import strategies
from climate.api import app
from climate.client import standalone
from climate.cmd import api
from climate.cmd import console as console_program
from climate.cmd import start
from climate.console import app as console
from climate.console import login as console_login
from climate.db import migrate
from climate.manager import endpoint
from climate.manager import service
from climate.manager.idle import rules as idle_rules
from climate.plugins import registry
from climate.rpc import client

_TOKEN = 'demo:demo:admin,member,reader'
# The user of the console can switch to these projects.
_PROJECTS = ('demo', 'lab')

_WELCOME = """\
Climate listens on {url}: {count} simulated hosts are enrolled. Open the console:

  {console}

Or try in another terminal:

  {bin}climate availability --hosts 2 --require 'vcpus>=16' --duration 1h
  {bin}climate lease create first --hosts 2 --require 'vcpus>=16' --duration 1h --wait
  {bin}climate lease show first
  {bin}climate lease extend first --by 30m
  {bin}climate lease end first --wait

Ctrl-C stops it. Its files are in {state}.
"""


def main():
    """Run API and manager until SIGTERM or Ctrl-C."""
    _stay_on_one_processor()
    start.return_large_blocks()
    start.collect_garbage_less_often()
    state = pathlib.Path(os.environ.get('CLIMATE_STATE', '.run')).resolve()
    state.mkdir(parents=True, exist_ok=True)
    conf = _configuration(state)
    with start.refusing('climate-standalone'):
        configuration.set_up_logging(conf)
        strategies.check(conf)
        forecasts.check(conf)
        idle_rules.check(conf)
        application = _LateApplication()
        server = api.listen(application, conf)
        manager = service.Manager(conf, serve_rpc=False)
        migrate.upgrade(manager.core.database)
    manager.start()
    calls = client.ManagerClient(endpoint.InProcess(manager.endpoint))
    count = _enrol_all(manager, calls)
    application.built = app.build(conf, calls)
    url = f'http://{netutils.escape_ipv6(conf.api.host)}:{conf.api.port}/v1'
    _no_proxy_to(conf.api.host)
    login = console_login.KeyLogin(*(_identity(url, each) for each in _PROJECTS))
    with start.refusing('climate-standalone'):
        pages = console_program.listen(console.build(conf, method=login), conf)
    # Catch signals before the file is written, because a stop must delete the file.
    stopped = _stop_event()
    note = _write_address(url, state)
    opened = (f'http://{netutils.escape_ipv6(conf.console.host)}:{conf.console.port}'
              f'/login?key={login.key}')
    print(_WELCOME.format(url=url, count=count, state=state, bin=_bin(), console=opened),
          flush=True)
    for listener in (server, pages):
        threading.Thread(target=listener.run, daemon=True).start()
    stopped.wait()
    for listener in (server, pages):
        listener.order(listener.stop, 0)
    note.unlink(missing_ok=True)
    manager.stop()


def _stay_on_one_processor():
    """Pin the process to one processor.

    Threads of one Python process do not run at the same time. Waking threads on other processors
    cost a quarter of the time of API and manager (contributor/performance).
    """
    # Only Linux has this function.
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


class _LateApplication:
    """A WSGI application that is built after the server listens.

    The server listens first, so that a second standalone fails before it changes the data of a
    running one.
    """

    built = None

    def __call__(self, environ, start_response):
        return self.built(environ, start_response)


def _configuration(state):
    """Return the configuration; files and the command line may override the built-in defaults."""
    conf = configuration.load(sys.argv[1:], 'climate-standalone', defaults=[
        (None, 'plugins', registry.own_types()),
        (None, 'log_file', f'{state}/climate.log'),
        ('database', 'connection', f'sqlite:///{state}/climate.sqlite'),
        ('cloud', 'driver', 'simulated'),
        ('simulated', 'state', f'{state}/cloud.sqlite'),
        ('api', 'auth_strategy', 'noauth'),
        # Both limits determine the number of threads. A standalone has one user, so few are enough.
        ('api', 'max_requests', 40),
        ('api', 'delete_waits', 8),
        ('manager', 'poll_seconds', 1),
        ('cache', 'enabled', True),
        ('cache', 'backend', 'dogpile.cache.memory'),
    ])
    # If two standalones have different ports of the API, their consoles also have different ports.
    conf.set_default('port', conf.api.port + 1000, group='console')
    return conf


def _identity(url, project):
    """Return the Identity, in a project, of the user who opens the console with its key."""
    user, _project, roles = _TOKEN.split(':')
    return console_login.Identity(f'{user}:{project}:{roles}', url, user, user, project, project,
                                  tuple(roles.split(',')))


def _enrol_all(manager, calls):
    """Enrol all simulated hosts unless one is enrolled; return the number of enrolled hosts."""
    admin = context.RequestContext.internal()
    if not calls.list_resources(admin, 'host'):
        for hypervisor in manager.core.cloud.as_service().nova.hypervisors():
            calls.create_resource(admin, 'host', hypervisor.name, {})
    return len(calls.list_resources(admin, 'host'))


def _write_address(url, state):
    """Write the address of this standalone for the `climate` command; return the file's path.

    The file is in `state` if another standalone has written its address, or the usual directory
    cannot be written.
    """
    path = standalone.path(os.environ)
    own = state / 'standalone.json'
    other = standalone.find(os.environ)
    if other is not None:
        path = own
        print(f'Another standalone runs at {other.url}, and the climate command connects to that '
              f'one. To use this one:\n\n  export CLIMATE_STANDALONE_FILE={path}\n')
    content = json.dumps({'url': url, 'token': _TOKEN, 'pid': os.getpid()})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    except OSError as error:
        print(f'{path} cannot be written: {error.strerror}. To let the climate command find this '
              f'one:\n\n  export CLIMATE_STANDALONE_FILE={own}\n')
        path = own
        path.write_text(content)
    return path


def _no_proxy_to(host):
    """Make the console call the API of this process directly, even if a proxy is configured."""
    for name in ('no_proxy', 'NO_PROXY'):
        os.environ[name] = ','.join(filter(None, (os.environ.get(name), host)))


def _bin():
    folder = os.path.dirname(sys.argv[0])
    return os.path.join(os.path.relpath(folder), '') if folder else ''


def _stop_event():
    """Return an Event that SIGTERM, Ctrl-C and the end of the terminal set."""
    stopped = threading.Event()

    def stop(_number, _frame):
        stopped.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # nohup sets SIGHUP to be ignored.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, stop)
    return stopped

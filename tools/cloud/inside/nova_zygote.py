# SPDX-License-Identifier: Apache-2.0
"""Import Nova once, then fork each of its services from this warm parent.

nova_zygote.py CONF_FOLDER RUN_FOLDER LOG_FOLDER API_PORT HOST...

Seven Nova processes start in the time of one and share its memory. Each leads its own session and
has its own pid file. SIGUSR1 forks those again that have ended, from the configuration as it is
then; SIGTERM ends the parent only.
"""
import dataclasses
import functools
import gc
import importlib
import os
import pathlib
import signal
import sys
import time
import traceback

from nova import monkey_patch

monkey_patch.patch(backend='threading')  # before anything else of Nova is imported

import nova.service  # noqa: E402
import nova.virt  # noqa: E402
import pidfile  # noqa: E402
import wsgi_runner  # noqa: E402

PRELOADED = (
    'nova.cmd.compute', 'nova.cmd.conductor', 'nova.cmd.scheduler', 'nova.compute.manager',
    'nova.conductor.manager', 'nova.scheduler.manager', 'nova.virt.fake',
    'nova.api.openstack.compute.routes', 'nova.api.openstack.wsgi_app', 'nova.db.main.api',
    'nova.db.api.api', 'nova.network.neutron', 'nova.image.glance', 'nova.volume.cinder',
    'pymysql', 'oslo_messaging._drivers.impl_rabbit')
SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGUSR1}


@dataclasses.dataclass(frozen=True)
class Folders:
    """The folders of the configuration, the pid files and the logs."""

    conf: pathlib.Path
    run: pathlib.Path
    log: pathlib.Path


def main(conf, run, log, port, *hosts):
    folders = Folders(pathlib.Path(conf), pathlib.Path(run), pathlib.Path(log))
    services = {'nova-api': functools.partial(serve_api, folders, port)}
    for kind in ('conductor', 'scheduler'):
        services[f'nova-{kind}'] = functools.partial(serve_rpc, folders, kind)
    for host in hosts:
        services[f'nova-{host}'] = functools.partial(serve_rpc, folders, 'compute', host)
    warm_up()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    keep(folders, services)


def warm_up():
    """Import what the services need, and keep the collector from touching shared pages."""
    for module in PRELOADED:
        importlib.import_module(module)
    # Nova looks for its virt driver in its own package only.
    nova.virt.__path__.append(os.path.dirname(os.path.abspath(__file__)))
    # Conductor and scheduler would otherwise fork a worker each, a process more for nothing.
    nova.service.serve = functools.partial(_serve_without_workers, nova.service.serve)
    gc.collect()
    gc.freeze()


def _serve_without_workers(serve, server, workers=None, no_fork=False):
    return serve(server, workers=1, no_fork=True)


def keep(folders, services):
    """Fork every service, then wait for signals until SIGTERM."""
    running = {}
    number = signal.SIGUSR1
    while number not in (signal.SIGTERM, signal.SIGINT):
        _reap(running)  # first, for signals that come together are not delivered in order
        if number == signal.SIGUSR1:
            for name in services.keys() - running.values():
                running[fork(folders, name, services[name])] = name
        number = signal.sigwait(SIGNALS)


def _reap(running):
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        print(f'{time.ctime()}: {running.pop(pid)} (pid {pid}) ended, status {status}',
              file=sys.stderr, flush=True)


def fork(folders, name, serve):
    """Start one service in a process of its own; returns its pid."""
    pid = os.fork()
    if pid:
        pidfile.write(folders.run / f'{name}.pid', pid)
        return pid
    code = 1
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        output = os.open(folders.log / f'{name}.out', os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(output, 1)
        os.dup2(output, 2)
        serve()
        code = 0
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 0
    except BaseException:  # a child must never return into the parent's loop
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def serve_api(folders, port):
    os.environ['OS_NOVA_CONFIG_DIR'] = str(folders.conf)
    # api-paste.ini comes first: the application looks for it in the first of these files.
    os.environ['OS_NOVA_CONFIG_FILES'] = 'api-paste.ini;nova.conf;nova-cells.conf;nova-api.conf'
    wsgi_runner.serve('nova.wsgi.osapi_compute', port)


def serve_rpc(folders, kind, host=None):
    """Run nova-conductor, nova-scheduler, or nova-compute as `host`."""
    sys.argv = [f'nova-{kind}', '--config-file', str(folders.conf / 'nova.conf'),
                '--log-file', str(folders.log / f'nova-{host or kind}.log')]
    own = f'nova-{host}.conf' if host else 'nova-cells.conf'
    sys.argv += ['--config-file', str(folders.conf / own)]
    importlib.import_module(f'nova.cmd.{kind}').main()


if __name__ == '__main__':
    arguments = sys.argv[1:]
    sys.argv = ['nova']
    main(*arguments)

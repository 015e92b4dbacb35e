# SPDX-License-Identifier: Apache-2.0
"""The program climate-manager, which is imported after the concurrency backend was chosen."""
import os
import signal
import threading

from oslo_config import cfg
from oslo_log import log
from oslo_service import service as oslo_service

from climate import conf as configuration
from climate import errors
from climate.cmd import audit
from climate.cmd import start
from climate.conf import reloading
from climate.manager import metrics_server
from climate.manager import prerequisites
from climate.manager import service

LOG = log.getLogger(__name__)

# The pause after a start that failed.
_PAUSE_SECONDS = 10

# The command is a positional argument, because oslo.config would make a subcommand mandatory.
_COMMAND_LINE = (
    cfg.StrOpt('command', positional=True, required=False, choices=[
        ('audit', 'compare the database with the cloud; exit with 2 if they differ')],
        help='What to do. Default: run the daemon.'),
    cfg.BoolOpt('fix', default=False, help='With audit: repair what can be repaired without '
                                           'touching a server.'),
    cfg.BoolOpt('unknown', default=False,
                help='With audit --fix: repair also objects without a record in the database. Only '
                     'if no other Climate uses this cloud.'),
)


_PROGRAM = 'climate-manager'


class _CheckedConf:
    """The configuration for oslo.service, which reads it again on SIGHUP and forks a new worker.

    Files are not read if they are unusable, because then workers would fail and be forked for ever.
    """

    def __init__(self, conf):
        self._conf = conf

    def __getattr__(self, name):
        return getattr(self._conf, name)

    def reload_config_files(self):
        return reloading.reload(self._conf, _PROGRAM, prerequisites.check)


class ManagerService(oslo_service.Service):
    """The manager as a service of oslo.service; it starts nothing before the fork.

    :param pause_seconds: the pause after a start that failed.
    """

    def __init__(self, conf, pause_seconds=_PAUSE_SECONDS):
        super().__init__()
        self._conf = conf
        self._pause_seconds = pause_seconds
        self._manager = None
        self._stopping = threading.Event()
        # Held while the manager starts, because a manager cannot be stopped during its start.
        self._starting = threading.Lock()

    def start(self):
        """Start the manager; retry until the start succeeds or the service is stopped.

        If the process ended after a failure, oslo.service would fork it again at once, for ever.
        """
        start.return_large_blocks()
        start.collect_garbage_less_often()
        logged = None
        while not self._stopping.is_set():
            try:
                with self._starting:
                    self._try_to_start()
                return
            except (errors.ClimateError, errors.ConfigurationError) as error:
                if str(error) != logged:
                    LOG.error('The manager cannot start and tries again: %s', error)
                logged = str(error)
                self._stopping.wait(self._pause_seconds)

    def _try_to_start(self):
        if not self._stopping.is_set():
            self._manager = self._manager or service.Manager(self._conf)
            self._manager.start()

    def reset(self):
        """Prepare for another start, because with eventlet SIGHUP restarts this object."""
        self._manager = None
        self._stopping.clear()

    def stop(self, graceful=True):
        self._stopping.set()
        with self._starting:
            if self._manager is not None:
                # oslo.service kills the process after this time; 0 means never.
                self._manager.stop(self._conf.graceful_shutdown_timeout or float('inf'))
        super().stop()


def run(argv):
    """Run a manager until SIGTERM or SIGINT, or the command of `argv`.

    :returns: the exit status: 0, or 2 if an audit found drift.
    """
    conf = _configured(argv)
    if conf.command is not None:
        # By default oslo.log writes to stdout, to which the command prints.
        conf.set_default('use_stderr', True)
    with start.refusing(_PROGRAM):
        configuration.set_up_logging(conf)
        if conf.command == 'audit':
            return audit.run(conf)
        # Check before the fork, because a child that cannot start is forked again for ever.
        prerequisites.check(conf)
        # A reload does not check the address, because the worker then listens on it.
        metrics_server.check_address(conf)
    checked_conf = conf
    if conf.manager.backend == 'threading':
        checked_conf = _CheckedConf(conf)
        _stop_on_sigint()
    oslo_service.launch(checked_conf, ManagerService(conf), workers=1).wait()
    return 0


def _stop_on_sigint():
    """Treat SIGINT as SIGTERM in this process, and ignore it in its workers.

    By default cotyledon, which runs the workers, ends all processes at once.
    """
    # Threads and workers inherit the blocked signal. Only the thread "sigint" receives it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def wait():
        signal.sigwait({signal.SIGINT})
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name='sigint', daemon=True).start()


def _configured(argv):
    cfg.CONF.register_cli_opts(_COMMAND_LINE)
    try:
        conf = configuration.load(argv, _PROGRAM)
    except SystemExit as error:
        # argparse exits with 2 for a wrong command line, but here 2 means drift.
        raise SystemExit(1 if error.code == 2 else error.code) from error
    if conf.fix and conf.command is None:
        raise SystemExit('climate-manager: --fix belongs to "climate-manager audit".')
    if conf.unknown and not conf.fix:
        raise SystemExit('climate-manager: --unknown belongs to "climate-manager audit --fix".')
    return conf

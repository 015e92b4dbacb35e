# SPDX-License-Identifier: Apache-2.0
"""The body of climate-manager, imported when the concurrency backend has been chosen."""
from oslo_config import cfg
from oslo_log import log
from oslo_service import service as oslo_service

from climate import conf as configuration
from climate import errors
from climate.cmd import audit
from climate.manager import service
from climate.plugins import registry


class ManagerService(oslo_service.Service):
    """The manager as oslo.service starts and stops it; nothing runs before the fork."""

    def __init__(self, conf):
        super().__init__()
        self._conf = conf
        self._manager = None

    def start(self):
        self._manager = service.Manager(self._conf)
        self._manager.start()

    def stop(self, graceful=True):
        if self._manager is not None:
            self._manager.stop()
        super().stop()


def run(argv):
    """Run one manager until it is told to stop, or the command that is named.

    :returns: the exit status: 0, or 2 where an audit found drift.
    """
    conf = _configured(argv)
    if conf.command.name is not None:
        # By default oslo.log writes to where the command prints.
        conf.set_default('use_stderr', True)
    log.setup(conf, 'climate')
    try:
        if conf.command.name == 'audit':
            return audit.run(conf)
        # Here, because a child that cannot start is forked again without end.
        service.check(conf)
    except (errors.ClimateError, registry.Unusable) as error:
        raise SystemExit(f'climate-manager: {error}') from error
    launcher = oslo_service.launch(conf, ManagerService(conf), workers=1)
    launcher.wait()
    return 0


def _configured(argv):
    cfg.CONF.register_cli_opt(cfg.SubCommandOpt(
        'command', title='Commands', help='Without one, the daemon runs.',
        handler=audit.add_command))
    try:
        return configuration.load(argv, 'climate-manager')
    except SystemExit as error:
        # argparse ends with 2 for a mistake in the command line, which here means drift.
        raise SystemExit(1 if error.code == 2 else error.code) from error

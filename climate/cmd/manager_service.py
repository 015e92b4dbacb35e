# SPDX-License-Identifier: Apache-2.0
"""The body of climate-manager, imported when the concurrency backend has been chosen."""
from oslo_log import log
from oslo_service import service as oslo_service

from climate import conf as configuration
from climate import errors
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
            # oslo.service ends the process after that time; 0: never.
            self._manager.stop(self._conf.graceful_shutdown_timeout or float('inf'))
        super().stop()


def run(argv):
    """Run one manager until it is told to stop."""
    conf = configuration.load(argv, 'climate-manager')
    log.setup(conf, 'climate')
    try:
        # Here, because a child that cannot start is forked again without end.
        service.check(conf)
    except (errors.ClimateError, registry.Unusable) as error:
        raise SystemExit(f'climate-manager: {error}') from error
    launcher = oslo_service.launch(conf, ManagerService(conf), workers=1)
    launcher.wait()
    return 0

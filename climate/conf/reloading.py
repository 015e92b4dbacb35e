# SPDX-License-Identifier: Apache-2.0
"""Read the configuration files again, on SIGHUP."""
import multiprocessing
import signal
import sys

from oslo_config import cfg
from oslo_log import log

from climate import conf as configuration
from climate import errors
from climate.conf import checking

LOG = log.getLogger(__name__)

_STAYS = '%s: SIGHUP: the configuration stays as it was: %s'
# How long a check of a new configuration may take.
_CHECK_SECONDS = 60


def mutate(conf, program):
    """Read the files again, and change the options that can change in a running program.

    oslo.config logs the other options that differ. If the files cannot be used, nothing changes,
    and the reason is logged.
    """
    try:
        for problem in checking.names(conf):
            LOG.warning('The configuration has a name that nothing reads: %s', problem)
        fresh = conf.mutate_config_files()
    except (cfg.Error, errors.ConfigurationError, log.LogConfigError) as error:
        LOG.error(_STAYS, program, error)
        return
    LOG.info('%s: SIGHUP: %s options have changed; "immutable option" marks those that change with '
             'a restart only', program, len(fresh))


def reload(conf, program, check):
    """Read the files again for workers that are forked from now on; return whether this succeeded.

    If the files cannot be used, nothing changes, and the reason is logged.

    :param check: `check(conf)` raises an error if the program cannot start with this configuration.
    """
    # The files are first read in another process, because reading cannot be undone.
    process = multiprocessing.get_context('fork').Process(target=_try, args=(conf, program, check))
    process.start()
    process.join(_CHECK_SECONDS)
    if process.exitcode is None:
        process.kill()
        LOG.error(_STAYS, program, f'its check took longer than {_CHECK_SECONDS} s')
    if process.exitcode != 0:
        return False
    backend = conf.manager.backend
    conf.reload_config_files()
    configuration.set_up_logging(conf)
    LOG.info('%s: SIGHUP: the configuration was read again; a new worker starts with it', program)
    if conf.manager.backend != backend:
        LOG.warning('%s: [manager] backend changes with a restart only', program)
    return True


def _try(conf, program, check):
    """Exit with 0 if the configuration files can be used."""
    # Otherwise a signal to this process would reach the parent process, too.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        # The error of this check names the wrong value, unlike that of reload_config_files.
        checking.names(conf)
        if not conf.reload_config_files():
            sys.exit(1)
        checking.values(conf, configuration.list_opts())
        configuration.set_up_logging(conf)
        check(conf)
    except (cfg.Error, errors.ClimateError, errors.ConfigurationError) as error:
        LOG.error(_STAYS, program, error)
        sys.exit(1)

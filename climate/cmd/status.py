# SPDX-License-Identifier: Apache-2.0
"""climate-status: check the upgrade, list the managers, probe the services of the cloud."""
import logging
import sys

from oslo_config import cfg
from oslo_log import log

from climate import conf as configuration
from climate.cmd import start
from climate.cmd import status_checks
from climate.db import engine
from climate.db import managers
from climate.domain import heartbeat

_MISUSED = 255


def upgrade_check(conf):
    """Check the prerequisites of a manager of this release, and print the results.

    :returns: the exit status: 0 success, 1 a warning, 2 a failure.
    """
    checks = status_checks.UpgradeChecks(conf)
    return checks.check_as_json() if conf.json else checks.check()


def cloud_of(conf):
    """Print for each service that the enabled plugins use whether it answers.

    :returns: the exit status: 0, or 1 if a service does not answer.
    """
    answers = status_checks.answers(conf)
    width = max(len(answer.name) for answer in answers)
    for answer in answers:
        state = 'answers' if answer.problem is None else f'fails: {answer.problem}'
        print(f'{answer.name.ljust(width)}  {state}')
    return 0 if all(answer.problem is None for answer in answers) else 1


def managers_of(conf):
    """Print each manager of this database by name, with the fields of /v1/services."""
    with engine.refusals():
        database = engine.connect(conf)
        now = database.now()
        with database.reader() as connection:
            rows = managers.in_older_tables(connection)
    for manager in heartbeat.with_liveness(rows, now, conf.manager.claim_seconds):
        # Other managers carry out the events of a dead manager.
        events = (f'{manager.running} running' if manager.up
                  else f'it does nothing; {manager.running} of its events went to other managers')
        state = 'down' if not manager.up else 'not ready' if manager.not_ready else 'up'
        print(f'{manager.id}  {state}  host {manager.host}  '
              f'since {manager.since:%Y-%m-%d %H:%M:%S}  '
              f'last seen {manager.last_seen:%Y-%m-%d %H:%M:%S} UTC  '
              f'tables {manager.tables_revision or "of an older release"}  {events}'
              + (f'  not ready: {manager.not_ready}' if state == 'not ready' else ''))
    return 0


COMMANDS = {
    'upgrade check': (upgrade_check, 'checks that a manager of this release has all that it needs: '
                                     'database, bus, plugins, login and services of the cloud, and '
                                     'the filter in Nova'),
    'cloud': (cloud_of, 'prints which services of the cloud answer'),
    'managers': (managers_of, 'prints which managers are up'),
}
_COMMAND_LINE = (
    # The command is a list of words, because oslo.config accepts options only before the word of a
    # subcommand.
    cfg.MultiStrOpt('command', positional=True, required=False, default=[], help='What to do. '
                    + '; '.join(f'{name}: {text}' for name, (_, text) in COMMANDS.items()) + '.'),
    cfg.BoolOpt('json', default=False, help='With "upgrade check": print JSON.'),
    *status_checks.OPTIONS,
)


def main():
    """Carry out the command that the command line names."""
    cfg.CONF.register_cli_opts(_COMMAND_LINE)
    conf = configuration.load(sys.argv[1:], 'climate-status')
    words = ' '.join(conf.command or ())
    if words not in COMMANDS:
        problem = f'"{words}" is not a command' if words else 'a command is missing'
        print(f'climate-status: {problem}; there are: {", ".join(COMMANDS)} (see --help).',
              file=sys.stderr)
        return _MISUSED
    if conf.debug:
        conf.set_default('use_stderr', True)
        log.setup(conf, 'climate')
    else:
        # Errors are printed, so they are not logged.
        logging.disable()
    with start.refusing('climate-status'):
        return COMMANDS[words][0](conf)

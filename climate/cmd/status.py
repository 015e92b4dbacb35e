# SPDX-License-Identifier: Apache-2.0
"""climate-status: check the upgrade, list the managers, probe the services of the cloud."""
import sys

from oslo_config import cfg
from oslo_log import log
from oslo_upgradecheck import upgradecheck

from climate import cloud as clouds
from climate import conf as configuration
from climate import errors
from climate.cloud import probes
from climate.db import engine
from climate.db import managers
from climate.db import migrate
from climate.domain import heartbeat
from climate.plugins import registry
from climate.strategies import registry as strategies


class Checks(upgradecheck.UpgradeCommands):
    """The checks before the services of this release are started."""

    def _database(self):
        try:
            found = migrate.version(engine.connect(cfg.CONF))
        except errors.ClimateError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        if found == migrate.newest():
            return upgradecheck.Result(upgradecheck.Code.SUCCESS)
        return upgradecheck.Result(
            upgradecheck.Code.FAILURE,
            f'The tables are at {found}, this release needs {migrate.newest()}: '
            'run "climate-db upgrade".')

    def _plugins(self):
        return _loaded(lambda: registry.load(cfg.CONF.plugins), registry.Unusable)

    def _strategies(self):
        return _loaded(lambda: strategies.check(cfg.CONF), strategies.Unusable)

    def _cloud(self):
        try:
            found = [each for each in _answers(cfg.CONF) if each.problem is not None]
        except (registry.Unusable, clouds.Unusable) as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, str(error))
        except errors.ClimateError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        if not found:
            return upgradecheck.Result(upgradecheck.Code.SUCCESS)
        silent = all(each.may_pass for each in found)
        return upgradecheck.Result(
            upgradecheck.Code.WARNING if silent else upgradecheck.Code.FAILURE,
            ' '.join(f'[{each.name}] {each.problem}' for each in found))

    _upgrade_checks = (('Database', _database), ('Plugins', _plugins),
                       ('Strategies', _strategies), ('Cloud', _cloud))


def _loaded(load, unusable):
    """Return the Result of a call of `load`; `unusable` is the error class of a failure."""
    try:
        load()
    except unusable as error:
        return upgradecheck.Result(upgradecheck.Code.FAILURE, str(error))
    return upgradecheck.Result(upgradecheck.Code.SUCCESS)


def _answers(conf):
    """Probe the services that the enabled plugins use; return the Answers."""
    return probes.ask(clouds.build(conf, registry.services(registry.load(conf.plugins))))


def cloud_of(conf):
    """Print for each service that the enabled plugins use whether it answers.

    :returns: the exit status: 0, or 1 if one does not answer.
    """
    try:
        found = _answers(conf)
    except (registry.Unusable, clouds.Unusable) as error:
        raise SystemExit(f'climate-status: {error}') from error
    except errors.ClimateError as error:
        raise SystemExit(f'climate-status: {error.message}') from error
    width = max(len(each.name) for each in found)
    for each in found:
        said = 'answers' if each.problem is None else f'fails: {each.problem}'
        print(f'{each.name.ljust(width)}  {said}')
    return 0 if all(each.problem is None for each in found) else 1


def managers_of(conf):
    """Print each manager of this database by name, with the fields of /v1/services."""
    try:
        database = engine.connect(conf)
        now = database.now()
        with database.reader() as connection:
            found = managers.every(connection)
    except errors.ClimateError as error:
        raise SystemExit(f'climate-status: [database] connection: {error.message}') from error
    for each in heartbeat.judged(found, now, conf.manager.claim_seconds):
        print(f'{each.id}  {"up" if each.up else "down"}  host {each.host}  '
              f'since {each.since:%Y-%m-%d %H:%M:%S}  '
              f'last seen {each.last_seen:%Y-%m-%d %H:%M:%S} UTC  {each.running} running')
    return 0


def main():
    """Carry out "upgrade check", "cloud" or "managers"."""
    configuration.register(cfg.CONF)
    log.register_options(cfg.CONF)
    command = {'cloud': cloud_of, 'managers': managers_of}.get(''.join(sys.argv[1:2]))
    if command is not None:
        return command(configuration.load(sys.argv[2:], 'climate-status'))
    return upgradecheck.main(cfg.CONF, project='climate', upgrade_command=Checks())

# SPDX-License-Identifier: Apache-2.0
"""climate-status: is this installation ready for an upgrade, and who lives?"""
import sys

from oslo_config import cfg
from oslo_log import log
from oslo_upgradecheck import upgradecheck

from climate import conf as configuration
from climate import errors
from climate.db import engine
from climate.db import managers
from climate.db import migrate
from climate.domain import heartbeat
from climate.plugins import registry
from climate.strategies import registry as strategies


class Checks(upgradecheck.UpgradeCommands):
    """What must hold before the services of this release are started."""

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

    _upgrade_checks = (('Database', _database), ('Plugins', _plugins),
                       ('Strategies', _strategies))


def _loaded(load, unusable):
    """The Result of loading something that raises `unusable` where it cannot be used."""
    try:
        load()
    except unusable as error:
        return upgradecheck.Result(upgradecheck.Code.FAILURE, str(error))
    return upgradecheck.Result(upgradecheck.Code.SUCCESS)


def managers_of(conf):
    """Print each manager of this database, by name, with what /v1/services tells of it."""
    try:
        database = engine.connect(conf)
        now = database.now()
        with database.reader() as connection:
            found = managers.all_of_them(connection)
    except errors.ClimateError as error:
        raise SystemExit(f'climate-status: [database] connection: {error.message}') from error
    for each in heartbeat.judged(found, now, conf.manager.claim_seconds):
        print(f'{each.id}  {"up" if each.up else "down"}  host {each.host}  '
              f'since {each.since:%Y-%m-%d %H:%M:%S}  '
              f'last seen {each.last_seen:%Y-%m-%d %H:%M:%S} UTC  {each.running} running')
    return 0


def main():
    """Carry out "upgrade check" or "managers"."""
    configuration.register(cfg.CONF)
    log.register_options(cfg.CONF)
    if sys.argv[1:2] == ['managers']:
        return managers_of(configuration.load(sys.argv[2:], 'climate-status'))
    return upgradecheck.main(cfg.CONF, project='climate', upgrade_command=Checks())

# SPDX-License-Identifier: Apache-2.0
"""The checks of climate-status upgrade check: the prerequisites of a manager."""
import json
import os

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from climate import cloud as clouds
from climate import enforcement
from climate import errors
from climate import forecasts
from climate import notifiers
from climate import policy
from climate import strategies
from climate.cloud import probes
from climate.conf import checking
from climate.db import migrate
from climate.manager import metrics_server
from climate.manager.notifications import encryption
from climate.plugins import registry
from climate.plugins.compute import scheduler_filter
from climate.rpc import bus

OPTIONS = (
    cfg.MultiStrOpt('nova-config-file', default=[], metavar='PATH',
                    help='With "upgrade check": the nova.conf of nova-scheduler, or a copy of it; '
                         'give it once for each file. Default: those of [nova] '
                         'scheduler_config_files that can be read.'),
)


_WITHOUT_ANSWER = {'refuse': 'refused meanwhile', 'allow': 'allowed and reported later'}


class UpgradeChecks(upgradecheck.UpgradeCommands):
    """The checks of the prerequisites of a manager of this release.

    :param conf: the configuration of the services, with OPTIONS.
    """

    def __init__(self, conf):
        super().__init__()
        self._conf = conf

    def check_as_json(self):
        """Print the results as JSON; return the worst Code."""
        results = [(name, check(self)) for name, check in self._upgrade_checks]
        print(json.dumps({'name': str(self.display_title), 'checks': [
            {'check': name, 'result': result.code, 'details': result.details}
            for name, result in results]}))
        return max(result.code for _name, result in results)

    def _database(self):
        try:
            expanded = migrate.check(self._conf)
        except errors.ConfigurationError as error:
            return _failure(str(error))
        return _warning('The tables are expanded only. When no manager of the older release runs, '
                        'run "climate-db upgrade".') if expanded else _success()

    def _configuration(self):
        problems = [*checking.names(self._conf), *policy.Policy(self._conf).problems()]
        return _warning(' '.join(problems)) if problems else _success()

    def _bus(self):
        try:
            bus.reach(self._conf)
            bus.reach_notifications(self._conf)
        except (bus.BusUnreachable, errors.ConfigurationError) as error:
            return _failure(str(error))
        return _success()

    def _plugins(self):
        return _loaded(lambda: registry.Registry(self._conf))

    def _strategies(self):
        return _loaded(lambda: strategies.check(self._conf))

    def _forecasts(self):
        return _loaded(lambda: forecasts.check(self._conf))

    def _metrics(self):
        return _loaded(lambda: metrics_server.check(self._conf))

    def _notifiers(self):
        problems = []
        try:
            encryption.KeyEncryption(self._conf)
        except errors.ConfigurationError as error:
            return _failure(str(error))
        for notifier in notifiers.load(self._conf).values():
            try:
                notifier.check()
            except errors.ConfigurationError as error:
                return _failure(str(error))
            problems += notifier.template_problems()
        if problems:
            # The built-in templates are used instead.
            return _warning(f'[mail] template_directory: {" ".join(problems)}')
        return _success()

    def _enforcement(self):
        try:
            driver = enforcement.load(self._conf, None)
        except errors.ConfigurationError as error:
            return _failure(str(error))
        if driver is None:
            return _success('No service is configured.')
        problem = driver.reach()
        return _success() if problem is None else _failure(
            f'The service cannot be reached: {problem} With [enforcement] on_unavailable = '
            f'{self._conf.enforcement.on_unavailable}, requests for leases are '
            f'{_WITHOUT_ANSWER[self._conf.enforcement.on_unavailable]}.')

    def _cloud(self):
        try:
            faulty = [answer for answer in answers(self._conf) if answer.problem is not None]
        except errors.ConfigurationError as error:
            return _failure(str(error))
        except errors.ClimateError as error:
            return _failure(error.message)
        if not faulty:
            return _success()
        text = ' '.join(f'[{answer.name}] {answer.problem}' for answer in faulty)
        return _warning(text) if all(answer.may_pass for answer in faulty) else _failure(text)

    def _filter(self):
        if self._conf.cloud.driver == 'simulated':
            return _success('The simulated cloud has the filter.')
        paths = self._conf.nova_config_file or [
            path for path in self._conf.nova.scheduler_config_files if os.access(path, os.R_OK)]
        if not paths:
            return _warning(
                'Not checked: no file of [nova] scheduler_config_files is here. Without '
                'ClimateFilter Nova places other servers on the enrolled hosts: copy the nova.conf '
                'of nova-scheduler and name the copy there, or here: --nova-config-file FILE.')
        try:
            problems = scheduler_filter.problems(self._conf, paths)
        except scheduler_filter.Unreadable as error:
            return _failure(str(error))
        return _failure(f'{", ".join(paths)}: {" ".join(problems)}') if problems else _success()

    _upgrade_checks = (('Configuration', _configuration), ('Database', _database), ('Bus', _bus),
                       ('Plugins', _plugins), ('Strategies', _strategies),
                       ('Forecasts', _forecasts), ('Metrics', _metrics), ('Notifiers', _notifiers),
                       ('Enforcement service', _enforcement), ('Cloud', _cloud),
                       ('Scheduler filter', _filter))


def answers(conf):
    """Probe the services that the enabled plugins use; return the Answers."""
    return probes.ask(clouds.build(conf, registry.services(registry.load(conf.plugins))))


def _success(details=None):
    return upgradecheck.Result(upgradecheck.Code.SUCCESS, details)


def _warning(details):
    return upgradecheck.Result(upgradecheck.Code.WARNING, details)


def _failure(details):
    return upgradecheck.Result(upgradecheck.Code.FAILURE, details)


def _loaded(load):
    """Return the Result of a call of `load`."""
    try:
        load()
    except errors.ConfigurationError as error:
        return _failure(str(error))
    return _success()

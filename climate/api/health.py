# SPDX-License-Identifier: Apache-2.0
"""/healthcheck: whether tokens can be checked, and whether a manager can work."""
from oslo_middleware.healthcheck import pluginbase

from climate import context
from climate import errors

_SECONDS = 5


class ManagerHealth(pluginbase.HealthcheckBaseExtension):
    """Logs in to Keystone and pings a manager, which queries the database.

    A failure is a 503 with the reason.
    """

    def healthcheck(self, server_port):
        problem = self.conf['climate_login_problem']()
        if problem is not None:
            return _result(False, problem)
        manager = self.conf['climate_manager']
        try:
            manager.ping(context.RequestContext.internal(), timeout=_SECONDS)
        except errors.ManagerSilent:
            return _result(False, 'no manager answers')
        except errors.DatabaseRefuses as error:
            return _result(False, f'the database of the manager does not work: '
                                  f'{error.kwargs["reason"]}')
        except errors.DatabaseUnreachable:
            return _result(False, 'the manager does not reach the database')
        except errors.CloudError as error:
            # Everybody may read the answer, so it has no addresses and no messages of the services.
            return _result(False, f'the manager may not use {error.kwargs["service"]}; its log '
                                  'says why')
        except errors.ClimateError as error:
            return _result(False, error.owner_message)
        return _result(True, 'OK')


def _result(available, reason):
    return pluginbase.HealthcheckResult(available=available, reason=reason)

# SPDX-License-Identifier: Apache-2.0
"""/healthcheck: whether a manager answers, reaches its database and may use the cloud."""
from oslo_middleware.healthcheck import pluginbase

from climate import context
from climate import errors

_SECONDS = 5


class ManagerHealth(pluginbase.HealthcheckBaseExtension):
    """Pings a manager over the bus, which queries the database; a 503 names what fails."""

    def healthcheck(self, server_port):
        manager = self.conf['climate_manager']
        try:
            manager.ping(context.RequestContext.internal(), timeout=_SECONDS)
        except errors.ManagerSilent:
            return _result(False, 'no manager answers')
        except errors.DatabaseUnreachable:
            return _result(False, 'the manager does not reach the database')
        except errors.CloudError:
            # Who asks needs no token, so the address and the words of Keystone are not told.
            return _result(False, 'Keystone refuses the login of the manager')
        except errors.ClimateError as error:
            return _result(False, error.owner_message)
        return _result(True, 'OK')


def _result(available, reason):
    return pluginbase.HealthcheckResult(available=available, reason=reason)

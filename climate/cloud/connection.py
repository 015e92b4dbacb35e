# SPDX-License-Identifier: Apache-2.0
"""The connection from which an interface of the real cloud is created."""
from concurrent import futures
import dataclasses

from keystoneauth1 import loading
from keystoneauth1 import session as keystone_session
from oslo_config import cfg


@dataclasses.dataclass(frozen=True)
class ServiceConnection:
    """The connection to one service under one identity.

    :ivar group: the option group of the service.
    :ivar session: makes the calls; a call made without it bypasses the guard.
    :ivar pool: the executor for ``concurrency.call_all``.
    :ivar trust_id: the trust of the user on whose behalf it acts; None: as Climate itself.
    :ivar login_group: the option group whose login the session uses.
    """

    conf: cfg.ConfigOpts
    group: str
    session: keystone_session.Session
    pool: futures.Executor
    trust_id: str | None = None
    login_group: str = 'keystone'

    @property
    def options(self):
        """Return the option group of the service."""
        return self.conf[self.group]

    @property
    def region_name(self):
        return self.options.region_name or self.conf.region_name

    def rest(self, version=None, **arguments):
        """Return a keystoneauth Adapter for the REST API of the service.

        :param version: the major version to use if none is configured.
        """
        if version is not None:
            ranged = self.options.min_version or self.options.max_version
            arguments['version'] = None if ranged else self.options.version or version
        return loading.load_adapter_from_conf_options(
            self.conf, self.group, session=self.session, region_name=self.region_name, **arguments)

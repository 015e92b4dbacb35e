# SPDX-License-Identifier: Apache-2.0
"""The option group of a service of the cloud: its endpoint, connection and login."""
import dataclasses
import functools

from keystoneauth1 import loading
from oslo_config import cfg

from climate.conf import checking

_HELP = ('If no login is set here (auth_type, auth_section), that of [keystone] is used. '
         'Connection options that are not set here are taken from [keystone] too.')


_FILES = ('cafile', 'certfile', 'keyfile')


@dataclasses.dataclass(frozen=True)
class Client:
    """The option group of a service: its own options, connection, endpoint and login.

    :ivar name: the name of the group, such as nova.
    :ivar title: the name of the service, such as Nova.
    :ivar service_type: the type of the service in the service catalog, such as compute.
    :ivar own: the service's own oslo.config options.
    :ivar timeout: the default of the option timeout, in seconds; None: the value of [keystone].
    :ivar help: the text of the group in the sample configuration.
    """

    name: str
    title: str
    service_type: str
    own: tuple = ()
    timeout: int | None = None
    help: str | None = _HELP

    @property
    def group(self):
        """Return a new OptGroup. oslo.config stores values in it, so it must not be shared."""
        return cfg.OptGroup(self.name, title=self.title, help=self.help)

    def is_in(self, conf):
        """Return whether the group is registered in `conf`."""
        return self.name in conf and 'concurrency' in conf[self.name]

    def register(self, conf):
        """Register the group in `conf`."""
        group = self.group
        conf.register_group(group)
        conf.register_opts(self._known(), group=group)
        loading.register_auth_conf_options(conf, self.name)

    def check(self, conf):
        """Check the files and the address that the group names.

        :raises WrongValue: a file cannot be read, or the address is not a URL.
        """
        for name in _FILES:
            checking.file(conf, self.name, name)
        checking.url(conf, self.name, 'endpoint_override')

    def list_opts(self):
        """Return [(group, options)] with a password login, for the sample configuration."""
        return [(self.group, [*self._known(), *loading.get_auth_common_conf_options(),
                              *loading.get_auth_plugin_conf_options('password')])]

    def _known(self):
        return [*self.own, *_connection(self.timeout), *_endpoint(self.service_type)]


@functools.cache
def _connection(timeout):
    session_options = loading.get_session_conf_options()
    for opt in session_options:
        if opt.dest == 'timeout':
            opt.default = timeout
            opt.help = ('Seconds to wait for an answer. Empty: as in [keystone]. 0: without '
                        'limit.')
    return (*session_options, cfg.IntOpt(
        'concurrency', default=20, min=1,
        help='Largest number of calls of this service that one process makes at the same time. '
             'Further calls wait; those that end a lease go first. While the service answers more '
             'slowly than usual, fewer calls are made at the same time. 1: calls are made one '
             'after the other.'))


@functools.cache
def _endpoint(service_type):
    adapter_options = loading.get_adapter_conf_options(include_deprecated=False)
    for opt in adapter_options:
        if opt.dest == 'service_type':
            opt.default = service_type
        elif opt.dest == 'valid_interfaces':
            opt.default = ['internal', 'public']
        elif opt.dest == 'region_name':
            opt.help = 'Region in which the endpoint is looked up. Empty: [DEFAULT] region_name.'
    return adapter_options

# SPDX-License-Identifier: Apache-2.0
"""[keystone]: the login of Climate itself, which its other groups fall back to."""
import copy

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = cfg.OptGroup('keystone', title='The login of Climate itself')
OPTS = [
    cfg.BoolOpt('trust_required', default=True,
                help='Whether a lease is refused when its owner cannot delegate to Climate by a '
                     'Keystone trust (a caller with an application credential cannot). False: '
                     'such a lease is taken, and Climate acts for it as itself: servers and '
                     'images that it makes then belong to the service.'),
]
TIMEOUT_SECONDS = 60


def client_opts(service_type, timeout=None):
    """The options of keystoneauth that say how a service is found and reached.

    :param timeout: default of the option of that name, in seconds; None leaves it empty.
    :returns: two lists, the options of the connection and those of the endpoint.
    """
    connection = loading.get_session_conf_options()
    for opt in connection:
        if opt.dest == 'timeout':
            opt.default = timeout
            opt.help = ('Longest wait for an answer, in seconds. Empty: as in [keystone]. '
                        '0: without limit.')
    connection.append(cfg.IntOpt(
        'concurrency', default=20, min=1,
        help='Calls of this service that one manager makes at the same time, of all that it is '
             'doing; the others wait for their turn. 1: one after the other.'))
    endpoint = loading.get_adapter_conf_options(include_deprecated=False)
    for opt in endpoint:
        if opt.dest == 'service_type':
            opt.default = service_type
        elif opt.dest == 'valid_interfaces':
            opt.default = ['internal', 'public']
        elif opt.dest == 'region_name':
            opt.help = 'Region in which the endpoint is looked up. Empty: [DEFAULT] region_name.'
    return connection, endpoint


def register_client(conf, group, connection, endpoint):
    """Add a service's group with its options of connection, endpoint and login to `conf`."""
    # A copy: oslo.config keeps values in the group, and another `conf` would see them.
    conf.register_group(copy.deepcopy(group))
    conf.register_opts(connection, group=group)
    conf.register_opts(endpoint, group=group)
    loading.register_auth_conf_options(conf, group.name)


def login_opts():
    """The options of a login with a password, as the sample configuration shows them."""
    return [*loading.get_auth_common_conf_options(),
            *loading.get_auth_plugin_conf_options('password')]


_CONNECTION, _ENDPOINT = client_opts('identity', TIMEOUT_SECONDS)


def register(conf):
    register_client(conf, GROUP, _CONNECTION, _ENDPOINT)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, [*OPTS, *_CONNECTION, *_ENDPOINT, *login_opts()])]

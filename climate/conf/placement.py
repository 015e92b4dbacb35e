# SPDX-License-Identifier: Apache-2.0
"""[placement]: how Placement is reached, the names Climate gives to things there."""
from oslo_config import cfg

from climate.conf import keystone

GROUP = cfg.OptGroup('placement', title='Placement', help=(
    'Where no login is set here (auth_type, auth_section), that of [keystone] is used; a '
    'connection option that is not set here is taken from [keystone] too.'))
OPTS = [
    cfg.StrOpt('provider_prefix', default='climate_',
               help='The resource provider of an enrolled host that holds its reservations is '
                    'called this and the name of the hypervisor; it is a child of the provider '
                    'of the hypervisor.'),
]
_CONNECTION, _ENDPOINT = keystone.client_opts('placement')


def register(conf):
    keystone.register_client(conf, GROUP, _CONNECTION, _ENDPOINT)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, [*OPTS, *_CONNECTION, *_ENDPOINT, *keystone.login_opts()])]

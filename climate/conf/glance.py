# SPDX-License-Identifier: Apache-2.0
"""[glance]: how Glance, which keeps the images of servers, is reached."""
from oslo_config import cfg

from climate.conf import keystone

GROUP = cfg.OptGroup('glance', title='Glance', help=(
    'Where no login is set here (auth_type, auth_section), that of [keystone] is used; a '
    'connection option that is not set here is taken from [keystone] too.'))
_CONNECTION, _ENDPOINT = keystone.client_opts('image')


def register(conf):
    keystone.register_client(conf, GROUP, _CONNECTION, _ENDPOINT)


def list_opts():
    return [(GROUP, [*_CONNECTION, *_ENDPOINT, *keystone.login_opts()])]

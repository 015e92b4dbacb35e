# SPDX-License-Identifier: Apache-2.0
"""[webhook]: notifications that are posted to addresses of users."""
import ipaddress

from oslo_config import cfg
from oslo_config import types

from climate.conf import group


class NetworkType(types.ConfigType):
    """An IP network, such as 10.1.0.0/16."""

    def __call__(self, value):
        if isinstance(value, ipaddress.IPv4Network | ipaddress.IPv6Network):
            return value
        return ipaddress.ip_network(str(value).strip())

    def __repr__(self):
        return 'Network'

    def __eq__(self, other):
        return isinstance(other, NetworkType)

    __hash__ = types.ConfigType.__hash__

    def _formatter(self, value):
        return str(value)


GROUP = group.Group('webhook', 'Notifications that are posted to addresses of users', (
    cfg.BoolOpt('enabled', default=True, help='Whether users may subscribe by webhook.'),
    cfg.ListOpt('allowed_networks', default=[], item_type=NetworkType(),
                help='Networks with loopback, link-local, private or other special addresses to '
                     'which notifications may be posted, such as "10.20.0.0/16". Without an entry '
                     'here, only public addresses are called.'),
    cfg.BoolOpt('allow_http', default=False,
                help='Whether addresses may begin with http://. Everybody on the network path can '
                     'then read notifications.'),
    cfg.StrOpt('ca_file', default='',
               help='File with the certificates of the authorities that may have signed the '
                    'certificates of receivers. Empty: those of the system.'),
    cfg.IntOpt('timeout_seconds', default=10, min=1, max=60,
               help='Seconds in all for one attempt: connection, request and answer.'),
    cfg.IntOpt('workers', default=32, min=1, max=256,
               help='Number of notifications that one manager sends at the same time: at most '
                    'half of them for one project, and an eighth to one receiver.'),
))

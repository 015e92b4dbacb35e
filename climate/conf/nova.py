# SPDX-License-Identifier: Apache-2.0
"""[nova]: how Nova is reached, the names Climate gives to things there."""
from oslo_config import cfg

from climate.conf import keystone

GROUP = cfg.OptGroup('nova', title='Nova', help=(
    'Where no login is set here (auth_type, auth_section), that of [keystone] is used; a '
    'connection option that is not set here is taken from [keystone] too.'))
OPTS = [
    cfg.StrOpt('aggregate_freepool', default='freepool',
               help='Name of the aggregate that holds the enrolled hosts nobody has leased. The '
                    'scheduler filter needs the same name in nova.conf.'),
    cfg.StrOpt('aggregate_owner_key', default='climate:owner',
               help='Metadata key under which the aggregate of a reservation names the project '
                    'that may use it. The scheduler filter needs the same key in nova.conf.'),
    cfg.StrOpt('availability_zone_prefix', default='climate_',
               help='The availability zone of a reservation is this and the id of the '
                    'reservation. The scheduler filter needs the same prefix in nova.conf.'),
    cfg.StrOpt('image_prefix', default='reserved_',
               help='The name of an image made before the end of a lease is this and the name '
                    'of the server. Empty: the name of the server.'),
    cfg.BoolOpt('notifications', default=False,
                help='Whether to listen to the notifications of Nova, which must be on there in '
                     'the versioned format. Then the lease of a server that its user deletes ends '
                     'at once, not at the next look at all leased servers.'),
    cfg.ListOpt('notification_topics', default=['versioned_notifications'],
                help='Topics of those notifications, as [notifications] '
                     'versioned_notifications_topics in nova.conf.'),
    cfg.StrOpt('notification_exchange', default='nova',
               help='Exchange of those notifications, as control_exchange in nova.conf.'),
    cfg.StrOpt('notification_transport_url', secret=True, default='',
               help='Bus of those notifications. Empty: that of Climate\'s own notifications.'),
]
_CONNECTION, _ENDPOINT = keystone.client_opts('compute')


def register(conf):
    keystone.register_client(conf, GROUP, _CONNECTION, _ENDPOINT)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, [*OPTS, *_CONNECTION, *_ENDPOINT, *keystone.login_opts()])]

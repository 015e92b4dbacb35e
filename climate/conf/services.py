# SPDX-License-Identifier: Apache-2.0
"""The groups of the services of the cloud, such as [nova]: their connections and own options."""
from oslo_config import cfg

from climate.conf import client

#: The usual file of nova-scheduler, if it runs on the same machine.
SCHEDULER_FILES = ['/etc/nova/nova.conf']

#: The login of Climate itself is the default of the other services.
KEYSTONE = client.Client('keystone', 'The login of Climate itself', 'identity', (
    cfg.BoolOpt('trust_required', default=False,
                help='Whether each lease needs a Keystone trust of its owner. True: a lease whose '
                     'owner cannot give a trust is refused, such as that of a caller with an '
                     'application credential. False: a lease gets a trust only if Climate acts for '
                     'its owner at some time. If the owner cannot give one, only a lease that '
                     'needs the identity of its owner is refused: one with a stack, a cluster, '
                     'volumes in the project of the owner, a subnet, or a server that is shelved '
                     'until the start.'),
), timeout=60, help=None)
NOVA = client.Client('nova', 'Nova', 'compute', (
    cfg.StrOpt('aggregate_freepool', default='freepool', regex=r'\S',
               help='Name of the aggregate that holds enrolled hosts which are not leased. The '
                    'scheduler filter needs the same name in nova.conf.'),
    cfg.StrOpt('aggregate_owner_key', default='climate:owner', regex=r'\S',
               help='Metadata key under which the aggregate of a reservation names the project '
                    'that may use it. The scheduler filter needs the same key in nova.conf.'),
    cfg.StrOpt('availability_zone_prefix', default='climate_',
               help='Prefix of the availability zone of a reservation; the id of the reservation '
                    'follows. The scheduler filter needs the same prefix in nova.conf.'),
    cfg.StrOpt('reservation_zone', default='where_none', choices=['always', 'never', 'where_none'],
               help='Whether the aggregate of a reservation of hosts has its own availability '
                    'zone. where_none: it has one, unless one of its hosts is in the zone of '
                    'another aggregate of the cloud; such a host keeps its zone. always: it has '
                    'one, and a host in the zone of another aggregate cannot be enrolled. never: '
                    'it has none. A scheduler filter other than that of Climate may need the '
                    'zones.'),
    cfg.BoolOpt('cross_az_attach', default=True,
                help='Whether Nova attaches volumes to servers in other availability zones: the '
                     'value of cross_az_attach in the group [cinder] of nova.conf. False: leased '
                     'volumes are placed in the zone of a host of the same lease, and '
                     '"where_none" in reservation_zone means "never".'),
    cfg.ListOpt('scheduler_config_files', default=SCHEDULER_FILES,
                help='Configuration files of nova-scheduler, or copies of them. Audits and '
                     '"climate-status upgrade check" report if these files lack the scheduler '
                     'filter. The default file is ignored if it cannot be read. Empty: no check.'),
    cfg.StrOpt('image_prefix', default='reserved_',
               help='Prefix of the name of an image that is made before the end of a lease; the '
                    'name of the server follows. Empty: no prefix.'),
    cfg.BoolOpt('notifications', default=False,
                help='Whether to listen to the notifications of Nova, which Nova must send in the '
                     'versioned format. If so, the lease of a server that its user deletes ends '
                     'at once. If not, it ends at the next check of all leased servers.'),
    cfg.ListOpt('notification_topics', default=['versioned_notifications'],
                help='Topics of the notifications of Nova. Must equal [notifications] '
                     'versioned_notifications_topics in nova.conf.'),
    cfg.StrOpt('notification_exchange', default='nova', regex=r'\S',
               help='Exchange of the notifications of Nova. Must equal control_exchange in '
                    'nova.conf.'),
    cfg.StrOpt('notification_transport_url', secret=True, default='',
               help='Transport URL of the notifications of Nova. Empty: that of Climate\'s own '
                    'notifications.'),
))
PLACEMENT = client.Client('placement', 'Placement', 'placement', (
    cfg.StrOpt('provider_prefix', default='climate_',
               help='Prefix of the name of the resource provider that holds the reservations of '
                    'an enrolled host; the name of the hypervisor follows. The provider is a '
                    'child of that of the hypervisor.'),
))
GLANCE = client.Client('glance', 'Glance', 'image')
CINDER = client.Client('cinder', 'Cinder', 'block-storage')
NEUTRON = client.Client('neutron', 'Neutron', 'network')
HEAT = client.Client('heat', 'Heat', 'orchestration')
MAGNUM = client.Client('magnum', 'Magnum', 'container-infra')

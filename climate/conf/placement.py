# SPDX-License-Identifier: Apache-2.0
"""[placement]: the connection to Placement, and the names that Climate uses in Placement."""
from oslo_config import cfg

from climate.conf import client

OPTS = (
    cfg.StrOpt('provider_prefix', default='climate_',
               help='Prefix of the name of the resource provider that holds the reservations of '
                    'an enrolled host; the name of the hypervisor follows. The provider is a '
                    'child of that of the hypervisor.'),
)
CLIENT = client.Client('placement', 'Placement', 'placement', OPTS)

register = CLIENT.register
list_opts = CLIENT.list_opts

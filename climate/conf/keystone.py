# SPDX-License-Identifier: Apache-2.0
"""[keystone]: the login of Climate itself, which is the default of the other services."""
from oslo_config import cfg

from climate.conf import client

OPTS = (
    cfg.BoolOpt('trust_required', default=True,
                help='Whether a lease is refused if its owner cannot give Climate a Keystone trust '
                     '(a caller with an application credential cannot). False: such a lease is '
                     'accepted unless it needs the identity of its owner, as an affinity of '
                     'instance reservations and a server that is shelved until the start do. '
                     'Climate acts for it as itself, and makes its project the owner of images.'),
)
TIMEOUT_SECONDS = 60
CLIENT = client.Client('keystone', 'The login of Climate itself', 'identity', OPTS,
                       TIMEOUT_SECONDS, help=None)

register = CLIENT.register
list_opts = CLIENT.list_opts

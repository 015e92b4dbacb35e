# SPDX-License-Identifier: Apache-2.0
"""[limits]: limits that other services hold."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('limits', 'Limits that Keystone holds, in addition to the limit book', (
    cfg.BoolOpt('unified_limits', default=False,
                help='Whether the unified limits of Keystone apply, in addition to those of the '
                     'limit book: climate_open_leases, climate_waiting_leases, '
                     'climate_held_offers and climate_resources. The group [oslo_limit] has the '
                     'login with which they are read, and names the endpoint of Climate.'),
    cfg.IntOpt('unified_limits_seconds', default=60, min=1,
               help='Seconds for which a manager uses the unified limits of a project before it '
                    'reads them again. A change in Keystone applies after this time.'),
    cfg.IntOpt('unified_limits_stale_seconds', default=3600, min=0,
               help='Seconds for which the last known unified limits of a project apply while '
                    'Keystone does not answer. After this time, or if no limits of the project '
                    'are known, requests that they could concern are refused (503) until Keystone '
                    'answers. 0: they are refused as soon as Keystone does not answer.'),
))

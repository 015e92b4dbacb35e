# SPDX-License-Identifier: Apache-2.0
"""[health]: the health of resources, and the sources that report it."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('health', 'The health of resources', (
    cfg.FloatOpt('poll_seconds', default=30, min=0,
                 help='Seconds between two checks of the health of all resources, of the affected '
                      'leases, and of maintenances. 0: no checks; then sick hosts are replaced '
                      'only when a lease starts, and maintenances are not carried out.'),
    cfg.IntOpt('sick_after_seconds', default=120, min=0,
               help='Seconds for which each check must find a resource sick before it counts as '
                    'sick. Make it longer than the restart of a compute service. 0: the first '
                    'check decides.'),
    cfg.IntOpt('well_after_seconds', default=300, min=0,
               help='Seconds for which each check must find a sick resource well before it counts '
                    'as well. 0: the first check decides.'),
    cfg.IntOpt('heal_hours', default=24, min=1, max=8760,
               help='Number of hours ahead for which Climate keeps leases off a resource that is '
                    'not well: a lease that starts within this time gets another resource, and new '
                    'leases cannot use the resource in this time.'),
    cfg.IntOpt('quarantine_minutes', default=1440, min=0,
               help='Minutes for which a resource is in quarantine after a swap: no new lease gets '
                    'it, and running leases keep it. A swap by a member leads to a quarantine '
                    'only if the resource is sick or out of service, or if quarantine_projects '
                    'is reached. Reports of members count for the same time. 0: the quarantine '
                    'lasts until an operator says that the resource is healthy, and reports '
                    'count for 24 hours.'),
    cfg.IntOpt('quarantine_projects', default=2, min=0,
               help='Number of projects whose members must swap a resource that seems to work '
                    'before it is in quarantine. They must be different users, too. After fewer '
                    'swaps, only the leases that swapped the resource do not get it again. 0: '
                    'swaps by members never put a resource that seems to work into quarantine.'),
    cfg.IntOpt('swaps_per_project', default=10, min=0, deprecated_name='swaps_per_lease',
               help='Maximum number of resources that seem to work which the members of a project '
                    'may swap within the time in which reports count. Resources that are not '
                    'well, or about to have maintenance, do not count. 0: none.'),
    cfg.IntOpt('recurring_days', default=90, min=1, max=3660,
               help='Days ahead for which the windows of recurring maintenance are kept free.'),
    cfg.ListOpt('sources', default=[],
                help='Names of further sources of health, as the entry points of climate.health '
                     'name them, such as http.'),
    cfg.StrOpt('http_url', secret=True,
               help='URL from which the source "http" reads the health: a JSON object of names of '
                    'hosts, each with "healthy" or with the reason why it is not. Resources of '
                    'other pools are named POOL/NAME.'),
    cfg.FloatOpt('http_timeout_seconds', default=10, min=0.1,
                 help='Seconds after which the source "http" gives up waiting for an answer.'),
    cfg.StrOpt('http_ca_file',
               help='Path of CA certificates for an http_url that begins with https. Empty: those '
                    'of the system.'),
))

# SPDX-License-Identifier: Apache-2.0
"""[cloud]: the cloud that Climate works with; [simulated]: the simulated cloud."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('cloud', 'The cloud that Climate works with', (
    cfg.StrOpt('driver', default='openstack', choices=['openstack', 'simulated'],
               help='openstack: a real cloud, configured in [keystone] and in the groups of the '
                    'services that the plugins use. simulated: a built-in cloud for trials and '
                    'tests, configured in [simulated]; nothing real is reserved.'),
))
SIMULATED = group.Group('simulated', 'The simulated cloud', (
    cfg.StrOpt('state', default='',
               help='Path of the SQLite file that stores the simulated cloud. Processes with the '
                    'same file share one cloud. Empty: each process has its own cloud, in '
                    'memory.'),
    cfg.IntOpt('hosts', default=8, min=0,
               help='Number of hypervisors of a new cloud: compute-1, compute-2 and so on, of '
                    'three sizes. 0: none.'),
    cfg.FloatOpt('delay_seconds', default=0, min=0,
                 help='Seconds that each call of the simulated cloud takes. 0: no time.'),
    cfg.FloatOpt('delete_seconds', default=0, min=0,
                 help='Seconds for which a deleted server stays on its host. 0: it is gone at '
                      'once.'),
    cfg.FloatOpt('server_seconds', default=0, min=0,
                 help='Seconds to build, shelve, unshelve, suspend or migrate a server. 0: no '
                      'time.'),
    cfg.FloatOpt('migrate_seconds', min=0,
                 help='Seconds to migrate a server. 0: no time. Not set: as server_seconds.'),
    cfg.FloatOpt('image_seconds', default=0, min=0,
                 help='Seconds to create the image of a server. 0: it is active at once.'),
    cfg.FloatOpt('floating_ip_seconds', default=0, min=0,
                 help='Seconds for which a router serves a floating IP that was taken off its '
                      'port. 0: no time.'),
    cfg.FloatOpt('port_seconds', default=0, min=0,
                 help='Seconds to detach a port from a server. 0: no time.'),
    cfg.FloatOpt('volume_seconds', default=0, min=0,
                 help='Seconds to create, delete, attach, detach, copy or retype a volume. 0: no '
                      'time.'),
    cfg.FloatOpt('stack_seconds', default=0, min=0,
                 help='Seconds to create, suspend, resume or delete a stack. 0: no time.'),
    cfg.FloatOpt('cluster_seconds', default=0, min=0,
                 help='Seconds to create, change or delete a cluster. 0: it is done at the '
                      'next check of the cluster.'),
    cfg.IntOpt('crash_at', default=0, min=0,
               help='Number of the fault point at which this process kills itself with SIGKILL, to '
                    'try out crashes. There is a fault point before and one after each call of '
                    'the simulated cloud. 0: never.'),
))

# SPDX-License-Identifier: Apache-2.0
"""[simulated]: the built-in cloud, for trials and tests."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('simulated', title='The built-in cloud')
OPTS = [
    cfg.StrOpt('state', default='',
               help='Path of the SQLite file that holds the simulated cloud. Processes that '
                    'name the same file share one cloud. Empty: each process has its own, in '
                    'memory.'),
    cfg.IntOpt('hosts', default=8, min=0,
               help='Hypervisors that the cloud has when it is made: compute-1, compute-2 and '
                    'so on, of three sizes. 0: none.'),
    cfg.FloatOpt('delay_seconds', default=0, min=0,
                 help='How long each call of the simulated cloud takes, in seconds. 0: no time.'),
    cfg.FloatOpt('delete_seconds', default=0, min=0,
                 help='How long a server that was deleted is still on its host, in seconds. '
                      '0: it is gone at once.'),
    cfg.FloatOpt('server_seconds', default=0, min=0,
                 help='How long it takes to build, shelve, unshelve, suspend or move a server, in '
                      'seconds. 0: it is done at once.'),
    cfg.FloatOpt('migrate_seconds', min=0,
                 help='How long it takes to move a server, in seconds. Not set: as '
                      'server_seconds.'),
    cfg.FloatOpt('image_seconds', default=0, min=0,
                 help='How long the image of a server is being made, in seconds. 0: it is active '
                      'at once.'),
    cfg.IntOpt('crash_at', default=0, min=0,
               help='This process kills itself with SIGKILL at the fault point of this number, '
                    'to try out crashes; there is a fault point before and one after each call '
                    'of the simulated cloud. 0: never.'),
]


def register(conf):
    # A copy: oslo.config keeps values in the group, and another `conf` would see them.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

# SPDX-License-Identifier: Apache-2.0
"""[billing]: statements of what leases cost."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('billing', title='Statements of what leases cost')
OPTS = [
    cfg.FloatOpt('interval_seconds', default=300, min=0,
                 help='Seconds between two passes in which a manager writes the lines of leases '
                      'that have ended, and of months that are over. Without a price book a pass '
                      'does nothing. 0: this manager writes no lines.'),
    cfg.IntOpt('close_days', default=3, min=0, max=27,
               help='Days after the end of a month at which its statements are closed. What is '
                    'found out later is a line in the statement of the present month. 0: they are '
                    'closed when all that is known has been written.'),
]


def register(conf):
    # A copy, because oslo.config stores values in the group object.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

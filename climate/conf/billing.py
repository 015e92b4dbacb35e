# SPDX-License-Identifier: Apache-2.0
"""[billing]: statements of what leases cost."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('billing', 'Statements of the costs of leases', (
    cfg.FloatOpt('interval_seconds', default=300, min=0,
                 help='Seconds between two passes in which a manager writes the lines of '
                      'statements, for leases that have ended and for months that are over. '
                      'Without a price book a pass does nothing. 0: this manager writes no lines.'),
    cfg.IntOpt('close_days', default=3, min=0, max=27,
               help='Days after the end of a month at which its statements are closed. Costs that '
                    'become known later are lines in the statement of the current month. 0: a '
                    'month is closed as soon as all its known costs are written.'),
))

# SPDX-License-Identifier: Apache-2.0
"""[billing]: statements of what leases cost."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('billing', 'Statements of what leases cost', (
    cfg.FloatOpt('interval_seconds', default=300, min=0,
                 help='Seconds between two passes in which a manager writes the lines of leases '
                      'that have ended, and of months that are over. Without a price book a pass '
                      'does nothing. 0: this manager writes no lines.'),
    cfg.IntOpt('close_days', default=3, min=0, max=27,
               help='Days after the end of a month at which its statements are closed. What is '
                    'found out later is a line in the statement of the present month. 0: they are '
                    'closed when all that is known has been written.'),
))

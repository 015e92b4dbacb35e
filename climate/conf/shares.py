# SPDX-License-Identifier: Apache-2.0
"""[shares]: leases that their owners share with other projects and users."""
from oslo_config import cfg

from climate.conf import group

KEEP, STOP, DELETE = ON_WITHDRAWAL = ('keep', 'stop', 'delete')

GROUP = group.Group('shares', 'Leases that are shared with others', (
    cfg.StrOpt('on_withdrawal', default=KEEP, choices=list(ON_WITHDRAWAL),
               help='What happens to the running servers of another project when its share is '
                    'withdrawn, unless the share says otherwise. keep: they run until the lease '
                    'ends. stop, delete: they are stopped or deleted after the notice.'),
    cfg.ListOpt('allowed_on_withdrawal', default=list(ON_WITHDRAWAL),
                help='The values of on_withdrawal that owners may choose for their shares.'),
    cfg.IntOpt('notice_minutes', default=60, min=0,
               help='Minutes between the withdrawal of a share and the stop or the deletion of '
                    'servers. Owners can choose a longer notice, but not a shorter one.'),
    cfg.IntOpt('most_per_lease', default=100, min=1,
               help='Maximum number of open shares of one lease.'),
))

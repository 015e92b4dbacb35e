# SPDX-License-Identifier: Apache-2.0
"""[idle]: samples of how much of a lease is used, and the action for idle leases."""
from oslo_config import cfg

from climate.conf import group

NONE, SHRINK, END = ACTIONS = ('none', 'shrink', 'end')

GROUP = group.Group('idle', 'Samples of use, and idle leases', (
    cfg.IntOpt('sample_minutes', default=0, min=0, max=60,
               help='Minutes between two samples of the use of each running lease. 0: no samples '
                    'are taken; then no lease is idle.'),
    cfg.IntOpt('keep_days', default=35, min=1,
               help='Days for which the samples of use are kept. It must not be shorter than '
                    'idle_hours. With a price book, samples are kept at least until they are '
                    'billed.'),
    cfg.FloatOpt('idle_percent', default=0, min=0, max=100,
                 help='A lease is idle if less than this share of its resources was used during '
                      'the last idle_hours, in percent. 0: only if nothing ran on it.'),
    cfg.IntOpt('idle_hours', default=24, min=1,
               help='Hours for which the use of a lease is observed before it counts as idle.'),
    cfg.IntOpt('idle_grace_hours', default=72, min=0,
               help='Hours between the notification of the owner of an idle lease and the action, '
                    'if action is not none.'),
    cfg.StrOpt('action', default=NONE, choices=list(ACTIONS),
               help='Action for an idle lease after idle_grace_hours. none: its owner is only '
                    'notified. shrink: it loses hosts on which nothing runs, down to its "min". '
                    'end: it is ended if nothing at all runs on it. A host with a server on it '
                    'is never reclaimed.'),
    cfg.ListOpt('exempt_projects', default=[],
                help='Ids of the projects whose leases never count as idle. Single leases have the '
                     'field idle_exempt instead.'),
    cfg.BoolOpt('weekly_summary', default=True,
                help='Whether the owner of idle leases gets a list of them once a week.'),
))

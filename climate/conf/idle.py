# SPDX-License-Identifier: Apache-2.0
"""[idle]: how much of leases is used, which of them are idle, and what happens to those."""
import copy

from oslo_config import cfg

NONE, SHRINK, END = ACTIONS = ('none', 'shrink', 'end')

GROUP = cfg.OptGroup('idle', title='Samples of use, and idle leases')
OPTS = [
    cfg.IntOpt('sample_minutes', default=0, min=0, max=60,
               help='How often Climate looks what is used of each running lease, in minutes. '
                    '0: never; then no lease is idle.'),
    cfg.IntOpt('keep_days', default=35, min=1,
               help='How long the samples of use are kept, in days. It must not be shorter than '
                    'idle_hours. With a price book they are kept until they are billed, if that '
                    'is later.'),
    cfg.FloatOpt('idle_percent', default=0, min=0, max=100,
                 help='A lease is idle if less than this share of what it holds was used during '
                      'the last idle_hours, in percent. 0: only if nothing ran on it.'),
    cfg.IntOpt('idle_hours', default=24, min=1,
               help='How long the use of a lease is watched before it is called idle, in hours.'),
    cfg.IntOpt('idle_grace_hours', default=72, min=0,
               help='How long after its owner was told an idle lease is shrunk or ended, in '
                    'hours, if action is not none.'),
    cfg.StrOpt('action', default=NONE, choices=list(ACTIONS),
               help='What happens to an idle lease after idle_grace_hours. none: its owner is '
                    'only told. shrink: hosts on which nothing runs are taken from it, down to '
                    'its "min". end: it is ended if nothing at all runs on it. Nothing is ever '
                    'taken on which there is a server.'),
    cfg.ListOpt('exempt_projects', default=[],
                help='Ids of the projects whose leases are never called idle. Single leases have '
                     'the field idle_exempt instead.'),
    cfg.BoolOpt('weekly_summary', default=True,
                help='Whether the owner of idle leases is told once a week which of them are '
                     'idle.'),
]


def register(conf):
    # A copy, because oslo.config stores values in the group object.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

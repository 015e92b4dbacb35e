# SPDX-License-Identifier: Apache-2.0
"""[acquire]: how leases get their resources when these are not free at once."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('acquire', 'How leases get resources that are not free at once', (
    cfg.IntOpt('workers', default=2, min=1,
               help='Number of attempts to acquire resources that one manager makes at the same '
                    'time. These workers are separate from [manager] workers, so that starts and '
                    'ends never wait for an attempt. While a start or an end is being carried out, '
                    'only one attempt is made at a time.'),
    cfg.FloatOpt('processor_share', default=0.5, min=0.01, max=64,
                 help='Share of one processor that attempts to acquire resources may use in each '
                      'manager, on average. If many requests wait, they are tried less often, so '
                      'that starts and ends are not delayed.'),
    cfg.IntOpt('waiting_per_project', default=100, min=0,
               help='Largest number of leases of one project that may be in the wait queue at the '
                    'same time. 0: without limit.'),
    cfg.FloatOpt('fair_share_half_life_days', default=0, min=0, max=3650,
                 help='Among leases of the same priority in the wait queue, the lease whose '
                      'project has used less comes first, and then the older one. The use of a '
                      'past day counts half as much after each period of this number of days. 0: '
                      'the order does not depend on the use of projects.'),
    cfg.IntOpt('retries', default=5, min=1,
               help='Number of retries of a lease with the acquisition type "retries", if the '
                    'request does not set it.'),
    cfg.IntOpt('retries_ceiling', default=100, min=1,
               help='Largest number of retries that a request may ask for.'),
    cfg.IntOpt('retry_pause_seconds', default=30, min=1,
               help='Seconds before the first retry if the request does not set it. The pause '
                    'doubles with each retry; up to a fifth is added at random.'),
    cfg.IntOpt('retry_pause_longest_seconds', default=600, min=1,
               help='Longest pause between two retries, in seconds. A request may not ask for a '
                    'longer first pause.'),
    cfg.IntOpt('best_effort_timeout_seconds', default=1800, min=1,
               help='Seconds after which host clearing for a best-effort lease is aborted and '
                    'undone, if the request does not set it.'),
    cfg.IntOpt('best_effort_ceiling_seconds', default=86400, min=1,
               help='Longest timeout of a best-effort lease that a request may ask for, in '
                    'seconds.'),
    cfg.IntOpt('wait_longest_seconds', default=2592000, min=0,
               help='How far in the future the not_after of a waiting request may be, in seconds. '
                    '0: without limit.'),
    cfg.IntOpt('wait_look_seconds', default=60, min=1,
               help='Seconds between two attempts of a waiting request. It is also tried '
                    'whenever resources are released.'),
    cfg.IntOpt('given_back_seconds', default=120, min=1,
               help='Seconds for which resources that an owner returns are kept for leases that '
                    'wait for resources, and for occurrences of series that are tried again. They '
                    'become free for all leases earlier if all waiting leases were tried.'),
    cfg.FloatOpt('hold_back_share', default=0.5, min=0, max=1,
                 help='Share of the resources that is held back for the first request of the wait '
                      'queue while that request does not fit, so that smaller requests do not '
                      'starve it. It is a share of the resources that are free or already held '
                      'back, and is rounded up. If other leases use all the remaining resources, '
                      'this share of each release, and of each newly enrolled resource, is held '
                      'back as well. 0: nothing is held back.'),
    cfg.StrOpt('migration_strategy', default='fewest-instances',
               help='Strategy that decides which hosts are cleared for a best-effort lease, if the '
                    'request does not name one: an entry point of climate.acquire.strategies.'),
    cfg.StrOpt('lent_aggregate', default='',
               help='Name of an aggregate whose hosts may be cleared for best-effort leases, in '
                    'addition to enrolled hosts. They stay in the aggregate and return to ordinary '
                    'use when the lease is over. Empty: no hosts are lent.'),
    cfg.IntOpt('parallel_moves', default=4, min=1,
               help='Number of instances that one best-effort lease migrates at the same time.'),
    cfg.BoolOpt('move_stopped', default=True,
                help='Whether stopped instances are migrated too, by cold migration.'),
    cfg.FloatOpt('weight_instances', default=1, min=0,
                 help='Cost of each instance to migrate, for the strategy "cheapest".'),
    cfg.FloatOpt('weight_memory_gb', default=0.25, min=0,
                 help='Cost of each GB of memory to copy, for the strategy "cheapest".'),
    cfg.FloatOpt('weight_running', default=1, min=0,
                 help='Additional cost of each running instance to migrate, for the strategy '
                      '"cheapest".'),
))

# SPDX-License-Identifier: Apache-2.0
"""[notifications]: the notifications of users and projects, by subscription."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('notifications', 'Notifications of users and projects, by subscription', (
    cfg.StrOpt('publisher_id', default='climate.lease',
               help='The publisher of notifications on the bus. A cloud that moves from another '
                    'reservation service keeps the name that its consumers expect.'),
    cfg.IntOpt('subscriptions_per_project', default=100, min=0, max=100000,
               help='Number of subscriptions that a project may have. 0: no new ones.'),
    cfg.IntOpt('subscriptions_per_user', default=10, min=1, max=100000,
               help='Number of subscriptions that a user may have in a project. Each change of a '
                    'lease is stored once for each subscription that is notified of it.'),
    cfg.ListOpt('encryption_keys', default=[], secret=True,
                help='Keys that encrypt the keys of webhooks in the database: the first one '
                     'encrypts, all decrypt. "climate-db new-key" prints one. Empty: the keys of '
                     'webhooks are not encrypted.'),
    cfg.IntOpt('claim_seconds', default=300, min=2,
               help='Seconds for which a manager claims the notifications that it sends. If it '
                    'dies meanwhile, another manager sends them after this time. It must be longer '
                    'than twice the timeouts of [mail] and [webhook]; otherwise some notifications '
                    'are sent twice.'),
    cfg.IntOpt('retry_seconds', default=30, min=1,
               help='Seconds before a notification that could not be delivered is tried again. '
                    'The pause doubles with each attempt.'),
    cfg.IntOpt('retry_longest_seconds', default=3600, min=1,
               help='Longest pause between two attempts to deliver a notification, in seconds.'),
    cfg.IntOpt('give_up_hours', default=72, min=1,
               help='Hours after which a notification that could not be delivered is given up. '
                    'The log of the subscription says why.'),
    cfg.IntOpt('failure_limit', default=20, min=1,
               help='Number of failed attempts, one after the other, after which a subscription '
                    'is switched off. Failures of the mail server of [mail] and its temporary '
                    'refusals (codes below 500) do not count.'),
    cfg.IntOpt('log_days', default=30, min=1,
               help='Days for which the log of a subscription keeps notifications that were '
                    'delivered or given up.'),
    cfg.IntOpt('limit_near_percent', default=80, min=0, max=100,
               help='Percentage of a limit of Climate (leases that wait, subscriptions, limits of '
                    'the limit book) at which a project is warned. It is warned again only after '
                    'its use has dropped by at least 10 percent of the limit. 0: it is warned only '
                    'when a request is refused.'),
    cfg.IntOpt('limit_again_hours', default=24, min=1,
               help='Hours after which a project is warned again that it has reached the same '
                    'limit, if a request is refused then.'),
    cfg.IntOpt('role_check_seconds', default=900, min=0,
               help='Seconds for which a manager caches the answer of Keystone whether the user of '
                    'a subscription has a role in its project, and whether both are enabled. If '
                    'not, the subscription is switched off. If Keystone does not answer, '
                    'notifications are sent. 0: Keystone is not asked.'),
    cfg.IntOpt('reminder_seconds', default=10, min=0,
               help='Seconds between two searches for leases that end soon. 0: this manager does '
                    'not search.'),
    cfg.IntOpt('test_pause_seconds', default=60, min=0,
               help='Shortest time between two tests of one subscription, in seconds.'),
))

# SPDX-License-Identifier: Apache-2.0
"""[acquire]: how leases get their resources when these are not free at once."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('acquire', title='How leases get what is not free at once')
OPTS = [
    cfg.IntOpt('retries', default=5, min=1,
               help='How often a lease with retries is tried again by the clock, where its '
                    'request does not say.'),
    cfg.IntOpt('retries_ceiling', default=100, min=1,
               help='The most retries that a request may ask for.'),
    cfg.IntOpt('retry_pause_seconds', default=30, min=1,
               help='Pause before the first retry, in seconds, where the request does not say. '
                    'It doubles with each, and is longer by up to a fifth by chance.'),
    cfg.IntOpt('retry_pause_longest_seconds', default=600, min=1,
               help='The pause between two retries grows up to this, in seconds; a request may '
                    'not begin with a longer one.'),
    cfg.IntOpt('best_effort_timeout_seconds', default=1800, min=1,
               help='How long hosts are cleared for a best-effort lease, in seconds, where its '
                    'request does not say. Then all is undone.'),
    cfg.IntOpt('best_effort_ceiling_seconds', default=86400, min=1,
               help='The longest such time that a request may ask for, in seconds.'),
    cfg.IntOpt('wait_longest_seconds', default=2592000, min=0,
               help='How far ahead the not_after of a waiting request may lie, in seconds. '
                    '0: as far as it likes.'),
    cfg.IntOpt('wait_look_seconds', default=60, min=1,
               help='How often a waiting request is tried by the clock, in seconds: besides '
                    'whenever somebody gives something back.'),
    cfg.FloatOpt('hold_back_share', default=0.5, min=0, max=1,
                 help='The part, rounded up, of what is free that is held back for the first '
                      'request in line while it does not fit, each time that something was given '
                      'back, so that smaller ones do not starve it. It keeps what was held back '
                      'for it before; time alone adds nothing. 0: nothing is held back.'),
    cfg.StrOpt('migration_strategy', default='fewest-instances',
               help='Which hosts are cleared first for a best-effort lease, where its request '
                    'does not say: an entry point of climate.acquire.strategies.'),
    cfg.StrOpt('lent_aggregate', default='',
               help='The aggregate whose hosts may be cleared for best-effort leases, beside '
                    'those that are enrolled. They stay in it, and go back to ordinary use when '
                    'the lease is over. Empty: no hosts are lent.'),
    cfg.IntOpt('parallel_moves', default=4, min=1,
               help='How many instances one best-effort lease moves at the same time.'),
    cfg.BoolOpt('move_stopped', default=True,
                help='Whether stopped instances are moved too, by cold migration.'),
    cfg.FloatOpt('weight_instances', default=1, min=0,
                 help='What one instance more to move costs, for the strategy "cheapest".'),
    cfg.FloatOpt('weight_memory_gb', default=0.25, min=0,
                 help='What each GB of memory that must be copied costs, for "cheapest".'),
    cfg.FloatOpt('weight_running', default=1, min=0,
                 help='What it costs besides that an instance to move is running, for '
                      '"cheapest".'),
]


def register(conf):
    # A copy: oslo.config keeps what was set in the group itself.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

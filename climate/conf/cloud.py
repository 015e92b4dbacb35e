# SPDX-License-Identifier: Apache-2.0
"""[cloud]: which cloud Climate works with."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('cloud', title='Which cloud Climate works with')
OPTS = [
    cfg.StrOpt('driver', default='openstack', choices=['openstack', 'simulated'],
               help='openstack: the real one, reached with [keystone], [nova], [placement] and '
                    '[glance]. simulated: one that is built in, for trials and tests, set up in '
                    '[simulated]; nothing real is reserved.'),
]


def register(conf):
    # A copy: oslo.config keeps values in the group, and another `conf` would see them.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

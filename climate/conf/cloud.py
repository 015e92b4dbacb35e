# SPDX-License-Identifier: Apache-2.0
"""[cloud]: the cloud that Climate works with."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('cloud', title='The cloud that Climate works with')
OPTS = [
    cfg.StrOpt('driver', default='openstack', choices=['openstack', 'simulated'],
               help='openstack: a real cloud, configured in [keystone] and in the groups of the '
                    'services that the plugins use. simulated: a built-in cloud for trials and '
                    'tests, configured in [simulated]; nothing real is reserved.'),
]


def register(conf):
    # A copy, because oslo.config stores values in the group object.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

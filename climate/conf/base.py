# SPDX-License-Identifier: Apache-2.0
"""[DEFAULT]: what the API and the manager both need to know."""
from oslo_config import cfg

OPTS = [
    cfg.StrOpt('region_name', default='RegionOne',
               help='The one region that this Climate serves. The criterion $region is compared '
                    'with it, and the services of the cloud are looked up there.'),
    cfg.StrOpt('rpc_topic', default='climate.manager',
               help='Topic on which the API reaches the managers.'),
    cfg.ListOpt('plugins', default=['physical:host', 'virtual:instance', 'flavor:instance'],
                help='Resource types that can be leased. A type that is not installed, or that '
                     'fails to load, stops the daemon with its name.'),
]


def register(conf):
    conf.register_opts(OPTS)


def list_opts():
    return [('DEFAULT', OPTS)]

# SPDX-License-Identifier: Apache-2.0
"""[DEFAULT]: the options that the API and the manager share."""
from oslo_config import cfg

OPTS = [
    cfg.StrOpt('region_name', default='RegionOne',
               help='The region that this Climate serves. The endpoints of the cloud are looked '
                    'up there, and the criterion $region is compared with it.'),
    cfg.StrOpt('rpc_topic', default='climate.manager',
               help='Topic of the RPC calls from the API to the managers.'),
    cfg.ListOpt('plugins', default=['physical:host', 'virtual:instance', 'flavor:instance'],
                help='Resource types that can be leased. If one is not installed or does not '
                     'load, the daemon names it and stops.'),
]


def register(conf):
    conf.register_opts(OPTS)


def list_opts():
    return [('DEFAULT', OPTS)]

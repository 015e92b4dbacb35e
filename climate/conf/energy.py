# SPDX-License-Identifier: Apache-2.0
"""[energy]: resources that nobody has leased sleep."""
import copy

from oslo_config import cfg

GROUP = cfg.OptGroup('energy', title='Sleep of resources that nobody has leased')
OPTS = [
    cfg.StrOpt('driver', default='',
               help='The power driver, an entry point of climate.power: redfish, ironic, command '
                    'or simulated. Empty: no resource ever sleeps. Before you empty it, set '
                    'spare_percent to 100 and wait until all resources are awake.'),
    cfg.IntOpt('poll_seconds', default=30, min=1,
               help='How often the managers look which resources must wake up or may sleep, in '
                    'seconds.'),
    cfg.IntOpt('lead_minutes', default=5, min=0,
               help='How long before a lease starts its resources should be awake, in minutes. '
                    'The time to wake up is added to it.'),
    cfg.IntOpt('wake_minutes', default=10, min=0,
               help='How long a resource takes to wake up as long as nothing is known of it, in '
                    'minutes. Later it is the 95th percentile of its last wake-ups.'),
    cfg.IntOpt('wake_margin_percent', default=20, min=0,
               help='What is added to the learnt time to wake up, in percent.'),
    cfg.IntOpt('wake_limit_minutes', default=30, min=1,
               help='After how long a resource that does not wake up counts as broken, in '
                    'minutes. It is taken out of use, and leases get another one.'),
    cfg.IntOpt('settle_seconds', default=90, min=0,
               help='For how long a machine that falls asleep and is woken at once is not trusted '
                    'to be up, in seconds. It may still go off, and Nova counts the service of a '
                    'machine that is off as up for service_down_time (60).'),
    cfg.IntOpt('spare', default=1, min=0,
               help='How many free resources stay awake in each pool, or in each group of '
                    'spare_by.'),
    cfg.IntOpt('spare_percent', default=0, min=0, max=100,
               help='Which share of the resources stays awake and free, in percent. The greater '
                    'of this and spare counts.'),
    cfg.StrOpt('spare_by', default='',
               help='A property. Spare resources are counted for each of its values. Empty: for '
                    'each pool.'),
    cfg.IntOpt('min_awake_minutes', default=10, min=0,
               help='How long a resource stays awake at least, in minutes.'),
    cfg.IntOpt('min_asleep_minutes', default=10, min=0,
               help='How long a resource should be able to sleep at least, in minutes. One that '
                    'is needed earlier stays awake.'),
    cfg.IntOpt('cycles_per_day', default=12, min=0,
               help='How often a resource falls asleep in 24 hours at most.'),
    cfg.StrOpt('watts_property', default='saved_watts',
               help='The property that says how many watts less a resource draws asleep than '
                    'awake. Reports of saved energy read it.'),
    cfg.FloatOpt('watts', default=0, min=0,
                 help='How many watts less a machine draws asleep. Resources on it without that '
                      'property count for an equal part. 0: that is not known.'),
    cfg.IntOpt('at_once', default=16, min=1,
               help='How many machines are switched or asked at the same time.'),
    cfg.IntOpt('timeout_seconds', default=20, min=1,
               help='The time limit of each call of a power driver, in seconds.'),
    cfg.StrOpt('bmc_file', default='',
               help='A YAML file with the BMCs of the machines, for the driver redfish: {name: '
                    '{address, username, password, system, ca_file}}. The name is that of a host, '
                    'or what is before the "@" in the name of a storage back end. "*" stands for '
                    'all names; its values are defaults. Only the manager may be able to read '
                    'it.'),
    cfg.StrOpt('command', default='',
               help='The program of the driver command. It is called with "on", "off" or "state" '
                    'and the name of the machine; "state" prints "on" or "off".'),
    cfg.StrOpt('ironic_cloud', default='',
               help='The cloud in clouds.yaml with which the driver ironic logs in.'),
    cfg.StrOpt('node_property', default='',
               help='The property that has the name or UUID of the node in Ironic. Empty: the '
                    'name of the machine.'),
]


def register(conf):
    # A copy, because oslo.config stores values in the group object.
    conf.register_group(copy.deepcopy(GROUP))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]

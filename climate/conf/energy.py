# SPDX-License-Identifier: Apache-2.0
"""[energy]: switch off resources that nobody has leased."""
import unicodedata

from oslo_config import cfg
from oslo_config import types

from climate.conf import group


class PropertyName(types.String):
    """The name of a property in the Unicode form NFC, in which names are stored."""

    def __call__(self, value):
        return unicodedata.normalize('NFC', super().__call__(value))


GROUP = group.Group('energy', 'Sleep of resources that nobody has leased', (
    cfg.StrOpt('driver', default='',
               help='The power driver, an entry point of climate.power: redfish, ironic, command '
                    'or simulated. Empty: no resource ever sleeps. Before you empty it, set '
                    'spare_percent to 100 and wait until all resources are awake.'),
    cfg.IntOpt('poll_seconds', default=30, min=1,
               help='Seconds between two checks. Each decides which resources wake up or sleep.'),
    cfg.IntOpt('lead_minutes', default=5, min=0,
               help='Minutes before the start of a lease at which its resources should be awake. '
                    'Climate starts to wake them earlier by the time that this takes.'),
    cfg.IntOpt('wake_minutes', default=10, min=0,
               help='Minutes that a resource needs to wake up, as long as Climate has measured no '
                    'wake-up of it. After that Climate uses the 95th percentile of its latest '
                    'wake-ups.'),
    cfg.IntOpt('wake_margin_percent', default=20, min=0,
               help='Margin that is added to the measured time to wake up, in percent.'),
    cfg.IntOpt('wake_limit_minutes', default=30, min=1,
               help='Minutes after which a resource that does not wake up counts as broken. It '
                    'is taken out of use, and leases get another one.'),
    cfg.IntOpt('settle_seconds', default=90, min=0,
               help='Seconds for which a machine that was woken while it was falling asleep does '
                    'not count as awake. It may still switch off in this time, and Nova reports '
                    'the service of a machine that is off as up for service_down_time (60 '
                    'seconds).'),
    cfg.IntOpt('spare', default=1, min=0,
               help='Number of free resources that stay awake in each pool, or in each group '
                    'of spare_by.'),
    cfg.IntOpt('spare_percent', default=0, min=0, max=100,
               help='Share of the resources that stays awake and free, in percent. The greater '
                    'of this and spare counts.'),
    cfg.Opt('spare_by', type=PropertyName(), default='',
            help='A property. Spare resources are counted for each of its values. Empty: for '
                 'each pool.'),
    cfg.IntOpt('min_awake_minutes', default=10, min=0,
               help='Shortest time that a resource stays awake, in minutes.'),
    cfg.IntOpt('min_asleep_minutes', default=10, min=0,
               help='Shortest time for which a resource is put to sleep, in minutes. A resource '
                    'that is needed earlier stays awake.'),
    cfg.IntOpt('cycles_per_day', default=12, min=0,
               help='Largest number of times that a resource is put to sleep in 24 hours.'),
    cfg.Opt('watts_property', type=PropertyName(), default='saved_watts',
            help='Property with the number of watts that a resource saves while it is asleep. '
                 'Reports of saved energy read it.'),
    cfg.FloatOpt('watts', default=0, min=0,
                 help='Watts that a machine saves while it is asleep. Each of its resources '
                      'without watts_property counts for an equal part. 0: not known.'),
    cfg.IntOpt('at_once', default=16, min=1,
               help='Number of machines that are switched or polled at the same time.'),
    cfg.IntOpt('timeout_seconds', default=20, min=1,
               help='The time limit of each call of a power driver, in seconds.'),
    cfg.StrOpt('bmc_file', default='',
               help='A YAML file with the BMCs of the machines, for the driver redfish: {name: '
                    '{address, username, password, system, ca_file}}. The name is that of a host, '
                    'or the part before the "@" in the name of a storage back end. "*" stands for '
                    'all names; its values are defaults. Only the user of the manager must be able '
                    'to read the file.'),
    cfg.StrOpt('command', default='',
               help='The program of the driver command. It is called with "on", "off" or "state" '
                    'and the name of the machine; "state" prints "on" or "off".'),
    cfg.StrOpt('ironic_cloud', default='',
               help='The cloud in clouds.yaml with which the driver ironic logs in.'),
    cfg.Opt('node_property', type=PropertyName(), default='',
            help='The property that has the name or UUID of the node in Ironic. Empty: the '
                 'name of the machine.'),
))

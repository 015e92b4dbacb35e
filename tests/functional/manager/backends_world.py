# SPDX-License-Identifier: Apache-2.0
"""Storage back ends of the simulated cloud that sleep, and leases of capacity on them."""
import sleepers_world
from support import builders

from climate.domain import records
from climate.plugins import registry

TYPES = ['virtual:volume', 'physical:host']
#: Two back ends of the machine `storage`, and the only one of another machine.
SSD, HDD, TAPE = 'storage@ssd#ssd', 'storage@hdd#hdd', 'archive@tape#tape'
MACHINE = 'storage'


def configured(conf):
    """Configure back ends to sleep; return the classes of the plugins."""
    sleepers_world.configured(conf)
    classes = registry.load(TYPES)
    registry.register_options(conf, classes)
    conf.set_override('plugins', TYPES)
    conf.set_override('volume_seconds', 2, group='simulated')
    return classes


def enrol(manager, *names):
    """Enrol these back ends; return their Resources."""
    return [manager.client.create_resource(builders.an_admin(), 'backend', each, {})
            for each in names]


def room(size_gb=50, **more):
    """A request for capacity on back ends whose volumes are deleted at the end."""
    return records.ReservationRequest('virtual:volume', {
        'size_gb': size_gb, 'on_end': 'delete', **more})


def services(manager):
    """{service host: the Service of the back ends there}."""
    hosts = manager.cloud.as_service().storage_hosts
    return {each.host: each for each in hosts.services() if each.binary == hosts.BINARY}


def stranger(manager, type_name):
    """callable(size): somebody else's volume of a type begins; returns its id."""
    trust = manager.cloud.as_service().keystone.create_trust(builders.a_member('eve', 'other'))
    volumes = manager.cloud.as_user(trust.id).volumes
    return lambda size_gb=1: volumes.create('strange', size_gb, type_name, {})

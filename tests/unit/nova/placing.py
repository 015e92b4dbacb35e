# SPDX-License-Identifier: Apache-2.0
"""Hosts, and requests to place a server on them, as the scheduler filter gets them."""
import logging

from support import nova_standin

FLAVOR_KEY = 'aggregate_instance_extra_specs:reservation'


def host(name, *aggregates):
    return nova_standin.Host(name, list(aggregates))


def pool(name='r1', **metadata):
    return nova_standin.Aggregate(name, {
        'availability_zone': f'climate_{name}', 'climate:owner': 'me', **metadata})


FREEPOOL = nova_standin.Aggregate('freepool', {})
ALL = (host('free', FREEPOOL), host('mine', pool()), host('plain'))
WITH_R1 = {'reservation': ['r1']}


def request(hints=(), **options):
    return nova_standin.Request(dict(hints), **options)


def naming(number):
    return {'reservation': [f'r{index}' for index in range(number)]}


def sized(vcpus=1, memory_mb=1024, root_gb=10, ephemeral_gb=0, swap=0, **extra_specs):
    return nova_standin.Flavor(extra_specs, vcpus, memory_mb, root_gb, ephemeral_gb, swap)


def flavored(reservation_id='r2'):
    return request(flavor=nova_standin.Flavor({FLAVOR_KEY: reservation_id}))


def passed(climate_filter, wanted, hosts=ALL):
    return [each.host for each in climate_filter.filter_all(iter(hosts), wanted)]


def told(caplog):
    return [record.getMessage() for record in caplog.records
            if record.levelno == logging.INFO and 'has no host' in record.getMessage()]

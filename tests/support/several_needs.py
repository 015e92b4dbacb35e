# SPDX-License-Identifier: Apache-2.0
"""A resource type for tests with three needs, two in one pool and one in another."""
from climate import errors
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base

EVERYTHING = requirement.parse('')


class RackPool(base.Pool):
    """Racks, which are given whole. The cloud knows all whose name begins with "rack"."""

    name = 'rack'

    def discover(self, cloud, name):
        if not name.startswith('rack'):
            raise errors.ResourceNotFound(pool=self.name, resource=name)
        return base.Found(name, {'racks': 1}, {})


class DiskPool(base.Pool):
    """Disks of 100 GB each, which are shared."""

    name = 'disk'
    capacity_names = {'gb': 'gb'}

    def discover(self, cloud, name):
        return base.Found(name, {'gb': 100}, {})


class ClusterPlugin(base.ResourcePlugin):
    """A cluster of one master and some workers, on a rack each, and a share of a disk.

    :ivar calls: what was called, as (method, {need key: names of the resources}).
    """

    resource_type = 'test:cluster'
    pools = (RackPool, DiskPool)
    schema = {
        'type': 'object',
        'properties': {'workers': {'type': 'integer', 'minimum': 1},
                       'gb': {'type': 'integer', 'minimum': 1}},
        'required': ['workers', 'gb'],
        'additionalProperties': False,
    }
    example = {'workers': 2, 'gb': 40}

    def __init__(self, conf):
        super().__init__(conf)
        self.calls = []

    def needs(self, request):
        workers = request['workers']
        disk = {'gb': request['gb']}
        return [base.Need(key, pool, selection.Demand(amount, count, count), EVERYTHING)
                for key, pool, amount, count in (('master', 'rack', selection.WHOLE, 1),
                                                 ('workers', 'rack', selection.WHOLE, workers),
                                                 ('data', 'disk', disk, 1))]

    def start(self, cloud, lease, reservation, resources):
        self._note('start', resources)
        return {'made': sorted(resources)}

    def before_end(self, cloud, lease, reservation, resources):
        self._note('before_end', resources)

    def end(self, cloud, lease, reservation, resources):
        self._note('end', resources)

    def _note(self, method, resources):
        self.calls.append((method, {key: [each.name for each in some]
                                    for key, some in resources.items()}))

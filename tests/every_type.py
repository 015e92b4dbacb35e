# SPDX-License-Identifier: Apache-2.0
"""The resource types whose pools are not hosts, for tests that go through all of them.

Another type becomes part of those tests by a line in POOLS.
"""
import dataclasses

import builders

from climate.cloud.simulated import neutron
from climate.domain import records

SSD = 'storage@ssd#ssd'


@dataclasses.dataclass(frozen=True)
class Leasable:
    """A pool on the simulated cloud and a type that draws from it.

    :ivar names: the names with which an administrator enrols resources.
    :ivar fields: the other fields of an enrolment.
    :ivar request: a request that takes a whole resource, or `parts` of which do.
    :ivar parts: how many such requests use up one resource.
    :ivar refused: the beginning of what is said if only one of them is wanted and none is left.
    """

    pool: str
    names: tuple
    type: str
    request: dict
    refused: str
    fields: dict = dataclasses.field(default_factory=dict)
    parts: int = 1

    def enrol(self, manager, count=1):
        """Enrol the first `count` resources; return them."""
        return [manager.client.create_resource(builders.an_admin(), self.pool, name, {},
                                               self.fields) for name in self.names[:count]]

    def asked(self, **more):
        """Return a ReservationRequest."""
        return records.ReservationRequest(self.type, {**self.request, **more})

    def body(self, name):
        """Return the body of POST /v1/leases at REST 1.1."""
        return {'name': name, 'end': '2030-05-01 13:00', 'reservations': [
            {'resource_type': self.type, **self.request}]}


POOLS = (
    Leasable('address', tuple(f'172.24.4.{number}' for number in range(210, 226)),
             'virtual:floatingip', {'network_id': neutron.PUBLIC, 'amount': 1},
             'Only 0 of 1 addresses are free', fields={'network_id': neutron.PUBLIC}),
    Leasable('backend', (SSD, 'storage@hdd#hdd'), 'virtual:volume',
             {'size_gb': 100, 'on_end': 'delete'},
             '1 volume of 100 GB was asked for, and none fits', parts=2),
)
#: For pytest.mark.parametrize.
IDS = [each.pool for each in POOLS]

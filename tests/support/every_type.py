# SPDX-License-Identifier: Apache-2.0
"""The resource types whose pools are not hosts, for tests that go through all of them.

Another type becomes part of those tests by a line in POOLS.
"""
import contextlib
import dataclasses

from climate.cloud.simulated import neutron
from climate.domain import records
from support import builders

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

    def enrol(self, manager, count=1, **properties):
        """Enrol the first `count` resources; return them."""
        return [manager.client.create_resource(builders.an_admin(), self.pool, name, properties,
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
    Leasable('segment', tuple(f'physnet1:vlan:{number}' for number in range(3000, 3016)),
             'virtual:network', {}, 'Only 0 of 1 segments are free'),
)
#: For pytest.mark.parametrize.
IDS = [each.pool for each in POOLS]


@contextlib.contextmanager
def by_hand(manager, redelegable=False):
    """The faces of the project demo, for what its users do beside Climate."""
    keystone = manager.cloud.as_service().keystone
    trust = keystone.create_trust(builders.a_member(), redelegable=redelegable)
    yield manager.cloud.as_user(trust.id)
    keystone.delete_trust(trust.id)


def own_volume(manager, name='data', size_gb=10):
    """The id of a new volume of the project demo, which Climate did not make."""
    with by_hand(manager) as owner:
        return owner.volumes.create(name, size_gb, 'ordinary', {})


def own_stack(manager, name='mine', template=None):
    """The id of a new stack of the project demo, which Climate did not make."""
    with by_hand(manager, redelegable=True) as owner:
        return owner.stacks.create({'name': name, 'template': template or {
            'heat_template_version': '2021-04-16',
            'resources': {'word': {'type': 'OS::Heat::RandomString'}}}})


def leased_volume(volume_id, **more):
    return records.ReservationRequest('virtual:volume', {'resource_id': volume_id, **more})


def leased_stack(stack_id, **more):
    return records.ReservationRequest('virtual:stack', {'resource_id': stack_id, **more})

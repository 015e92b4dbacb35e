# SPDX-License-Identifier: Apache-2.0
"""Parts of a host that flavors ask for besides CPUs, memory and disk: counted, or refused."""
import pytest
import stacks
from support import builders
from support import thinning

from climate import errors
from climate.domain import records

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def manager(manager):
    """Two hosts that can encrypt the memory of two servers each, and one that cannot."""
    for name, traits in (('sev-1', ['HW_CPU_X86_AMD_SEV']), ('sev-2', ['HW_CPU_X86_AMD_SEV']),
                         ('plain', [])):
        manager.cloud.add_host(name, traits=traits)
        manager.client.create_resource(builders.an_admin(), 'host', name, {})
    manager.cloud.add_flavor('encrypted', 'encrypted', extra_specs={'hw:mem_encryption': 'true'})
    manager.cloud.add_flavor('gpu', 'gpu', extra_specs={'pci_passthrough:alias': 'gpu:1'})
    manager.cloud.add_flavor('fpga', 'fpga', extra_specs={'accel:device_profile': 'fpga'})
    manager.cloud.add_flavor('cores', 'cores', vcpus=2, extra_specs={
        'hw:cpu_policy': 'dedicated', 'pci_passthrough:alias': 'gpu:1'})
    return manager


def _capacity(_manager, flavor, count=1):
    return builders.flavor_instances(count, flavor_id=flavor)


def _server(manager, flavor):
    server = manager.cloud.boot('demo', 'mine', flavor='1')
    with manager.cloud.state() as connection:
        connection.execute("UPDATE servers SET flavor = json_set(flavor, '$.extra_specs', json(("
                           'SELECT extra_specs FROM flavors WHERE id = ?))) WHERE id = ?',
                           (flavor, server.id))
    return builders.a_server(server)


def _server_to_come(_manager, flavor):
    return builders.a_server(flavor_id=flavor)


def _stack(_manager, flavor):
    template = stacks.template({'size': {'type': 'string', 'default': flavor}}, vm=stacks.server())
    return stacks.asked(template, flavor_parameter='size')


def _cluster(_manager, flavor):
    return records.ReservationRequest('virtual:cluster', {
        'cluster_template_id': 'kubernetes', 'node_count': 1, 'flavor_id': flavor})


FORMS = [_capacity, _server, _server_to_come, _stack, _cluster]


@pytest.mark.parametrize('flavor', thinning.few(['gpu', 'fpga', 'cores'], 1))
@pytest.mark.parametrize('form', FORMS)
def test_a_flavor_with_devices_that_nothing_counts_is_refused(manager, form, flavor):
    with pytest.raises(errors.BadField, match='has devices of a host') as caught:
        manager.book(form(manager, flavor), start=NOON + hours(1))
    assert 'ask your operator' in caught.value.message


@pytest.mark.parametrize('form', FORMS)
def test_servers_with_encrypted_memory_are_leased_on_hosts_that_can_encrypt_it(manager, form):
    lease = manager.book(form(manager, 'encrypted'), start=NOON + hours(1))
    hosts = {each.id: each.name for each in
             manager.client.list_resources(builders.an_admin(), 'host')}
    assert any(hosts[key].startswith('sev') for key in lease.reservations[0].resource_ids)


def test_no_more_servers_with_encrypted_memory_are_leased_than_hosts_can_have(manager):
    lease = manager.active(_capacity(manager, 'encrypted', 4))
    for number in range(4):
        server = manager.cloud.boot('demo', f'vm-{number}', flavor=lease.reservations[0].id)
        assert server.host.startswith('sev')
    with pytest.raises(errors.NotEnough, match='3 hosts are enrolled, 2 with capacity for one'):
        manager.book(_capacity(manager, 'encrypted'))
    manager.active(_capacity(manager, '1'))


def test_if_no_host_is_known_to_encrypt_memory_the_refusal_says_so(manager):
    for each in manager.client.list_resources(builders.an_admin(), 'host'):
        if each.name != 'plain':
            manager.client.delete_resource(builders.an_admin(), 'host', each.id)
    with pytest.raises(errors.NotEnough, match='no host is known to have MEM_ENCRYPTION_CONTEXT'):
        manager.book(_capacity(manager, 'encrypted'))

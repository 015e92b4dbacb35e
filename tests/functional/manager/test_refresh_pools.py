# SPDX-License-Identifier: Apache-2.0
"""Resources of every pool that vanish, shrink or no longer fit are logged."""
import logging

import pytest
from support import builders
from support import every_type

from climate import errors
from climate.cloud.simulated import neutron
from climate.domain import lifecycle
from climate.manager.audit import comparison

ADDRESSES, BACKENDS = every_type.POOLS[:2]
ADDRESS, BACKEND = f'172.24.4.210@{neutron.PUBLIC}', every_type.SSD
POOL = [['172.24.4.10', '172.24.4.220']]


@pytest.fixture
def enrolled(manager):
    return {each.pool: each.enrol(manager) for each in every_type.POOLS}


def drifts(manager):
    """{what: problem} of what an audit finds unfit."""
    return {each.what: each.problem for each in comparison.Auditor(manager.core).compare()
            if each.kind == 'unfit'}


def warned(caplog):
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


def change(manager, statement, *values):
    """Change a back end in the cloud, as its administrator can."""
    with manager.cloud.state() as connection:
        connection.execute(statement, values)


def delete_backend(manager):
    change(manager, 'DELETE FROM backends WHERE name = ?', BACKEND)


def publish_type(manager):
    change(manager, "INSERT INTO volume_types VALUES ('t', 'fast', 1, ?)",
           '{"volume_backend_name": "ssd"}')


CASES = {
    'a network that is gone': (
        lambda manager: manager.cloud.network.delete_network(neutron.PUBLIC),
        f'address {ADDRESS}', 'the cloud does not know it any more'),
    'an address that Neutron gives to everybody': (
        lambda manager: manager.cloud.network.set_pools(neutron.PUBLIC, POOL),
        f'address {ADDRESS}', 'is in the allocation pool 172.24.4.10 to 172.24.4.220'),
    'a back end that is gone': (
        delete_backend, f'backend {BACKEND}', 'the cloud does not know it any more'),
    'a back end that a public type can fill': (
        publish_type, f'backend {BACKEND}', 'volumes of these public types could use its capacity'),
}


@pytest.mark.parametrize('case', CASES)
def test_a_resource_that_could_not_be_enrolled_any_more_is_logged(
        manager, enrolled, poll_cloud, caplog, case):
    happen, what, why = CASES[case]
    assert poll_cloud() == []
    assert drifts(manager) == {}
    happen(manager)
    assert poll_cloud() == []
    [line] = [each for each in warned(caplog) if each.startswith(what)]
    assert why in line
    poll_cloud()
    assert sum(each.startswith(what) for each in warned(caplog)) == 1
    found = drifts(manager)
    assert list(found) == [what]
    assert why in found[what]
    manager.enrol(1)
    assert poll_cloud() == []


def test_addresses_of_a_missing_network_are_logged(manager, poll_cloud, caplog):
    ADDRESSES.enrol(manager, 3)
    manager.cloud.network.delete_network(neutron.PUBLIC)
    poll_cloud()
    assert len(warned(caplog)) == 3
    assert len(drifts(manager)) == 3


def test_a_resource_that_fits_again_is_logged(manager, enrolled, poll_cloud, caplog):
    caplog.set_level(logging.INFO)
    manager.cloud.network.set_pools(neutron.PUBLIC, POOL)
    poll_cloud()
    manager.cloud.network.set_pools(neutron.PUBLIC, [])
    poll_cloud()
    assert f'address {ADDRESS}: nothing is wrong with it any more' in caplog.text
    assert drifts(manager) == {}


@pytest.mark.parametrize('withdrawn', [1, 2])
def test_a_missing_or_withdrawn_resource_is_not_logged_as_repaired(
        manager, poll_cloud, caplog, withdrawn):
    caplog.set_level(logging.INFO)
    addresses = ADDRESSES.enrol(manager, 2)
    manager.cloud.network.set_pools(neutron.PUBLIC, POOL)
    poll_cloud()
    manager.cloud.network.delete_network(neutron.PUBLIC)
    poll_cloud()
    for address in addresses[:withdrawn]:
        manager.client.delete_resource(builders.an_admin(), 'address', address.id)
    poll_cloud()
    assert 'the cloud knows it again' not in caplog.text
    assert 'nothing is wrong with it any more' not in caplog.text


def test_a_back_end_that_shrinks_offers_less_and_its_leases_are_flagged(
        manager, enrolled, poll_cloud, caplog):
    lease = manager.book(BACKENDS.asked(amount=2))
    manager.expect(lease, lifecycle.ACTIVE, manager.clock() + builders.minutes(1))
    change(manager, 'UPDATE backends SET total_gb = ? WHERE name = ?', '150', BACKEND)
    assert poll_cloud() == [BACKEND]
    assert manager.lease(lease).degraded
    assert any(lease.id in each for each in warned(caplog))
    manager.delete(lease)
    manager.run_until(manager.clock() + builders.minutes(5))
    manager.book(BACKENDS.asked(), end=builders.at(9))
    with pytest.raises(errors.NotEnough):
        manager.book(BACKENDS.asked(), end=builders.at(9))


@pytest.mark.parametrize('call', ['neutron.network', 'cinder.backends', 'nova.hypervisors'])
def test_a_service_that_does_not_answer_stops_no_other_pool(
        manager, enrolled, poll_cloud, call):
    manager.enrol(1)
    change(manager, 'UPDATE backends SET total_gb = ? WHERE name = ?', '150', BACKEND)
    manager.cloud.change_host('compute-1', vcpus=48)
    manager.cloud.fail(call, 5, errors.CloudUnreachable(service='it', reason='no answer'))
    expected = {'neutron.network': {BACKEND, 'compute-1'}, 'cinder.backends': {'compute-1'},
                'nova.hypervisors': {BACKEND}}[call]
    assert set(poll_cloud()) == expected

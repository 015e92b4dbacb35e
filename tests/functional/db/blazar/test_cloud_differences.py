# SPDX-License-Identifier: Apache-2.0
"""Trusts and hosts that are in Blazar's database, but not in the cloud."""
import pytest
from support import builders

from climate.cmd import blazar_cloud
from climate.db.blazar import cloud_differences


@pytest.fixture
def open_leases(converted):
    """The converted leases that are not over."""
    return [imported.lease for imported in converted().leases
            if imported.lease.state != 'TERMINATED']


def test_a_lease_whose_trust_is_gone_is_reported_with_the_way_out(converted, open_leases):
    present = {lease.trust_id for lease in open_leases[1:]}
    [problem] = cloud_differences.missing_trusts(converted(), present)
    assert open_leases[0].id in problem.what and open_leases[0].trust_id in problem.why
    assert problem.advice and not problem.is_loss


def test_a_wrong_user_of_keystone_is_one_problem(converted, open_leases):
    [problem] = cloud_differences.missing_trusts(converted(), {'another'})
    assert f'all {len(open_leases)} leases' in problem.what
    assert '[keystone]' in problem.advice


def test_leases_with_their_trusts_and_hosts_of_nova_are_no_problem(converted, open_leases):
    assert cloud_differences.missing_trusts(
        converted(), {lease.trust_id for lease in open_leases}) == []
    assert cloud_differences.missing_hosts(
        converted(), {f'compute{number}' for number in range(1, 5)}) == []


def test_a_host_that_nova_no_longer_has_is_reported(converted):
    [problem] = cloud_differences.missing_hosts(converted(), {'compute1', 'compute2', 'compute3'})
    assert 'compute4' in problem.what and problem.advice and not problem.is_loss


def test_a_cloud_that_cannot_be_asked_is_reported_(
        conf, manager, converted):
    conf.set_override('driver', 'openstack', group='cloud')
    found = blazar_cloud.compared(conf, manager.core.registry, converted())
    assert [(problem.what, problem.is_loss) for problem in found.problems] == [
        ('trusts', False), ('hosts', False)]
    assert all('[keystone]' in problem.advice for problem in found.problems)


def test_an_import_is_compared_with_the_cloud(conf, manager, converted, open_leases, tmp_path):
    conf.set_override('state', str(tmp_path / 'cloud'), group='simulated')
    other = builders.Manager(conf, manager.database, manager.clock)
    other.cloud.add_host('compute1')
    found = blazar_cloud.compared(conf, manager.core.registry, converted())
    assert [problem.what for problem in found.problems] == [
        f'the trusts of all {len(open_leases)} leases', 'host compute2', 'host compute4',
        'host compute3']

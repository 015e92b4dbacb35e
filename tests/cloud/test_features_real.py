# SPDX-License-Identifier: Apache-2.0
"""Every pair of the features that meet in Nova, side by side on the real cloud."""
import itertools

import features
import features_of_hosts as hosts
import features_of_servers as servers
import leaks
import pytest
import scene as scenes
import zoning

pytestmark = pytest.mark.services

# In this order: what changes the whole cloud comes first, and what acts on another lease last.
ALL = (servers.DefaultLease, hosts.Energy, servers.Hint, servers.Cluster, servers.Stack,
       hosts.Clearing, servers.Swap, hosts.Idle)


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.STACK, *leaks.CLUSTER)


@pytest.fixture(scope='module', autouse=True)
def zones(climate, people, cloud):
    """Two hosts are in each of two zones, and the last one is open to everybody."""
    names = cloud.compute_hosts
    with zoning.zones(scenes.Scene(cloud, people), {
            features.NEAR: names[:2], features.FAR: names[2:4]}, but=names[3:]):
        yield


@pytest.mark.parametrize(('first', 'second'), [
    pytest.param(*pair, id='-'.join(each.__name__ for each in pair))
    for pair in itertools.combinations(ALL, 2)])
def test_two_features_work_side_by_side(scene, tmp_path, first, second):
    first, second = first(scene, tmp_path), second(scene, tmp_path)
    second.prepare()
    first.prepare()
    first.begin(second)
    second.begin(first)
    first.holds()
    second.holds()
    second.end()
    first.holds()
    first.end()

# SPDX-License-Identifier: Apache-2.0
"""The choice of hosts and targets in host clearing, compared with trying all of them."""
import itertools

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from climate.domain.clearing import choice

NAMES = tuple('abcde')


def _server(name, size=1, targets=NAMES, **more):
    return choice.MovableServer(name, {'VCPU': size}, frozenset(targets), **more)


def _count(host):
    return (len(host.servers),)


@st.composite
def _scenes(draw):
    """(hosts, free, wanted, names of kept hosts), small enough to try everything."""
    hosts, number = [], itertools.count()
    for name in NAMES[:draw(st.integers(1, 4))]:
        hosts.append(choice.ClearableHost(name, tuple(
            _server(f's{next(number)}', draw(st.integers(1, 3)), draw(st.sets(
                st.sampled_from([each for each in NAMES if each != name]), max_size=4)),
                memory_mb=draw(st.integers(0, 3)), running=draw(st.booleans()))
            for _ in range(draw(st.integers(0, 2))))))
    free = draw(st.dictionaries(st.sampled_from(NAMES), st.fixed_dictionaries(
        {'VCPU': st.integers(0, 5)})))
    kept = draw(st.sets(st.sampled_from([host.name for host in hosts]), max_size=1))
    return hosts, free, draw(st.integers(len(kept), len(hosts))), kept


def _ways(cleared, free):
    """All ways to place the servers of these hosts, as {server id: target}."""
    names = {host.name for host in cleared}
    servers = [server for host in cleared for server in host.servers]
    able = [sorted((server.targets & set(free)) - names) for server in servers]
    for targets in itertools.product(*able):
        used = dict.fromkeys(free, 0)
        for server, target in zip(servers, targets, strict=True):
            used[target] += server.takes['VCPU']
        if all(used[name] <= free[name]['VCPU'] for name in free):
            yield {server.id: target for server, target in zip(servers, targets, strict=True)}


def _is_possible(cleared, free):
    return next(_ways(cleared, free), None) is not None


def _cheapest(hosts, free, wanted, kept, cost):
    """The least cost of all that is possible, or None."""
    costs = []
    for cleared in itertools.combinations(hosts, wanted):
        if kept <= {host.name for host in cleared} and _is_possible(cleared, free):
            costs.append(tuple(map(sum, zip(*map(cost, cleared), strict=True))))
    return min(costs, default=None)


@pytest.mark.proof
@given(_scenes(), st.sampled_from([
    _count, lambda host: (sum(each.memory_mb for each in host.servers), len(host.servers))]))
@settings(max_examples=400)
def test_a_plan_is_as_cheap_as_the_cheapest_there_is_and_none_is_missed(scene, cost):
    hosts, free, wanted, kept = scene
    best = _cheapest(hosts, free, wanted, kept, cost)
    try:
        plan = choice.plan(hosts, free, wanted, cost, kept)
    except choice.Impossible:
        assert best is None
        return
    cleared = [host for host in hosts if host.name in plan.hosts]
    assert plan.cost == best
    assert kept <= set(plan.hosts)
    assert len(plan.hosts) == len(cleared) == wanted
    assert {move.server_id: move.target for move in plan.moves} in list(_ways(cleared, free))
    sources = {server.id: host.name for host in cleared for server in host.servers}
    assert {move.server_id: move.source for move in plan.moves} == sources


@given(_scenes())
def test_an_impossible_choice_reports_fewer_hosts_than_wanted(scene):
    hosts, free, wanted, kept = scene
    try:
        choice.plan(hosts, free, wanted, _count, kept)
    except choice.Impossible as error:
        assert error.possible <= max(wanted - 1, 0)
        for name in error.reasons:
            [host] = [each for each in hosts if each.name == name]
            assert not _is_possible([host], free)


def test_two_servers_do_not_share_room_for_one():
    hosts = [choice.ClearableHost('a', (_server('s1'), _server('s2')))]
    with pytest.raises(choice.Impossible) as caught:
        choice.plan(hosts, {'b': {'VCPU': 1}}, 1, _count)
    assert caught.value.reasons == {'a': 'the other hosts have no capacity for all of its servers'}
    plan = choice.plan(hosts, {'b': {'VCPU': 1}, 'c': {'VCPU': 1}}, 1, _count)
    assert {move.target for move in plan.moves} == {'b', 'c'}


def test_a_server_that_no_host_takes_is_named():
    with pytest.raises(choice.Impossible) as caught:
        choice.plan([choice.ClearableHost('a', (_server('s1', targets='a'),)),
                     choice.ClearableHost('b')], {'a': {'VCPU': 9}, 'b': {'VCPU': 9}}, 2, _count)
    assert caught.value.reasons == {'a': 'no other host has capacity for server s1'}
    assert caught.value.possible == 1


def test_a_host_that_is_cleared_gets_no_servers():
    hosts = [choice.ClearableHost('a', (_server('s1'),)),
             choice.ClearableHost('b', (_server('s2'),))]
    free = {'a': {'VCPU': 9}, 'b': {'VCPU': 9}}
    assert choice.plan(hosts, free, 1, _count).moves == (choice.ChosenMove('s1', 'a', 'b'),)
    with pytest.raises(choice.Impossible):
        choice.plan(hosts, free, 2, _count)


def test_the_server_goes_to_the_host_with_the_most_memory_left():
    hosts = [choice.ClearableHost('a', (_server('s1'),))]
    free = {'b': {'VCPU': 9, 'MEMORY_MB': 10}, 'c': {'VCPU': 9, 'MEMORY_MB': 20}}
    assert choice.plan(hosts, free, 1, _count).moves[0].target == 'c'


def test_a_class_that_a_host_does_not_list_is_not_counted_there():
    host = choice.ClearableHost('a', (choice.MovableServer('s1', {'DISK_GB': 9}, frozenset('b')),))
    assert choice.plan([host], {'b': {'VCPU': 1}}, 1, _count).moves[0].target == 'b'


@pytest.mark.proof
def test_many_hosts_full_of_servers_are_planned_in_little_time():
    hosts = [choice.ClearableHost(f'h{number}', tuple(
        choice.MovableServer(f's{number}-{each}', {'VCPU': 1 + each % 2},
                             frozenset(f'h{other}' for other in range(60)))
        for each in range(10))) for number in range(60)]
    free = {host.name: {'VCPU': 2} for host in hosts}
    plan = choice.plan(hosts, free, 3, _count)
    assert len(plan.moves) == 30
    with pytest.raises(choice.Impossible):
        choice.plan(hosts, free, 10, _count)

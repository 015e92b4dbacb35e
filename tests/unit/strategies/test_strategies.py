# SPDX-License-Identifier: Apache-2.0
"""Each strategy prefers what its name says; an unknown one is refused with the known names."""
import types

import pytest

from climate import errors
from climate import strategies
from climate.domain.clearing import choice

CONF = types.SimpleNamespace(acquire=types.SimpleNamespace(
    weight_instances=1, weight_running=10, weight_memory_gb=0.5))


def _host(name, *servers):
    """A Host; servers are pairs (memory in MB, whether it runs)."""
    return choice.ClearableHost(name, tuple(
        choice.MovableServer(f'{name}{number}', {}, frozenset(['free']), memory, running)
        for number, (memory, running) in enumerate(servers)))


ONE_LARGE = _host('one large', (8192, True))
TWO_SMALL = _host('two small', (512, True), (512, True))
THREE_STOPPED = _host('three stopped', *[(16384, False)] * 3)


@pytest.mark.parametrize('name, order', [
    ('fewest-instances', [ONE_LARGE, TWO_SMALL, THREE_STOPPED]),
    ('least-memory', [THREE_STOPPED, TWO_SMALL, ONE_LARGE]),
    ('stopped-first', [THREE_STOPPED, ONE_LARGE, TWO_SMALL]),
    ('cheapest', [THREE_STOPPED, ONE_LARGE, TWO_SMALL])])
def test_hosts_are_cleared_in_the_order_of_the_strategy(name, order):
    strategy = strategies.load(CONF, name)
    hosts = [ONE_LARGE, TWO_SMALL, THREE_STOPPED]
    assert sorted(hosts, key=strategy.cost) == order
    for count in (1, 2):
        plan = choice.plan(hosts, {'free': {}}, count, strategy.cost)
        assert plan.hosts == tuple(host.name for host in order[:count])


def test_cheapest_adds_up_the_weights():
    strategy = strategies.load(CONF, 'cheapest')
    assert strategy.cost(ONE_LARGE) == (1 + 10 + 8 * 0.5,)
    assert strategy.cost(THREE_STOPPED) == (3,)


def test_an_unknown_strategy_is_refused_with_the_known():
    with pytest.raises(errors.BadField, match=(
            'cheapest, fewest-instances, least-memory, stopped-first')):
        strategies.load(CONF, 'by-dice')


def test_all_installed_strategies_are_named_and_can_be_loaded():
    assert strategies.names() == [
        'cheapest', 'fewest-instances', 'least-memory', 'stopped-first']
    for name in strategies.names():
        assert len(strategies.load(CONF, name).cost(ONE_LARGE)) > 0

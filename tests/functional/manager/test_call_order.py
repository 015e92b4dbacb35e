# SPDX-License-Identifier: Apache-2.0
"""Reservations that depend on others start after these and end before them, also on failures."""
import acts
import pytest
from support import builders
from support import crashing
from support import step_plugin

from climate import errors
from climate.domain import lifecycle
from climate.plugins import registry

NOON, hours, seconds = builders.NOON, builders.hours, builders.seconds
step = step_plugin.step
BUSY = errors.StillBusy(service='Neutron', reason='not yet.')


@pytest.fixture
def manager(conf, database, clock):
    """A manager with the type of the tests alone."""
    return builders.Manager(conf, database, clock, classes={'test:step': step_plugin.StepPlugin})


@pytest.fixture
def plugin(manager):
    return manager.core.registry.plugin('test:step')


def stack():
    """A server on two networks, with a volume of its own, and a probe of the server."""
    return (step('probe', 'server'), step('server', 'net', 'storage'), step('volume'),
            step('net'), step('storage'))


STARTS = [('start', each) for each in ('volume', 'net', 'storage', 'server', 'probe')]
ENDS = [('end', each) for each in ('probe', 'volume', 'server', 'net', 'storage')]


def states(manager, lease):
    return {each.label: each.state for each in manager.lease(lease).reservations}


def binding(manager, lease, label):
    [found] = [each for each in manager.lease(lease).reservations if each.label == label]
    return found.binding


def test_each_starts_after_what_it_depends_on_and_ends_before_it(manager, plugin):
    lease = manager.active(*stack())
    assert plugin.calls == [*STARTS, *(
        ('before_end', each) for each in ('probe', 'server', 'volume', 'net', 'storage'))]
    plugin.calls.clear()
    manager.run_until(NOON + hours(1))
    assert plugin.calls == ENDS
    assert manager.lease(lease).state == lifecycle.TERMINATED


def test_the_order_is_that_of_the_request_where_nothing_depends_on_another(manager, plugin):
    manager.active(step('b'), step(), step('a'))
    manager.run_until(NOON + hours(1))
    assert [label for method, label in plugin.calls if method == 'start'] == ['b', None, 'a']
    assert [label for method, label in plugin.calls if method == 'end'] == ['b', None, 'a']


def test_a_dependent_sees_what_was_made_a_moment_ago(manager):
    lease = manager.active(step('server', 'net'), step('net', size=3))
    assert binding(manager, lease, 'server')['saw'] == {'net': ['active', 1, 3]}


def test_the_order_is_kept_for_what_is_prepared(manager, plugin):
    manager.book(
        step('c', 'b', prepares=True), step('b', 'a'), step('a', prepares=True),
        start=NOON + hours(1))
    manager.run()
    assert plugin.calls == [('prepare', 'a'), ('prepare', 'c')]


def test_a_dependent_waits_until_what_it_depends_on_is_there_and_the_others_go_on(manager, plugin,
                                                                                  clock):
    plugin.troubles['start', 'net'] = BUSY
    lease = manager.book(*stack())
    manager.run()
    assert plugin.calls == STARTS[:3]
    assert states(manager, lease) == {'probe': 'pending', 'server': 'pending', 'volume': 'active',
                                      'net': 'pending', 'storage': 'active'}
    assert manager.lease(lease).state == lifecycle.PENDING
    plugin.troubles.clear()
    plugin.calls.clear()
    manager.run_until(clock() + seconds(30))
    assert plugin.calls[:5] == STARTS
    assert set(states(manager, lease).values()) == {'active'}


def test_started_reservations_end_if_the_rest_cannot_start(manager, plugin):
    plugin.troubles['start', 'server'] = acts.NO
    lease = manager.book(*stack())
    lease = manager.expect(lease, lifecycle.TERMINATED, NOON + builders.minutes(50))
    assert 'waits for server.' in lease.reason
    assert plugin.calls[-5:] == ENDS
    assert set(states(manager, lease).values()) == {'deleted'}
    told = acts.told(manager, lease)
    [line] = [each for each in told if each.what == 'end early']
    assert 'So the reservations that had started were ended' in line.why
    assert acts.news(manager).count('lease.error') == 1
    calls = len(plugin.calls)
    plugin.troubles.clear()
    manager.run_until(NOON + hours(2))
    assert len(plugin.calls) == calls


@pytest.mark.proof
def test_a_start_without_an_order_is_healed(manager, plugin):
    plugin.troubles['start', 'b'] = acts.NO
    lease = manager.book(step('a'), step('b'))
    manager.expect(lease, lifecycle.ERROR, NOON + builders.minutes(50))
    assert states(manager, lease) == {'a': 'active', 'b': 'error'}


@pytest.mark.proof
def test_a_failure_stops_only_what_depends_on_it_and_the_lease_tells_who_waits(conf, manager,
                                                                               plugin):
    conf.set_override('take_back_partial_starts', False, group='manager')
    plugin.troubles['start', 'server'] = acts.NO
    lease = manager.book(*stack())
    manager.run_until(NOON + builders.minutes(50))
    lease = manager.lease(lease)
    assert ('start', 'probe') not in plugin.calls
    assert lease.state == lifecycle.ERROR
    assert states(manager, lease) == {'probe': 'pending', 'server': 'error', 'volume': 'active',
                                      'net': 'active', 'storage': 'active'}
    assert 'waits for server.' in lease.reason
    plugin.troubles.clear()
    manager.expect(lease, lifecycle.ACTIVE, NOON + builders.minutes(59))
    assert [each for each in plugin.calls if each[0] == 'start'][-5:] == STARTS


def test_a_reservation_stays_until_its_dependants_have_ended(manager, plugin, clock):
    lease = manager.active(*stack())
    plugin.troubles['end', 'server'] = acts.NO
    plugin.calls.clear()
    manager.delete(lease)
    manager.run()
    assert plugin.calls == ENDS[:3]
    assert states(manager, lease) == {'probe': 'deleted', 'server': 'error', 'volume': 'deleted',
                                      'net': 'active', 'storage': 'active'}
    plugin.troubles.clear()
    manager.run_until(clock() + builders.minutes(10))
    assert plugin.calls[3:] == [ENDS[2], *ENDS[3:]]
    assert manager.lease(lease).deleted_at is not None


def test_a_reservation_is_not_started_if_its_dependency_is_gone(manager, plugin):
    plugin.troubles['start', 'net'] = errors.TargetGone(kind='server', target_id='s')
    lease = manager.book(step('server', 'net'), step('net'), step('volume'))
    manager.run()
    assert ('start', 'server') not in plugin.calls
    assert states(manager, lease) == {'server': 'error', 'net': 'deleted', 'volume': 'active'}
    manager.run_until(NOON + builders.minutes(50))
    lease = manager.lease(lease)
    assert 'depends on net, which is over' in lease.reason
    manager.run_until(NOON + hours(1))
    assert plugin.calls[-2:] == [('end', 'server'), ('end', 'volume')]


def test_a_change_of_a_running_lease_is_carried_out_in_the_same_order(manager, plugin):
    lease = manager.active(step('server', 'net'), step('net', size=1))
    plugin.calls.clear()
    manager.change_reservation(lease, 1, size=2)
    manager.run()
    assert plugin.calls[:2] == [('start', 'net'), ('start', 'server')]
    assert binding(manager, lease, 'server')['saw'] == {'net': ['active', 1, 2]}


def test_a_start_that_was_killed_is_repeated_in_order_and_makes_nothing_twice(manager, plugin,
                                                                              clock):
    lease = manager.book(*stack())
    plugin.troubles['started', 'server'] = crashing.Crash()
    with pytest.raises(crashing.Crash):
        manager.run()
    assert states(manager, lease)['net'] == 'pending'
    plugin.troubles.clear()
    plugin.calls.clear()
    made = dict(plugin.made)
    clock.advance(seconds(manager.core.conf.manager.claim_seconds + 1))
    manager.run()
    assert [each for each in plugin.calls if each[0] == 'start'] == STARTS
    assert {key: plugin.made[key] for key in made} == made
    assert binding(manager, lease, 'server')['saw'] == {
        'net': ['active', made['net'], None], 'storage': ['active', made['storage'], None]}


def test_an_end_that_was_killed_is_repeated_in_order(manager, plugin, clock):
    lease = manager.active(*stack())
    plugin.calls.clear()
    plugin.troubles['end', 'net'] = crashing.Crash()
    manager.delete(lease)
    with pytest.raises(crashing.Crash):
        manager.run()
    plugin.troubles.clear()
    plugin.calls.clear()
    clock.advance(seconds(manager.core.conf.manager.claim_seconds + 1))
    manager.run()
    assert plugin.calls == ENDS
    assert not plugin.made


def test_an_offer_keeps_the_order(manager, plugin):
    offer = manager.hold(builders.a_lease(step('server', 'net'), step('net')))
    lease = manager.take(offer)
    assert [(each.label, each.depends_on) for each in manager.lease(lease).reservations] == [
        ('server', ('net',)), ('net', ())]
    manager.run()
    assert plugin.calls[:2] == [('start', 'net'), ('start', 'server')]


def test_a_lease_whose_reservations_have_no_order_costs_no_more_statements(manager):
    def cost(*reservations):
        with builders.statements() as found:
            manager.active(*reservations)
        return len(found)
    cost(step('a'), step('b'))
    assert cost(step(), step()) == cost(step('a'), step('b', 'a'))


@pytest.mark.parametrize('name', ['label', 'depends_on'])
def test_a_type_that_has_such_a_field_of_its_own_is_not_loaded(conf, name):
    class Own(step_plugin.StepPlugin):
        schema = {**step_plugin.StepPlugin.schema, 'properties': {name: {'type': 'string'}}}
    with pytest.raises(errors.ConfigurationError, match=f'test:step has the property "{name}"'):
        registry.Registry(conf, {'test:step': Own})

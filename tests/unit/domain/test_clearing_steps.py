# SPDX-License-Identifier: Apache-2.0
"""The next steps of host clearing, from the plan and the observed state."""
import dataclasses
import types

import pytest
from support import builders

from climate.domain.clearing import plans
from climate.domain.clearing import steps

MINE = plans.fence_of('lease')
NOON = builders.NOON


def _compute(enabled=True, up=True, reason=None, answers=True):
    return types.SimpleNamespace(enabled=enabled, up=up, reason=reason, answers=answers)


FENCED = _compute(enabled=False, reason=MINE)
BROKEN = _compute(enabled=False, reason='a disk is broken')
SILENT = _compute(enabled=False, up=False, answers=False)


def _server(host='c1', status='ACTIVE', task=None, server_id='s1'):
    return types.SimpleNamespace(id=server_id, host=host, status=status, task=task)


def _last(number=1, failed=False, kind='live-migration'):
    return types.SimpleNamespace(id=number, failed=failed, kind=kind)


def _move(**more):
    return plans.PlannedMove(**{'server_id': 's1', 'source': 'c1', 'target': 'c2', **more})


def _host(state, *moves, **more):
    return plans.PlannedHost('n1', 'c1', 'r1', state, moves, **more)


def _decide(host, compute, *servers, last_moves=None, barred=(), most=4, at=NOON):
    """The Host as it is then, and the kinds of the orders."""
    observed = steps.ObservedState(
        at, {} if compute is None else {'c1': compute}, {each.id: each for each in servers},
        last_moves or {}, frozenset(barred))
    plan, orders = steps.decide(plans.ClearingPlan('any', (host,)), observed, MINE, most)
    [after] = plan.hosts
    return after, [order.kind for order in orders]


@pytest.mark.parametrize('compute, state, orders', [
    (_compute(), plans.FENCING, [steps.FENCE]), (BROKEN, plans.RELEASED, []),
    (_compute(up=False), plans.RELEASED, []), (None, plans.RELEASED, []),
    (FENCED, plans.RELEASED, [])])
def test_a_service_is_fenced_only_if_it_is_up_and_enabled(compute, state, orders):
    after, kinds = _decide(_host(plans.PLANNED), compute)
    assert (after.state, kinds) == (state, orders)


def test_a_fence_that_was_never_put_up_is_put_up():
    assert _decide(_host(plans.FENCING), _compute()) == (_host(plans.FENCING), [steps.FENCE])


@pytest.mark.parametrize('state', [plans.FENCING, plans.FENCED, plans.ENROLLING])
@pytest.mark.parametrize('compute', [BROKEN, None])
def test_a_host_that_somebody_else_disables_is_left_to_him(state, compute):
    after, kinds = _decide(_host(state, _move()), compute, _server())
    assert (after.state, kinds) == (plans.RELEASED, [])
    assert after.why


def test_a_host_whose_service_goes_down_is_given_up_and_its_fence_taken_down():
    after, kinds = _decide(_host(plans.FENCED, _move()),
                           _changed(FENCED, up=False), _server())
    assert (after.state, kinds) == (plans.DROPPED, [steps.UNFENCE])


@pytest.mark.parametrize('state', [plans.FENCING, plans.FENCED, plans.ENROLLING])
def test_a_host_whose_cell_does_not_answer_is_given_up_and_its_fence_taken_down_later(state):
    """Nova then says neither who has disabled its service nor which servers are on it."""
    after, kinds = _decide(_host(state, _move(state=plans.MOVING)), SILENT)
    assert (after.state, after.why, kinds) == (plans.DROPPED, 'its cell does not answer', [])
    assert after.moves == (_move(state=plans.MOVING),)
    assert _decide(after, SILENT) == (after, [])
    assert _decide(after, FENCED, _server('c2'))[1] == [steps.UNFENCE]


def test_a_host_whose_fence_somebody_takes_down_is_left_to_him_for_good():
    after, kinds = _decide(_host(plans.FENCED, _move()), _compute(), _server())
    assert (after.state, after.reclaimed, kinds) == (plans.RELEASED, True, [])
    assert plans.from_json(plans.ClearingPlan('any', (after,)).as_json()).hosts == (after,)


def _changed(compute, **more):
    return types.SimpleNamespace(**{**vars(compute), **more})


def test_a_server_is_sent_when_there_is_room_and_its_last_move_is_known():
    host = _host(plans.FENCED, _move())
    after, kinds = _decide(host, FENCED, _server(status='SHUTOFF'),
                           last_moves={'s1': _last(7, failed=True)})
    assert kinds == [steps.MOVE]
    assert after.moves == (_move(state=plans.MOVING, after=7, tried=('c2',), stopped=True),)
    assert _decide(host, FENCED, _server(), last_moves={'s1': None}, most=0) == (host, [])
    assert _decide(host, FENCED, _server()) == (host, [])


@pytest.mark.parametrize('server, last, state, orders', [
    (_server('c2'), None, plans.MOVED, []),
    (_server('c3'), None, plans.MOVED, []),
    (None, None, plans.GONE, []),
    (_server(task='migrating'), None, plans.MOVING, []),
    (_server('c2', task='migrating'), None, plans.MOVING, []),
    (_server('c2', 'VERIFY_RESIZE'), None, plans.MOVING, [steps.CONFIRM]),
    (_server(), _last(8, failed=True), plans.STUCK, []),
    (_server(), _last(8), plans.MOVING, []),
    (_server(), _last(7, failed=True), plans.MOVING, [steps.MOVE]),
    (_server(status='SHUTOFF'), None, plans.MOVING, [steps.MOVE]),
    (_server(status='SUSPENDED'), _last(7), plans.STUCK, []),
    (_server(status='ERROR'), None, plans.STUCK, [])])
def test_a_move_goes_on_by_what_is_seen_of_its_server(server, last, state, orders):
    other = _server(server_id='s2')
    host = _host(plans.FENCED, _move(state=plans.MOVING, after=7, tried=('c2',), stopped=True),
                 _move(server_id='s2'))
    after, kinds = _decide(host, FENCED, *filter(None, (server, other)), most=1,
                           last_moves={'s1': last})
    assert (after.moves[0].state, kinds) == (state, orders)


def test_a_server_that_is_rebooting_is_waited_for_and_not_for_ever():
    host = _host(plans.FENCED, _move())
    busy = _server(status='REBOOT', task='rebooting')
    waiting, kinds = _decide(host, FENCED, busy)
    assert (waiting.moves[0].state, waiting.moves[0].busy_since, kinds) == (
        plans.PLANNED, NOON, [])
    assert plans.from_json(plans.ClearingPlan('any', (waiting,)).as_json()).hosts == (waiting,)
    late = NOON + builders.seconds(plans.BUSY_SECONDS)
    assert _decide(waiting, FENCED, busy, at=late - builders.seconds(1))[0] == waiting
    assert _decide(waiting, FENCED, busy, at=late)[0].moves[0].state == plans.STUCK
    sent, kinds = _decide(waiting, FENCED, _server(), at=late, last_moves={'s1': None})
    assert (sent.moves[0].state, sent.moves[0].busy_since, kinds) == (
        plans.MOVING, None, [steps.MOVE])


@pytest.mark.parametrize('last, orders', [
    (None, []), (_last(8, kind='resize'), []), (_last(7, kind='migration'), []),
    (_last(8, kind='migration'), [steps.CONFIRM])])
def test_a_migration_of_a_server_that_was_just_stopped_is_confirmed_and_a_resize_is_not(
        last, orders):
    host = _host(plans.FENCED, _move(state=plans.MOVING, after=7), _move(server_id='s2'))
    _, kinds = _decide(host, FENCED, _server('c2', 'VERIFY_RESIZE'), _server(server_id='s2'),
                       last_moves={'s1': last})
    assert kinds == orders


def test_a_move_that_was_never_begun_is_begun_as_the_server_is_now():
    host = _host(plans.FENCED, _move(state=plans.MOVING, after=7, tried=('c2',)))
    after, kinds = _decide(host, FENCED, _server(status='SHUTOFF'), last_moves={'s1': _last(7)})
    assert (after.moves[0].stopped, kinds) == (True, [steps.MOVE])


def test_an_empty_host_is_admitted_before_its_fence_comes_down():
    host = _host(plans.FENCED, _move(state=plans.MOVED), _move(server_id='s2', state=plans.GONE))
    after, kinds = _decide(host, FENCED)
    assert (after.state, kinds) == (plans.ENROLLING, [steps.ADMIT, steps.UNFENCE])


@pytest.mark.parametrize('compute, barred, admitted, state, orders', [
    (FENCED, (), True, plans.ENROLLING, [steps.ADMIT, steps.UNFENCE]),
    (_compute(), ('c1',), True, plans.ENROLLING, [steps.ADMIT, steps.TOGGLE]),
    (_compute(), (), False, plans.ENROLLING, [steps.ADMIT]),
    (_compute(), (), True, plans.READY, [])])
def test_a_host_is_ready_when_it_was_admitted_and_nothing_of_ours_bars_it(
        compute, barred, admitted, state, orders):
    host = _host(plans.ENROLLING, resource_id=5, admitted=admitted)
    after, kinds = _decide(host, compute, barred=barred)
    assert (after.state, kinds) == (state, orders)


def test_a_host_with_a_server_that_came_by_force_is_not_ready():
    host = _host(plans.ENROLLING, resource_id=5)
    after, kinds = _decide(host, _compute(), _server())
    assert (after.state, kinds, after.reclaimed) == (plans.FENCING, [steps.FENCE], False)
    after, kinds = _decide(host, FENCED, _server())
    assert (after.state, kinds) == (plans.FENCED, [])
    sight = steps.ObservedState(NOON, {'c1': FENCED}, {'s1': _server()}, {})
    assert steps.troubled(plans.ClearingPlan('any', (after,)), sight) == {'n1'}


@pytest.mark.parametrize('host, compute, barred, state, orders', [
    (_host(plans.DROPPED), FENCED, (), plans.DROPPED, [steps.UNFENCE]),
    (_host(plans.DROPPED, resource_id=5), FENCED, (), plans.DROPPED,
     [steps.DISMISS, steps.UNFENCE]),
    (_host(plans.DROPPED, resource_id=5), _compute(), (), plans.DROPPED, [steps.DISMISS]),
    (_host(plans.DROPPED), _compute(), ('c1',), plans.DROPPED, [steps.TOGGLE]),
    (_host(plans.DROPPED), _compute(up=False), ('c1',), plans.RELEASED, []),
    (_host(plans.DROPPED), _compute(), (), plans.RELEASED, []),
    (_host(plans.DROPPED), BROKEN, (), plans.RELEASED, []),
    (_host(plans.DROPPED), None, (), plans.RELEASED, [])])
def test_a_host_is_released_when_all_that_is_ours_is_undone(
        host, compute, barred, state, orders):
    after, kinds = _decide(host, compute, barred=barred)
    assert (after.state, kinds) == (state, orders)


@pytest.mark.parametrize('stopped, server, state, moved, orders', [
    (False, _server(task='migrating'), plans.RELEASED, plans.LEFT, []),
    (True, _server(task='resize_migrating'), plans.DROPPED, plans.MOVING, []),
    (True, _server('c2', 'VERIFY_RESIZE'), plans.DROPPED, plans.MOVING, [steps.CONFIRM]),
    (True, _server('c2', 'SHUTOFF'), plans.RELEASED, plans.MOVED, []),
    (True, _server(status='SHUTOFF'), plans.RELEASED, plans.PLANNED, [])])
def test_a_host_waits_for_the_stopped_servers_that_left_it(
        stopped, server, state, moved, orders):
    host = _host(plans.DROPPED, _move(state=plans.MOVING, stopped=stopped))
    after, kinds = _decide(host, _compute(), server)
    assert (after.state, after.moves[0].state, kinds) == (state, moved, orders)


def test_a_plan_comes_back_from_json_as_it_was():
    plan = plans.ClearingPlan('least-memory', (
        _host(plans.FENCED, _move(tried=('c3',), after=4), resource_id=5), _host(plans.PLANNED)))
    assert plans.from_json(plan.as_json()) == plan
    assert plan.as_json()['hosts'][0]['moves'][0]['to'] == 'c2'


def test_the_achieved_progress_counts_the_hosts_that_were_wanted_to_the_end():
    plan = plans.ClearingPlan('any', (
        _host(plans.READY, _move(state=plans.MOVED)), _host(plans.FENCED, _move()),
        dataclasses.replace(_host(plans.RELEASED), why='it is disabled')))
    assert plans.achieved(plan) == '1 of 2 hosts were cleared, and 1 of 2 instances moved.'


def test_fields_of_a_newer_manager_in_a_plan_are_ignored():
    plan = plans.ClearingPlan('fewest-instances', (plans.PlannedHost('c1', 'c1', 'r', moves=(
        plans.PlannedMove('s', 'c1', 'c2'),)),))
    text = plan.as_json()
    text['rounds'] = 3
    text['hosts'][0]['rack'] = '7'
    text['hosts'][0]['moves'][0]['megabytes'] = 512
    assert plans.from_json(text) == plan

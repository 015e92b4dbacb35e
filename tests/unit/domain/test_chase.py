# SPDX-License-Identifier: Apache-2.0
"""What is done next in a hunt, for what is written and what is seen."""
import dataclasses
import types

import builders
import pytest

from climate.domain import chase
from climate.domain import hunt

MINE = hunt.fence_of('lease')
NOON = builders.NOON


def _compute(enabled=True, up=True, reason=None):
    return types.SimpleNamespace(enabled=enabled, up=up, reason=reason)


FENCED = _compute(enabled=False, reason=MINE)
BROKEN = _compute(enabled=False, reason='a disk is broken')


def _server(host='c1', status='ACTIVE', task=None, server_id='s1'):
    return types.SimpleNamespace(id=server_id, host=host, status=status, task=task)


def _last(number=1, failed=False, kind='live-migration'):
    return types.SimpleNamespace(id=number, failed=failed, kind=kind)


def _move(**more):
    return hunt.Move(**{'server_id': 's1', 'source': 'c1', 'target': 'c2', **more})


def _host(state, *moves, **more):
    return hunt.Host('n1', 'c1', 'r1', state, moves, **more)


def _decide(host, compute, *servers, last_moves=None, barred=(), most=4, at=NOON):
    """The Host as it is then, and the kinds of the orders."""
    sight = chase.Sight(at, {} if compute is None else {'c1': compute},
                        {each.id: each for each in servers}, last_moves or {}, frozenset(barred))
    plan, orders = chase.decide(hunt.Plan('any', (host,)), sight, MINE, most)
    [after] = plan.hosts
    return after, [order.kind for order in orders]


@pytest.mark.parametrize('compute, state, orders', [
    (_compute(), hunt.FENCING, [chase.FENCE]), (BROKEN, hunt.RELEASED, []),
    (_compute(up=False), hunt.RELEASED, []), (None, hunt.RELEASED, []),
    (FENCED, hunt.RELEASED, [])])
def test_only_a_service_that_is_up_and_enabled_is_fenced(compute, state, orders):
    after, kinds = _decide(_host(hunt.PLANNED), compute)
    assert (after.state, kinds) == (state, orders)


def test_a_fence_that_was_never_put_up_is_put_up():
    assert _decide(_host(hunt.FENCING), _compute()) == (_host(hunt.FENCING), [chase.FENCE])


@pytest.mark.parametrize('state', [hunt.FENCING, hunt.FENCED, hunt.ENROLLING])
@pytest.mark.parametrize('compute', [BROKEN, None])
def test_a_host_that_somebody_else_disables_is_left_to_him(state, compute):
    after, kinds = _decide(_host(state, _move()), compute, _server())
    assert (after.state, kinds) == (hunt.RELEASED, [])
    assert after.why


def test_a_host_whose_service_goes_down_is_given_up_and_its_fence_taken_down():
    after, kinds = _decide(_host(hunt.FENCED, _move()),
                           _changed(FENCED, up=False), _server())
    assert (after.state, kinds) == (hunt.DROPPED, [chase.UNFENCE])


def test_a_host_whose_fence_somebody_takes_down_is_left_to_him_for_good():
    after, kinds = _decide(_host(hunt.FENCED, _move()), _compute(), _server())
    assert (after.state, after.reclaimed, kinds) == (hunt.RELEASED, True, [])
    assert hunt.from_json(hunt.Plan('any', (after,)).as_json()).hosts == (after,)


def _changed(compute, **more):
    return types.SimpleNamespace(**{**vars(compute), **more})


def test_a_server_is_sent_when_there_is_room_and_its_last_move_is_known():
    host = _host(hunt.FENCED, _move())
    after, kinds = _decide(host, FENCED, _server(status='SHUTOFF'),
                           last_moves={'s1': _last(7, failed=True)})
    assert kinds == [chase.MOVE]
    assert after.moves == (_move(state=hunt.MOVING, after=7, tried=('c2',), stopped=True),)
    assert _decide(host, FENCED, _server(), last_moves={'s1': None}, most=0) == (host, [])
    assert _decide(host, FENCED, _server()) == (host, [])


@pytest.mark.parametrize('server, last, state, orders', [
    (_server('c2'), None, hunt.MOVED, []),
    (_server('c3'), None, hunt.MOVED, []),
    (None, None, hunt.GONE, []),
    (_server(task='migrating'), None, hunt.MOVING, []),
    (_server('c2', task='migrating'), None, hunt.MOVING, []),
    (_server('c2', 'VERIFY_RESIZE'), None, hunt.MOVING, [chase.CONFIRM]),
    (_server(), _last(8, failed=True), hunt.STUCK, []),
    (_server(), _last(8), hunt.MOVING, []),
    (_server(), _last(7, failed=True), hunt.MOVING, [chase.MOVE]),
    (_server(status='SHUTOFF'), None, hunt.MOVING, [chase.MOVE]),
    (_server(status='SUSPENDED'), _last(7), hunt.STUCK, []),
    (_server(status='ERROR'), None, hunt.STUCK, [])])
def test_a_move_goes_on_by_what_is_seen_of_its_server(server, last, state, orders):
    other = _server(server_id='s2')
    host = _host(hunt.FENCED, _move(state=hunt.MOVING, after=7, tried=('c2',), stopped=True),
                 _move(server_id='s2'))
    after, kinds = _decide(host, FENCED, *filter(None, (server, other)), most=1,
                           last_moves={'s1': last})
    assert (after.moves[0].state, kinds) == (state, orders)


def test_a_server_that_is_rebooting_is_waited_for_and_not_for_ever():
    host = _host(hunt.FENCED, _move())
    busy = _server(status='REBOOT', task='rebooting')
    waiting, kinds = _decide(host, FENCED, busy)
    assert (waiting.moves[0].state, waiting.moves[0].busy_since, kinds) == (
        hunt.PLANNED, NOON, [])
    assert hunt.from_json(hunt.Plan('any', (waiting,)).as_json()).hosts == (waiting,)
    late = NOON + builders.seconds(hunt.BUSY_SECONDS)
    assert _decide(waiting, FENCED, busy, at=late - builders.seconds(1))[0] == waiting
    assert _decide(waiting, FENCED, busy, at=late)[0].moves[0].state == hunt.STUCK
    sent, kinds = _decide(waiting, FENCED, _server(), at=late, last_moves={'s1': None})
    assert (sent.moves[0].state, sent.moves[0].busy_since, kinds) == (
        hunt.MOVING, None, [chase.MOVE])


@pytest.mark.parametrize('last, orders', [
    (None, []), (_last(8, kind='resize'), []), (_last(7, kind='migration'), []),
    (_last(8, kind='migration'), [chase.CONFIRM])])
def test_what_was_stopped_just_before_it_was_moved_is_confirmed_and_no_resize_of_the_owner(
        last, orders):
    host = _host(hunt.FENCED, _move(state=hunt.MOVING, after=7), _move(server_id='s2'))
    _, kinds = _decide(host, FENCED, _server('c2', 'VERIFY_RESIZE'), _server(server_id='s2'),
                       last_moves={'s1': last})
    assert kinds == orders


def test_a_move_that_was_never_begun_is_begun_as_the_server_is_now():
    host = _host(hunt.FENCED, _move(state=hunt.MOVING, after=7, tried=('c2',)))
    after, kinds = _decide(host, FENCED, _server(status='SHUTOFF'), last_moves={'s1': _last(7)})
    assert (after.moves[0].stopped, kinds) == (True, [chase.MOVE])


def test_an_empty_host_is_admitted_before_its_fence_comes_down():
    host = _host(hunt.FENCED, _move(state=hunt.MOVED), _move(server_id='s2', state=hunt.GONE))
    after, kinds = _decide(host, FENCED)
    assert (after.state, kinds) == (hunt.ENROLLING, [chase.ADMIT, chase.UNFENCE])


@pytest.mark.parametrize('compute, barred, admitted, state, orders', [
    (FENCED, (), True, hunt.ENROLLING, [chase.ADMIT, chase.UNFENCE]),
    (_compute(), ('c1',), True, hunt.ENROLLING, [chase.ADMIT, chase.TOGGLE]),
    (_compute(), (), False, hunt.ENROLLING, [chase.ADMIT]),
    (_compute(), (), True, hunt.READY, [])])
def test_a_host_is_ready_when_it_was_admitted_and_nothing_of_ours_bars_it(
        compute, barred, admitted, state, orders):
    host = _host(hunt.ENROLLING, resource_id=5, admitted=admitted)
    after, kinds = _decide(host, compute, barred=barred)
    assert (after.state, kinds) == (state, orders)


def test_a_host_with_a_server_that_came_by_force_is_not_ready():
    host = _host(hunt.ENROLLING, resource_id=5)
    after, kinds = _decide(host, _compute(), _server())
    assert (after.state, kinds, after.reclaimed) == (hunt.FENCING, [chase.FENCE], False)
    after, kinds = _decide(host, FENCED, _server())
    assert (after.state, kinds) == (hunt.FENCED, [])
    sight = chase.Sight(NOON, {'c1': FENCED}, {'s1': _server()}, {})
    assert chase.troubled(hunt.Plan('any', (after,)), sight) == {'n1'}


@pytest.mark.parametrize('host, compute, barred, state, orders', [
    (_host(hunt.DROPPED), FENCED, (), hunt.DROPPED, [chase.UNFENCE]),
    (_host(hunt.DROPPED, resource_id=5), FENCED, (), hunt.DROPPED,
     [chase.DISMISS, chase.UNFENCE]),
    (_host(hunt.DROPPED, resource_id=5), _compute(), (), hunt.DROPPED, [chase.DISMISS]),
    (_host(hunt.DROPPED), _compute(), ('c1',), hunt.DROPPED, [chase.TOGGLE]),
    (_host(hunt.DROPPED), _compute(up=False), ('c1',), hunt.RELEASED, []),
    (_host(hunt.DROPPED), _compute(), (), hunt.RELEASED, []),
    (_host(hunt.DROPPED), BROKEN, (), hunt.RELEASED, []),
    (_host(hunt.DROPPED), None, (), hunt.RELEASED, [])])
def test_a_host_is_released_when_all_that_is_ours_is_undone(
        host, compute, barred, state, orders):
    after, kinds = _decide(host, compute, barred=barred)
    assert (after.state, kinds) == (state, orders)


@pytest.mark.parametrize('stopped, server, state, moved, orders', [
    (False, _server(task='migrating'), hunt.RELEASED, hunt.LEFT, []),
    (True, _server(task='resize_migrating'), hunt.DROPPED, hunt.MOVING, []),
    (True, _server('c2', 'VERIFY_RESIZE'), hunt.DROPPED, hunt.MOVING, [chase.CONFIRM]),
    (True, _server('c2', 'SHUTOFF'), hunt.RELEASED, hunt.MOVED, []),
    (True, _server(status='SHUTOFF'), hunt.RELEASED, hunt.PLANNED, [])])
def test_a_host_waits_for_the_stopped_servers_that_left_it(
        stopped, server, state, moved, orders):
    host = _host(hunt.DROPPED, _move(state=hunt.MOVING, stopped=stopped))
    after, kinds = _decide(host, _compute(), server)
    assert (after.state, after.moves[0].state, kinds) == (state, moved, orders)


def test_a_plan_comes_back_from_json_as_it_was():
    plan = hunt.Plan('least-memory', (
        _host(hunt.FENCED, _move(tried=('c3',), after=4), resource_id=5), _host(hunt.PLANNED)))
    assert hunt.from_json(plan.as_json()) == plan
    assert plan.as_json()['hosts'][0]['moves'][0]['to'] == 'c2'


def test_what_was_achieved_is_counted_of_the_hosts_that_were_wanted_to_the_end():
    plan = hunt.Plan('any', (
        _host(hunt.READY, _move(state=hunt.MOVED)), _host(hunt.FENCED, _move()),
        dataclasses.replace(_host(hunt.RELEASED), why='it is disabled')))
    assert hunt.achieved(plan) == '1 of 2 hosts were cleared, and 1 of 2 instances moved.'


def test_what_a_newer_manager_wrote_into_a_plan_is_left_out():
    plan = hunt.Plan('fewest-instances', (hunt.Host('c1', 'c1', 'r', moves=(
        hunt.Move('s', 'c1', 'c2'),)),))
    text = plan.as_json()
    text['rounds'] = 3
    text['hosts'][0]['rack'] = '7'
    text['hosts'][0]['moves'][0]['megabytes'] = 512
    assert hunt.from_json(text) == plan

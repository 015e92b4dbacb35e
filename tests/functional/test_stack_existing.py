# SPDX-License-Identifier: Apache-2.0
"""Leases of stacks that exist: they sleep until the start. On the simulated cloud."""
import pytest
import stacks
from support import builders
from support import thinning

from climate import errors
from climate.domain import lifecycle

NOON = builders.NOON
LATER = NOON + builders.hours(2)


def later(*reservations):
    return builders.a_lease(*reservations, start=LATER, end=LATER + builders.hours(1))


@pytest.fixture
def stack(manager):
    return stacks.existing(manager)


@pytest.mark.parametrize(('on_end', 'left'), thinning.few([
    (None, {'mine': 'SUSPEND_COMPLETE'}), ('suspend', {'mine': 'SUSPEND_COMPLETE'}),
    ('leave', {'mine': 'RESUME_COMPLETE'}), ('delete', {})], 2))
def test_an_existing_stack_sleeps_until_the_start(conf, manager, stack, on_end, left):
    conf.set_override('stack_seconds', 20, group='simulated')
    lease = manager.create(later(stacks.known(stack, on_end=on_end)))
    manager.run_until(NOON + builders.minutes(2))
    assert stacks.now(manager) == {'mine': 'SUSPEND_COMPLETE'}
    assert [each.status for each in manager.cloud.servers()] == ['SUSPENDED']
    manager.expect(lease, lifecycle.ACTIVE, LATER + builders.minutes(1))
    assert stacks.now(manager) == {'mine': 'RESUME_COMPLETE'}
    assert [each.status for each in manager.cloud.servers()] == ['ACTIVE']
    manager.expect(lease, lifecycle.TERMINATED, LATER + builders.hours(1) + builders.minutes(2))
    assert stacks.now(manager) == left


def test_a_stack_that_runs_is_left_alone_if_its_lease_starts_now(manager, stack):
    manager.book(stacks.known(stack))
    manager.run()
    assert stacks.now(manager) == {'mine': 'CREATE_COMPLETE'}


def test_a_stack_is_leased_once(manager, stack):
    manager.create(later(stacks.known(stack)))
    with pytest.raises(errors.TargetLeased, match=stack.id):
        manager.create(later(stacks.known(stack)))


def test_a_stack_of_another_project_is_not_there(manager):
    stack = stacks.existing(manager, user='eve', project='other')
    with pytest.raises(errors.BadField, match='no stack'):
        manager.create(later(stacks.known(stack)))


def test_a_stack_in_the_middle_of_something_is_not_leased(conf, manager):
    conf.set_override('stack_seconds', 20, group='simulated')
    stack = stacks.existing(manager)
    with pytest.raises(errors.BadField, match='CREATE_IN_PROGRESS'):
        manager.create(later(stacks.known(stack)))


def test_a_lease_whose_stack_is_deleted_by_its_owner_is_over(manager, stack):
    lease = manager.create(later(stacks.known(stack)))
    manager.run()
    manager.cloud.as_service().stacks.delete('demo', stack)
    manager.expect(lease, lifecycle.TERMINATED, LATER + builders.minutes(1))
    assert manager.cloud.as_service().keystone.trusts() == []


def test_a_stack_with_a_shelved_server_is_suspended_once_that_is_repaired(manager, stack):
    [server] = manager.cloud.servers()
    manager.cloud.mark_server(server.id, 'SHELVED')
    lease = manager.create(later(stacks.known(stack)))
    manager.run_until(NOON + builders.seconds(1))
    assert 'SUSPEND_FAILED' in stacks.told(manager, lease)
    manager.cloud.mark_server(server.id, 'ACTIVE')
    manager.run_until(LATER - builders.minutes(1))
    assert stacks.now(manager) == {'mine': 'SUSPEND_COMPLETE'}


def test_a_lease_that_is_deleted_before_its_start_leaves_its_stack_asleep(manager, stack):
    lease = manager.create(later(stacks.known(stack)))
    manager.run()
    manager.delete(lease)
    manager.run()
    assert stacks.now(manager) == {'mine': 'SUSPEND_COMPLETE'}


def test_the_existing_stack_of_an_owner_who_is_gone_is_still_brought_to_its_end(manager, stack):
    lease = manager.book(stacks.known(stack, on_end='delete'))
    manager.run()
    manager.cloud.delete_trustor('demo')
    manager.expect(lease, lifecycle.TERMINATED, NOON + builders.hours(1) + builders.minutes(1))
    assert manager.cloud.stacks() == []

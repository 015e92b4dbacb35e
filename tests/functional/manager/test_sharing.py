# SPDX-License-Identifier: Apache-2.0
"""Shares of leases: who may boot on the resources, and what a withdrawal does to servers."""
import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import notification_kinds
from climate.domain import notifications
from climate.domain import shares

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
GUEST = 'guests'


@pytest.fixture
def leased(manager):
    """A running lease of one host of two."""
    manager.enrol(2)
    return manager.active(end=NOON + hours(4))


def share(manager, lease, role='user', **fields):
    made = manager.client.share_lease(
        builders.a_member(), lease.id,
        shares.ShareRequest(fields.pop('kind', 'project_id'), fields.pop('to', GUEST), role,
                            **fields))
    manager.run()
    return made


def withdraw(manager, lease, made, **more):
    withdrawal = manager.client.withdraw_share(builders.a_member(), lease.id, made.id, **more)
    manager.run()
    return withdrawal


def boot(manager, lease, name='theirs', project=GUEST):
    """Boot a server with the reservation of a lease; return it, or None if no host takes it."""
    try:
        return manager.cloud.boot(project, name, {'reservation': lease.reservations[0].id})
    except errors.ClimateError:
        return None


def names(manager):
    return {server.name: server.status for server in manager.cloud.servers()}


def usable(manager, lease, project=GUEST):
    return manager.client.reservation_hosts(
        builders.an_admin(), lease.reservations[0].id, project).usable


def test_a_project_boots_on_shared_hosts_only_while_the_share_is_open(manager, leased):
    assert boot(manager, leased) is None
    made = share(manager, leased)
    assert boot(manager, leased).host in acts.aggregate(manager, leased).hosts
    assert usable(manager, leased)
    withdraw(manager, leased, made)
    assert boot(manager, leased, 'late') is None
    assert not usable(manager, leased)
    assert set(names(manager)) == {'theirs'}


def test_a_withdrawal_counts_for_the_scheduler_before_an_event_changes_the_aggregate(
        manager, leased):
    made = share(manager, leased)
    manager.client.withdraw_share(builders.a_member(), leased.id, made.id)
    assert not usable(manager, leased)


def test_a_share_of_a_viewer_opens_no_hosts(manager, leased):
    share(manager, leased, 'viewer')
    assert boot(manager, leased) is None
    assert not usable(manager, leased)


def test_a_future_lease_opens_its_hosts_to_guests_at_its_start(manager):
    manager.enrol(1)
    lease = manager.create(builders.a_lease(builders.hosts(), start=NOON + hours(1),
                                            end=NOON + hours(2)))
    share(manager, lease)
    manager.run_until(NOON + hours(1))
    assert boot(manager, lease) is not None


def test_a_share_after_the_staging_of_a_lease_opens_its_hosts(manager):
    manager.enrol(1)
    lease = manager.create(builders.a_lease(builders.hosts(), start=NOON + minutes(10),
                                            end=NOON + hours(2)))
    manager.run_until(NOON + minutes(9) + builders.seconds(59))
    share(manager, lease)
    manager.run_until(NOON + minutes(10))
    assert boot(manager, lease) is not None


def test_hosts_that_a_change_adds_are_shared_too(manager, leased):
    share(manager, leased)
    manager.change_reservation(leased, max=2, min=2)
    manager.run()
    added = [boot(manager, leased, f'server-{number}') for number in range(2)]
    assert len({server.host for server in added}) == 2


def test_kept_servers_are_deleted_at_the_end_of_the_lease(manager, leased):
    made = share(manager, leased)
    boot(manager, leased)
    withdrawal = withdraw(manager, leased, made)
    assert [(server.name, server.fate, server.at) for server in withdrawal.servers] == [
        ('theirs', 'kept', None)]
    manager.run_until(NOON + hours(3))
    assert set(names(manager)) == {'theirs'}
    manager.expect(leased, lifecycle.TERMINATED, NOON + hours(4) + minutes(5))
    assert names(manager) == {}
    assert acts.is_clean(manager, 2)


@pytest.mark.parametrize(('what', 'after'), [
    ('stop', {'own': 'ACTIVE', 'theirs': 'SHUTOFF'}), ('delete', {'own': 'ACTIVE'})])
def test_servers_of_a_former_guest_go_after_the_notice(manager, leased, what, after):
    made = share(manager, leased, on_withdrawal=what, notice_seconds=2 * 3600)
    boot(manager, leased, 'own', 'demo')
    boot(manager, leased)
    withdrawal = withdraw(manager, leased, made)
    assert [(server.name, server.at) for server in withdrawal.servers] == [
        ('theirs', NOON + hours(2))]
    assert acts.news(manager).count('lease.share_withdrawn') == 2
    manager.run_until(NOON + hours(2) - minutes(1))
    assert names(manager)['theirs'] == 'ACTIVE'
    manager.run_until(NOON + hours(2) + minutes(2))
    assert names(manager) == after
    assert share_of(manager, leased, made).cleared_at is not None


def share_of(manager, lease, made):
    [found] = [each for each in manager.lease(lease).shares if each.id == made.id]
    return found


def test_servers_stay_if_the_lease_is_shared_again_within_the_notice(manager, leased):
    made = share(manager, leased, on_withdrawal='delete')
    boot(manager, leased)
    withdraw(manager, leased, made)
    share(manager, leased)
    manager.run_until(NOON + hours(2))
    assert names(manager) == {'theirs': 'ACTIVE'}


def test_the_last_withdrawal_decides_about_the_servers_of_a_former_guest(manager, leased):
    withdraw(manager, leased, share(manager, leased, on_withdrawal='delete'))
    again = share(manager, leased, on_withdrawal='keep')
    boot(manager, leased)
    manager.run_until(NOON + hours(2))
    withdraw(manager, leased, again)
    manager.run_until(NOON + hours(3))
    assert names(manager) == {'theirs': 'ACTIVE'}


def test_a_share_that_ends_by_itself_is_withdrawn_and_reported(manager, leased):
    made = share(manager, leased, until=NOON + hours(1), on_withdrawal='delete')
    boot(manager, leased)
    manager.run_until(NOON + hours(1))
    assert share_of(manager, leased, made).withdrawn_at == NOON + hours(1)
    assert boot(manager, leased, 'late') is None
    assert 'share_withdrawn' in str(acts.history(manager, leased))
    manager.run_until(NOON + hours(2) + minutes(2))
    assert names(manager) == {}


def test_the_preview_of_a_withdrawal_lists_servers_and_changes_nothing(manager, leased):
    made = share(manager, leased, on_withdrawal='delete')
    boot(manager, leased)
    preview = manager.client.preview_share_withdrawal(builders.a_member(), leased.id, made.id)
    assert [(server.name, server.fate) for server in preview.servers] == [('theirs', 'deleted')]
    assert usable(manager, leased)


def test_a_withdrawal_does_not_wait_for_a_cloud_that_is_down(manager, leased):
    made = share(manager, leased)
    manager.cloud.fail('nova.servers_on', 9, acts.NO)
    withdrawal = manager.client.withdraw_share(builders.a_member(), leased.id, made.id)
    assert withdrawal.servers is None
    assert not usable(manager, leased)


@pytest.mark.parametrize('request_of', [builders.instances, builders.flavor_instances])
def test_a_guest_uses_the_flavor_of_instances_while_the_share_is_open(manager, request_of):
    manager.enrol(1)
    lease = manager.active(request_of(2), end=NOON + hours(4))
    [reservation] = lease.reservations
    flavors = manager.cloud.as_service().flavors
    assert flavors.flavor(reservation.id, GUEST) is None
    made = share(manager, lease)
    assert flavors.flavor(reservation.id, GUEST) is not None
    withdraw(manager, lease, made)
    assert flavors.flavor(reservation.id, GUEST) is None


@pytest.mark.parametrize(('fields', 'field'), [
    ({'to': 'demo'}, 'project_id'), ({'to': 'demo', 'kind': 'user_id', 'role': 'viewer'},
                                     'user_id'),
    ({'until': NOON - hours(1)}, 'until'), ({'kind': 'user_id', 'to': 'gus'}, 'role'),
    ({'role': 'viewer', 'on_withdrawal': 'stop'}, 'on_withdrawal'),
    ({'notice_seconds': 60}, 'notice')])
def test_a_wrong_share_is_refused_with_its_field(manager, leased, fields, field):
    with pytest.raises(errors.BadField) as refused:
        share(manager, leased, **fields)
    assert refused.value.kwargs['field'] == field


def test_a_project_that_does_not_exist_is_refused(manager, leased):
    manager.cloud.leave(project_id=GUEST)
    with pytest.raises(errors.BadField, match='Keystone has no project "guests"'):
        share(manager, leased)


def test_resources_without_guests_are_not_shared_with_users(manager):
    lease = manager.active(acts.dummy(), end=NOON + hours(2))
    with pytest.raises(errors.BadField, match=r'They can use those of .*physical:host'):
        share(manager, lease)
    assert share(manager, lease, 'viewer').role == 'viewer'


def test_a_receiver_has_one_open_share_of_a_lease(manager, leased):
    made = share(manager, leased)
    with pytest.raises(errors.AlreadyShared, match=made.id):
        share(manager, leased, 'viewer')
    withdraw(manager, leased, made)
    assert share(manager, leased, 'viewer').role == 'viewer'


def test_a_lease_that_is_over_is_not_shared(manager, leased):
    manager.run_until(NOON + hours(5))
    with pytest.raises(errors.ShareRefused):
        share(manager, leased)


def test_a_lease_has_a_maximum_of_open_shares(manager, leased, conf):
    conf.set_override('most_per_lease', 1, group='shares')
    share(manager, leased)
    with pytest.raises(errors.TooManyShares):
        share(manager, leased, to='others')


def test_a_manager_by_a_share_extends_at_the_cost_of_the_owner(manager, leased):
    share(manager, leased, 'manager')
    changed = manager.change(leased, builders.a_member('gus', GUEST), end=NOON + hours(6))
    assert (changed.project_id, changed.extended_count) == ('demo', 1)


def sharing_notifications(manager):
    """{(event type, project): the Notification} of the kind sharing in the outbox."""
    with manager.database.reader() as connection:
        rows = connection.execute(sa.select(
            tables.OUTBOX.c.id, tables.OUTBOX.c.at, tables.OUTBOX.c.event_type,
            tables.OUTBOX.c.payload)).all()
    found = {(row.event_type, row.payload['project_id']): notifications.of_outbox(*row)
             for row in rows}
    return {key: each for key, each in found.items()
            if notification_kinds.SHARING in each.kinds}


def test_both_projects_are_notified_of_a_share_and_of_its_end(manager, leased):
    made = share(manager, leased, on_withdrawal='delete')
    withdraw(manager, leased, made, left=True)
    told = sharing_notifications(manager)
    assert told.keys() == {(event, project) for event in ('lease.shared', 'lease.share_left')
                           for project in ('demo', GUEST)}
    details = told['lease.share_left', GUEST].content['details']
    assert details['message'] == (
        f'project guests (guests) may not use lease a lease ({leased.id}) of project demo any '
        'more. Running servers are deleted at 2030-05-01 13:00 UTC.')
    assert notification_kinds.headline(
        'sharing', told['lease.shared', GUEST].content) == 'Lease a lease is shared'
    assert told['lease.shared', 'demo'].content['lease']['id'] == leased.id


def test_the_owner_is_notified_of_a_limit_that_a_manager_by_a_share_reaches(
        manager, leased, conf):
    share(manager, leased, 'manager')
    conf.set_override('request_bytes_per_project', 1, group='manager')
    with pytest.raises(errors.TooManyRequestBytes):
        manager.change_reservation(leased, caller=builders.a_member('gus', GUEST), min=2, max=2)
    with manager.database.reader() as connection:
        [payload] = connection.execute(sa.select(tables.OUTBOX.c.payload).where(
            tables.OUTBOX.c.event_type == 'project.limit')).scalars()
    assert payload['project_id'] == 'demo'

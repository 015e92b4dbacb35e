# SPDX-License-Identifier: Apache-2.0
"""Transfers of leases to other projects: future ones, parts of them, and running ones."""
import types

import acts
import pytest
import sqlalchemy as sa
from support import builders

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import transfers
from climate.plugins.compute import foreign

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
GUEST = 'guests'
RECEIVER = builders.a_member('gus', GUEST)


@pytest.fixture
def future(manager):
    """A lease of three hosts of four, which begins in an hour."""
    manager.enrol(4)
    return manager.create(builders.a_lease(
        builders.hosts(3), start=NOON + hours(1), end=NOON + hours(3)))


@pytest.fixture
def running(manager):
    """A running lease of one host of two."""
    manager.enrol(2)
    return manager.active(end=NOON + hours(4))


def offer(manager, lease, project=GUEST, caller=None, **fields):
    return manager.client.offer_transfer(caller or builders.a_member(), lease.id,
                                         transfers.TransferRequest(project, **fields))


def accept(manager, offered, caller=RECEIVER, **more):
    made = manager.client.accept_transfer(caller, offered.transfer.id, **more)
    manager.run()
    return made


def resources_of(lease):
    return [key for each in lease.reservations for key in each.resource_ids]


def status(manager, offered):
    [found] = [each for each in manager.client.list_lease_transfers(
        builders.a_member(), offered.transfer.lease_id) if each.id == offered.transfer.id]
    return found.status_at(manager.clock()), found.new_lease_id


def boot(manager, reservation_id, name, project):
    """Boot a server with a reservation; return it, or None if no host takes it."""
    try:
        return manager.cloud.boot(project, name, {'reservation': reservation_id})
    except errors.ClimateError:
        return None


def names(manager):
    return {server.name: server.status for server in manager.cloud.servers()}


def test_the_receiver_of_a_future_lease_gets_its_hosts_and_its_dates(manager, future):
    offered = offer(manager, future)
    made = accept(manager, offered)
    assert (made.project_id, made.user_id) == (GUEST, 'gus')
    assert (made.name, made.start, made.end) == (future.name, future.start, future.end)
    assert resources_of(manager.lease(made)) == resources_of(future)
    assert status(manager, offered) == ('accepted', made.id)
    assert manager.lease(future).deleted_at == NOON
    manager.expect(made, lifecycle.ACTIVE, NOON + hours(1))
    assert boot(manager, made.reservations[0].id, 'own', GUEST) is not None
    assert boot(manager, made.reservations[0].id, 'theirs', 'demo') is None


def test_a_transfer_is_in_the_history_of_both_leases_and_reported_to_both_projects(
        manager, future):
    made = accept(manager, offer(manager, future))
    assert [what for what in acts.history(manager, future) if 'transfer' in what] == [
        'transfer_offered', 'transferred']
    assert 'transferred' in acts.history(manager, made)
    assert acts.news(manager).count('lease.transfer_offered') == 2
    assert acts.news(manager).count('lease.transferred') == 2
    assert [line.why for line in manager.client.lease_history(RECEIVER, made.id)
            if line.what == 'transferred'] == [
        f'the lease from project demo, lease {future.id}']


def test_an_open_offer_is_listed_for_its_receiver_only(manager, future):
    offered = offer(manager, future)
    assert manager.client.list_transfers(RECEIVER) == [offered.transfer]
    assert manager.client.list_transfers(builders.a_member('eve', 'other')) == []
    manager.clock.now = offered.transfer.expires_at
    assert manager.client.list_transfers(RECEIVER) == []


def test_a_preview_names_the_lease_and_changes_nothing(manager, future):
    offered = offer(manager, future)
    before = acts.everything(manager)
    preview = manager.client.preview_transfer(RECEIVER, offered.transfer.id)
    assert (preview.lease.project_id, preview.problem) == (GUEST, None)
    assert resources_of(preview.lease) == resources_of(future)
    assert acts.everything(manager) == before


def test_a_lease_that_changed_since_it_was_seen_is_not_accepted(manager, future):
    offered = offer(manager, future)
    seen = manager.client.preview_transfer(RECEIVER, offered.transfer.id)
    manager.change(future, end=NOON + hours(2))
    with pytest.raises(errors.StalePrecondition):
        accept(manager, offered, generation=seen.generation)
    assert accept(manager, offered).end == NOON + hours(2)


def test_the_owner_of_a_key_accepts_once(manager, future):
    offered = offer(manager, future, None)
    assert offered.key not in repr(offered)
    with pytest.raises(errors.TransferNotFound):
        accept(manager, offered)
    with pytest.raises(errors.TransferNotFound):
        accept(manager, offered, key='wrong')
    assert accept(manager, offered, key=offered.key).project_id == GUEST
    with pytest.raises(errors.TransferClosed):
        accept(manager, offered, builders.a_member('eve', 'other'), key=offered.key)


def test_a_part_of_a_future_lease_is_transferred(manager, future):
    made = accept(manager, offer(manager, future, hosts=2))
    stays, given = manager.lease(future), manager.lease(made)
    assert sorted(resources_of(stays) + resources_of(given)) == resources_of(future)
    assert [lease.reservations[0].request['max'] for lease in (stays, given)] == [1, 2]
    manager.expect(made, lifecycle.ACTIVE, NOON + hours(1))
    manager.expect(future, lifecycle.ACTIVE)
    assert len(acts.aggregate(manager, made).hosts) == 2
    assert len(acts.aggregate(manager, stays).hosts) == 1


def test_parts_of_a_staged_lease_start_with_their_own_hosts(manager, future):
    manager.run_until(NOON + minutes(59) + builders.seconds(50))
    made = accept(manager, offer(manager, future, hosts=1))
    manager.expect(made, lifecycle.ACTIVE, NOON + hours(1))
    manager.expect(future, lifecycle.ACTIVE)
    hosts = [acts.aggregate(manager, manager.lease(each)).hosts for each in (made, future)]
    assert [len(each) for each in hosts] == [1, 2]
    assert not set(hosts[0]) & set(hosts[1])


@pytest.mark.parametrize(('hosts', 'sentence'), [(3, 'choose at most 2'), (9, 'choose at most 2')])
def test_a_part_leaves_at_least_one_host(manager, future, hosts, sentence):
    with pytest.raises(errors.BadField, match=sentence):
        offer(manager, future, hosts=hosts)


@pytest.mark.parametrize('request_of', [builders.instances, builders.flavor_instances])
def test_capacity_for_instances_is_transferred_before_the_start(manager, request_of):
    manager.enrol(1)
    lease = manager.create(builders.a_lease(request_of(2), start=NOON + hours(1),
                                            end=NOON + hours(2)))
    made = accept(manager, offer(manager, lease))
    manager.expect(made, lifecycle.ACTIVE, NOON + hours(1))
    flavors = manager.cloud.as_service().flavors
    assert flavors.flavor(made.reservations[0].id, GUEST) is not None
    assert flavors.flavor(made.reservations[0].id, 'demo') is None
    assert resources_of(manager.lease(made)) == resources_of(lease)


def test_the_hosts_of_a_running_lease_stay_with_their_servers(manager, running):
    [reservation] = running.reservations
    boot(manager, reservation.id, 'old', 'demo')
    manager.run_until(NOON + hours(1))
    made = accept(manager, offer(manager, running))
    assert [each.id for each in made.reservations] == [reservation.id]
    assert manager.lease(made).state == lifecycle.ACTIVE
    old = manager.lease(running)
    assert (old.state, old.end, old.ended_at) == (lifecycle.TERMINATED, NOON + hours(1),
                                                  NOON + hours(1))
    assert names(manager) == {'old': 'ACTIVE'}
    assert boot(manager, reservation.id, 'late', 'demo') is None
    assert boot(manager, reservation.id, 'new', GUEST) is not None
    manager.expect(made, lifecycle.TERMINATED, NOON + hours(4) + minutes(5))
    assert names(manager) == {}
    assert acts.is_clean(manager, 2)


def test_new_servers_of_the_old_project_are_refused_from_the_acceptance_on(manager, running):
    [reservation] = running.reservations
    offered = offer(manager, running)
    manager.client.accept_transfer(RECEIVER, offered.transfer.id)

    def usable(project):
        return manager.client.reservation_hosts(builders.an_admin(), reservation.id,
                                                project).usable
    assert not usable('demo')
    assert usable(GUEST)


@pytest.mark.parametrize(('what', 'after'), [('keep', 'ACTIVE'), ('stop', 'SHUTOFF'),
                                             ('delete', None)])
def test_servers_of_the_old_project_go_after_the_notice(manager, running, what, after):
    boot(manager, running.reservations[0].id, 'old', 'demo')
    accept(manager, offer(manager, running, on_withdrawal=what, notice_seconds=3600))
    manager.run_until(NOON + minutes(59))
    assert names(manager) == {'old': 'ACTIVE'}
    manager.run_until(NOON + hours(1) + minutes(2))
    assert names(manager).get('old') == after


def test_a_server_that_was_booted_with_the_id_of_the_old_lease_is_not_foreign(manager, running):
    made = accept(manager, offer(manager, running))
    server = types.SimpleNamespace(project_id='demo', flavor=None,
                                   hints={'reservation': [running.id]})
    [reservation] = made.reservations
    assert foreign.on_leased([server], GUEST, acts.aggregate(manager, made),
                             {reservation.id, made.id}) == []


@pytest.mark.parametrize(('fields', 'field'), [
    ({'project': 'demo'}, 'project_id'), ({'project': 'nobody'}, 'project_id'),
    ({'expires_at': NOON}, 'expires_at'), ({'expires_at': NOON + hours(99)}, 'expires_at'),
    ({'notice_seconds': 60}, 'notice')])
def test_a_wrong_offer_is_refused_with_its_field(manager, future, fields, field):
    manager.cloud.leave(project_id='nobody')
    with pytest.raises(errors.BadField) as refused:
        offer(manager, future, **fields)
    assert refused.value.kwargs['field'] == field


def test_a_lease_has_one_open_offer(manager, future):
    first = offer(manager, future)
    with pytest.raises(errors.AlreadyOffered, match=first.transfer.id):
        offer(manager, future, None)
    manager.client.withdraw_transfer(builders.a_member(), future.id, first.transfer.id)
    second = offer(manager, future, expires_at=NOON + minutes(5))
    manager.clock.advance(minutes(5))
    assert status(manager, second)[0] == 'expired'
    assert offer(manager, future).transfer.status == 'offered'


@pytest.mark.parametrize('end', ['declined', 'withdrawn', 'expired', 'accepted'])
def test_an_offer_that_is_over_is_not_accepted(manager, future, end):
    offered = offer(manager, future, expires_at=NOON + minutes(5))
    if end == 'declined':
        manager.client.decline_transfer(RECEIVER, offered.transfer.id)
    elif end == 'withdrawn':
        manager.client.withdraw_transfer(builders.a_member(), future.id, offered.transfer.id)
    elif end == 'expired':
        manager.clock.advance(minutes(5))
    else:
        accept(manager, offered)
    before = acts.everything(manager)
    with pytest.raises(errors.TransferClosed, match=f'is {end}'):
        accept(manager, offered)
    with pytest.raises(errors.TransferClosed):
        manager.client.decline_transfer(RECEIVER, offered.transfer.id)
    assert acts.everything(manager) == before


def test_another_project_cannot_accept_or_decline(manager, future):
    offered = offer(manager, future)
    for call in (manager.client.accept_transfer, manager.client.decline_transfer,
                 manager.client.preview_transfer):
        with pytest.raises(errors.TransferNotFound):
            call(builders.a_member('eve', 'other'), offered.transfer.id)


@pytest.mark.parametrize(('moment', 'hosts', 'reason'), [
    (NOON + hours(4), None, 'it is over'), (NOON + hours(1), 1, 'it has begun')])
def test_an_offer_ends_with_the_state_that_allowed_it(manager, future, moment, hosts, reason):
    offered = offer(manager, future, hosts=hosts)
    with manager.database.writer() as connection:
        connection.execute(sa.update(tables.TRANSFERS).values(expires_at=NOON + hours(9)))
    manager.run_until(moment + minutes(1))
    with pytest.raises(errors.TransferRefused, match=reason):
        accept(manager, offered)


def test_a_waiting_lease_is_not_offered(manager):
    manager.enrol(1)
    manager.active(end=NOON + hours(4))
    waiting = acts.sought(manager, 'wait')
    with pytest.raises(errors.TransferRefused, match='waits for its resources'):
        offer(manager, waiting)


def test_a_limit_of_the_receiver_refuses_the_acceptance(manager, future, conf):
    conf.set_override('request_bytes_per_project', 1, group='manager')
    offered = offer(manager, future)
    before = acts.everything(manager)
    with pytest.raises(errors.TooManyRequestBytes):
        accept(manager, offered)
    assert acts.news(manager)[-1] == 'project.limit'
    assert {**acts.everything(manager), 'outbox': None} == {**before, 'outbox': None}
    assert status(manager, offered) == ('offered', None)


def test_an_acceptance_that_loses_a_race_leaves_nothing_behind(manager, future):
    offered = offer(manager, future)

    def withdraw():
        manager.client.withdraw_transfer(builders.a_member(), future.id, offered.transfer.id)
    with acts.meddling(manager, withdraw) as other, pytest.raises(errors.TransferClosed):
        other.client.accept_transfer(RECEIVER, offered.transfer.id)
    assert status(manager, offered)[0] == 'withdrawn'
    assert manager.lease(future).deleted_at is None
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(
            tables.LEASES)).scalar() == 1


def test_a_change_of_the_owner_at_the_same_time_wins(manager, future):
    offered = offer(manager, future)

    def change():
        manager.change(future, end=NOON + hours(2))
    with acts.meddling(manager, change) as other, pytest.raises(
            errors.TransferRefused, match='changed by another request'):
        other.client.accept_transfer(RECEIVER, offered.transfer.id)
    assert status(manager, offered)[0] == 'offered'


def test_a_failed_write_leaves_the_lease_and_the_offer_as_they_were(manager, future, monkeypatch):
    offered = offer(manager, future)
    before = acts.everything(manager)

    def fails(*_arguments):
        raise acts.NO
    monkeypatch.setattr('climate.manager.transfers.reports.note_origin', fails)
    with pytest.raises(errors.CloudError):
        accept(manager, offered)
    assert acts.everything(manager) == before

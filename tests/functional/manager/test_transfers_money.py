# SPDX-License-Identifier: Apache-2.0
"""Usage, statements, limits, trusts and the enforcement service at a transfer."""
import acts
import pytest
import sqlalchemy as sa
from support import billing_cases
from support import billing_truths
from support import builders
from support import ledger_driver

from climate import errors
from climate.db import tables
from climate.db import use_samples
from climate.domain import records
from climate.domain import transfers
from climate.domain import usage_groups
from climate.domain import use_sampling
from climate.manager.leases import enforcement_reports

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
TODAY = NOON - hours(12)
GUEST = 'guests'
RECEIVER = builders.a_member('gus', GUEST)


def offer(manager, lease, hosts=None):
    return manager.client.offer_transfer(
        builders.a_member(), lease.id, transfers.TransferRequest(GUEST, hosts)).transfer


def accept(manager, lease, hosts=None):
    made = manager.client.accept_transfer(RECEIVER, offer(manager, lease, hosts).id)
    manager.run()
    return made


def occupied(manager):
    """{project: its occupied host hours of today}."""
    found = manager.client.report_usage(builders.an_admin(), usage_groups.UsageQuery(
        TODAY, TODAY + hours(24), ('project',)))
    return {each.keys['project']: each.seconds['occupied'] / 3600 for each in found.groups}


def statements(manager):
    """{project: [(kind, hours)]} of the lines of statements."""
    found = {}
    for line in billing_cases.lines(manager):
        found.setdefault(line.project_id, []).append((line.line.kind, line.line.hours))
    return found


def test_each_project_pays_the_hours_in_which_it_had_a_running_lease(manager):
    manager.enrol(2)
    billing_cases.book(manager)
    lease = manager.active(builders.hosts(2), end=NOON + hours(6))
    manager.run_until(NOON + hours(2))
    accept(manager, lease)
    manager.run_until(NOON + hours(8))
    billing_cases.bill(manager)
    assert occupied(manager) == {'demo': 4, GUEST: 8}
    paid = {project: hours for project, lines in statements(manager).items()
            for kind, hours in lines if kind == 'resource_hours'}
    assert paid == {'demo': '4.000000', GUEST: '8.000000'}
    assert all('unused_hours' not in dict(lines) for lines in statements(manager).values())
    billing_truths.statements_are_right(manager.database)
    billing_truths.usage_is_right(manager.core, TODAY, TODAY + hours(24))


def test_lines_of_a_closed_past_stay_when_a_running_lease_is_transferred(manager):
    manager.enrol(1)
    billing_cases.book(manager)
    lease = manager.active(end=NOON + hours(24 * 60))
    manager.run_until(NOON + hours(24 * 40))
    with manager.database.writer() as connection:
        use_samples.add(connection, NOON + hours(1), {
            (lease.reservations[0].id, lease.reservations[0].resource_ids[0]):
            use_sampling.Sample(3600, 3600, 0)})
    billing_cases.bill(manager)
    before = billing_truths.statement_lines(manager.database)
    assert before
    accept(manager, lease)
    manager.run_until(NOON + hours(24 * 70))
    billing_cases.bill(manager)
    after = billing_truths.statement_lines(manager.database)
    billing_truths.nothing_was_taken_back(before, after, {'2030-05'})
    billing_truths.statements_are_right(manager.database)


def test_a_transfer_before_the_start_costs_the_old_project_nothing(manager):
    manager.enrol(2)
    billing_cases.book(manager, late_cancel={'hours': '24', 'percent': '50'})
    lease = manager.create(builders.a_lease(builders.hosts(2), start=NOON + hours(1),
                                            end=NOON + hours(3)))
    accept(manager, lease, 1)
    accept(manager, lease)
    manager.run_until(NOON + hours(4))
    billing_cases.bill(manager)
    assert occupied(manager) == {GUEST: 4}
    assert statements(manager).keys() == {GUEST}


def test_the_preview_names_the_price_of_the_receiver(manager):
    manager.enrol(1)
    billing_cases.book(manager)
    lease = manager.create(builders.a_lease(start=NOON + hours(48), end=NOON + hours(58)))
    preview = manager.client.preview_transfer(RECEIVER, offer(manager, lease).id)
    assert preview.lease.price.amount == '7.00'


def limited(manager, most):
    manager.client.create_limit_book(builders.an_admin(), None, {'limits': [
        {'name': 'hosts', 'measure': 'resources', 'most': most, 'projects': [GUEST]}]})


def test_a_limit_of_the_receiver_is_shown_and_refuses_the_acceptance(manager):
    manager.enrol(2)
    limited(manager, 1)
    lease = manager.create(builders.a_lease(builders.hosts(2), start=NOON + hours(1),
                                            end=NOON + hours(3)))
    offered = offer(manager, lease)
    preview = manager.client.preview_transfer(RECEIVER, offered.id)
    assert (preview.lease, 'hosts' in preview.problem) == (None, True)
    before = acts.everything(manager)
    with pytest.raises(errors.LimitExceeded):
        manager.client.accept_transfer(RECEIVER, offered.id)
    assert {**acts.everything(manager), 'outbox': 0} == {**before, 'outbox': 0}
    manager.clock.advance(minutes(1))
    limited(manager, 2)
    assert manager.client.accept_transfer(RECEIVER, offered.id).project_id == GUEST


@pytest.fixture
def charged(conf, database, clock):
    """A manager with an enforcement service that keeps a ledger."""
    driver = ledger_driver.LedgerDriver(conf)
    found = builders.Manager(conf, database, clock, driver=driver)
    found.enrol(2)
    return found


def report(manager):
    for _ in range(3):
        enforcement_reports.EnforcementReports(manager.core).step(manager.clock())


def test_the_enforcement_service_charges_each_project_for_its_part(charged):
    lease = charged.active(builders.hosts(2), end=NOON + hours(6))
    charged.run_until(NOON + hours(2))
    made = accept(charged, lease)
    report(charged)
    assert charged.core.enforcement.hours() == {lease.id: 4, made.id: 8}


def test_a_refusal_of_the_enforcement_service_leaves_the_lease_with_its_owner(charged):
    lease = charged.create(builders.a_lease(builders.hosts(2), start=NOON + hours(1),
                                            end=NOON + hours(3)))
    charged.core.enforcement.latest_end = NOON + hours(2)
    offered = offer(charged, lease)
    with pytest.raises(errors.EnforcementRefused):
        charged.client.accept_transfer(RECEIVER, offered.id)
    report(charged)
    assert charged.core.enforcement.hours() == {lease.id: 4}
    assert charged.lease(lease).deleted_at is None
    assert charged.client.list_transfers(RECEIVER) == [offered]


def test_the_receiver_gets_a_trust_of_its_own_and_the_old_one_is_deleted(manager):
    manager.enrol(1)
    request = records.ReservationRequest('physical:host', {
        'min': 1, 'max': 1, 'before_end': 'snapshot'})
    lease = manager.active(request, end=NOON + hours(3))
    [old] = acts.trusts(manager)
    made = accept(manager, lease)
    [new] = acts.trusts(manager)
    assert old.id == lease.trust_id
    assert new.id == manager.lease(made).trust_id != old.id


def test_a_trust_of_a_failed_acceptance_is_deleted(manager, monkeypatch):
    manager.enrol(1)
    request = records.ReservationRequest('physical:host', {
        'min': 1, 'max': 1, 'before_end': 'snapshot'})
    lease = manager.create(builders.a_lease(request, start=NOON + hours(1), end=NOON + hours(3)))
    offered = offer(manager, lease)

    def fails(*_arguments):
        raise acts.NO
    monkeypatch.setattr('climate.manager.transfers.reports.note_origin', fails)
    with pytest.raises(errors.CloudError):
        manager.client.accept_transfer(RECEIVER, offered.id)
    assert [trust.id for trust in acts.trusts(manager)] == [lease.trust_id]
    with manager.database.reader() as connection:
        assert connection.execute(sa.select(tables.TRUSTS.c.trust_id)).scalars().all() == [
            lease.trust_id]


def test_a_receiver_who_cannot_delegate_is_refused(manager, conf):
    conf.set_override('trust_required', True, group='keystone')
    manager.enrol(1)
    lease = manager.create(builders.a_lease(start=NOON + hours(1), end=NOON + hours(3)))
    offered = offer(manager, lease)
    manager.cloud.fail('keystone.create_trust', 1, errors.TrustRefused(reason='It cannot.'))
    before = acts.everything(manager)
    with pytest.raises(errors.TrustRefused):
        manager.client.accept_transfer(RECEIVER, offered.id)
    assert acts.everything(manager) == before


def test_exactly_one_of_two_acceptances_at_once_succeeds(manager):
    manager.enrol(1)
    lease = manager.create(builders.a_lease(start=NOON + hours(1), end=NOON + hours(3)))
    made = manager.client.offer_transfer(builders.a_member(), lease.id,
                                         transfers.TransferRequest())
    accepted = []

    def first():
        accepted.append(manager.client.accept_transfer(
            builders.a_member('eve', 'other'), made.transfer.id, key=made.key))
    with acts.meddling(manager, first) as other, pytest.raises(errors.TransferClosed):
        other.client.accept_transfer(RECEIVER, made.transfer.id, key=made.key)
    assert [each.project_id for each in accepted] == ['other']
    assert len(acts.holders(manager)) == 0
    assert manager.client.list_leases(RECEIVER, records.LeaseQuery(project_id=GUEST)) == []

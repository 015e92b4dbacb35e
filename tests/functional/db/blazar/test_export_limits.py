# SPDX-License-Identifier: Apache-2.0
"""Leases, and parts of leases, that an export to Blazar cannot carry over."""
import pytest
from support import blazar_leases
from support import builders

from climate.db import resources
from climate.db import tables
from climate.db.blazar import report
from climate.db.blazar import source
from climate.domain import records
from climate.domain import sleep


@pytest.fixture(autouse=True)
def moved(blazar_gone):
    """Climate has taken the place of Blazar."""


def test_an_export_without_a_trust_leaves_out_what_needs_one(conf, blazar, manager, export):
    conf.set_override('trust_required', False, group='keystone')
    kept = manager.create(blazar_leases.later(builders.hosts(1)))
    lost = manager.create(blazar_leases.later(builders.instances(1)))
    chosen, _ = export()
    assert blazar.of_lease(kept.id)['leases'][0]['trust_id'] is None
    assert blazar.of_lease(lost.id) == {}
    [problem] = [problem for problem in chosen.problems if problem.is_loss]
    assert 'It has no trust' in problem.why and 'trust_required' in problem.advice


def test_leases_that_blazar_cannot_have_are_left_out_with_advice(blazar, manager, export):
    server = manager.create(blazar_leases.later(builders.a_server(flavor_id='1')))
    waiting = manager.create(builders.a_lease(
        builders.hosts(4), end=manager.clock() + builders.hours(1),
        acquire=records.AcquireRequest('wait')))
    chosen, _ = export()
    assert blazar.of_lease(server.id) == blazar.of_lease(waiting.id) == {}
    assert sorted(problem.why for problem in chosen.problems if problem.is_loss) == [
        'Blazar does not know leases of virtual:instance like this.',
        'It waits for resources, which Blazar cannot do.']
    assert all(problem.advice for problem in chosen.problems if problem.is_loss)


def test_fields_that_blazar_lacks_are_listed_and_the_lease_is_exported(blazar, manager, export):
    criteria = '["or", ["==", "$gpu", "A100"], ["==", "$rack", "r03"]]'
    booked = [manager.create(blazar_leases.later(reservation)) for reservation in (
        builders.hosts(1, criteria=criteria, on_image_failure='delete'),
        builders.instances(1, ephemeral_gb=1, extra_specs={'hw:cpu_policy': 'shared'}))]
    chosen, _ = export()
    assert blazar.of_lease(booked[0].id)['computehost_reservations'][0]['resource_properties'] == ''
    assert {problem.what.split()[1]: problem.why for problem in chosen.problems
            if problem.happens.startswith('It is exported without them')} == {
                booked[0].id: 'Blazar has no criteria such as resource_properties '
                              f'{criteria} and no field on_image_failure.',
                booked[1].id: 'Blazar has no field extra_specs and no field ephemeral_gb.'}


def test_a_lease_whose_action_is_not_finished_is_left_out(blazar, manager, export):
    now = manager.clock()
    booked = manager.create(builders.a_lease(builders.hosts(1), end=now + builders.hours(1)))
    manager.run()
    manager.delete(booked)
    chosen, _ = export()
    assert blazar.of_lease(booked.id) == {}
    [problem] = [problem for problem in chosen.problems if problem.is_loss]
    assert 'is not finished' in problem.why and 'Start climate-manager' in problem.advice


@pytest.mark.proof
def test_a_lease_in_error_is_exported_so_that_blazar_ends_it(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(4)))
    manager.cloud.remove_host('compute4')
    manager.run_until(blazar_leases.LATER + builders.minutes(3))
    assert manager.lease(booked).state == 'ERROR'
    export()
    rows = blazar.of_lease(booked.id)
    assert rows['leases'][0]['status'] == 'ERROR'
    assert {row['status'] for row in rows['reservations']} == {'error'}
    assert {row['event_type']: row['status'] for row in rows['events']}.items() >= {
        'start_lease': 'ERROR', 'end_lease': 'UNDONE'}.items()


def test_hosts_without_a_zone_of_their_lease_are_listed(conf, manager, export):
    booked = manager.create(blazar_leases.later(builders.hosts(1)))
    assert not any(booked.id in problem.what for problem in export()[0].problems)
    conf.set_override('reservation_zone', 'never', group='nova')
    [problem] = [each for each in export()[0].problems if booked.id in each.what]
    assert 'admits servers of all projects' in problem.happens and problem.advice


def test_names_that_blazar_does_not_use_are_listed(conf, export):
    conf.set_override('provider_prefix', 'climate_', group='placement')
    [problem] = [each for each in export()[0].problems if each.what.startswith('[')]
    assert (problem.what, problem.why) == (
        '[placement] provider_prefix', 'It is "climate_", not "blazar_".')


def test_hosts_that_blazar_cannot_use_are_listed(blazar, database, manager, export):
    admin = builders.an_admin()
    ids = {each.name: each.id for each in manager.client.list_resources(admin, 'host')}
    with database.writer() as connection:
        resources.change(connection, ids['compute1'], manager.clock(), lent_to='a reservation')
        connection.execute(tables.POWER_STATES.insert().values(
            resource_id=ids['compute3'], state=sleep.ASLEEP, since=manager.clock()))
        resources.withdraw(connection, ids['compute4'], manager.clock())
    problems = {each.what: each.why for each in export()[0].problems if 'host ' in each.what}
    assert problems == {f'host {ids["compute1"]} (compute1)': 'It is lent to one lease.',
                        f'host {ids["compute3"]} (compute3)': 'It sleeps.',
                        f'host {ids["compute4"]} (compute4)': 'Climate has withdrawn it.'}


def test_a_lease_that_only_blazar_has_is_listed_and_kept(blazar, export):
    blazar.execute("INSERT INTO leases (id, name, project_id, status, start_date, end_date) VALUES "
                   "('other', ?, 'p', 'ACTIVE', '2026-11-26 14:26:00', '2026-11-27 14:26:00')",
                   'l-network\x1b[2J')
    chosen, _ = export()
    assert any(r'(l-network\x1b[2J)' in line for line in report.export_lines(chosen))
    [problem] = [each for each in chosen.problems if 'l-network' in each.what]
    assert (problem.why, problem.is_loss) == ('Climate does not have it.', False)
    assert blazar.of_lease('other')


def test_a_release_with_fewer_columns_gets_the_columns_that_it_has(blazar, manager, export):
    blazar.execute('ALTER TABLE computehosts DROP COLUMN availability_zone')
    blazar.execute('ALTER TABLE instance_reservations DROP COLUMN server_group_id')
    booked = manager.create(blazar_leases.later(builders.instances(1)))
    export()
    assert blazar.of_lease(booked.id)['instance_reservations'][0]['flavor_id']
    assert export()[1] == []


def test_a_release_without_a_table_that_is_needed_is_refused(blazar, manager, export):
    booked = manager.create(blazar_leases.later(builders.instances(1)))
    blazar.execute('DROP TABLE instance_reservations')
    with pytest.raises(source.NotBlazar, match='no table instance_reservations'):
        export()
    assert blazar.of_lease(booked.id) == {}

# SPDX-License-Identifier: Apache-2.0
"""Rows of Blazar with values that Climate refuses: each is mended or left out, and reported."""
import datetime
import json

import pytest
from support import builders

from climate.db.blazar import report
from climate.db.blazar import times

ADMIN = 'root:ops:admin'
RESERVATION = ('WHERE reservation_id IN (SELECT r.id FROM reservations r JOIN leases l '
               "ON l.id = r.lease_id WHERE l.name = '{}')")
HOST, HOST_PENDING, SIZED, FLAVOR, ADDRESS = (RESERVATION.format(name) for name in (
    'l-host-active', 'l-host-pending', 'l-inst-pending', 'l-flavor-pending', 'l-fip-pending'))
NAMED = "WHERE name = 'l-host-active'"
OWN_EVENTS = f'WHERE lease_id IN (SELECT id FROM leases {NAMED})'
FLAVOR_OF = f'UPDATE instance_reservations SET resource_properties = ? {FLAVOR}'
FLAVOR_TEXT = {'id': 'x', 'name': 'x', 'vcpus': 1, 'ram': 1, 'disk': 1}


def problems(conversion, what):
    return [problem for problem in conversion.problems if what in problem.what]


def shown(conf, manager):
    """Return {name: lease} at REST 1.0."""
    api = builders.Api(conf, manager)
    return {lease['name']: lease for lease in api.get(
        '/v1/leases?all_tenants=1', token=ADMIN).json['leases']}


@pytest.mark.parametrize(('name', 'kept'), [
    ('tab\there', 'tab here'), ('\n', 'imported'), (None, 'imported'), ('', 'imported'),
    ('a\x07b', 'a b'), ('\u202eevil', 'evil'), ('x' * 300, 'x' * 80)])
def test_a_name_that_climate_refuses_is_cleaned_and_reported(
        blazar, imported, conf, manager, name, kept):
    blazar.execute(f'UPDATE leases SET name = ? {NAMED}', name)
    conversion, _ = imported()
    assert any(problem.happens == f'It is called "{kept}".' for problem in conversion.problems)
    assert len(shown(conf, manager)) == 15 and kept in shown(conf, manager)
    assert all(line.isprintable() for line in report.lines(conversion))


def test_the_report_shows_names_without_line_breaks_and_escape_sequences(blazar, converted):
    blazar.execute(f'UPDATE leases SET name = ?, project_id = ? {NAMED}', 'a\tb\n\x1b[31m', 'p\x9b')
    blazar.execute("UPDATE leases SET name = '\u202eevil' WHERE name = 'l-doubled-4'")
    lines = list(report.lines(converted()))
    assert all(line.isprintable() for line in lines)
    text = '\n'.join(lines)
    assert r'(a\tb\n\x1b[31m) of project p\x9b: The id of its owner' in text
    assert r'(\u202eevil) of project' in text


@pytest.mark.parametrize(('change', 'values', 'words'), [
    (f'UPDATE leases SET end_date = NULL {NAMED}', (), 'Its dates are'),
    (f"UPDATE leases SET end_date = '0000-00-00 00:00:00' {NAMED}", (), '0000-00-00'),
    (f"UPDATE leases SET start_date = 'soon' {NAMED}", (), 'soon'),
    (f"UPDATE leases SET start_date = '0001-01-01 00:00:00' {NAMED}", (), '0001-01-01'),
    (f'UPDATE leases SET status = NULL {NAMED}', (), 'Its status is None'),
    (f'UPDATE leases SET user_id = NULL {NAMED}', (), 'no owner'),
    (f'UPDATE leases SET project_id = ? {NAMED}', ('a\nb',), 'cannot be printed'),
    (f'UPDATE reservations SET resource_type = NULL {OWN_EVENTS}', (), 'the type None')])
def test_a_lease_with_unusable_columns_is_left_out(blazar, imported, change, values, words):
    blazar.execute(change, *values)
    conversion, counts = imported()
    [problem] = problems(conversion, 'l-host-active')
    assert words in problem.why and problem.is_loss and problem.advice
    assert counts.added == 14


@pytest.mark.parametrize(('change', 'values', 'words'), [
    *((f"UPDATE computehost_reservations SET count_range = '{text}' {HOST}", (), text)
      for text in ('a-b', '1', '2-1', '-1-2', '\u0663-\u0663', f'1-{"9" * 40}')),
    (f"UPDATE computehost_reservations SET count_range = '0-0' {HOST}", (), 'minimum of 1'),
    (f"UPDATE computehost_reservations SET count_range = '1-99999999' {HOST}", (), 'maximum of'),
    (f'UPDATE computehost_reservations SET count_range = NULL {HOST}', (), 'count_range is ""'),
    (f'UPDATE instance_reservations SET amount = -1 {SIZED}', (), 'amount'),
    (f'UPDATE instance_reservations SET vcpus = NULL {SIZED}', (), 'vcpus'),
    (f'UPDATE instance_reservations SET vcpus = 0, memory_mb = 0 {SIZED}', (), 'memory_mb'),
    (f'UPDATE floatingip_reservations SET amount = 0 {ADDRESS}', (), 'amount'),
    (f"UPDATE floatingip_reservations SET network_id = 'a b' {ADDRESS}", (), 'network_id'),
    *((FLAVOR_OF, (text,), 'missing or malformed') for text in (
        '[]', '"x"', 'null', '[' * 100000, json.dumps({**FLAVOR_TEXT, 'vcpus': -1}),
        json.dumps({**FLAVOR_TEXT, 'vcpus': float('inf')}),
        json.dumps({**FLAVOR_TEXT, 'extra_specs': 'abc'}))),
    (FLAVOR_OF, (json.dumps({**FLAVOR_TEXT, 'id': None}),), 'flavor_id'),
    (FLAVOR_OF, (json.dumps({**FLAVOR_TEXT, 'extra_specs': {'resources:CUSTOM_A': 'b'}}),),
     'not a whole number')])
def test_a_reservation_that_climate_refuses_is_reported_by_its_field(
        blazar, imported, change, values, words):
    blazar.execute(change, *values)
    conversion, counts = imported()
    [problem] = [problem for problem in conversion.problems if 'Reservation' in problem.why]
    assert words in problem.why and problem.is_loss and problem.advice
    assert counts.added == 14


def test_hosts_from_none_on_become_hosts_from_one_on(blazar, imported, conf, manager):
    blazar.execute(f"UPDATE computehost_reservations SET count_range = '0-3' {HOST}")
    conversion, _ = imported()
    [problem] = problems(conversion, 'l-host-active')
    assert '0-3' in problem.why and not problem.is_loss
    [reservation] = shown(conf, manager)['l-host-active']['reservations']
    assert (reservation['min'], reservation['max']) == (1, 3)


def test_an_unknown_action_before_the_end_is_dropped_and_reported(blazar, imported, conf, manager):
    blazar.execute(f"UPDATE computehost_reservations SET before_end = 'email' {HOST_PENDING}")
    conversion, _ = imported()
    [problem] = problems(conversion, 'l-host-pending')
    assert '"email"' in problem.why and not problem.is_loss
    [reservation] = shown(conf, manager)['l-host-pending']['reservations']
    assert reservation['before_end'] == ''


def test_a_lease_without_an_end_in_the_calendar_ends_at_the_last_moment(
        blazar, imported, conf, manager):
    for change in (f'UPDATE leases SET end_date = ? {NAMED}',
                   f"UPDATE events SET time = ? {OWN_EVENTS} AND event_type = 'end_lease'"):
        blazar.execute(change, '9999-12-31 23:59:59')
    conversion, _ = imported()
    [problem] = problems(conversion, 'l-host-active')
    assert '9999' in problem.why and not problem.is_loss
    lease = shown(conf, manager)['l-host-active']
    assert lease['end_date'].startswith(f'{times.LATEST:%Y-%m-%dT%H:%M}')
    manager.run_until(manager.clock() + datetime.timedelta(minutes=5))
    assert shown(conf, manager)['l-host-active']['status'] == 'ACTIVE'


@pytest.mark.parametrize('changes', [
    ['UPDATE {} SET created_at = NULL, updated_at = NULL'],
    [f'UPDATE reservations SET status = NULL, resource_id = NULL {OWN_EVENTS}'],
    [f'UPDATE events SET event_type = NULL, status = NULL {OWN_EVENTS}'],
    [f'UPDATE events SET lease_id = NULL {OWN_EVENTS}'],
    ['UPDATE computehost_reservations SET resource_properties = NULL, aggregate_id = NULL, '
     'hypervisor_properties = NULL, before_end = NULL'],
    ['UPDATE instance_reservations SET affinity = NULL, flavor_id = NULL, aggregate_id = NULL, '
     'server_group_id = NULL'],
    ['UPDATE computehosts SET status = NULL, service_name = NULL'],
    ['UPDATE computehost_allocations SET compute_host_id = NULL'],
    ["UPDATE computehost_allocations SET compute_host_id = NULL WHERE compute_host_id = '1'"],
    ['UPDATE computehost_allocations SET reservation_id = NULL'],
    ['UPDATE floatingip_allocations SET reservation_id = NULL'],
    [f"UPDATE leases SET trust_id = '' {NAMED}"], ['UPDATE leases SET trust_id = NULL']])
def test_a_column_may_be_null_where_blazar_allows_it(blazar, imported, conf, manager, changes):
    for change in changes:
        for table in ('leases', 'reservations', 'events') if '{}' in change else ('',):
            blazar.execute(change.format(table))
    conversion, counts = imported()
    assert counts.added == 15 and not any(problem.is_loss for problem in conversion.problems)
    assert len(shown(conf, manager)) == 15


def test_ids_need_not_be_uuids(blazar, imported, conf, manager):
    for change in (
            f"UPDATE computehost_reservations SET reservation_id = 'Its reservation' {HOST}",
            f"UPDATE computehost_allocations SET reservation_id = 'Its reservation' {HOST}",
            f"UPDATE reservations SET id = 'Its reservation', lease_id = 'lease' {OWN_EVENTS}",
            f"UPDATE events SET lease_id = 'lease' {OWN_EVENTS}",
            f"UPDATE leases SET id = 'lease' {NAMED}",
            "UPDATE computehost_allocations SET compute_host_id = 'abc' "
            "WHERE compute_host_id = '1'",
            "UPDATE computehosts SET id = 'abc' WHERE id = '1'"):
        blazar.execute(change)
    conversion, _ = imported()
    assert not conversion.problems
    lease = builders.Api(conf, manager).get('/v1/leases/lease', token=ADMIN).json['lease']
    assert lease['reservations'][0]['id'] == 'Its reservation'


@pytest.mark.parametrize(('name', 'words'), [
    ('g' * 255, 'too long'), ('availability_zone', 'value of this name'), ('id', 'this name'),
    ('max_unit:VCPU', 'this name'), ('', 'printable'), ('a\0\nb', 'printable')])
def test_a_property_that_climate_refuses_is_left_out(
        blazar, imported, conf, manager, name, words):
    blazar.execute("UPDATE resource_properties SET property_name = ?, private = 1 "
                   "WHERE property_name = 'gpu'", name)
    conversion, counts = imported()
    [problem] = problems(conversion, 'property')
    assert words in problem.why and problem.is_loss and problem.advice
    assert counts.added == 15
    hosts = builders.Api(conf, manager).get('/v1/os-hosts', token=ADMIN).json['hosts']
    assert [host.get('rack') for host in hosts] == ['r01', 'r02', 'r03', None]


def test_a_lease_whose_criteria_use_a_lost_property_keeps_its_hosts(
        blazar, imported, conf, manager):
    blazar.execute("UPDATE resource_properties SET property_name = 'my rack' "
                   "WHERE property_name = 'rack'")
    for where in (HOST, HOST_PENDING):
        blazar.execute('UPDATE computehost_reservations SET resource_properties = '
                       f'\'["==", "$my rack", "r02"]\' {where}')
    conversion, counts = imported()
    [lost, *criteria] = [problem for problem in conversion.problems if 'my rack' in str(problem)]
    assert lost.what == 'property "my rack" of hosts compute1, compute2, compute4' and lost.is_loss
    assert sorted(problem.what.split()[2] for problem in criteria) == [
        '(l-host-active)', '(l-host-pending)']
    assert counts.added == 15 and not any(problem.is_loss for problem in criteria)
    api, leases = builders.Api(conf, manager), shown(conf, manager)
    running, later = (api.put(f'/v1/leases/{leases[name]["id"]}', {'end_date': end}, token=ADMIN)
                      for name, end in (('l-host-active', '2026-11-26 16:06'),
                                        ('l-host-pending', '2026-11-28 16:26')))
    assert running.json['lease']['end_date'].startswith('2026-11-26T16:06')
    assert later.status_int == 400 and 'my rack' in later.json['error_message']


def test_a_value_that_not_every_database_holds_is_left_out(blazar, imported):
    blazar.execute("UPDATE computehost_extra_capabilities SET capability_value = ? "
                   "WHERE capability_value = 'r01'", '\u00e9' * 40000)
    blazar.execute('UPDATE computehosts SET cpu_info = ?', '\u00e9' * 40000)
    conversion, counts = imported()
    [problem] = problems(conversion, 'property "rack"')
    assert problem.is_loss and counts.resources == 6


@pytest.mark.parametrize('change', [
    'UPDATE computehosts SET cpu_info = char(65, 0, 66)',
    'UPDATE computehosts SET vcpus = -1, memory_mb = -1, local_gb = -5',
    'UPDATE computehost_resource_inventory SET total = -5',
    'UPDATE computehost_extra_capabilities SET capability_value = char(65, 0, 66)'])
def test_odd_facts_of_a_host_do_not_stop_an_import(blazar, imported, change):
    blazar.execute(change)
    _, counts = imported()
    assert (counts.added, counts.resources) == (15, 6)

# SPDX-License-Identifier: Apache-2.0
"""Every way in which the cloud can differ from the database: found, told, repaired, or left."""
import audit_cases as cases
import audit_installation
import pytest
from support import builders
from support import cloud_points
from support import thinning

from climate import errors
from climate.cmd import audit as command
from climate.domain import lifecycle
from climate.manager.audit import comparison


@pytest.fixture
def case(manager):
    return audit_installation.Case(manager)


@pytest.mark.proof
@pytest.mark.parametrize('spoil', thinning.few(cases.REPAIRABLE, 6), ids=lambda each: each.__name__)
def test_repairable_drift_is_found_reported_and_repaired(case, spoil, capsys):
    assert case.audit() == 0
    assert 'The cloud and the database agree.' in capsys.readouterr().out
    servers = case.manager.cloud.servers()
    what, problem, remedy = spoil(case)
    spoilt = case.picture()

    assert case.audit() == 2
    told = capsys.readouterr().out
    [line] = [each for each in told.splitlines() if what in each and problem in each]
    assert remedy in line
    assert case.picture() == spoilt, 'A look changes nothing.'

    assert case.audit(fix=True) == 0
    told = capsys.readouterr().out
    assert any(what in each and each.endswith('repaired') for each in told.splitlines())
    assert case.audit() == 0
    assert case.audit(fix=True) == 0
    assert case.manager.cloud.servers() == servers


@pytest.mark.parametrize('spoil', thinning.few(cases.UNRECORDED, 2), ids=lambda each: each.__name__)
def test_unrecorded_objects_are_repaired_only_on_request(case, spoil, capsys):
    what, problem, remedy = spoil(case)
    before = case.picture()
    for fix in (False, True):
        assert case.audit(fix) == 2
        told = capsys.readouterr().out
        [line] = [each for each in told.splitlines() if what in each and problem in each]
        assert remedy in line
        assert case.picture() == before
    assert case.audit(fix=True, unknown=True) == 0
    assert case.picture() != before
    assert case.audit() == 0


def test_a_repaired_lease_works_as_before(case):
    for spoil in (cases.leftover_aggregate, cases.put_into_the_freepool, cases.room_without_flavor):
        spoil(case)
    assert case.audit(fix=True, unknown=True) == 0
    assert len(case.manager.client.list_resources(builders.an_admin(), 'host')) == 7
    assert len(case.pooled()) == 6
    case.manager.cloud.boot('demo', 'another one', flavor=case.id_of(case.room))
    with pytest.raises(errors.Conflict):
        case.manager.cloud.boot('demo', 'one too many', flavor=case.id_of(case.room))
    lease = case.lease(builders.hosts(4))
    assert 'by-hand' in {each.name for each in case.nova.hypervisors()
                         if each.service_host in case.hosts_of(lease)}


def test_a_lost_server_group_is_recreated_and_shown(case):
    before = case.room.reservations[0].binding['server_group_id']
    cases.room_without_group(case)
    case.audit(fix=True)
    after = case.manager.lease(case.room).reservations[0].binding['server_group_id']
    assert after != before
    assert after in {group.id for group in case.services.flavors.groups()}


@pytest.mark.proof
@pytest.mark.parametrize('spoil', thinning.few(cases.BY_HAND, 4), ids=lambda each: each.__name__)
def test_drift_that_a_person_must_decide_is_only_reported(case, spoil, capsys):
    what, problem = spoil(case)
    before = case.picture()
    for fix in (False, True, True):
        assert case.audit(fix) == 2
        told = capsys.readouterr().out
        [line] = [each for each in told.splitlines() if what in each and problem in each]
        assert 'repaired' not in line
    assert case.picture() == before


def test_a_repair_does_not_touch_running_leases(case):
    before = case.picture()
    for spoil in (cases.leftover_aggregate, cases.leftover_flavor, cases.leftover_slots,
                  cases.trust):
        spoil(case)
    assert case.audit(fix=True) == 0
    assert case.picture() == before


def test_a_repair_does_not_touch_names_of_others(case):
    case.aggregate(cases.FOREIGN, metadata={'blazar:owner': 'demo'})
    case.aggregate('rack 7')
    case.services.flavors.ensure(cases.FOREIGN, f'reservation:{cases.FOREIGN}', {
        'vcpus': 1, 'ram': 1, 'disk': 1, 'ephemeral': 0, 'swap': 0}, {})
    case.services.flavors.ensure_group(f'reservation:{cases.FOREIGN}', 'affinity')
    case.services.flavors.ensure_group('reservation: mine', 'affinity')
    case.services.placement.ensure_class(
        f'CUSTOM_RESERVATION_{cases.FOREIGN.upper().replace("-", "_")}')
    case.services.placement.ensure_class('CUSTOM_RESERVATION_CARD')
    before = case.picture()
    assert case.audit(fix=True) == 0
    assert case.picture() == before


def test_an_object_missing_in_the_second_comparison_is_no_drift(case, capsys):
    host = case.pooled()[-1]
    case.out_of_pool([host])

    def the_other_manager_goes_on(seconds):
        assert seconds == 120
        case.nova.add_hosts(case.nova.aggregate('freepool'), [host])
    assert command.examine(case.manager.core, True, the_other_manager_goes_on) == 0
    told = capsys.readouterr()
    assert 'The cloud and the database agree' in told.out
    assert '1 found; they are checked again in 120 seconds.' in told.err


@pytest.mark.proof
@pytest.mark.parametrize('method', ['start', 'end'])
def test_a_lease_that_is_starting_or_ending_is_no_drift(case, method):
    """At every call of the cloud in between, an audit finds nothing."""
    if method == 'start':
        lease = case.manager.book(builders.hosts(2), audit_installation.ROOM)
    else:
        lease = case.lease(builders.hosts(2), audit_installation.ROOM)
        case.end(lease)
    looks = []

    def look(name, when):
        case.manager.cloud.faults.on_point = None
        looks.append(comparison.Auditor(case.manager.core).compare())
        case.manager.cloud.faults.on_point = look
    case.manager.cloud.faults.on_point = look
    case.manager.run()
    case.manager.cloud.faults.on_point = None
    assert case.manager.lease(lease).state in (lifecycle.ACTIVE, lifecycle.TERMINATED)
    assert len(looks) > 20
    # The trust of a lease is dropped behind its end.
    assert not any(looks)
    assert case.audit() == 0


def test_a_comparison_lists_each_kind_of_object_once(case):
    calls = cloud_points.calls(case.manager.cloud)
    assert comparison.Auditor(case.manager.core).compare() == []
    assert len(calls) == len(set(calls)), sorted(calls)
    assert {'nova.aggregates', 'nova.servers', 'keystone.trusts'} <= set(calls)


def test_a_record_that_changes_during_the_comparison_is_no_drift(case):
    lease = case.manager.book(builders.hosts(2), audit_installation.ROOM)
    done = cloud_points.once_at(case.manager.cloud, 'nova.aggregates', case.manager.run, 'after')
    assert comparison.Auditor(case.manager.core).compare() == []
    assert done
    assert case.manager.lease(lease).state == lifecycle.ACTIVE


def test_a_lease_that_ends_while_it_is_completed_leaves_nothing(case):
    cases.room_without_aggregate(case)
    before = [each.name for each in case.nova.aggregates()]

    def end():
        case.end(case.room)
        for _ in range(5):
            case.manager.run()
            case.manager.clock.advance(builders.minutes(1))
        assert case.manager.lease(case.room).state == lifecycle.TERMINATED
    cloud_points.once_at(case.manager.cloud, 'nova.create_aggregate', end)
    case.audit(fix=True)
    assert [each.name for each in case.nova.aggregates()] == before
    assert case.audit() == 0


def test_a_failing_cloud_is_an_error_and_no_drift(case):
    case.manager.cloud.fail('nova.aggregates', 1, errors.CloudUnreachable(
        service='Nova', reason='ill'))
    with pytest.raises(errors.CloudUnreachable):
        case.audit()


def test_a_failing_repair_does_not_stop_the_others(case, capsys):
    cases.leftover_group(case)
    cases.trust(case)
    case.manager.cloud.fail('keystone.delete_trust', 1, errors.CloudError(
        service='Keystone', reason='ill'))
    assert case.audit(fix=True) == 2
    told = capsys.readouterr().out
    assert 'left: Keystone: ill' in told
    assert 'repaired' in told
    assert case.audit(fix=True) == 0


def test_an_audit_with_an_empty_database_removes_nothing(manager, capsys):
    nova = manager.cloud.as_service().nova
    nova.ensure_aggregate(cases.FOREIGN, f'climate_{cases.FOREIGN}')
    assert command.examine(manager.core, True, lambda seconds: None, unknown=True) == 2
    assert 'The database has no leases.' in capsys.readouterr().out
    assert nova.aggregate(cases.FOREIGN) is not None


def test_an_audit_reports_reservations_of_a_disabled_type(case, capsys):
    cases.leftover_flavor(case)
    plugins = {name: each for name, each in case.manager.core.registry.plugins.items()
               if name != 'virtual:instance'}
    case.manager.core.registry.plugins = plugins
    assert case.audit(fix=True) == 2
    assert 'virtual:instance' in capsys.readouterr().out

# SPDX-License-Identifier: Apache-2.0
"""Servers that somebody forced onto leased hosts, past the filters of Nova's scheduler."""
import acts
import audit_installation
import pytest
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.manager.audit import comparison
from climate.manager.pools import refresh

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes


@pytest.fixture
def leased(manager):
    """A running lease of one host, with a server of its own."""
    manager.enrol(2)
    lease = manager.active(end=NOON + hours(2))
    manager.cloud.boot('demo', 'own', {'reservation': lease.reservations[0].id})
    return lease


def _names(manager):
    return [each.name for each in manager.cloud.servers()]


def test_the_end_of_a_lease_deletes_only_servers_of_projects_that_it_is_for(
        manager, leased, caplog):
    [host] = acts.aggregate(manager, leased).hosts
    forced = manager.cloud.boot('eve', 'forced', host=host, forced=True)
    manager.run_until(NOON + hours(2) + minutes(1))
    assert _names(manager) == ['forced']
    lease = manager.lease(leased)
    assert lease.state != lifecycle.TERMINATED
    [warning] = [each for each in caplog.messages if forced.id in each]
    assert f'Foreign server {forced.id} of project eve on host {host} keeps the host' in warning
    assert forced.id in lease.reason
    assert 'A server of another project on a host' in lease.owner_reason
    assert forced.id not in lease.owner_reason
    assert host not in acts.freepool(manager)

    manager.cloud.delete_server(forced.id)
    manager.expect(leased, lifecycle.TERMINATED, NOON + hours(2) + minutes(30))
    assert acts.is_clean(manager, 2)


@pytest.mark.proof
def test_an_end_that_waits_for_foreign_servers_in_vain_says_why(manager, leased):
    [host] = acts.aggregate(manager, leased).hosts
    manager.cloud.boot('eve', 'forced', host=host, forced=True)
    lease = manager.expect(leased, lifecycle.ERROR, NOON + hours(26))
    assert 'an administrator must move it' in lease.reason
    assert 'lease.error' in acts.news(manager)
    assert _names(manager) == ['forced']


def test_an_option_deletes_foreign_servers_too(manager, conf, leased):
    conf.set_override('foreign_servers', 'delete', group='physical:host')
    manager.cloud.boot('eve', 'forced', host=acts.aggregate(manager, leased).hosts[0], forced=True)
    manager.expect(leased, lifecycle.TERMINATED, NOON + hours(3))
    assert acts.is_clean(manager, 2)


def test_the_end_deletes_only_what_was_booted_with_the_reservation(manager, leased):
    """A server of the lease's own project may have been forced there, or moved there, too."""
    [host] = acts.aggregate(manager, leased).hosts
    forced = manager.cloud.boot('demo', 'forced', host=host, forced=True)
    other = manager.cloud.boot('demo', 'of another lease', host=host, forced=True,
                               hints={'reservation': 'r-other'})
    found = [each for each in comparison.Auditor(manager.core).compare()
             if each.kind == 'foreign server']
    assert {each.what for each in found} == {f'server {forced.id}', f'server {other.id}'}
    manager.run_until(NOON + hours(2) + minutes(1))
    assert _names(manager) == ['forced', 'of another lease']
    for each in (forced, other):
        manager.cloud.delete_server(each.id)
    manager.expect(leased, lifecycle.TERMINATED, NOON + hours(2) + minutes(30))
    assert acts.is_clean(manager, 2)


@pytest.mark.parametrize('hint', ['reservation', 'lease', 'several'])
def test_a_server_that_names_the_reservation_is_not_foreign(manager, leased, hint):
    key = leased.reservations[0].id
    named = {'reservation': key, 'lease': leased.id, 'several': ['r-other', key]}[hint]
    manager.cloud.boot('demo', 'named', host=acts.aggregate(manager, leased).hosts[0], forced=True,
                       hints={'reservation': named})
    assert comparison.Auditor(manager.core).compare() == []
    manager.run_until(NOON + hours(3))
    assert acts.is_clean(manager, 2)


@pytest.mark.usefixtures('rare_polls')
def test_an_end_returns_the_hosts_without_foreign_servers(manager):
    manager.enrol(3)
    lease = manager.active(builders.hosts(3), end=NOON + hours(2))
    host = acts.aggregate(manager, lease).hosts[0]
    forced = manager.cloud.boot('eve', 'forced', host=host, forced=True)
    manager.run_until(NOON + hours(2) + minutes(2))
    assert len(acts.freepool(manager)) == 2
    assert host not in acts.freepool(manager)
    other = manager.active(builders.hosts(2), end=NOON + hours(9))
    manager.cloud.delete_server(forced.id)
    manager.expect(lease, lifecycle.TERMINATED, NOON + hours(2) + minutes(30))
    assert acts.freepool(manager) == (host,)
    assert manager.lease(other).state == lifecycle.ACTIVE
    manager.run_until(NOON + hours(9) + minutes(1))
    assert acts.is_clean(manager, 3)


@pytest.mark.usefixtures('rare_polls')
def test_no_image_is_made_of_a_server_that_stays(manager):
    manager.enrol(1)
    lease = manager.active(builders.hosts(1, before_end='snapshot'), end=NOON + hours(2))
    manager.cloud.boot('eve', 'forced', host=acts.aggregate(manager, lease).hosts[0], forced=True)
    manager.run_until(NOON + hours(2) + minutes(2))
    assert manager.cloud.images() == []
    assert _names(manager) == ['forced']


def _ordinary(manager):
    """A running lease of hosts, and one host of it."""
    lease = manager.active(builders.hosts(2), end=NOON + hours(9))
    return lease, acts.aggregate(manager, lease).hosts[0]


def _capacity(manager):
    """A running lease of instance capacity, and a host with a part of it."""
    lease = manager.active(audit_installation.ROOM, end=NOON + hours(9))
    host = lease.reservations[0].resource_ids[0]
    [resource] = [each for each in manager.client.list_resources(builders.an_admin(), 'host')
                  if each.id == host]
    return lease, resource.name


@pytest.mark.parametrize('lease_of', [_ordinary, _capacity])
def test_a_lease_is_degraded_while_a_foreign_server_is_on_one_of_its_hosts(
        manager, caplog, lease_of):
    manager.enrol(2)
    lease, host = lease_of(manager)
    look = refresh.Refresher(manager.core, 'this manager').refresh
    look(manager.clock())
    assert not manager.lease(lease).degraded
    forced = manager.cloud.boot('eve', 'forced', host=host, forced=True, flavor='1')
    look(manager.clock())
    now = manager.lease(lease)
    assert (now.degraded, now.reservations[0].missing_resources) == (True, True)
    assert f'{host}: foreign servers are on it: {forced.id}' in caplog.text
    [told] = [each for each in acts.told(manager, lease) if each.what == 'degraded']
    assert host not in told.why
    assert forced.id not in told.why
    manager.cloud.delete_server(forced.id)
    look(manager.clock())
    now = manager.lease(lease)
    assert (now.degraded, now.reservations[0].missing_resources) == (False, False)


def test_a_project_with_which_the_hosts_are_shared_is_not_foreign(manager, leased):
    nova = manager.cloud.as_service().nova
    aggregate = acts.aggregate(manager, leased)
    nova.set_aggregate_metadata(aggregate, {'friend': 'true'})
    manager.cloud.boot('friend', 'shared', host=aggregate.hosts[0], forced=True,
                       hints={'reservation': leased.reservations[0].id})
    assert comparison.Auditor(manager.core).compare() == []
    manager.expect(leased, lifecycle.TERMINATED, NOON + hours(3))
    assert acts.is_clean(manager, 2)


@pytest.mark.usefixtures('rare_polls')
def test_a_lease_that_shrinks_does_not_delete_a_foreign_server(manager):
    manager.enrol(2)
    lease = manager.active(builders.hosts(2), end=NOON + hours(9))
    for host in acts.aggregate(manager, lease).hosts:
        manager.cloud.boot('eve', f'forced-{host}', host=host, forced=True)
    [reservation] = lease.reservations
    manager.change(lease, reservations=acts.asked(reservation, min=1, max=1))
    manager.run_until(NOON + minutes(5))
    assert len(_names(manager)) == 2


def test_the_filter_admits_no_foreign_server(manager, leased):
    """Servers of the lease, of instance capacity and ordinary ones are where they may be."""
    manager.client.create_resource(builders.an_admin(), 'host', 'compute-3', {})
    capacity = manager.active(audit_installation.ROOM, end=NOON + hours(2))
    manager.cloud.boot('demo', 'in capacity', flavor=capacity.reservations[0].id)
    with pytest.raises(errors.Conflict):
        manager.cloud.boot('eve', 'ordinary', host='compute-1')
    manager.cloud.boot('eve', 'ordinary')
    assert comparison.Auditor(manager.core).compare() == []


FILTERED = """
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = climate.nova.filter.ClimateFilter
enabled_filters = ComputeFilter,ClimateFilter
[climate]
auth_type = password
"""


def _filter_drifts(manager):
    return [each for each in comparison.Auditor(manager.core).compare() if each.kind == 'filter']


@pytest.mark.parametrize(('text', 'problem'), [
    (FILTERED, None),
    (FILTERED.replace(',ClimateFilter', ''), 'enabled_filters lacks ClimateFilter'),
    (FILTERED + 'aggregate_freepool = pool\n', 'aggregate_freepool is "pool"'),
    ('enabled_filters', 'scheduler_config_files: ')])
def test_an_audit_reads_what_nova_conf_says_of_the_filter(manager, conf, tmp_path, text, problem):
    path = tmp_path / 'nova.conf'
    path.write_text(text)
    conf.set_override('scheduler_config_files', [str(path)], group='nova')
    manager.enrol(1)
    found = _filter_drifts(manager)
    assert len(found) == (0 if problem is None else 1)
    assert all(problem in each.problem and each.what == 'nova-scheduler' for each in found)


def test_a_file_that_was_named_and_is_missing_is_reported(manager, conf, tmp_path):
    conf.set_override('scheduler_config_files', [str(tmp_path / 'none.conf')], group='nova')
    [found] = _filter_drifts(manager)
    assert 'none.conf' in found.problem


def test_several_foreign_servers_show_that_the_filter_is_missing(manager, conf):
    conf.set_override('scheduler_config_files', [], group='nova')
    for each in manager.enrol(2):
        assert _filter_drifts(manager) == []
        manager.cloud.boot('eve', 'anywhere', host=each.name, forced=True, flavor='1')
    [found] = _filter_drifts(manager)
    assert found.problem.startswith('2 servers without a reservation are on hosts of the freepool')

# SPDX-License-Identifier: Apache-2.0
"""Every way in which the cloud can differ from the accounts: found, told, repaired, or left."""
import dataclasses
import uuid

import builders
import pytest

from climate import errors
from climate.cmd import audit as command
from climate.db import leases
from climate.db import migrate
from climate.db import resources
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import audit

FOREIGN = str(uuid.UUID(int=7))
ROOM = records.ReservationRequest('virtual:instance', {
    'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1, 'amount': 2, 'affinity': False})


class Case:
    """An installation, and hands that put it out of order.

    :ivar host: a running lease of one host with a server on it.
    :ivar room: a running lease of room for two instances, one of which is there.
    :ivar over: a lease of two hosts that has ended.
    """

    def __init__(self, manager):
        self.manager = manager
        self.nova = manager.cloud.as_service().nova
        self.services = manager.cloud.as_service()
        manager.enrol(6)
        self.over = self.lease(builders.hosts(2))
        self.over_room = self.lease(ROOM)
        self.end(self.over)
        self.end(self.over_room)
        manager.run()
        self.host, self.room = self.lease(builders.hosts(1)), self.lease(ROOM)
        manager.cloud.boot('demo', 'on the host', {'reservation': self.id_of(self.host)})
        manager.cloud.boot('demo', 'in the room', flavor=self.id_of(self.room))

    def lease(self, *reservations, **more):
        lease = self.manager.create(builders.a_lease(*reservations, **more))
        self.manager.run()
        lease = self.manager.lease(lease)
        assert lease.state == lifecycle.ACTIVE, lease.reason
        return lease

    def end(self, lease):
        """Ask for the end of a lease, a minute from now."""
        self.manager.clock.advance(builders.minutes(1))
        self.manager.client.update_lease(builders.a_member(), lease.id,
                                         records.LeaseChanges(end_now=True, lenient=False))

    @staticmethod
    def id_of(lease):
        [reservation] = lease.reservations
        return reservation.id

    def hosts_of(self, lease):
        return list(self.nova.aggregate(self.id_of(lease)).hosts)

    def aggregate(self, name, hosts=(), zone=None, metadata=None):
        found = self.nova.ensure_aggregate(name, zone, metadata)
        self.nova.add_hosts(found, hosts)
        return found

    def pooled(self):
        return list(self.nova.aggregate('freepool').hosts)

    def out_of_pool(self, hosts):
        self.nova.remove_hosts(self.nova.aggregate('freepool'), hosts)

    def picture(self):
        """All there is in the cloud, to be compared."""
        return (self.manager.cloud.leftovers(), self.manager.cloud.servers(),
                self.nova.aggregates(), self.services.keystone.trusts(),
                self.services.placement.children('climate_'))

    def audit(self, fix=False):
        """The exit status; the second look comes as late as it should."""
        return command.examine(self.manager.core, fix, lambda seconds: (
            self.manager.clock.advance(builders.minutes(seconds / 60))))


@pytest.fixture
def case(manager):
    return Case(manager)


def _leftover_aggregate(case):
    name = case.id_of(case.over)
    hosts = case.pooled()[-2:]
    case.out_of_pool(hosts)
    case.aggregate(name, hosts, f'climate_{name}', {'climate:owner': 'demo'})
    return f'aggregate {name}', 'its reservation is over', 'removes it'


def _aggregate_of_a_purged_lease(case):
    with case.manager.database.writer() as connection:
        leases.change(connection, leases.get(connection, case.over.id), case.manager.clock(),
                      deleted_at=case.manager.clock())
    _leftover_aggregate(case)
    migrate.purge(case.manager.database, case.manager.clock() + builders.hours(1))
    return f'aggregate {case.id_of(case.over)}', 'no lease has its reservation', 'removes it'


def _leftover_flavor(case):
    key = case.id_of(case.over_room)
    case.services.flavors.ensure(key, f'reservation:{key}', {
        'vcpus': 1, 'ram': 1, 'disk': 1, 'ephemeral': 0, 'swap': 0}, {})
    return f'flavor {key}', f'(lease {case.over_room.id})', 'removes it'


def _leftover_group(case):
    name = f'reservation:{case.id_of(case.over_room)}'
    case.services.flavors.ensure_group(name, 'affinity')
    return f'server group {name}', 'its reservation is over', 'removes it'


def _leftover_class(case):
    name = _class_of(case.over_room)
    case.services.placement.ensure_class(name)
    return f'resource class {name}', 'its reservation is over', 'removes it'


def _leftover_slots(case):
    name = _class_of(case.over_room)
    case.services.placement.ensure_class(name)
    case.services.placement.set_slots('climate_compute-1', name, 3)
    return 'slots on climate_compute-1', 'its reservation is over', 'removes it'


def _slots_of_a_purged_lease(case):
    # Nothing in Climate's own provider is anybody else's.
    name = f'CUSTOM_RESERVATION_{FOREIGN.upper().replace("-", "_")}'
    case.services.placement.ensure_class(name)
    case.services.placement.set_slots('climate_compute-1', name, 3)
    return f'slots on climate_compute-1 of {FOREIGN}', 'no lease has', 'removes it'


def _class_of(lease):
    return 'CUSTOM_RESERVATION_' + lease.reservations[0].id.upper().replace('-', '_')


def _held_by_a_lease_that_is_over(case):
    [first, *_] = case.manager.client.list_resources(builders.an_admin(), 'host')
    with case.manager.database.writer() as connection:
        free = next(each for each in resources.find(connection, 'host') if each.held_by is None)
        resources.hold(connection, [free.id], case.id_of(case.over))
    return f'host {free.name}', 'which is over', 'lets go of it'


def _out_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    return f'host {host}', 'enrolled, but not in the freepool', 'puts it back'


def _put_into_the_freepool(case):
    case.manager.cloud.add_host('by-hand', service_host='hand')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['hand'])
    return 'host hand', 'in the freepool, but not enrolled', 'enrols it'


def _running_without_aggregate(case):
    # Of a lease without servers: Nova lets nobody take hosts with servers from a zone.
    lease = case.lease(builders.hosts(1))
    aggregate = case.nova.aggregate(case.id_of(lease))
    case.nova.remove_hosts(aggregate, list(aggregate.hosts))
    case.nova.delete_aggregate(aggregate)
    return f'reservation {case.id_of(lease)}', 'its aggregate is missing', 'adds what is missing'


def _running_without_a_host(case):
    lease = case.lease(builders.hosts(2))
    aggregate = case.nova.aggregate(case.id_of(lease))
    case.nova.remove_hosts(aggregate, aggregate.hosts[:1])
    return (f'reservation {case.id_of(lease)}', f'{aggregate.hosts[0]} is not in its aggregate',
            'adds what is missing')


def _running_without_owner(case):
    case.nova.set_aggregate_metadata(case.nova.aggregate(case.id_of(case.host)),
                                     {'climate:owner': 'eve'})
    return (f'reservation {case.id_of(case.host)}', 'does not name project demo',
            'adds what is missing')


def _running_in_the_freepool_too(case):
    [host] = case.hosts_of(case.host)
    case.nova.add_hosts(case.nova.aggregate('freepool'), [host])
    return f'reservation {case.id_of(case.host)}', f'{host} is in the freepool too', 'adds'


def _room_without_aggregate(case):
    aggregate = case.nova.aggregate(case.id_of(case.room))
    case.nova.remove_hosts(aggregate, list(aggregate.hosts))
    case.nova.delete_aggregate(aggregate)
    return f'reservation {case.id_of(case.room)}', 'its aggregate is missing', 'adds'


def _room_without_flavor(case):
    case.services.flavors.delete(case.id_of(case.room))
    return f'reservation {case.id_of(case.room)}', 'its flavor is missing', 'adds'


def _room_with_too_few_slots(case):
    [host, *_] = case.hosts_of(case.room)
    case.services.placement.set_slots(f'climate_{host}', _class_of(case.room), 5)
    return f'reservation {case.id_of(case.room)}', f'it has 5 slots on climate_{host}, not 1', 'adds'


def _room_without_group(case):
    case.services.flavors.delete_groups(f'reservation:{case.id_of(case.room)}')
    return f'reservation {case.id_of(case.room)}', 'its server group is missing', 'adds'


def _trust(case):
    trust = case.services.keystone.create_trust(builders.a_member())
    return f'trust {trust.id}', 'no lease has it', 'drops it'


REPAIRABLE = [
    _leftover_aggregate, _aggregate_of_a_purged_lease, _leftover_flavor, _leftover_group,
    _leftover_class, _leftover_slots, _slots_of_a_purged_lease, _held_by_a_lease_that_is_over,
    _out_of_the_freepool, _put_into_the_freepool, _running_without_aggregate,
    _running_without_a_host, _running_without_owner, _running_in_the_freepool_too,
    _room_without_aggregate, _room_without_flavor, _room_with_too_few_slots,
    _room_without_group, _trust]


@pytest.mark.parametrize('spoil', REPAIRABLE, ids=lambda each: each.__name__.strip('_'))
def test_what_a_repair_can_put_right_is_found_told_and_repaired(case, spoil, capsys):
    assert case.audit() == 0
    assert 'The cloud is as the accounts say.' in capsys.readouterr().out
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


def test_what_was_repaired_serves_as_before(case):
    for spoil in (_leftover_aggregate, _put_into_the_freepool, _room_without_flavor):
        spoil(case)
    assert case.audit(fix=True) == 0
    assert len(case.manager.client.list_resources(builders.an_admin(), 'host')) == 7
    assert len(case.pooled()) == 6
    case.manager.cloud.boot('demo', 'another in the room', flavor=case.id_of(case.room))
    with pytest.raises(errors.Conflict):
        case.manager.cloud.boot('demo', 'one too many', flavor=case.id_of(case.room))
    lease = case.lease(builders.hosts(4))
    assert 'by-hand' in {each.name for each in case.nova.hypervisors()
                         if each.service_host in case.hosts_of(lease)}


def test_a_lost_server_group_is_made_anew_and_shown(case):
    before = case.room.reservations[0].binding['server_group_id']
    _room_without_group(case)
    case.audit(fix=True)
    after = case.manager.lease(case.room).reservations[0].binding['server_group_id']
    assert after != before
    assert after in {group for group, _ in case.services.flavors.groups()}


def _host_with_a_server_in_the_freepool(case):
    case.manager.cloud.add_host('by-hand')
    case.manager.cloud.boot('eve', 'ordinary', host='by-hand')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['by-hand'])
    return 'host by-hand', 'servers run on it (1)'


def _unknown_host_in_the_freepool(case):
    for name in ('left', 'right'):
        case.manager.cloud.add_host(name, service_host='twin' if name == 'left' else 'other')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['twin'])
    case.manager.cloud.remove_host('left')
    return 'host twin', 'Nova knows 0 hypervisors of it'


def _enrolled_host_with_a_server_out_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    case.manager.cloud.boot('eve', 'ordinary', host=host)
    return f'host {host}', 'not in the freepool, and servers run on it (1)'


def _host_out_of_use_and_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    with case.manager.database.writer() as connection:
        found = resources.named(connection, 'host', host)
        resources.change(connection, found.id, case.manager.clock(), reservable=False)
    return f'host {host}', 'out of use'


def _host_that_nova_forgot(case):
    name = case.pooled()[-1]
    case.manager.cloud.remove_host(name)
    return f'host {name}', 'Nova does not know it any more'


def _foreign_host_in_a_running_aggregate(case):
    host = case.pooled()[-1]
    case.nova.add_hosts(case.nova.aggregate(case.id_of(case.host)), [host])
    return (f'host {host} in aggregate {case.id_of(case.host)}', 'was not promised it')


def _leftover_aggregate_with_a_server(case):
    what, problem, _ = _leftover_aggregate(case)
    host = case.hosts_of(case.over)[0]
    case.manager.cloud.boot('demo', 'somebody', {'reservation': case.id_of(case.over)},
                            host=host)
    return what, problem


def _leftover_flavor_with_a_server(case):
    what, problem, _ = _leftover_flavor(case)
    case.services.flavors.allow(case.id_of(case.over_room), 'demo')
    case.nova.add_hosts(case.nova.ensure_aggregate('plain'), [])
    case.manager.cloud.add_host('open')
    case.manager.cloud.boot('demo', 'somebody', host='open', flavor=case.id_of(case.over_room))
    return what, problem


def _lease_whose_end_was_given_up(case):
    lease = case.host
    with case.manager.database.writer() as connection:
        leases.change(connection, leases.get(connection, lease.id), case.manager.clock(),
                      state=lifecycle.ERROR, reason='Nova was ill.')
        found = leases.get(connection, lease.id)
    case.manager.cloud.fail('nova.delete_server', 100, errors.CloudError(
        service='Nova', reason='ill'))
    case.manager.run_until(found.end + builders.minutes(20))
    assert case.manager.lease(lease).event('end_lease').status == lifecycle.EVENT_ERROR
    case.manager.cloud.fail('nova.delete_server', 0, None)
    return f'lease {lease.id}', 'its end was given up'


BY_HAND = [
    _host_with_a_server_in_the_freepool, _unknown_host_in_the_freepool,
    _enrolled_host_with_a_server_out_of_the_freepool, _host_out_of_use_and_of_the_freepool,
    _host_that_nova_forgot, _foreign_host_in_a_running_aggregate,
    _leftover_aggregate_with_a_server, _leftover_flavor_with_a_server,
    _lease_whose_end_was_given_up]


@pytest.mark.parametrize('spoil', BY_HAND, ids=lambda each: each.__name__.strip('_'))
def test_what_a_person_must_decide_is_told_and_left_alone(case, spoil, capsys):
    what, problem = spoil(case)
    before = case.picture()
    for fix in (False, True, True):
        assert case.audit(fix) == 2
        told = capsys.readouterr().out
        [line] = [each for each in told.splitlines() if what in each and problem in each]
        assert 'repaired' not in line
    assert case.picture() == before


def test_leases_that_run_are_not_touched(case):
    before = case.picture()
    for spoil in (_leftover_aggregate, _leftover_flavor, _leftover_slots, _trust):
        spoil(case)
    assert case.audit(fix=True) == 0
    assert case.picture() == before


def test_names_that_are_not_climates_are_not_touched(case):
    case.aggregate(FOREIGN, metadata={'blazar:owner': 'demo'})
    case.aggregate('rack 7')
    case.services.flavors.ensure(FOREIGN, f'reservation:{FOREIGN}', {
        'vcpus': 1, 'ram': 1, 'disk': 1, 'ephemeral': 0, 'swap': 0}, {})
    case.services.flavors.ensure_group(f'reservation:{FOREIGN}', 'affinity')
    case.services.flavors.ensure_group('reservation: mine', 'affinity')
    case.services.placement.ensure_class(
        f'CUSTOM_RESERVATION_{FOREIGN.upper().replace("-", "_")}')
    case.services.placement.ensure_class('CUSTOM_RESERVATION_CARD')
    before = case.picture()
    assert case.audit(fix=True) == 0
    assert case.picture() == before


def test_what_is_gone_in_the_second_look_is_no_drift(case, capsys):
    host = case.pooled()[-1]
    case.out_of_pool([host])

    def the_other_manager_goes_on(seconds):
        assert seconds == 120
        case.nova.add_hosts(case.nova.aggregate('freepool'), [host])
    assert command.examine(case.manager.core, True, the_other_manager_goes_on) == 0
    told = capsys.readouterr()
    assert 'as the accounts say' in told.out
    assert '1 found; they are looked at again in 120 seconds.' in told.err


@pytest.mark.parametrize('method', ['start', 'end'])
def test_a_lease_that_is_being_started_or_ended_is_let_alone(case, method):
    """At every call of the cloud in between, an audit finds nothing."""
    if method == 'start':
        lease = case.manager.create(builders.a_lease(builders.hosts(2), ROOM))
    else:
        lease = case.lease(builders.hosts(2), ROOM)
        case.end(lease)
    looks = []

    def look(name, when):
        case.manager.cloud.faults.on_point = None
        looks.append(audit.Auditor(case.manager.core).look())
        case.manager.cloud.faults.on_point = look
    case.manager.cloud.faults.on_point = look
    case.manager.run()
    case.manager.cloud.faults.on_point = None
    assert case.manager.lease(lease).state in (lifecycle.ACTIVE, lifecycle.TERMINATED)
    assert len(looks) > 20
    # The trust of a lease is dropped behind its end.
    assert not any(looks)
    assert case.audit() == 0


def test_what_changes_while_the_cloud_is_read_is_not_judged(case):
    lease = case.manager.create(builders.a_lease(builders.hosts(2), ROOM))
    done = []

    def work(name, when):
        if name == 'nova.aggregates' and when == 'after' and not done:
            done.append(True)
            case.manager.run()
    case.manager.cloud.faults.on_point = work
    assert audit.Auditor(case.manager.core).look() == []
    assert done
    assert case.manager.lease(lease).state == lifecycle.ACTIVE


def test_a_lease_that_ends_while_it_is_completed_leaves_nothing(case):
    _room_without_aggregate(case)
    before = [each.name for each in case.nova.aggregates()]

    def end(name, when):
        if name == 'nova.create_aggregate' and when == 'before':
            case.manager.cloud.faults.on_point = None
            case.end(case.room)
            for _ in range(5):
                case.manager.run()
                case.manager.clock.advance(builders.minutes(1))
            assert case.manager.lease(case.room).state == lifecycle.TERMINATED
    case.manager.cloud.faults.on_point = end
    case.audit(fix=True)
    assert [each.name for each in case.nova.aggregates()] == before
    assert case.audit() == 0


def test_a_cloud_that_is_ill_is_an_error_and_no_drift(case):
    case.manager.cloud.fail('nova.aggregates', 1, errors.CloudUnreachable(
        service='Nova', reason='ill'))
    with pytest.raises(errors.CloudUnreachable):
        case.audit()


def test_a_repair_that_fails_does_not_keep_the_others(case, capsys):
    _leftover_group(case)
    _trust(case)
    case.manager.cloud.fail('keystone.delete_trust', 1, errors.CloudError(
        service='Keystone', reason='ill'))
    assert case.audit(fix=True) == 2
    told = capsys.readouterr().out
    assert 'left: Keystone: ill' in told
    assert 'repaired' in told
    assert case.audit(fix=True) == 0


def test_a_type_that_is_not_enabled_any_more_is_told(case):
    _leftover_flavor(case)
    plugins = {name: each for name, each in case.manager.core.registry.plugins.items()
               if name != 'virtual:instance'}
    case.manager.core.registry.plugins = plugins
    parts = dataclasses.replace(case.manager.core)
    assert command.examine(parts, True, lambda _: None) == 2

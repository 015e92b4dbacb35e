# SPDX-License-Identifier: Apache-2.0
"""The ways in which the cloud can come to differ from the database.

Each is a callable(audit_installation.Case) that returns what an audit must say of it: what, what is
wrong and, where it can be repaired, how.
"""
import uuid

from support import builders
from support import db_rows

from climate import errors
from climate.db import leases
from climate.db import migrate
from climate.db import resources
from climate.db import trusts
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import texts
from climate.domain.clearing import plans

FOREIGN = str(uuid.UUID(int=7))
UNKNOWN = 'nothing, because it may belong to another Climate; with --unknown: '


def leftover_aggregate(case):
    name = case.id_of(case.over)
    hosts = case.pooled()[-2:]
    case.out_of_pool(hosts)
    case.aggregate(name, hosts, f'climate_{name}', {'climate:owner': 'demo'})
    return f'aggregate {name}', 'its reservation is over', 'removes it'


def aggregate_of_a_purged_lease(case):
    with case.manager.database.writer() as connection:
        leases.change(connection, leases.get(connection, case.over.id), case.manager.clock(),
                      deleted_at=case.manager.clock())
    leftover_aggregate(case)
    db_rows.closed(case.manager.database, case.manager.clock())
    migrate.purge(case.manager.database, case.manager.clock() + builders.hours(1))
    return f'aggregate {case.id_of(case.over)}', 'its reservation is not in this database', UNKNOWN


def leftover_flavor(case):
    key = case.id_of(case.over_room)
    case.services.flavors.ensure(key, f'reservation:{key}', {
        'vcpus': 1, 'ram': 1, 'disk': 1, 'ephemeral': 0, 'swap': 0}, {})
    return f'flavor {key}', f'(lease {case.over_room.id})', 'removes it'


def leftover_group(case):
    name = f'reservation:{case.id_of(case.over_room)}'
    case.services.flavors.ensure_group(name, 'affinity')
    return f'server group {name}', 'its reservation is over', 'removes it'


def leftover_class(case):
    name = _class_of(case.over_room)
    case.services.placement.ensure_class(name)
    return f'resource class {name}', 'its reservation is over', 'removes it'


def leftover_slots(case):
    name = _class_of(case.over_room)
    case.services.placement.ensure_class(name)
    case.services.placement.set_slots('climate_compute-1', name, 3)
    return 'slots on climate_compute-1', 'its reservation is over', 'removes it'


def slots_of_a_purged_lease(case):
    name = f'CUSTOM_RESERVATION_{FOREIGN.upper().replace("-", "_")}'
    case.services.placement.ensure_class(name)
    case.services.placement.set_slots('climate_compute-1', name, 3)
    return f'slots on climate_compute-1 of {FOREIGN}', 'its reservation is not', UNKNOWN


def _class_of(lease):
    return 'CUSTOM_RESERVATION_' + lease.reservations[0].id.upper().replace('-', '_')


def held_by_a_lease_that_is_over(case):
    with case.manager.database.writer() as connection:
        free = next(each for each in resources.find(connection, 'host') if each.held_by is None)
        resources.hold(connection, [free.id], case.id_of(case.over))
    return f'host {free.name}', 'which is over', 'releases it'


def out_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    return f'host {host}', 'enrolled, but not in the freepool', 'puts it back'


def put_into_the_freepool(case):
    case.manager.cloud.add_host('by-hand', service_host='hand')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['hand'])
    return 'host hand', 'in the freepool, but not enrolled', f'{UNKNOWN}enrols it'


def running_without_aggregate(case):
    # Of a lease without servers: Nova lets nobody take hosts with servers from a zone.
    lease = case.lease(builders.hosts(1))
    aggregate = case.nova.aggregate(case.id_of(lease))
    case.nova.remove_hosts(aggregate, list(aggregate.hosts))
    case.nova.delete_aggregate(aggregate)
    return f'reservation {case.id_of(lease)}', 'its aggregate is missing', 'adds what is missing'


def running_without_a_host(case):
    lease = case.lease(builders.hosts(2))
    aggregate = case.nova.aggregate(case.id_of(lease))
    case.nova.remove_hosts(aggregate, aggregate.hosts[:1])
    return (f'reservation {case.id_of(lease)}', f'{aggregate.hosts[0]} is not in its aggregate',
            'adds what is missing')


def running_without_owner(case):
    case.nova.set_aggregate_metadata(case.nova.aggregate(case.id_of(case.host)),
                                     {'climate:owner': 'eve'})
    return (f'reservation {case.id_of(case.host)}', 'its aggregate lacks climate:owner=demo',
            'adds what is missing')


def _marked(case, lease, key, text):
    reservation_id = case.id_of(lease)
    aggregate = case.nova.aggregate(reservation_id)
    was = aggregate.metadata[key]
    case.nova.set_aggregate_metadata(aggregate, {key: text})
    return f'reservation {reservation_id}', f'its aggregate lacks {key}={was}', 'adds'


def running_with_the_mark_of_another(case):
    return _marked(case, case.host, 'climate:reservation', case.id_of(case.room))


def room_without_affinity(case):
    return _marked(case, case.room, 'affinity_id', None)


def running_in_the_freepool_too(case):
    [host] = case.hosts_of(case.host)
    case.nova.add_hosts(case.nova.aggregate('freepool'), [host])
    return f'reservation {case.id_of(case.host)}', f'{host} is in the freepool too', 'adds'


def room_without_aggregate(case):
    aggregate = case.nova.aggregate(case.id_of(case.room))
    case.nova.remove_hosts(aggregate, list(aggregate.hosts))
    case.nova.delete_aggregate(aggregate)
    return f'reservation {case.id_of(case.room)}', 'its aggregate is missing', 'adds'


def room_without_flavor(case):
    case.services.flavors.delete(case.id_of(case.room))
    reservation_id = case.id_of(case.room)
    return f'reservation {reservation_id}', f'its flavor {reservation_id} is missing', 'adds'


def room_with_too_few_slots(case):
    [host, *_] = case.hosts_of(case.room)
    case.services.placement.set_slots(f'climate_{host}', _class_of(case.room), 5)
    return (f'reservation {case.id_of(case.room)}',
            f'it has 5 slots of {_class_of(case.room)} on climate_{host}, not 1', 'adds')


def room_without_group(case):
    case.services.flavors.delete_groups(f'reservation:{case.id_of(case.room)}')
    return f'reservation {case.id_of(case.room)}', 'its server group is missing', 'adds'


def trust(case):
    # The record of a request that was cut short before the answer of Keystone.
    record = records.RecordedTrust(str(uuid.uuid4()), FOREIGN, case.manager.clock(),
                                   case.manager.clock() + builders.hours(1))
    with case.manager.database.writer() as connection:
        trusts.add(connection, record)
    trust = case.services.keystone.create_trust(builders.a_member(), record.expires_at)
    case.manager.clock.advance(builders.minutes(10))
    return f'trust {trust.id}', 'no lease has it', 'drops it'


def fence_of_a_purged_lease(case):
    host = case.pooled()[-1]
    case.services.computes.disable(host, plans.fence_of(FOREIGN))
    return f'service of {host}', 'no host is cleared for that lease', UNKNOWN


#: What the database has no record of.
UNRECORDED = [aggregate_of_a_purged_lease, slots_of_a_purged_lease, put_into_the_freepool,
              fence_of_a_purged_lease]
REPAIRABLE = [
    leftover_aggregate, leftover_flavor, leftover_group,
    leftover_class, leftover_slots, held_by_a_lease_that_is_over,
    out_of_the_freepool, running_without_aggregate,
    running_without_a_host, running_without_owner,
    running_with_the_mark_of_another, running_in_the_freepool_too, room_without_affinity,
    room_without_aggregate, room_without_flavor, room_with_too_few_slots,
    room_without_group, trust]


def foreign_server_on_a_leased_host(case):
    [host] = case.hosts_of(case.host)
    server = case.manager.cloud.boot('eve', 'forced', host=host, forced=True)
    return f'server {server.id}', f'of project eve on host {host} of reservation'


def foreign_server_in_the_freepool(case):
    host = case.pooled()[-1]
    server = case.manager.cloud.boot('eve', 'forced', host=host, forced=True, flavor='1')
    return f'server {server.id}', f'of project eve on host {host} of the freepool'


def host_with_a_server_in_the_freepool(case):
    case.manager.cloud.add_host('by-hand')
    case.manager.cloud.boot('eve', 'ordinary', host='by-hand')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['by-hand'])
    return 'host by-hand', 'servers run on it (1)'


def unknown_host_in_the_freepool(case):
    for name in ('left', 'right'):
        case.manager.cloud.add_host(name, service_host='twin' if name == 'left' else 'other')
    case.nova.add_hosts(case.nova.aggregate('freepool'), ['twin'])
    case.manager.cloud.remove_host('left')
    return 'host twin', 'Nova knows 0 hypervisors of it'


def enrolled_host_with_a_server_out_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    case.manager.cloud.boot('eve', 'ordinary', host=host)
    return f'host {host}', 'not in the freepool, and servers run on it (1)'


def host_out_of_use_and_of_the_freepool(case):
    host = case.pooled()[-1]
    case.out_of_pool([host])
    with case.manager.database.writer() as connection:
        found = resources.named(connection, 'host', host)
        resources.change(connection, found.id, case.manager.clock(), reservable=False)
    return f'host {host}', 'out of use'


def host_that_nova_forgot(case):
    name = case.pooled()[-1]
    case.manager.cloud.remove_host(name)
    return f'host {name}', 'Nova does not know it any more'


def host_that_got_a_second_hypervisor(case):
    name = case.pooled()[-1]
    case.manager.cloud.add_host('node-7', service_host=name)
    return f'host {name}', f'shares the service host {name} with node-7'


def foreign_host_in_a_running_aggregate(case):
    host = case.pooled()[-1]
    case.nova.add_hosts(case.nova.aggregate(case.id_of(case.host)), [host])
    return (f'host {host} in aggregate {case.id_of(case.host)}',
            'the host is not allocated to the reservation')


def leftover_aggregate_with_a_server(case):
    what, problem, _ = leftover_aggregate(case)
    host = case.hosts_of(case.over)[0]
    case.manager.cloud.boot('demo', 'somebody', {'reservation': case.id_of(case.over)},
                            host=host)
    return what, problem


def leftover_flavor_with_a_server(case):
    what, problem, _ = leftover_flavor(case)
    case.services.flavors.allow(case.id_of(case.over_room), 'demo')
    case.nova.add_hosts(case.nova.ensure_aggregate('plain'), [])
    case.manager.cloud.add_host('open')
    case.manager.cloud.boot('demo', 'somebody', host='open', flavor=case.id_of(case.over_room))
    return what, problem


def lease_whose_end_was_given_up(case):
    lease = case.host
    with case.manager.database.writer() as connection:
        leases.change(connection, leases.get(connection, lease.id), case.manager.clock(),
                      state=lifecycle.ERROR, reason=texts.same('Nova was ill.'))
        found = leases.get(connection, lease.id)
    case.manager.cloud.fail('nova.delete_server', 100, errors.CloudError(
        service='Nova', reason='ill'))
    case.manager.run_until(found.end + builders.minutes(20))
    assert case.manager.lease(lease).event('end_lease').attempts > 5
    case.manager.cloud.fail('nova.delete_server', 0, None)
    return f'lease {lease.id}', 'its end failed'


BY_HAND = [
    host_with_a_server_in_the_freepool, unknown_host_in_the_freepool,
    enrolled_host_with_a_server_out_of_the_freepool, host_out_of_use_and_of_the_freepool,
    host_that_nova_forgot, host_that_got_a_second_hypervisor, foreign_host_in_a_running_aggregate,
    leftover_aggregate_with_a_server, leftover_flavor_with_a_server,
    lease_whose_end_was_given_up, foreign_server_on_a_leased_host, foreign_server_in_the_freepool]

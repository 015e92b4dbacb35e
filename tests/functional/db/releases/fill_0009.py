# SPDX-License-Identifier: Apache-2.0
"""Fill a database and a simulated cloud as revision 0009 leaves them, and write both down.

It runs with the code of commit bdab107 and with no other; README.rst beside it says how.

The names of the leases say what they are for. All of it happens between 12:00 and 13:00 on the
first of May 2030, by the use cases of that release; at 13:00 the manager is ended for the upgrade.
"""
import pathlib
import sys
import tempfile
import uuid

import acts
import hunting
import keep
from oslo_config import cfg
import oslo_messaging as messaging
from support import builders

from climate import conf as configuration
from climate.db import engine
from climate.db import managers
from climate.db import migrate
from climate.db import tables
from climate.domain import hunt
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import notify
from climate.manager import watch
from climate.plugins import registry

PLUGINS = ['physical:host', 'virtual:instance', 'flavor:instance', 'virtual:dummy']
NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
UPGRADE = NOON + hours(1)
OVER = NOON + hours(0.5)
SOON = UPGRADE + minutes(20)
LATER = UPGRADE + minutes(40)
LAST = UPGRADE + minutes(60)
# No host that is enrolled at first is as large.
LENT = builders.hosts(1, criteria='[">=", "$vcpus", "8"]')
EVE = builders.a_member('eve', 'other')


def build(folder):
    """A manager on new SQLite files in a folder."""
    conf = configuration.register(cfg.ConfigOpts())
    registry.register_options(conf, registry.load(PLUGINS))
    conf([], project='climate', default_config_files=[], default_config_dirs=[])
    conf.set_override('plugins', PLUGINS)
    conf.set_override('driver', 'simulated', group='cloud')
    conf.set_override('state', f'{folder}/cloud.sqlite', group='simulated')
    conf.set_override('hosts', 0, group='simulated')
    conf.set_override('lent_aggregate', 'lent', group='acquire')
    database = engine.Database(f'sqlite:///{folder}/climate.sqlite')
    migrate.upgrade(database)
    return builders.Manager(conf, database, builders.Clock())


def enrol(manager, use, count, **properties):
    """Make hosts and enrol them, with what they are used for as a property; their Resources."""
    made = []
    for number in range(1, count + 1):
        manager.cloud.add_host(f'{use}-{number}', vcpus=4, memory_mb=16384, disk_gb=100,
                               traits=('COMPUTE_NODE',))
        made.append(manager.client.create_resource(
            builders.an_admin(), 'host', f'{use}-{number}', {'use': use, **properties}))
    return made


def of(use):
    """The criterion for the hosts of one use."""
    return f'["=", "$use", "{use}"]'


def hosts(use, least=1, most=None):
    return builders.hosts(least, most, criteria=of(use))


def room(amount, affinity=None, **more):
    return records.ReservationRequest('virtual:instance', {
        'vcpus': 1, 'memory_mb': 1024, 'disk_gb': 1, 'amount': amount, 'affinity': affinity,
        'resource_properties': of('room'), **more})


def flavored(amount, affinity=None):
    return records.ReservationRequest('flavor:instance', {
        'flavor_id': '1', 'amount': amount, 'affinity': affinity,
        'resource_properties': of('room')})


def server(known=None, **more):
    """A ReservationRequest for a server: one that exists, or one that is booted with its lease."""
    what = {'flavor_id': '1'} if known is None else {}
    return records.ReservationRequest('virtual:instance', {
        'resource_id': None if known is None else known.id, **what, **more})


def ask(manager, name, *reservations, caller=None, **more):
    """The lease of that name, made for these reservations; its id follows from its name."""
    return manager.client.create_lease(
        caller or builders.a_member(), str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        builders.a_lease(*reservations, name=name, **more))


def seek(manager, name, kind, *reservations, caller=None, **terms):
    """A lease of half an hour that is acquired in that way, asked for a second after the last."""
    manager.clock.advance(builders.seconds(1))
    return ask(manager, name, *reservations, caller=caller, duration_seconds=1800,
               acquire=records.Acquire(kind, **terms))


def id_of(lease, place=0):
    return lease.reservations[place].id


def resources(manager):
    """Hosts of each use, what is said of them, and one that was withdrawn."""
    found = {use: enrol(manager, use, count) for use, count in (
        ('whole', 7), ('room', 2), ('queue', 4), ('retry', 1), ('broken', 1), ('swap', 2),
        ('offer', 2), ('gone', 1))}
    admin = builders.an_admin()
    for number, host in enumerate(found['whole']):
        manager.client.update_resource(admin, 'host', host.id, {
            'rack': f'r{number % 2}', 'price': f'{number}.5', 'naïve-☃': 'Ünïcode'})
    manager.client.update_property(admin, 'host', 'price', private=True)
    for number in range(1, 6):
        manager.cloud.add_host(f'lent-{number}', vcpus=8, memory_mb=16384, disk_gb=100,
                               traits=('COMPUTE_NODE',))
    nova = acts.nova(manager)
    nova.add_hosts(nova.ensure_aggregate('lent'), ['lent-1', 'lent-2', 'lent-3'])
    for number in range(1, 4):
        manager.cloud.boot('other', f'theirs-{number}', host=f'lent-{number}', flavor='1')
    return found


def what_is_over(manager, found):
    """Leases that ended, were deleted, timed out, or used up their tries."""
    ask(manager, 'ended in time', hosts('gone'), end=OVER)
    ask(manager, 'ended room', room(2), end=OVER)
    early = ask(manager, 'ended early', hosts('whole', 2), end=LATER)
    running = ask(manager, 'deleted while it ran', hosts('whole'), end=LATER)
    pending = ask(manager, 'deleted before its start', hosts('whole'), start=LATER, end=LAST)
    # The one host of that use is taken.
    seek(manager, 'timed out', 'wait', hosts('gone'), not_after=NOON + minutes(10))
    seek(manager, 'tries used up', 'retries', hosts('gone'), retries=1,
         retry_pause_seconds=5)
    manager.run_until(NOON + minutes(5))
    manager.cloud.boot('demo', 'on a host', {'reservation': id_of(early)})
    manager.change(early, end_now=True)
    for lease in (running, pending):
        manager.delete(lease)
    manager.run_until(OVER)
    [host] = found['gone']
    manager.client.delete_resource(builders.an_admin(), 'host', host.id)


def what_runs(manager):
    """Leases that run: of hosts, room, servers, nothing, and of several at once."""
    cloud = manager.cloud
    one = ask(manager, 'runs on one host', hosts('whole'), end=SOON, before_end=SOON - minutes(5),
              notify_at=(NOON + minutes(40), UPGRADE + minutes(10)))
    ask(manager, 'runs on three hosts', hosts('whole', 2, 3), end=LATER)
    several = ask(manager, 'runs with several reservations', hosts('whole'), room(1),
                  flavored(1), acts.dummy(), end=LATER)
    rooms = [ask(manager, f'runs with room, affinity {affinity}', room(2, affinity), end=LATER)
             for affinity in (True, False, None)]
    flavor = ask(manager, 'runs with a flavor', flavored(2, True), end=SOON)
    ask(manager, 'runs with nothing', acts.dummy(), end=SOON)
    ask(manager, 'runs for another project', room(1), end=SOON, caller=EVE)
    known = cloud.boot('demo', 'known', flavor='1', host='lent-5')
    lost = cloud.boot('demo', 'lost', flavor='1', host='lent-5')
    ask(manager, 'runs with a known server', server(known), end=SOON)
    ask(manager, 'runs with a server that is gone', server(lost), end=SOON)
    booted = ask(manager, 'runs with a server booted with it', server(on_end='delete'), end=LATER)
    cloud.boot('demo', 'booted', {'reservation': [id_of(booted)]}, flavor='1',
               metadata={'climate:lease_id': booted.id}, host='lent-5')
    manager.run_until(OVER + minutes(1))
    for lease, name in ((one, 'mine'), (several, 'mine too')):
        cloud.boot('demo', name, {'reservation': id_of(lease)}, flavor='1')
    for number, lease in enumerate((*rooms, flavor)):
        cloud.boot('demo', f'in room {number}', flavor=id_of(lease))
    for each in cloud.servers('demo'):
        if each.name == 'lost':
            cloud.delete_server(each.id)


def what_waits(manager):
    """Leases that look for their resources, by each of the ways there are."""
    for number in range(1, 5):
        ask(manager, f'has the queue, {number}', hosts('queue'),
            end=SOON + minutes(number))
    ask(manager, 'has what is tried for', hosts('retry'), end=SOON)
    manager.run()
    seek(manager, 'waits first, for four', 'wait', hosts('queue', 4))
    seek(manager, 'waits second', 'wait', hosts('queue', 2), caller=EVE)
    seek(manager, 'waits with several', 'wait', hosts('queue', 2), acts.dummy())
    seek(manager, 'is tried again', 'retries', hosts('retry'), retries=90,
         retry_pause_seconds=60)
    manager.run()


def what_is_cleared(manager):
    """Leases for which hosts are cleared: one has its host, one waits for a server to leave."""
    got = seek(manager, 'best effort, has its host', 'best-effort', LENT)
    got = hunting.hunted(manager, got)
    assert got.state == lifecycle.ACTIVE, got.reason
    manager.core.conf.set_override('migrate_seconds', 150, group='simulated')


def what_is_to_come(manager):
    """Leases that start later, and one that could not start."""
    ask(manager, 'starts later on two hosts', hosts('whole', 2), start=LATER, end=LAST,
        idempotency_key='a key', request_hash='of the request')
    ask(manager, 'starts soon with several', hosts('swap'), room(2, False), acts.dummy(),
        start=SOON, end=LATER)
    ask(manager, 'starts soon with room', room(1), start=SOON, end=LATER)
    ask(manager, 'starts soon with a flavor', flavored(1), start=SOON, end=LATER)
    asleep = manager.cloud.boot('demo', 'asleep', flavor='1', host='lent-5')
    ask(manager, 'wakes its server soon', server(asleep), start=SOON, end=LATER)
    broken = ask(manager, 'could not start', hosts('broken'), start=OVER + minutes(10),
                 end=LATER)
    swapped = ask(manager, 'started on a substitute', hosts('swap'), start=OVER + minutes(5),
                  end=SOON - minutes(5))
    [host] = swapped.reservations[0].resource_ids
    manager.client.update_resource(builders.an_admin(), 'host', host, {}, reservable=False)
    manager.run_until(OVER + minutes(6))
    manager.cloud.fail('nova.create_aggregate', 999, acts.NO)
    manager.expect(broken, lifecycle.ERROR, OVER + minutes(20))
    swapped = manager.lease(swapped)
    assert (swapped.state, host in swapped.reservations[0].resource_ids) == (
        lifecycle.ACTIVE, False), swapped.reason


def offers(manager):
    """An offer that expired a while ago, and two that are held."""
    manager.hold(builders.a_lease(hosts('offer', 2), start=SOON, end=LATER))
    manager.clock.advance(minutes(3))
    assert manager.expire() == 1
    for seconds in (600, 3600):
        manager.hold(builders.a_lease(hosts('offer'), start=SOON, end=LATER), seconds=seconds)


def send_news(manager):
    """What waits in the outbox goes out, to nobody."""
    transport = messaging.get_notification_transport(manager.core.conf, url='fake://')
    notify.Sender(manager.core, 'this manager', transport).flush(manager.clock())
    assert not acts.news(manager)


def what_is_cut_short(manager, named):
    """Things that are being done when the manager is ended."""
    acts.end(manager, named['has the queue, 1'])
    assert len(manager.lease(named['waits first, for four']).reservations[0].resource_ids) == 1
    hunted = seek(manager, 'best effort, clears its host', 'best-effort', LENT)
    for _ in range(3):
        manager.run()
        manager.clock.advance(builders.seconds(1))
    hunted = manager.lease(hunted)
    assert hunt.from_json(hunted.acquisition.plan).hosts[0].moves[0].state == hunt.MOVING
    ask(manager, 'waits for its server', server(), end=LATER)
    manager.run()
    manager.cloud.fail('nova.create_aggregate', 0, None)
    ask(manager, 'cut short while it started', hosts('whole'), end=LATER)
    assert hunting.killed_at(manager.cloud, 8, manager.run)
    manager.change(named['runs with a flavor'], end_now=True)
    assert hunting.killed_at(manager.cloud, 3, manager.run)


def what_is_due(manager, named):
    """Things that are asked for at the last moment, and that nobody has begun."""
    manager.clock.now = UPGRADE
    assert watch.Watch(manager.core).look(UPGRADE)
    manager.change(named['runs on three hosts'], reservations=acts.asked(
        named['runs on three hosts'].reservations[0], min=2, max=2))
    manager.change(named['runs for another project'], end=LATER)
    manager.delete(named['runs with room, affinity False'])
    awake = manager.cloud.boot('demo', 'awake', flavor='1', host='lent-5')
    ask(manager, 'is to put its server to sleep', server(awake, on_end='suspend'), start=SOON,
        end=LATER)
    ask(manager, 'is to start', room(1), acts.dummy(), end=LATER)
    seek(manager, 'best effort, has only a plan', 'best-effort', LENT)
    with manager.database.writer() as connection:
        managers.seen(connection, 'controller:4711', 'controller', NOON, UPGRADE, 2)


def main(folder):
    """Write database.json and cloud.sql into a folder."""
    with tempfile.TemporaryDirectory() as work:
        manager = build(work)
        found = resources(manager)
        what_is_over(manager, found)
        what_runs(manager)
        what_waits(manager)
        what_is_cleared(manager)
        what_is_to_come(manager)
        offers(manager)
        manager.run_until(UPGRADE - minutes(1))
        send_news(manager)
        named = {each.name: each for each in manager.client.list_leases(
            builders.an_admin(), records.LeaseQuery())}
        what_is_cut_short(manager, named)
        what_is_due(manager, named)
        for lease in sorted(manager.client.list_leases(builders.an_admin(), records.LeaseQuery(
                deleted=True)), key=lambda lease: lease.name):
            print(f'{lease.state:10} {lease.task or "":7} {lease.name}: {lease.reason or ""}')
        # The one row of the line is written by its migration.
        kept = [each for each in tables.METADATA.sorted_tables if each is not tables.WAIT_QUEUE]
        pathlib.Path(folder, 'database.json').write_text(
            keep.database_as_json(manager.database, kept), encoding='utf-8')
        manager.cloud.close()
        pathlib.Path(folder, 'cloud.sql').write_text(
            keep.cloud_as_sql(f'{work}/cloud.sqlite'), encoding='utf-8')


if __name__ == '__main__':
    main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Builders for tests: a clock, a manager, an API, and requests with sensible defaults."""
import contextlib
import datetime
import functools
import json
import socket
import time
import uuid

from oslo_config import cfg
from oslo_policy import opts as policy_options
import sqlalchemy as sa
import webtest

from climate import context
from climate import enforcement
from climate import policy
from climate.api import app
from climate.cloud import simulated
from climate.db import migrate
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records
from climate.manager import core
from climate.manager import endpoint
from climate.manager.booking import offer_expiry
from climate.manager.booking import offers
from climate.manager.events import loop
from climate.manager.leases import draft
from climate.plugins import registry
from climate.rpc import client
from climate.rpc import transport

NOON = datetime.datetime(2030, 5, 1, 12, 0, tzinfo=datetime.UTC)
DEMO = 'demo:demo:member,reader'
ADMIN = 'root:admin:admin,member,reader'
STRANGER = 'eve:other:member,reader'


def hours(count):
    return datetime.timedelta(hours=count)


def minutes(count):
    return datetime.timedelta(minutes=count)


def seconds(count):
    return datetime.timedelta(seconds=count)


def at(count):
    """The moment a number of hours after noon."""
    return NOON + hours(count)


class Clock:
    """Stands at NOON until it is moved."""

    def __init__(self, now=NOON):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, span):
        self.now += span
        return self.now


class Wire:
    """The manager of this process, called as over a bus: what is sent and answered is JSON."""

    def __init__(self, manager):
        self._manager = manager
        self._serializer = transport.RpcSerializer()

    def call(self, caller, method, timeout=None, **arguments):
        sent = {name: self._carried(value) for name, value in arguments.items()}
        return self._carried(self._manager.call(caller, method, timeout, **sent))

    def _carried(self, value):
        return json.loads(json.dumps(self._serializer.serialize_entity(None, value)))


class Manager:
    """The real manager's parts, without threads: events run when `run` is called.

    :param driver: the enforcement driver; None: that of the options.
    :param monotonic: what a Core measures durations with, such as the age of its caches.
    :ivar client: what the API calls, records in and out.
    :ivar cloud: the SimulatedCloud.
    """

    def __init__(self, conf, database, clock, cloud=None, classes=None, driver=None,
                 monotonic=time.monotonic):
        self.clock = clock
        self.cloud = cloud or simulated.SimulatedCloud(conf, clock=lambda: clock().timestamp())
        self.database = database
        self.core = core.Core(conf=conf, database=database, cloud=self.cloud,
                              registry=registry.Registry(conf, classes), clock=clock,
                              monotonic=monotonic,
                              enforcement=driver or enforcement.load(conf, self.cloud))
        self.client = client.ManagerClient(
            Wire(endpoint.InProcess(endpoint.Endpoint(self.core))))
        self.event_loop = loop.EventLoop(self.core, 'this manager',
                                         lambda work, claim: work(claim))

    def run(self):
        """Carry out events until none is due at this moment."""
        while self.event_loop.tick(self.clock()):
            pass

    def run_until(self, moment):
        """Carry out events in time order, moving the clock to each, then to `moment`."""
        while True:
            self.run()
            following = self.event_loop.next_moment()
            if following is None or following > moment:
                break
            assert following > self.clock.now, f'Nothing takes what is due at {following}.'
            self.clock.now = following
        self.clock.now = max(self.clock.now, moment)
        self.run()

    def enrol(self, count=4, **properties):
        """Enrol the first `count` hosts of the cloud; returns their Resources."""
        names = sorted(self.cloud.host_names())[:count]
        return [self.client.create_resource(an_admin(), 'host', name, properties)
                for name in names]

    def create(self, request, caller=None):
        return self.client.create_lease(caller or a_member(), str(uuid.uuid4()), request)

    def book(self, *reservations, **more):
        """Create a lease as a member, by default of one host for an hour from noon on."""
        return self.create(a_lease(*reservations, **more))

    def active(self, *reservations, **more):
        """Create a lease, by default of one host for an hour from now, and start it."""
        return self.expect(self.book(*reservations, **more), lifecycle.ACTIVE)

    def change(self, lease, caller=None, **fields):
        """Change a lease, as its owner by default; return it, not yet updated in the cloud."""
        return self.client.update_lease(caller or a_member(), lease.id,
                                        records.LeaseChanges(**fields))

    def delete(self, lease):
        return self.client.delete_lease(a_member(), lease.id)

    def change_reservation(self, lease, place=0, caller=None, **fields):
        """Change fields of one reservation, as `change` does."""
        return self.change(lease, caller, reservations=(
            records.ReservationRequest(None, fields, id=lease.reservations[place].id),))

    def hold(self, request, caller=None, seconds=120, most=10):
        """The Offer of what a LeaseRequest asks for, held as a search holds it."""
        caller, now = caller or a_member(), self.clock()
        drafted = draft.Drafts(self.core).draft(caller, str(uuid.uuid4()), request, now)
        return offers.HeldOffers(self.core).hold(
            caller, drafted.wishes, drafted.lease.reservations, drafted.span, now,
            seconds=seconds, most=most)

    def take(self, offer, caller=None, **more):
        """The lease that is made of an offer."""
        return self.create(records.LeaseRequest(
            'a lease', None, None, offer_id=offer.id, **more), caller)

    def expire(self):
        """Expire the offers whose time is over, as each manager does each second."""
        return offer_expiry.expire(self.core, self.clock())

    def lease(self, lease):
        """The lease as it is now."""
        return self.client.get_lease(a_member(), lease.id)

    def expect(self, lease, state, moment=None):
        """Run until a moment (None: now) and return the lease, which is in that state then."""
        self.run() if moment is None else self.run_until(moment)
        lease = self.lease(lease)
        assert lease.state == state, (lease.state, lease.reason)
        return lease


class Api:
    """The REST service; `token` is ``user:project:role,role``.

    :param rules: a Policy, instead of the one of `conf`.
    :param plugins: {resource type: class} instead of those that `conf` names.
    :param client: what it calls, instead of the client of `manager`.
    """

    def __init__(self, conf, manager, rules=None, plugins=None, client=None):
        self.manager = manager or client
        classes = plugins or manager_plugins(conf)
        self._app = webtest.TestApp(app.build(
            conf, client or manager.client, classes,
            clock=manager.clock if manager else Clock(), rules=rules or _rules(conf, classes)))

    def call(self, method, path, body=None, token=DEMO, version=None, headers=None, raw=None):
        """The answer, whatever its status; `body` is sent as JSON, `raw` as it is."""
        sent = {'Content-Type': 'application/json', **(headers or {})}
        if token is not None:
            sent['X-Auth-Token'] = token
        if version is not None:
            sent['OpenStack-API-Version'] = f'reservation {version}'
        content = raw if raw is not None else (b'' if body is None else json.dumps(body).encode())
        return self._app.request(path, method=method, headers=sent, body=content,
                                 expect_errors=True)

    def get(self, path, **options):
        return self.call('GET', path, **options)

    def post(self, path, body=None, **options):
        return self.call('POST', path, body, **options)

    def put(self, path, body=None, **options):
        return self.call('PUT', path, body, **options)

    def delete(self, path, **options):
        return self.call('DELETE', path, **options)


def a_free_port():
    """Return a port of loopback on which nobody listens."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def on_files(folder, more):
    """A configuration file for programs on the SQLite files of a folder, with `more` at its end."""
    path = folder / 'climate.conf'
    path.write_text(f"""[DEFAULT]
transport_url = fake:/
[cloud]
driver = simulated
[database]
connection = sqlite:///{folder}/climate.sqlite
[simulated]
state = {folder}/cloud.sqlite
[api]
port = {a_free_port()}
{more}
""")
    return path


def manager_plugins(conf):
    return registry.load(conf.plugins)


def _rules(conf, classes):
    """The Policy of a conf: a shared one, unless the conf has its own rules; they take long."""
    policy_options.set_defaults(conf)  # Registers the options.
    pools = registry.pools_of(classes)
    known = tuple(pools), tuple(registry.views_of(pools))
    if conf.oslo_policy.policy_file == 'policy.yaml':
        return _default_rules(*known)
    return policy.Policy(conf, pools=known[0], views=known[1])


@functools.cache
def _default_rules(pools, views):
    found = cfg.ConfigOpts()
    found([], project='climate', default_config_files=[], default_config_dirs=[])
    return policy.Policy(found, pools=pools, views=views)


def a_member(user='demo', project='demo'):
    return context.RequestContext(user_id=user, project_id=project, roles=['member', 'reader'],
                                  auth_token=f'{user}:{project}:member,reader', overwrite=False)


def an_admin():
    return context.RequestContext(user_id='root', project_id='admin',
                                  roles=['admin', 'member', 'reader'],
                                  auth_token='root:admin:admin', overwrite=False)


def hosts(least=1, most=None, criteria=None, **more):
    """A ReservationRequest for hosts."""
    request = {'min': least, 'max': most or least, **more}
    if criteria is not None:
        request['resource_properties'] = criteria
    return records.ReservationRequest('physical:host', request)


def instances(amount=1, affinity=None, *, vcpus=1, memory_mb=512, **more):
    """A ReservationRequest for instances of these sizes, with a disk of 1 GB."""
    return records.ReservationRequest('virtual:instance', {
        'vcpus': vcpus, 'memory_mb': memory_mb, 'disk_gb': 1, 'amount': amount,
        'affinity': affinity, **more})


def flavor_instances(amount=1, affinity=None, *, flavor_id='1'):
    """A ReservationRequest for instances of a flavor."""
    return records.ReservationRequest('flavor:instance', {
        'flavor_id': flavor_id, 'amount': amount, 'affinity': affinity})


def a_server(server=None, **more):
    """A ReservationRequest for a server; by default for one that is booted with its lease."""
    return records.ReservationRequest('virtual:instance', {
        'resource_id': server and server.id, **more})


def a_lease(*reservations, start=None, end=None, name='a lease', **more):
    """A LeaseRequest: by default one host for an hour from now on."""
    if end is None and 'duration_seconds' not in more:
        end = (start or NOON) + hours(1)
    return records.LeaseRequest(name=name, start=start, end=end,
                                reservations=reservations or (hosts(1),),
                                **more)


def a_body(name='a lease', start='now', end='2030-05-01 13:00', least=1, most=None, **more):
    """The body of POST /v1/leases at REST 1.0: by default one host for an hour."""
    return {'name': name, 'start_date': start, 'end_date': end, 'reservations': [{
        'resource_type': 'physical:host', 'min': least, 'max': most or least,
        'hypervisor_properties': '', 'resource_properties': ''}], **more}


@contextlib.contextmanager
def statements():
    """The statements that are executed inside, as a list that grows.

    Wake-ups of other processes are left out: a thread sends them after the commit, one for many
    commits.
    """
    found = []

    def note(_connection, _cursor, statement, *_more):
        if not statement.startswith('BEGIN') and 'pg_notify' not in statement:
            found.append(statement)
    sa.event.listen(sa.Engine, 'before_cursor_execute', note)
    yield found
    sa.event.remove(sa.Engine, 'before_cursor_execute', note)


# What lets the numbers of a table begin with 1 again.
_COUNT_ANEW = {
    'mysql': 'ALTER TABLE {0} AUTO_INCREMENT = 1',
    'sqlite': "DELETE FROM sqlite_sequence WHERE name = '{0}'",
    'postgresql': "SELECT setval(pg_get_serial_sequence('{0}', 'id'), 1, false)",
}


def clean(database):
    """Make a database one with Climate's tables and nothing in them."""
    if migrate.version(database) != migrate.newest():
        drop_everything(database)
        migrate.upgrade(database)
        return
    with database.writer() as connection:
        # Quicker than TRUNCATE, which recreates each file.
        for table in reversed(tables.METADATA.sorted_tables):
            if table in (tables.WAIT_QUEUE, tables.CHANGE_COUNTS):
                # Their rows are there from the beginning.
                continue
            filled = connection.execute(sa.delete(table)).rowcount
            if filled and table.autoincrement_column is not None:
                connection.exec_driver_sql(_COUNT_ANEW[database.dialect].format(table.name))


def drop_everything(database):
    """Empty a database, of whatever an earlier test left there."""
    with database.writer() as connection:
        found = sa.MetaData()
        found.reflect(connection)
        found.drop_all(connection)

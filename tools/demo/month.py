# SPDX-License-Identifier: Apache-2.0
"""The story of a month in a laboratory: who used what, what comes next, what it costs, and notices.

The month is the one before now. It is lived by a manager whose clock is moved from event to event;
then a standalone shows what is left of it.
"""
import contextlib
import datetime
import random
import tempfile
import uuid

from oslo_config import cfg

from climate import conf as configuration
from climate import context
from climate import errors
from climate.cloud import simulated
from climate.db import engine
from climate.db import migrate
from climate.domain import records
from climate.manager import core
from climate.manager import endpoint
from climate.manager.billing import biller
from climate.manager.events import loop
from climate.plugins import registry
from climate.rpc import client
from tools.demo import mailbox
from tools.demo import stage as stages

DAYS = 30
_HOUR = datetime.timedelta(hours=1)
_DAY = 24 * _HOUR
_BOOK = {'currency': 'EUR', 'lease_fee': '2.00',
         'rates': [{'rate': '0.10'}, {'rate': '0.50', 'resource_type': 'physical:host'}],
         'peak_hours': {'timezone': 'UTC', 'windows': [{
             'days': ['mon', 'tue', 'wed', 'thu', 'fri'], 'from': '08:00', 'to': '18:00',
             'percent': 25}]}}
# {project: (on how many days of a week it works, hosts of a lease, hours of a lease)}.
PROJECTS = {'vision': (5, (1, 3), (4, 8)), 'genomics': (7, (2, 4), (8, 20)),
            'teaching': (4, (1, 2), (2, 4))}


class Laboratory:
    """A manager on the files of a folder, whose clock stands until it is moved.

    :ivar client: what an API calls.
    """

    def __init__(self, conf, start):
        self.now = start
        self.database = engine.connect(conf)
        migrate.upgrade(self.database)
        self.cloud = simulated.SimulatedCloud(conf, clock=lambda: self.now.timestamp())
        self.core = core.Core(conf=conf, database=self.database, cloud=self.cloud,
                              registry=registry.Registry(conf), clock=lambda: self.now)
        self.client = client.ManagerClient(endpoint.InProcess(endpoint.Endpoint(self.core)))
        self._loop = loop.EventLoop(self.core, 'laboratory', lambda work, claim: work(claim))
        self._biller = biller.Biller(self.core)

    def enrol_all(self):
        """Enrol all hosts of the cloud; return their Resources."""
        return [self.client.create_resource(admin(), 'host', each.name, {})
                for each in self.cloud.as_service().nova.hypervisors()]

    def live_until(self, moment):
        """Carry out all events until then, each at its moment."""
        while True:
            while self._loop.tick(self.now):
                pass
            following = self._loop.next_moment()
            if following is None or following > moment:
                break
            self.now = max(self.now, following)
        self.now = moment
        while self._loop.tick(self.now):
            pass
        self._biller.bill(self.now)

    def lease(self, project, name, hosts, start, hours):
        """Lease hosts for a project; return the Lease, or None if it was refused."""
        request = records.LeaseRequest(
            name, start, start + hours * _HOUR, reservations=(
                records.ReservationRequest('physical:host', {'min': hosts, 'max': hosts}),))
        try:
            return self.client.create_lease(member(project), str(uuid.uuid4()), request)
        except errors.NotEnough:
            return None

    def close(self):
        """Leave the files to others."""
        self.database.dispose()


def play(serve):
    """Every step prints what it does and proves what it says.

    :param serve: ``serve(folder, options)`` is a block in which a standalone runs on the files of a
        folder, with more options; it yields (the environment in which `climate` finds it, its
        address).
    """
    with tempfile.TemporaryDirectory(prefix='climate-month-') as folder, \
            mailbox.opened() as (port, mails):
        _live_past(folder)
        mail = f'[mail]\nhost = 127.0.0.1\nport = {port}\ntls = none\n'
        with serve(folder, mail) as (environ, _):
            stage = stages.Stage(environ, None)
            _see(stage)
            _plan(stage)
            _bill(stage)
            _tell(stage, mails)


def _live_past(folder):
    stages.step(f'The {DAYS} days before today, in a laboratory with 8 hosts and three projects:')
    # The other stories have read theirs.
    cfg.CONF.reset()
    conf = configuration.load([], 'climate-demo', files=[], defaults=[
        (None, 'plugins', registry.own_types()),
        ('database', 'connection', f'sqlite:///{folder}/climate.sqlite'),
        ('cloud', 'driver', 'simulated'), ('simulated', 'state', f'{folder}/cloud.sqlite')])
    midnight = datetime.datetime.now(datetime.UTC).replace(
        hour=0, minute=0, second=0, microsecond=0)
    with contextlib.closing(Laboratory(conf, midnight - DAYS * _DAY)) as laboratory:
        hosts = laboratory.enrol_all()
        laboratory.client.create_price_book(admin(), None, _BOOK)
        given, refused = live(laboratory, midnight)
        stages.check(given > 50 and refused, f'{len(hosts)} hosts were leased {given} times, and '
                     f'{refused} requests were refused')


def _see(stage):
    stages.step('An administrator asks who used what:')
    report = stage.climate('usage', '--by', 'project', '--all-projects', '--last', f'{DAYS}d',
                           '-f', 'json')
    print(stage.climate('usage', '--by', 'project', '--all-projects', '--last', f'{DAYS}d',
                        '--sparkline'))
    stages.check({each['project_id'] for each in report} >= set(PROJECTS),
                 'each project has its hours')
    stages.check(sum(each['refused'] for each in report) > 0,
                 'what was asked for and not given is known, too')
    stages.step('How full was the pool, and how full will it be?')
    print(stage.climate('utilisation', '--pool', 'host', '--last', f'{DAYS}d', '--end', '+2d'))


def _plan(stage):
    stages.step('What will be asked for in the next hours?')
    print(stage.climate('plan', 'forecast', '--pool', 'host', '--end', '+12h'))
    stages.step('A seminar leases six hosts for tomorrow. What if four hosts were gone by then?')
    stage.climate('lease', 'create', 'seminar', '--hosts', '6', '--start', '+1d', '--duration',
                  '2h')
    gone = [word for each in stage.climate('host', 'list', '-f', 'json')[:4]
            for word in ('--remove', each['hypervisor_hostname'])]
    print(stage.climate('plan', 'what-if', '--pool', 'host', *gone))
    stages.check(stage.climate('lease', 'show', 'seminar', '-f', 'json')['status'] == 'inactive',
                 'that was only asked: nothing has changed')


def _bill(stage):
    stages.step('What does it cost? The month has a price book: 0.50 EUR for an hour of a host, a '
                'quarter more on weekdays by day, 2 EUR for each lease.')
    statements = stage.climate('statement', 'list', '--all-projects', '-f', 'json')
    print(stage.climate('statement', 'list', '--all-projects'))
    stages.check({each['project_id'] for each in statements} == set(PROJECTS),
                 'each project has its statements')


def _tell(stage, mails):
    stages.step('A member wants a mail when a lease starts.')
    stage.climate('notification', 'subscribe', '--mail', 'ann@example.org', '--event', 'start')
    stage.climate('lease', 'create', 'tonight', '--hosts', '1', '--duration', '1h', '--wait')
    stages.check(stages.soon(lambda: mails), 'the mail is there')
    text = mails[0].get_body(('plain',)).get_content().strip()
    print(f'\n     {mails[0]["Subject"]}', *text.splitlines(), sep='\n     ')


def admin():
    """Return the context of an administrator."""
    return context.RequestContext.internal()


def member(project):
    """Return the context of a member of a project."""
    return context.RequestContext(user_id=f'{project}-user', project_id=project,
                                  roles=['member', 'reader'], overwrite=False)


def live(laboratory, end):
    """Play a laboratory until `end`; return (number of leases, number of refused ones)."""
    made, given, refused = random.Random(7), 0, 0
    while laboratory.now + _DAY <= end:
        morning = laboratory.now
        for project, (days, hosts, hours) in PROJECTS.items():
            if morning.weekday() >= days:
                continue
            for number in range(made.randint(1, 3)):
                lease = laboratory.lease(
                    project, f'{project}-{morning:%d}-{number}', made.randint(*hosts),
                    morning + made.randint(1, 6) * _HOUR, made.randint(*hours))
                given, refused = given + (lease is not None), refused + (lease is None)
        laboratory.live_until(morning + _DAY)
    return given, refused

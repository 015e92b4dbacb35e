# SPDX-License-Identifier: Apache-2.0
"""The story of a month in a laboratory: who used what, what it cost, and what comes next.

The month is the one before now. It is lived by a manager whose clock is moved from event to event;
then a standalone shows what is left of it.
"""
import contextlib
import datetime
import random
import tempfile
import uuid

from climate import conf as configuration
from climate import context
from climate import errors
from climate.cloud import simulated
from climate.db import engine
from climate.db import migrate
from climate.domain import records
from climate.manager import core
from climate.manager import endpoint
from climate.manager.events import loop
from climate.plugins import registry
from climate.rpc import client
from tools.demo import stage as stages

DAYS = 30
_HOUR = datetime.timedelta(hours=1)
_DAY = 24 * _HOUR
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

    :param serve: ``serve(folder)`` is a block in which a standalone runs on the files of a folder;
        it yields (the environment in which `climate` finds it, its address).
    """
    with tempfile.TemporaryDirectory(prefix='climate-month-') as folder:
        _live_past(folder)
        with serve(folder) as (environ, _):
            stage = stages.Stage(environ, None)
            _see(stage)


def _live_past(folder):
    stages.step(f'The {DAYS} days before today, in a laboratory with 8 hosts and three projects:')
    conf = configuration.load([], 'climate-demo', files=[], defaults=[
        (None, 'plugins', registry.own_types()),
        ('database', 'connection', f'sqlite:///{folder}/climate.sqlite'),
        ('cloud', 'driver', 'simulated'), ('simulated', 'state', f'{folder}/cloud.sqlite')])
    midnight = datetime.datetime.now(datetime.UTC).replace(
        hour=0, minute=0, second=0, microsecond=0)
    with contextlib.closing(Laboratory(conf, midnight - DAYS * _DAY)) as laboratory:
        hosts = laboratory.enrol_all()
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


def admin():
    """Return the context of an administrator."""
    return context.RequestContext.internal()


def member(project):
    """Return the context of a member of a project."""
    return context.RequestContext(user_id=f'{project}-user', project_id=project,
                                  roles=['member', 'reader'], overwrite=False)


def live(laboratory, end):
    """Let a laboratory live until `end`; return (how many leases it had, how many were refused)."""
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

# SPDX-License-Identifier: Apache-2.0
"""A manager dies before and after each kind of call to Heat, and another one takes over.

The manager runs in this process, with a database of its own, against the real cloud.
"""
import datetime
import time

import builders
import leaks
from oslo_config import cfg
import pytest
import scene as scenes
import stack_scene as stacks

from climate import conf as configuration
from climate import context
from climate.cloud import openstack
from climate.cloud import registry as adapters
from climate.domain import lifecycle
from climate.domain import records
from climate.plugins import registry
from tools.cloud import climate_service

pytestmark = pytest.mark.services

TYPES = ['physical:host', 'virtual:stack']
HOURS = builders.hours
LONGEST = 180


class Killed(BaseException):
    """The manager dies here."""


class Points:
    """Where a manager dies: before or after the first call of one kind.

    :ivar seen: what was passed, in order and each once.
    """

    def __init__(self, fatal=None):
        self.fatal = fatal
        self.phase = 'start'
        self.seen = []

    def passes(self, name, when):
        point = (self.phase, name, when)
        if point not in self.seen:
            self.seen.append(point)
        if point == self.fatal:
            self.fatal = None
            raise Killed


def watched(face, points):
    """A face of the cloud that passes these points before and after each call."""
    def wrap(name):
        def call(self, *args, **kwargs):
            points.passes(name, 'before')
            found = getattr(face, name)(self, *args, **kwargs)
            points.passes(name, 'after')
            return found
        # What only reads is marked, and is retried.
        call.__dict__.update(getattr(face, name).__dict__)
        return call
    names = {name for each in face.__mro__ for name in getattr(each, '__abstractmethods__', ())}
    return type(face.__name__, (face,), {'__module__': face.__module__,
                                         **{name: wrap(name) for name in sorted(names)}})


class Clock:
    """The present time, moved on when a manager died, so that its claims are over."""

    def __init__(self):
        self.ahead = datetime.timedelta()

    def __call__(self):
        return datetime.datetime.now(datetime.UTC) + self.ahead


@pytest.fixture
def real_conf(cloud, climate):
    """The configuration of Climate beside this cloud, for managers of this process."""
    found = configuration.register(cfg.ConfigOpts())
    registry.register_options(found, registry.load(TYPES))
    found([], project='climate', default_config_files=[str(climate_service.conf_file(cloud))],
          default_config_dirs=[])
    found.set_override('plugins', TYPES)
    return found


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.STACK)


@pytest.fixture
def owner(demo):
    return context.RequestContext(
        user_id=demo.current_user_id, project_id=demo.current_project_id,
        roles=['member', 'reader'], auth_token=demo.session.get_token(), overwrite=False)


@pytest.fixture
def managers(scene, cloud, real_conf, database):
    """callable(points): another manager of the same installation."""
    clock = Clock()

    def another(points):
        faces = adapters.load(real_conf, 'openstack', registry.services(registry.load(TYPES)))
        heat = faces['heat']
        faces['heat'] = type('Heat', (heat,), {'faces': {
            name: watched(face, points) for name, face in heat.faces.items()}})
        made = builders.Manager(real_conf, database, clock,
                                cloud=openstack.OpenStackCloud(real_conf, faces),
                                classes=registry.load(TYPES))
        made.points = points
        return made
    first = another(Points())
    first.client.create_resource(builders.an_admin(), 'host', cloud.climate_hosts[0], {})
    return another


def carry_on(managers, manager, owner, lease, state):
    """Run events until the lease has that state; return the manager that still lives."""
    deadline = time.monotonic() + LONGEST
    while True:
        try:
            manager.run()
        except Killed:
            manager.clock.ahead += datetime.timedelta(minutes=5)
            manager = managers(manager.points)
        found = manager.client.get_lease(owner, lease.id)
        if found.state == state and found.task is None:
            return manager
        assert time.monotonic() < deadline, (found.state, found.reason)
        time.sleep(0.3)


def lived(managers, heat, owner, request, fatal=None):
    """A lease from its start to its end, with a death on the way; return the points passed."""
    points = Points(fatal)
    manager = managers(points)
    lease = manager.create(builders.a_lease(
        request, start=None, end=manager.clock() + HOURS(24)), owner)
    manager = carry_on(managers, manager, owner, lease, lifecycle.ACTIVE)
    # Exactly one, whatever was begun before the death.
    assert [each['stack_status'] for each in heat.every()] in (
        ['CREATE_COMPLETE'], ['RESUME_COMPLETE']), heat.every()
    points.phase = 'end'
    manager.client.update_lease(owner, lease.id, records.LeaseChanges(end=manager.clock()))
    manager = carry_on(managers, manager, owner, lease, lifecycle.TERMINATED)
    for _ in range(20):
        manager.run()
        time.sleep(0.1)
    assert points.fatal is None, f'{fatal} was never passed.'
    return points.seen


# Nova's scheduler asks the Climate beside the cloud, which knows nothing of these managers. So the
# server of the stack goes to a host that is open to everybody.
@pytest.mark.usefixtures('open_host')
def test_a_manager_that_dies_at_any_call_makes_one_stack_and_leaves_none(
        scene, managers, owner, demo):
    heat = stacks.Heat(demo)
    request = records.ReservationRequest(stacks.TYPE, {
        'template': stacks.placed(1), 'hold_room': 'preferred'})
    points = lived(managers, heat, owner, request)
    assert heat.every() == []
    assert ('start', 'create', 'after') in points
    assert ('end', 'delete', 'before') in points
    for fatal in points:
        if fatal[1] != 'preview' or fatal[2] == 'after':
            lived(managers, heat, owner, request, fatal)
            assert heat.every() == [], fatal
    print(f'died at {len(points)} points: {points}')


@pytest.mark.usefixtures('open_host')
def test_a_manager_that_dies_with_an_existing_stack_brings_it_to_its_end(
        scene, managers, owner, demo):
    heat = stacks.Heat(demo)
    stack_id = heat.create(scene, scene.name(), stacks.placed(1))
    for fatal in (('prepare', 'suspend', 'before'), ('prepare', 'suspend', 'after'),
                  ('prepare', 'resume', 'before'), ('prepare', 'resume', 'after'),
                  ('end', 'suspend', 'before'), ('end', 'suspend', 'after')):
        heat.wake(stack_id)
        points = Points(fatal)
        points.phase = 'prepare'
        manager = managers(points)
        now = manager.clock()
        lease = manager.create(builders.a_lease(
            records.ReservationRequest(stacks.TYPE, {
                'resource_id': stack_id, 'on_end': 'suspend'}),
            start=now + datetime.timedelta(seconds=30), end=now + HOURS(24)), owner)
        manager = carry_on(managers, manager, owner, lease, lifecycle.ACTIVE)
        assert heat.status(stack_id) == 'RESUME_COMPLETE'
        points.phase = 'end'
        manager.client.update_lease(owner, lease.id, records.LeaseChanges(end=manager.clock()))
        manager = carry_on(managers, manager, owner, lease, lifecycle.TERMINATED)
        assert heat.status(stack_id) == 'SUSPEND_COMPLETE'
        assert points.fatal is None
        for _ in range(20):
            manager.run()
            time.sleep(0.1)
    scenes.until(lambda: heat.status(stack_id) == 'SUSPEND_COMPLETE', 'it to stay asleep', 5)

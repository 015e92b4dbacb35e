# SPDX-License-Identifier: Apache-2.0
"""A manager is killed before and after each change in Neutron, and another one takes over.

The managers are forks of this process with a database of their own, against the real cloud.
"""
import datetime
import json
import os
import signal
import time
import uuid

import builders
import leaks
import network_scene
from oslo_config import cfg
import pytest

from climate import conf as configuration
from climate import context
from climate.cloud import guard
from climate.cloud import openstack
from climate.cloud import registry as adapters
from climate.db import engine
from climate.db import migrate
from climate.domain import lifecycle
from climate.domain import records
from climate.plugins import registry
from tools.cloud import climate_service

pytestmark = pytest.mark.services

TYPES = [network_scene.TYPE]
LONGEST = 180


@pytest.fixture
def kinds():
    return (*leaks.COMPUTE, *leaks.NETWORK)


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
def owner(demo):
    return context.RequestContext(
        user_id=demo.current_user_id, project_id=demo.current_project_id,
        roles=['member', 'reader'], auth_token=demo.session.get_token(), overwrite=False)


class Points:
    """The changes in the cloud, which are written into a file, and the one that is fatal.

    :param path: the file: a line for each change that a manager passed.
    :param fatal: (name of the method, 'before' or 'after'); None: none.
    """

    def __init__(self, path, fatal=None):
        self.path = path
        self._fatal = fatal

    def passes(self, name, when):
        with self.path.open('a', encoding='utf-8') as file:
            file.write(json.dumps([name, when]) + '\n')
        if (name, when) == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def read(self):
        """What was passed, in order and each once."""
        lines = self.path.read_text(encoding='utf-8').splitlines() if self.path.exists() else []
        return list(dict.fromkeys(tuple(json.loads(line)) for line in lines))


def watched(face, points):
    """A face of the cloud that passes the points before and after each change."""
    def wrap(name):
        def call(self, *args, **kwargs):
            points.passes(name, 'before')
            found = getattr(face, name)(self, *args, **kwargs)
            points.passes(name, 'after')
            return found
        return call
    names = {name for each in face.__mro__ for name in getattr(each, '__abstractmethods__', ())}
    return type(face.__name__, (face,), {'__module__': face.__module__, **{
        name: wrap(name) for name in sorted(names) if not guard.only_reads(face, name)}})


class Installation:
    """A Climate with a database of its own, whose managers live for a while.

    :ivar ahead: how far its clock is ahead; claims of killed managers are over then.
    """

    def __init__(self, conf, folder):
        self._conf = conf
        self._url = f'sqlite:///{folder}/kills.sqlite'
        self.folder = folder
        self.ahead = datetime.timedelta()
        migrate.upgrade(engine.Database(self._url))

    def now(self):
        return datetime.datetime.now(datetime.UTC) + self.ahead

    def manager(self, points):
        """A manager on connections of its own, as a fork needs them."""
        faces = adapters.load(self._conf, 'openstack', registry.services(registry.load(TYPES)))
        for name in ('neutron', 'nova'):
            kind = faces[name]
            faces[name] = type(kind.__name__, (kind,), {'faces': {
                face: watched(each, points) for face, each in kind.faces.items()}})
        return builders.Manager(self._conf, engine.Database(self._url), self.now,
                                cloud=openstack.OpenStackCloud(self._conf, faces),
                                classes=registry.load(TYPES))

    def until(self, lease, state, owner, fatal=None):
        """Run managers until the lease has that state; return the points passed.

        The first one is killed at the point `fatal`.
        """
        path = self.folder / f'{uuid.uuid4().hex}.points'
        status = self._fork(Points(path, fatal), lease, state, owner)
        if fatal is None:
            assert status == 0
            return Points(path).read()
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, fatal
        self.ahead += datetime.timedelta(minutes=5)
        assert self._fork(Points(path), lease, state, owner) == 0, fatal
        return Points(path).read()

    def _fork(self, points, lease, state, owner):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                manager, deadline = self.manager(points), time.monotonic() + LONGEST
                while time.monotonic() < deadline and code:
                    manager.run()
                    found = manager.client.get_lease(owner, lease.id)
                    code = int(found.state != state or found.task is not None)
                    time.sleep(0.3 if code else 0)
                if code:
                    print(found.state, found.task, found.reason, flush=True)
            finally:
                os._exit(code)
        return os.waitpid(pid, 0)[1]


def lived(installation, neutron, owner, request, killed_at=(None, None)):
    """A lease from its start to its end; return the points that each of the two passed."""
    manager = installation.manager(Points(installation.folder / 'none'))
    lease = manager.create(builders.a_lease(
        request, start=None, end=installation.now() + builders.hours(24)), owner)
    first = installation.until(lease, lifecycle.ACTIVE, owner, killed_at[0])
    made = neutron.one()
    [router], [_] = neutron.routers(), neutron.interfaces(made.id)
    binding = manager.client.get_lease(owner, lease.id).reservations[0].binding
    assert (binding['network_id'], binding['router_id']) == (made.id, router.id)
    assert [binding['subnet_id']] == made.subnet_ids
    assert len(made.tags) == 2
    port = neutron.demo.network.create_port(network_id=made.id)
    manager.client.update_lease(owner, lease.id, records.LeaseChanges(end=installation.now()))
    second = installation.until(lease, lifecycle.TERMINATED, owner, killed_at[1])
    assert neutron.nothing()
    assert neutron.demo.network.find_port(port.id) is None
    # The trust is dropped by an event of its own.
    deadline = time.monotonic() + 20
    while manager.client.get_lease(owner, lease.id).trust_id and time.monotonic() < deadline:
        manager.run()
        time.sleep(0.2)
    return first, second


def test_a_manager_that_is_killed_at_any_change_makes_one_network_and_leaves_none(
        scene, admin, demo, real_conf, tmp_path, owner):
    neutron = network_scene.Neutron(scene, admin, demo)
    installation = Installation(real_conf, tmp_path)
    installation.manager(Points(tmp_path / 'none')).client.create_resource(
        builders.an_admin(), 'segment', f'physnet1:vlan:{network_scene.FIRST}', {}, {})
    request = records.ReservationRequest(network_scene.TYPE, neutron.with_router())
    first, second = lived(installation, neutron, owner, request)
    assert [name for name, when in first if when == 'after'] == [
        'create', 'tag', 'create_subnet', 'create_router', 'add_interface']
    assert [name for name, when in second if when == 'after'] == [
        'delete_port', 'remove_interface', 'delete_router', 'delete']
    for number in range(max(len(first), len(second))):
        fatal = tuple(each[number] if number < len(each) else None for each in (first, second))
        lived(installation, neutron, owner, request, fatal)
    print(f'killed at {len(first)} points of the start and {len(second)} of the end')

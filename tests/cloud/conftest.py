# SPDX-License-Identifier: Apache-2.0
"""Connections to the real cloud of `make cloud`; its tests run with `pytest tests/cloud` only."""
import contextlib
import json
import os
import pathlib

from keystoneauth1 import exceptions
from keystoneauth1 import session
from keystoneauth1.identity import v3
import leaks
import leased as servers
import mortal as mortals
import openstack
import pytest
import scene as scenes
import stored

from climate.client import errors
from tools.cloud import climate_service
from tools.cloud import settings
from tools.cloud import stand_in

HERE = pathlib.Path(__file__).resolve().parent
CLOUD = settings.from_environment(os.environ)
PASSWORD = 'of-a-throw-away'


def pytest_ignore_collect(collection_path, config):
    """Leave these tests out of every run that does not name this folder or a file in it."""
    asked = [pathlib.Path(config.invocation_params.dir, argument.split('::')[0]).resolve()
             for argument in config.args]
    return None if any(path.is_relative_to(HERE) for path in asked) else True


def pytest_collection_modifyitems(items):
    """Allow deprecated calls of openstacksdk: the tests run with one pinned version of it."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings('ignore::DeprecationWarning'))
            item.add_marker(pytest.mark.filterwarnings('ignore::PendingDeprecationWarning'))


def _connect(name):
    """A connection to the cloud as one of the people in its clouds.yaml.

    Its ``session`` is a keystoneauth session with a token; its proxies (``compute``, ``image``,
    ``network``, ``placement``) call the services.
    """
    clouds = CLOUD.home / 'clouds.yaml'
    if not clouds.exists():
        pytest.fail(f'{clouds} does not exist: run `make cloud` (a guest: `python3 -m tools.cloud '
                    'climate-up`).', pytrace=False)
    config = openstack.config.OpenStackConfig(config_files=[str(clouds)], load_envvars=False)
    connection = openstack.connection.Connection(config=config.get_one(name))
    try:
        connection.authorize()
    except (exceptions.ClientException, openstack.exceptions.SDKException) as error:
        pytest.fail(f'The cloud in {CLOUD.folder} does not let {name} in ({error}): '
                    'run `make cloud`.', pytrace=False)
    return connection


@pytest.fixture(scope='session')
def admin():
    """An admin of the cloud, in project admin."""
    return _connect('admin')


@pytest.fixture(scope='session')
def demo():
    """A member of project demo."""
    return _connect('demo')


@pytest.fixture(scope='session')
def alt():
    """A member of another project, alt."""
    return _connect('alt')


@pytest.fixture(scope='session')
def demo_reader():
    """Somebody who may read, and only read, in project demo."""
    return _connect('demo-reader')


@pytest.fixture(scope='session')
def admin_session(admin):
    """The admin's keystoneauth session."""
    return admin.session


@pytest.fixture(scope='session')
def demo_session(demo):
    """The keystoneauth session of the member of project demo."""
    return demo.session


@pytest.fixture(scope='session')
def alt_session(alt):
    """The keystoneauth session of the member of project alt."""
    return alt.session


@pytest.fixture(scope='session')
def cloud():
    """The settings of the cloud under test."""
    return CLOUD


@pytest.fixture(scope='session')
def people(admin, demo, alt):
    """{name: connection}"""
    return {'admin': admin, 'demo': demo, 'alt': alt}


@pytest.fixture(scope='session')
def climate(cloud, people):
    """Climate, restarted from this checkout, without old leases and with all hosts enrolled."""
    old = scenes.Scene(cloud, people)
    scenes.tool(cloud, 'climate-down')
    try:
        scenes.tool(cloud, 'climate-up')
        old.climate('admin').leases.get('none')
    except (AssertionError, errors.ServerError):
        # Its data are of another age, and so useless; the cloud must forget them as well.
        scenes.tool(cloud, 'climate-reset')
        old.forget_leases()
        scenes.tool(cloud, 'climate-up')
    except errors.NotFound:
        pass
    for lease in old.climate('admin').leases.list(all_projects=True):
        old.remember(lease['id'])
    old.clean()
    hosts = old.climate('admin').hosts
    known = {host['hypervisor_hostname']: host for host in hosts.list()}
    for name in cloud.climate_hosts:
        host = known.get(name) or hosts.create(name)
        rack = 'right' if name == cloud.climate_hosts[-1] else 'left'
        hosts.update(host['id'], {'rack': rack})


@pytest.fixture
def kinds():
    """The kinds of objects that a test must not leave; modules of other types override this."""
    return leaks.COMPUTE


@pytest.fixture
def scene(cloud, people, climate, kinds):
    """A Scene; afterwards the cloud must be as it was before."""
    made = scenes.Scene(cloud, dict(people), kinds)
    before = made.state()
    yield made
    made.clean()
    with contextlib.suppress(AssertionError):
        scenes.until(lambda: made.state() == before, 'everything to be released', 15, 0.3)
    assert made.state() == before


@pytest.fixture
def limit_book(scene, demo):
    """callable(*limits): make these the only limits, for project demo."""
    def load(*limits):
        scene.climate('admin').limit_books.create({'limits': [
            {**limit, 'projects': [demo.current_project_id]} for limit in limits]})
    yield load
    load()


@pytest.fixture
def open_host(scene, cloud):
    """The name of a host that is not enrolled during the test, so that everybody may use it."""
    name = cloud.climate_hosts[-1]
    hosts = scene.climate('admin').hosts
    hosts.delete(hosts.find(name)['id'])
    scene.afterwards(lambda: hosts.create(name, {'rack': 'right'}))
    return name


@pytest.fixture
def mortal(scene, cloud, tmp_path):
    """A Mortal manager runs instead of the ordinary one."""
    stand_in.stop(cloud)
    made = mortals.Mortal(cloud, tmp_path)
    made.start()
    yield made
    stand_in.end(cloud)


@pytest.fixture
def create(scene, cloud):
    """callable(lease_params, *words): what the command line shows of a new server."""
    def run(params, *words, person='demo'):
        output, _ = scenes.run(
            cloud, *servers.command(scene.name(), params, *words), '-f', 'json', OS_CLOUD=person)
        shown = json.loads(output)
        scene.remember_server(shown['id'])
        return shown
    return run


@pytest.fixture
def boot(scene, create):
    """callable(**lease_params): a Leased server of project demo."""
    return lambda **params: servers.Leased(scene, create(params))


@pytest.fixture
def forget_images(scene):
    """callable(leased): delete the images of a leased server when the test is over."""
    def later(leased):
        def forget():
            for image in leased.images():
                scene.people['admin'].image.delete_image(image)
        scene.afterwards(forget)
    return later


@pytest.fixture
def image_of(scene, admin, demo):
    """callable(server): the active image that the end of a lease made of a server.

    It belongs to project demo, and is deleted when the test is over.
    """
    def find(server):
        name = f'reserved_{server.name}'
        found = [each for each in admin.image.images() if each.name == name]
        for image in found:
            scene.afterwards(lambda image=image: admin.image.delete_image(image))
        assert [(image.status, image.owner) for image in found] == [
            ('active', demo.current_project_id)]
        return found[0]
    return find


@pytest.fixture
def guest(scene, demo, admin):
    """A member of project demo who may be deleted; in the scene as "guest"."""
    name = scene.name()
    user = admin.identity.create_user(name=name, password=PASSWORD, domain_id='default')
    scene.afterwards(lambda: admin.identity.delete_user(user, ignore_missing=True))
    admin.identity.assign_project_role_to_user(
        demo.current_project_id, user, admin.identity.find_role('member'))
    login = v3.Password(settings.url('keystone', '/v3'), username=name, password=PASSWORD,
                        user_domain_id='default', project_id=demo.current_project_id)
    scene.people['guest'] = openstack.connection.Connection(
        session=session.Session(auth=login), region_name='RegionOne')
    return user


@pytest.fixture
def audit(scene, cloud, tmp_path):
    """callable(words, code): the table of an audit, which must end with that code."""
    quick = tmp_path / 'quick.conf'
    quick.write_text('[manager]\naudit_grace_seconds = 2\n')

    def run(*words, code=0):
        out, _ = scenes.run(
            cloud, scenes.BIN / 'climate-manager', '--config-file',
            climate_service.conf_file(cloud), '--config-file', quick, 'audit', *words, code=code)
        return out
    return run


@pytest.fixture(scope='module')
def backend(climate, people, cloud):
    """The back end that only leases use, enrolled as long as the tests of a module run."""
    pool = scenes.Scene(cloud, people).climate('admin').pool('backend')
    known = {each['name']: each for each in pool.list()}
    found = known.get(stored.LEASED) or pool.create(stored.LEASED)
    yield found
    pool.delete(found['id'])


@pytest.fixture
def storage(scene, backend):
    """The Storage; afterwards there are no types of reservations."""
    found = stored.Storage(scene)
    assert found.types() == []
    scene.afterwards(lambda: scenes.until(lambda: not found.types(), 'the types to be gone'))
    return found

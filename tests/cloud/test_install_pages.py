# SPDX-License-Identifier: Apache-2.0
"""The pages for operators, run as they stand: install, back up, restore, upgrade, remove."""
import configparser
import dataclasses
import re
import shutil
import subprocess

import pytest
import reader as readers
import scene as scenes

from tools import pages
from tools.cloud import processes
from tools.cloud import settings

ADMIN_PAGES = settings.CHECKOUT / 'doc' / 'source' / 'admin'
INSTALL, BACKUP, UPGRADE, REMOVE = (
    ADMIN_PAGES / f'{name}.rst' for name in ('install', 'backup', 'upgrade', 'remove'))
# Pages that the page of the installation sends its reader to, in the middle of the way.
CONFIGURATION = (ADMIN_PAGES / 'configuration.rst', 'Minimal configuration')
NOVA = (ADMIN_PAGES / 'nova.rst', 'Install', 'nova.conf', 'api-paste.ini')
OF_NOVA = ('nova-scheduler', 'nova-api')
ASIDE = 'climate-set-aside'


def _sql(statement):
    done = subprocess.run(readers.sql_command(), input=statement, text=True, check=True,
                          capture_output=True)
    return done.stdout


def _of_bus(root, what):
    return subprocess.run([root / 'shims' / 'rabbitmqctl', what], check=True, text=True,
                          capture_output=True).stdout


def _set_aside(identity):
    """Take the names `climate` and `reservation` from the cloud's own Climate."""
    identity.update_service(identity.find_service('climate'), name=ASIDE, type=ASIDE)
    identity.update_user(identity.find_user('climate'), name=ASIDE)


def _put_back(identity):
    """Undo _set_aside, after what the pages created in Keystone is gone."""
    _forget(identity)
    identity.update_service(identity.find_service(ASIDE), name='climate', type='reservation')
    identity.update_user(identity.find_user(ASIDE), name='climate')


def _forget(identity):
    """Delete what the pages created in Keystone, if their own end did not."""
    service, user = identity.find_service('climate'), identity.find_user('climate')
    if service:
        identity.delete_service(service)
    if user:
        identity.delete_user(user)


@pytest.fixture
def root(cloud, scene, admin, open_host, tmp_path):
    """The folder of a machine without Climate, beside a cloud whose own Climate is set aside."""
    folder = tmp_path / 'root'
    scenes.tool(cloud, 'climate-down')
    _set_aside(admin.identity)
    try:
        yield folder
    finally:
        units = dataclasses.replace(cloud, folder=folder)
        for name in ('climate-api', 'climate-manager'):
            processes.stop(units, name)
        subprocess.run([cloud.python, '-m', 'pip', 'uninstall', '--yes', 'openstack-climate'],
                       check=True, capture_output=True)
        scenes.tool(cloud, 'restart', *OF_NOVA)
        for server in admin.compute.servers(name='server-1'):
            scene.remove(server.id)
        scene.forget_leases()
        _put_back(admin.identity)
        _sql(f"DROP DATABASE IF EXISTS {readers.DATABASE}; DROP USER IF EXISTS 'climate'@'%'")
        subprocess.run([folder / 'shims' / 'rabbitmqctl', 'delete_user', 'climate'],
                       check=False, capture_output=True)
        scenes.tool(cloud, 'climate-up')


@pytest.fixture
def reader(cloud, root, open_host):
    """A reader in an empty environment; no change for this cloud may be without use."""
    made = readers.new(cloud, root, open_host)
    yield made
    print('\n'.join(made.done))


def _edit_paste(cloud, root):
    """Change Nova's api-paste.ini as the page says: it shows the sections to change.

    :returns: {section: (Nova's own pipeline, that of the page)}.
    """
    nova, page = (configparser.RawConfigParser(strict=False) for _ in range(2))
    nova.optionxform = page.optionxform = str
    nova.read(cloud.venv / 'etc' / 'nova' / 'api-paste.ini')
    page.read(root / 'etc' / 'nova' / 'api-paste.ini')
    changed = {name: (dict(nova[name]), dict(page[name])) for name in page.sections()
               if name in nova}
    nova.read_dict(page)
    with (root / 'nova-api-paste.ini').open('w') as file:
        nova.write(file)
    return changed


def _forget_nova_files(cloud, root):
    """Remove the additions from Nova's two files, as the reader does."""
    (root / 'etc' / 'nova' / 'nova.conf').write_text('')
    shutil.copy(cloud.venv / 'etc' / 'nova' / 'api-paste.ini', root / 'nova-api-paste.ini')


def _follow(reader, path, *sections):
    """Run blocks of a page; return {title: what they printed}."""
    printed = {}
    for block in pages.blocks(path, *sections):
        printed[block.section] = printed.get(block.section, '') + reader.follow(block)
    return printed


def _install(cloud, root, reader):
    """Follow the pages from the first command to the services that run."""
    _follow(reader, INSTALL, 'Before you begin', 'Packages', 'Keystone', 'Database and bus')
    _follow(reader, *CONFIGURATION)
    _follow(reader, INSTALL, 'Configuration')
    with (root / 'etc' / 'climate' / 'climate.conf').open('a') as file:
        file.write('[manager]\naudit_grace_seconds = 1\n')
    _follow(reader, *NOVA)
    for nova, page in _edit_paste(cloud, root).values():
        assert page == nova | {'keystone': nova['keystone'].replace(
            ' keystonecontext ', ' keystonecontext climate ')}
    _follow(reader, INSTALL, 'Nova')
    return _follow(reader, INSTALL, 'Start')['Start']


def _type(reader, *commands):
    """Run commands that no page has, in the shell of the reader."""
    return reader.follow(pages.Block('none', '', 'bash', None, '\n'.join(commands) + '\n'))


def _restore(reader, scene, other):
    """Back up while a lease runs, prolong it, lease another host, and restore."""
    leases = scene.climate('admin').leases
    _type(reader, f'climate host create {other}')
    _follow(reader, BACKUP, 'Back up')
    before = leases.find('first')
    _type(reader, 'climate lease extend first --by 30m',
          'climate lease create second --hosts 1 --duration 1h --wait')
    lost, kept = (leases.find(name)['reservations'][0]['id'] for name in ('second', 'first'))
    assert scene.hosts_in(lost) == {other}
    stop, drop, load, ending, audit, repair, start = pages.blocks(BACKUP, 'Restore')
    for block in (stop, drop, load):
        reader.follow(block)
    assert reader.follow(ending).split()[:2] == [before['id'], 'first']
    found = reader.follow(audit)
    assert re.search(f'left behind +aggregate {lost[:8]}', found) and kept[:8] not in found, found
    assert 'repaired' in reader.follow(repair)
    assert scene.aggregate(lost) is None and other in scene.hosts_in('freepool')
    assert ' up ' in reader.follow(start)
    after = leases.find('first')
    assert (after['status'], after['end']) == ('active', before['end'])
    assert 'The cloud and the database agree.' in reader.follow(audit)


def _remove(cloud, scene, root, reader, open_host):
    withdrawn, audit, restarted, *rest = pages.blocks(REMOVE, 'Remove')
    reader.follow(withdrawn)
    assert open_host not in scene.hosts_in('freepool')
    assert 'The cloud and the database agree.' in reader.follow(audit)
    _forget_nova_files(cloud, root)
    for block in (restarted, *rest):
        reader.follow(block)


def test_the_pages_install_restore_upgrade_and_remove_climate(
        cloud, scene, admin, root, reader, open_host):
    started = _install(cloud, root, reader)
    assert started.count('Result: Success') == started.count('Check: ') > 0, started
    assert started.count(' answers\n') == 4, started
    imported = subprocess.run(
        [cloud.python, '-c', 'from climate.nova import filter; print(filter.__file__)'],
        check=True, capture_output=True, text=True, cwd=root).stdout
    assert 'site-packages' in imported

    leased, booted, ended = pages.blocks(INSTALL, 'The first lease')
    assert 'active' in reader.follow(leased)
    [lease] = scene.climate('admin').leases.list()
    reader.change('RESERVATION_ID', lease['reservations'][0]['id'])
    reader.follow(booted)
    server = admin.compute.find_server('server-1')
    assert admin.compute.get_server(server.id).compute_host == open_host
    # The pages have the name of the first host for that of the open one.
    _restore(reader, scene, cloud.climate_hosts[1])
    assert 'Result: Success' in _follow(reader, UPGRADE, 'Order')['Order']
    assert admin.compute.get_server(server.id).status == 'ACTIVE'
    reader.follow(ended)
    assert not scene.exists(server.id)

    _remove(cloud, scene, root, reader, open_host)
    assert admin.identity.find_service('climate') is None
    assert admin.identity.find_user('climate') is None
    assert readers.DATABASE not in _sql('SHOW DATABASES')
    assert 'climate' not in _of_bus(root, 'list_users')
    assert 'climate.manager' not in _of_bus(root, 'list_queues')
    assert not list((root / 'run').glob('*.pid'))
    assert not [path for path in root.rglob('*climate*') if path.is_relative_to(root / 'usr')]
    assert not list((root / 'etc' / 'systemd' / 'system').iterdir())
    assert reader.unused() == []


def test_every_command_of_the_pages_is_followed():
    titles = {block.section for block in pages.blocks(INSTALL)}
    assert titles == {'Before you begin', 'Packages', 'Keystone', 'Database and bus',
                      'Configuration', 'Nova', 'Start', 'The first lease'}
    assert {block.section for page in (BACKUP, UPGRADE, REMOVE)
            for block in pages.blocks(page)} == {
                # tests/faults/test_rolling_upgrade.py does this with programs of two releases.
                'Without an interruption',
                'Back up', 'Restore', 'Order', 'Remove'}
    lines = [line.strip() for page in (INSTALL, UPGRADE, REMOVE) for block in pages.blocks(page)
             for line in block.text.splitlines()]
    assert set(readers.NOT_RUN) <= set(lines)

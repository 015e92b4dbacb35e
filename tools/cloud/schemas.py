# SPDX-License-Identifier: Apache-2.0
"""Make the tables of every service, and Keystone's keys and first admin."""
from tools.cloud import commands
from tools.cloud import configure
from tools.cloud import settings


def create(cloud):
    """Make all schemas, three services at a time."""
    jobs = [_keystone, _nova, _placement, _glance, _neutron]
    optional = {'cinder': _cinder, 'heat': _heat, 'magnum': _magnum}
    jobs += [optional[name] for name in cloud.optional]
    commands.together([lambda job=job: job(cloud) for job in jobs], width=3)


def _run(cloud, command, files, *words, allowed=(0,)):
    config = [word for name in files for word in ('--config-file', str(cloud.conf / name))]
    commands.run(cloud, [cloud.tool(command), *config, *words], f'schema-{command}.log',
                 allowed=allowed)


def _keystone(cloud):
    files = ['keystone/keystone.conf']
    owner = ('--keystone-user', settings.user(), '--keystone-group', settings.group())
    url = settings.url('keystone', '/v3')
    (cloud.data / 'keystone').mkdir(exist_ok=True)
    _run(cloud, 'keystone-manage', files, 'db_sync')
    _run(cloud, 'keystone-manage', files, 'fernet_setup', *owner)
    _run(cloud, 'keystone-manage', files, 'credential_setup', *owner)
    _run(cloud, 'keystone-manage', files, 'bootstrap', '--bootstrap-password', settings.PASSWORD,
         '--bootstrap-admin-url', url, '--bootstrap-internal-url', url,
         '--bootstrap-public-url', url, '--bootstrap-region-id', 'RegionOne')


def _nova(cloud):
    files = ['nova/nova.conf', 'nova/nova-cells.conf']
    _run(cloud, 'nova-manage', files, 'api_db', 'sync')
    _run(cloud, 'nova-manage', files, 'cell_v2', 'map_cell0', '--database_connection',
         f'{configure.database_url()}/nova_cell0?charset=utf8mb4')
    # Code 2: this cell is there already.
    _run(cloud, 'nova-manage', files, 'cell_v2', 'create_cell', '--name', 'cell1',
         '--database_connection', f'{configure.database_url()}/nova?charset=utf8mb4',
         '--transport-url', configure.rabbit_url(), allowed=(0, 2))
    _run(cloud, 'nova-manage', files, 'db', 'sync')


def _placement(cloud):
    _run(cloud, 'placement-manage', ['placement/placement.conf'], 'db', 'sync')


def _glance(cloud):
    _run(cloud, 'glance-manage', ['glance/glance-api.conf'], 'db_sync')


def _neutron(cloud):
    _run(cloud, 'neutron-db-manage',
         ['neutron/neutron.conf', 'neutron/plugins/ml2/ml2_conf.ini'], 'upgrade', 'heads')


def _cinder(cloud):
    _run(cloud, 'cinder-manage', ['cinder/cinder.conf'], 'db', 'sync')


def _heat(cloud):
    _run(cloud, 'heat-manage', ['heat/heat.conf'], 'db_sync')


def _magnum(cloud):
    _run(cloud, 'magnum-db-manage', ['magnum/magnum.conf'], 'upgrade')

# SPDX-License-Identifier: Apache-2.0
"""The OpenStack services: what starts each, what shows that it works, what a new cloud gets."""
import json
import os
import signal
import subprocess

from tools.cloud import commands
from tools.cloud import configure
from tools.cloud import processes
from tools.cloud import settings

# {service user: (type in the catalog, path)}
CATALOG = {
    'nova': ('compute', '/v2.1'), 'placement': ('placement', ''), 'glance': ('image', ''),
    'neutron': ('network', ''), 'cinder': ('block-storage', '/v3'),
    'heat': ('orchestration', '/v1/%(tenant_id)s'), 'magnum': ('container-infra', '/v1'),
    'climate': ('reservation', '/v1')}
# {optional service: its processes}
OPTIONAL = {'cinder': ('cinder-api', 'cinder-scheduler', 'cinder-volume'),
            'heat': ('heat-api', 'heat-engine'), 'magnum': ('magnum-api', 'magnum-conductor')}
# {optional service: queues that its workers serve}; of Cinder's the pools say more.
QUEUES = {'cinder': (), 'heat': ('engine',), 'magnum': ('magnum-conductor',)}
# What the name of the process of a further host of Cinder begins with.
STORAGE_HOST = 'cinder-volume-'
# Those of the optional APIs that waitress serves.
_BY_WAITRESS = ('heat-api', 'magnum-api')


def names(cloud):
    """The services in the order they start; `nova` is the parent of all of Nova's."""
    optional = [process for name in cloud.optional for process in OPTIONAL[name]]
    return ['keystone', 'nova', 'placement', 'glance', 'neutron', *optional]


def nova_children(cloud):
    """The processes that Nova's parent forks."""
    return ['nova-api', 'nova-conductor', 'nova-scheduler',
            *(f'nova-{host}' for host in cloud.compute_hosts)]


def start(cloud, name):
    """Start one service, or bring back one that Nova's parent forks; returns at once."""
    if name in nova_children(cloud):
        _fork_again(cloud)
        return
    if name == 'nova':
        _stop_orphans(cloud)
        command = [cloud.python, cloud.inside('nova_zygote.py'), cloud.conf / 'nova', cloud.run,
                   cloud.log, settings.PORTS['nova'], *cloud.compute_hosts]
    elif '-' in name:
        command = _optional(cloud, name)
    else:
        command = [cloud.python, cloud.inside('wsgi_runner.py'), f'{name}.wsgi.api',
                   settings.PORTS[name]]
    processes.start(cloud, name, command)


def _optional(cloud, name):
    """The command of a process of Cinder, Heat or Magnum."""
    service = name.partition('-')[0]
    options = ['--config-file', cloud.conf / service / f'{service}.conf']
    if name in _BY_WAITRESS:
        return [cloud.python, cloud.inside('wsgi_runner.py'), f'{service}.wsgi.api',
                settings.PORTS[service], *options]
    if name.startswith(STORAGE_HOST):
        host = name.removeprefix(STORAGE_HOST)
        return [cloud.python, cloud.tool('cinder-volume'), *options,
                '--config-file', cloud.conf / service / f'{host}.conf']
    return [cloud.python, cloud.tool(name), *options]


def _stop_orphans(cloud):
    """Stop the children of a parent that died; a new parent would fork them twice."""
    if not processes.pid_of(cloud, 'nova'):
        for name in nova_children(cloud):
            processes.stop(cloud, name, grace_seconds=5)


def _fork_again(cloud):
    parent = processes.pid_of(cloud, 'nova')
    if not parent:
        raise settings.CloudError('Nova\'s parent process does not run: restart "nova".')
    os.kill(parent, signal.SIGUSR1)


def wait_until_well(cloud, name):
    """Wait until the service's API answers; a service without an API is well at once."""
    if name in ('nova', 'nova-api'):
        _wait_for_nova_child(cloud, 'nova-api')
        processes.wait_for_answer(cloud, 'nova-api', settings.url('nova', '/'))
    elif name in nova_children(cloud):
        _wait_for_nova_child(cloud, name)
    elif name.removesuffix('-api') in cloud.apis:
        api = name.removesuffix('-api')
        processes.wait_for_answer(cloud, name, settings.url(api, cloud.apis[api]))


def _wait_for_nova_child(cloud, name):
    def forked():
        if not processes.pid_of(cloud, 'nova'):
            raise settings.CloudError(
                f'nova ended. {commands.last_lines(cloud.log / "nova.out")}')
        running = [other for other in nova_children(cloud) if processes.pid_of(cloud, other)]
        if running and name not in running:
            # Again: one that was just killed may not have been quite gone at the first time.
            # With none running, the parent may be too young for signals.
            _fork_again(cloud)
        return name in running
    commands.wait(forked, f'{name} to start; see {cloud.log / name}.out')


def fill_identity(cloud):
    """Users, projects, roles and the catalog."""
    listed = [name for name in CATALOG if name not in OPTIONAL or name in cloud.optional]
    catalog = {name: [CATALOG[name][0], settings.url(name, CATALOG[name][1])] for name in listed}
    _inside(cloud, 'bootstrap_identity.py', settings.PASSWORD, json.dumps(catalog))


def fill_guest(cloud):
    """Users and projects of a Climate that is not the cloud's own."""
    _inside(cloud, 'bootstrap_identity.py', settings.PASSWORD, '{}', f'{cloud.climate_name}-')


def fill_resources(cloud):
    """Flavors, images, networks, an aggregate; types of volumes."""
    backends = settings.BACKENDS if 'cinder' in cloud.optional else {}
    _inside(cloud, 'bootstrap_resources.py', *backends)


def wait_for_workers(cloud, names):
    """Wait until the workers behind the APIs of some optional services work."""
    queues = [queue for name in names for queue in QUEUES[name]]
    pools = len(settings.BACKENDS) if 'cinder' in names else 0
    if names:
        _inside(cloud, 'wait_for_workers.py', configure.rabbit_url(), 120, pools, *queues)


def _inside(cloud, script, *words):
    words = [str(word) for word in words]
    commands.run(cloud, [cloud.python, cloud.inside(script), cloud.folder / 'clouds.yaml', *words],
                 'bootstrap.log')


def forget_storage_host(cloud, name):
    """Remove from Cinder the service of a further host, which must not run any more."""
    commands.run(cloud, [cloud.tool('cinder-manage'), '--config-file',
                         cloud.conf / 'cinder' / 'cinder.conf', 'service', 'remove',
                         'cinder-volume', f'{name}@{name}'], 'bootstrap.log')


def discover_hosts(cloud):
    """Map the computes to their cell; without it the scheduler does not see them."""
    files = [word for name in ('nova.conf', 'nova-cells.conf')
             for word in ('--config-file', cloud.conf / 'nova' / name)]
    commands.run(cloud, [cloud.tool('nova-manage'), *files, 'cell_v2', 'discover_hosts',
                         '--verbose'], 'bootstrap.log')


def wait_for_computes(cloud, since):
    """Wait until every nova-compute has its node and has reported.

    :param since: text 'YYYY-MM-DD HH:MM:SS' in UTC; older reports do not count.
    """
    hosts = ', '.join(f"'{host}'" for host in cloud.compute_hosts)
    question = (
        'SELECT count(*) FROM nova.services s JOIN nova.compute_nodes n ON n.host = s.host '
        "WHERE s.`binary` = 'nova-compute' AND s.deleted = 0 AND n.deleted = 0 "
        f"AND s.host IN ({hosts}) AND ifnull(s.last_seen_up, s.created_at) >= '{since}'")
    commands.wait(lambda: _count(cloud, question) >= cloud.computes,
                  f'{cloud.computes} computes to report; see {cloud.log}/nova-compute*.log')


def _count(cloud, question):
    answer = subprocess.run(
        ['mariadb', '--host=127.0.0.1', f'--port={settings.PORTS["mariadb"]}', '--user=cloud',
         f'--password={settings.PASSWORD}', '--batch', '--skip-column-names',
         f'--execute={question}'],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env=commands.environment(cloud))
    return int(answer.stdout) if answer.returncode == 0 else 0

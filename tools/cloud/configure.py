# SPDX-License-Identifier: Apache-2.0
"""Write every configuration file from `templates/`, at each start and restart."""
import json
import shutil
import string

from tools.cloud import commands
from tools.cloud import settings

TEMPLATES = settings.TOOL / 'templates'
FILTERS = (
    'ComputeFilter', 'ComputeCapabilitiesFilter', 'ImagePropertiesFilter',
    'ServerGroupAntiAffinityFilter', 'ServerGroupAffinityFilter', 'SameHostFilter',
    'DifferentHostFilter', 'AggregateInstanceExtraSpecsFilter',
    'AggregateMultiTenancyIsolation')
# {name of the entry in clouds.yaml: (user, project)}
PEOPLE = {'admin': ('admin', 'admin'), 'demo': ('demo', 'demo'), 'alt': ('alt', 'alt'),
          'demo-reader': ('demo-reader', 'demo')}


def configure(cloud):
    """Write the files of all services and of their users."""
    _programs(cloud)
    _service(cloud, 'keystone', 'keystone.conf', authtoken=False)
    _service(cloud, 'placement', 'placement.conf')
    _glance(cloud)
    _nova(cloud)
    _neutron(cloud)
    for name in cloud.optional:
        _copy_packaged(cloud, name)
        {'cinder': _cinder, 'heat': _heat, 'magnum': _magnum}[name](cloud)
    users_files(cloud, PEOPLE)


def values(cloud, service, **more):
    """The values that templates may use, for one service user."""
    words = {'user': settings.user(), 'password': settings.PASSWORD, 'service': service}
    words |= {name: str(getattr(cloud, name)) for name in ('folder', 'conf', 'run', 'log', 'data')}
    words |= {f'{name}_port': str(port) for name, port in settings.PORTS.items()}
    words |= {name: settings.url(name) for name in ('keystone', 'glance', 'heat')}
    words['rabbit'] = rabbit_url()
    words['database'] = database_url()
    words['credentials'] = _fill('credentials.conf', words).rstrip()
    return words | more


def rabbit_url():
    return f'rabbit://openstack:{settings.PASSWORD}@127.0.0.1:{settings.PORTS["rabbitmq"]}/'


def database_url():
    """The database server; a slash and the name of a database must follow."""
    return f'mysql+pymysql://cloud:{settings.PASSWORD}@127.0.0.1:{settings.PORTS["mariadb"]}'


def fill(cloud, template, service, **more):
    """A template with its names filled in."""
    return _fill(template, values(cloud, service, **more))


def _fill(template, words):
    text = string.Template((TEMPLATES / template).read_text())
    return text.substitute(words)


def _service(cloud, service, template, extra='', authtoken=True, **more):
    """One service's main file: its own part, what all say, how it checks tokens."""
    parts = [fill(cloud, template, service, **more), fill(cloud, 'common.conf', service)]
    if authtoken:
        parts.append(fill(cloud, 'authtoken.conf', service))
    commands.write(cloud.conf / service / template, '\n'.join([*parts, extra]))


def _copy_packaged(cloud, service):
    """The files that come with the service's package: paste pipelines, metadata, and so on."""
    shutil.copytree(cloud.venv / 'etc' / service, cloud.conf / service, dirs_exist_ok=True)


def _programs(cloud):
    grants = ''.join(f"GRANT ALL ON *.* TO 'cloud'@'{host}' IDENTIFIED BY '{settings.PASSWORD}';\n"
                     for host in ('127.0.0.1', 'localhost'))
    databases = ''.join(f'CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4;\n'
                        for name in settings.DATABASES)
    commands.write(cloud.conf / 'mariadb.sql', databases + grants)
    for template in ('mariadb.cnf', 'rabbitmq.conf', 'nginx.conf'):
        commands.write(cloud.conf / template, fill(cloud, template, 'none'))
    commands.write(cloud.conf / 'rabbitmq-plugins', '[].\n')
    (cloud.run / 'nginx').mkdir(exist_ok=True)


def _glance(cloud):
    _copy_packaged(cloud, 'glance')
    _service(cloud, 'glance', 'glance-api.conf')
    for folder in ('images', 'staging', 'os_glance_staging', 'os_glance_tasks'):
        (cloud.data / 'glance' / folder).mkdir(parents=True, exist_ok=True)


def _nova(cloud):
    available = ['nova.scheduler.filters.all_filters']
    enabled = list(FILTERS)
    extra = cloud.nova_extra.read_text() if cloud.nova_extra else ''
    if cloud.climate_filters:
        # With this both filters ask Climate; ordinary servers do not need Climate to be up.
        extra = f'[climate]\n{fill(cloud, "credentials.conf", "nova")}\n{extra}'
        available.append('climate.nova.filter.ClimateFilter')
        enabled.append('ClimateFilter')
    _copy_packaged(cloud, 'nova')
    _service(cloud, 'nova', 'nova.conf', extra=extra,
             available_filters='\n'.join(f'available_filters = {name}' for name in available),
             enabled_filters=','.join(enabled))
    _nova_paste(cloud)
    for template in ('nova-api.conf', 'nova-cells.conf'):
        commands.write(cloud.conf / 'nova' / template, fill(cloud, template, 'nova'))
    for host in cloud.compute_hosts:
        commands.write(cloud.conf / 'nova' / f'nova-{host}.conf',
                       fill(cloud, 'nova-compute.conf', 'nova', host=host))
        (cloud.data / 'nova' / host / 'instances').mkdir(parents=True, exist_ok=True)


def _nova_paste(cloud):
    """Nova's own pipelines, with Climate's filter behind the one that knows who asks."""
    path = cloud.conf / 'nova' / 'api-paste.ini'
    if cloud.nova_paste:
        shutil.copy(cloud.nova_paste, path)
    elif cloud.climate_filters:
        text = path.read_text().replace(
            ' keystonecontext ', ' keystonecontext climate kill_switch ')
        commands.write(path, text + fill(cloud, 'nova-paste.ini', 'nova'))


def _neutron(cloud):
    _copy_packaged(cloud, 'neutron')
    _service(cloud, 'neutron', 'neutron.conf', extra=_nova_credentials(cloud))
    commands.write(cloud.conf / 'neutron' / 'plugins' / 'ml2' / 'ml2_conf.ini',
                   fill(cloud, 'ml2_conf.ini', 'neutron'))


def _cinder(cloud):
    (cloud.data / 'cinder').mkdir(exist_ok=True)
    names = list(settings.BACKENDS)
    backends = ''.join(fill(cloud, 'cinder-backend.conf', 'cinder', name=name, size=size)
                       for name, size in settings.BACKENDS.items())
    _service(cloud, 'cinder', 'cinder.conf', extra=backends, backends=','.join(names),
             default_backend=names[0])


def storage_host(cloud, name, size):
    """Write the file of a further host of Cinder, whose one back end has that name and size.

    Its process is ``cinder-volume-NAME``.
    """
    text = fill(cloud, 'cinder-host.conf', 'cinder', name=name) + '\n' + fill(
        cloud, 'cinder-backend.conf', 'cinder', name=name, size=size)
    commands.write(cloud.conf / 'cinder' / f'{name}.conf', text)


def _heat(cloud):
    _service(cloud, 'heat', 'heat.conf')


def _magnum(cloud):
    (cloud.data / 'magnum' / 'certificates').mkdir(parents=True, exist_ok=True)
    _service(cloud, 'magnum', 'magnum.conf')


def _nova_credentials(cloud):
    return f'[nova]\n{fill(cloud, "credentials.conf", "nova")}'


def users_files(cloud, people, folder=None, **more):
    """openrc for shells, clouds.yaml for libraries (JSON is YAML too, and needs no library).

    :param people: {name of the entry in clouds.yaml: (user, project)}.
    :param more: what each entry says as well.
    """
    folder = folder or cloud.folder
    commands.write(folder / 'openrc', fill(cloud, 'openrc', 'none'))
    clouds = {
        person: more | {
            'auth': {
                'auth_url': settings.url('keystone', '/v3'), 'username': user,
                'password': settings.PASSWORD, 'project_name': project,
                'user_domain_name': 'Default', 'project_domain_name': 'Default'},
            'region_name': 'RegionOne', 'identity_api_version': '3'}
        for person, (user, project) in people.items()}
    commands.write(folder / 'clouds.yaml', json.dumps({'clouds': clouds}, indent=2) + '\n')

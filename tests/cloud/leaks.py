# SPDX-License-Identifier: Apache-2.0
"""Snapshots of the objects in the cloud; two differ if a test left an object behind.

A snapshot is {kind: {id: description}}, as an administrator sees it.
"""
import concurrent.futures
import contextlib

from keystoneauth1 import exceptions

READERS = {}
TRUSTS = '/OS-TRUST/trusts'


def of_service(service):
    """Make a function the reader of the kind that has its name; without the service it is not read.

    :param service: the type of the service in the catalogue.

    The reader yields (id, id of the project or None, what it is).
    """
    def add(reader):
        READERS[reader.__name__] = (service, reader)
        return reader
    return add


@of_service('compute')
def servers(admin):
    for each in admin.compute.servers(all_projects=True):
        yield each.id, each.project_id, each.name


@of_service('compute')
def groups(admin):
    for each in admin.compute.server_groups(all_projects=True):
        yield each.id, each.project_id, each.name


@of_service('compute')
def flavors(admin):
    for each in admin.compute.flavors(is_public=None):
        yield each.id, None, each.name


@of_service('compute')
def aggregates(admin):
    for each in admin.compute.aggregates():
        yield each.name, None, (each.availability_zone, sorted(each.hosts or ()))


@of_service('placement')
def inventories(admin):
    for each in admin.placement.resource_providers():
        if each.name.startswith(('climate_', 'blazar_')):
            # Without the generation, which grows with each change.
            yield each.name, None, _json(
                admin, 'placement',
                f'/resource_providers/{each.id}/inventories')['inventories']


@of_service('placement')
def classes(admin):
    for each in _json(admin, 'placement', '/resource_classes', '1.2')['resource_classes']:
        yield each['name'], None, 'resource class'


@of_service('image')
def images(admin):
    for each in admin.image.images():
        yield each.id, each.owner, each.name


@of_service('identity')
def trusts(admin):
    for each in _json(admin, 'identity', TRUSTS)['trusts']:
        yield each['id'], each['project_id'], f'to {each["trustee_user_id"]}'


@of_service('network')
def networks(admin):
    for each in admin.network.networks():
        yield each.id, each.project_id, (
            each.name, each.provider_network_type, each.provider_physical_network,
            each.provider_segmentation_id)


@of_service('network')
def subnets(admin):
    for each in admin.network.subnets():
        yield each.id, each.project_id, (each.name, each.cidr)


@of_service('network')
def ports(admin):
    for each in admin.network.ports():
        yield each.id, each.project_id, (each.name, each.device_owner, each.network_id)


@of_service('network')
def routers(admin):
    for each in admin.network.routers():
        yield each.id, each.project_id, each.name


@of_service('network')
def addresses(admin):
    for each in admin.network.ips():
        yield each.floating_ip_address, each.project_id, (each.id, each.port_id, sorted(each.tags))


@of_service('block-storage')
def volumes(admin):
    for each in admin.block_storage.volumes(all_projects=True):
        yield each.id, each.project_id, (each.name, each.size, each.status, each.volume_type)


@of_service('block-storage')
def snapshots(admin):
    for each in admin.block_storage.snapshots(all_projects=True):
        yield each.id, each.project_id, each.name


@of_service('block-storage')
def types(admin):
    for each in admin.block_storage.types(is_public='None'):
        access = [] if each.is_public else admin.block_storage.get_type_access(each)
        yield each.id, None, (each.name, sorted(one['project_id'] for one in access))


@of_service('orchestration')
def stacks(admin):
    base = admin.session.get_endpoint(service_type='orchestration').rsplit('/', 1)[0]
    # Heat shows an administrator one project at a time.
    for project in admin.identity.projects():
        found = admin.session.get(f'{base}/{project.id}/stacks').json()['stacks']
        for each in found:
            yield each['id'], project.id, (each['stack_name'], each['stack_status'])


@of_service('container-infra')
def clusters(admin):
    for each in _of_magnum(admin, 'clusters'):
        yield each['uuid'], each['project_id'], (each['name'], each['node_count'])


@of_service('container-infra')
def templates(admin):
    for each in _of_magnum(admin, 'clustertemplates'):
        yield each['uuid'], each['project_id'], each['name']


#: What a lease of hosts or instances makes.
COMPUTE = ('servers', 'groups', 'flavors', 'aggregates', 'inventories', 'classes', 'images',
           'trusts')
NETWORK = ('networks', 'subnets', 'ports', 'routers', 'addresses')
VOLUME = ('volumes', 'snapshots', 'types')
STACK = ('stacks',)
CLUSTER = ('clusters', 'templates')
ALL = (*COMPUTE, *NETWORK, *VOLUME, *STACK, *CLUSTER)


def snapshot(admin, kinds=ALL, projects=None):
    """Return the objects of these kinds in the cloud: {kind: {id: description}}.

    :param admin: an administrator's connection of openstacksdk.
    :param projects: ids of the only projects that count, because others work in the cloud
        meanwhile; what belongs to no project does not count then.
    """
    def read(kind):
        service, reader = READERS[kind]
        if not admin.session.get_endpoint(service_type=service):
            return {}
        return {identifier: what for identifier, project, what in reader(admin)
                if projects is None or project in projects}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return dict(zip(kinds, pool.map(read, kinds), strict=True))


def _json(admin, service, path, microversion=None):
    return admin.session.get(path, endpoint_filter={'service_type': service},
                             microversion=microversion).json()


def _of_magnum(admin, kind):
    """Yield what Magnum shows of each; openstacksdk leaves out the project."""
    for each in _json(admin, 'container-infra', f'/{kind}', '1.10')[kind]:
        with contextlib.suppress(exceptions.NotFound):
            yield _json(admin, 'container-infra', f'/{kind}/{each["uuid"]}', '1.10')

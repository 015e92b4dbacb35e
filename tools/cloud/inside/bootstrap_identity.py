# SPDX-License-Identifier: Apache-2.0
"""Fill Keystone: service users, the catalog, the people and their projects. May be repeated.

bootstrap_identity.py CLOUDS_YAML PASSWORD CATALOG, where CATALOG is JSON:
{service user: [type, URL]}
"""
import json
import sys

import openstack

# {user: (project, role)}; the role member holds reader within it.
PEOPLE = {'demo': ('demo', 'member'), 'alt': ('alt', 'member'), 'demo-reader': ('demo', 'reader')}
ROLES = ('admin', 'member', 'reader', 'service')
INTERFACES = ('public', 'internal', 'admin')


def main(clouds, password, catalog):
    identity = openstack.config.OpenStackConfig(config_files=[clouds]).get_one('admin')
    identity = openstack.connection.Connection(config=identity).identity
    roles = {name: ensure_role(identity, name) for name in ROLES}
    service = ensure_project(identity, 'service')
    listed = {entry.name for entry in identity.services()}
    for name, (kind, url) in json.loads(catalog).items():
        user = ensure_user(identity, name, password, service)
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(service, user, roles[role])
        if name not in listed:
            add_endpoints(identity, name, kind, url)
    for name, (project_name, role) in PEOPLE.items():
        project = ensure_project(identity, project_name)
        user = ensure_user(identity, name, password, project)
        identity.assign_project_role_to_user(project, user, roles[role])


def ensure_role(identity, name):
    return identity.find_role(name) or identity.create_role(name=name)


def ensure_project(identity, name):
    return (identity.find_project(name)
            or identity.create_project(name=name, domain_id='default'))


def ensure_user(identity, name, password, project):
    return (identity.find_user(name)
            or identity.create_user(name=name, password=password, domain_id='default',
                                    default_project_id=project.id))


def add_endpoints(identity, name, kind, url):
    service = identity.create_service(name=name, type=kind)
    for interface in INTERFACES:
        identity.create_endpoint(service_id=service.id, interface=interface,
                                 region_id='RegionOne', url=url)


if __name__ == '__main__':
    main(*sys.argv[1:])

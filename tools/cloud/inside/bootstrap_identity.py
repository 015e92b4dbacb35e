# SPDX-License-Identifier: Apache-2.0
"""Fill Keystone: service users, the catalog, the people and their projects. May be repeated.

bootstrap_identity.py CLOUDS_YAML PASSWORD CATALOG [PREFIX], where CATALOG is JSON:
{service user: [type, URL]}; the names of the people and of their projects begin with PREFIX.
"""
import json
import sys

import openstack

# {user: (project, role)}; the role member holds reader within it.
PEOPLE = {'demo': ('demo', 'member'), 'alt': ('alt', 'member'), 'demo-reader': ('demo', 'reader')}
ROLES = ('admin', 'member', 'reader', 'service')
STACK_ROLES = ('heat_stack_owner', 'heat_stack_user')
STACK_DOMAIN, STACK_ADMIN = 'heat', 'heat_domain_admin'
INTERFACES = ('public', 'internal', 'admin')


def main(clouds, password, catalog, prefix=''):
    identity = openstack.config.OpenStackConfig(config_files=[clouds]).get_one('admin')
    identity = openstack.connection.Connection(config=identity).identity
    roles = {name: ensure_role(identity, name) for name in ROLES}
    service = ensure_project(identity, 'service')
    listed = {entry.name for entry in identity.services()}
    catalog = json.loads(catalog)
    for name, (kind, url) in catalog.items():
        user = ensure_user(identity, name, password, service)
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(service, user, roles[role])
        if name not in listed:
            add_endpoints(identity, name, kind, url)
    if 'heat' in catalog:
        ensure_stack_domain(identity, password, roles['admin'])
    for name, (project_name, role) in PEOPLE.items():
        project = ensure_project(identity, prefix + project_name)
        user = ensure_user(identity, prefix + name, password, project)
        identity.assign_project_role_to_user(project, user, roles[role])


def ensure_stack_domain(identity, password, admin_role):
    """The domain of the users that Heat makes for the resources of stacks, and its admin."""
    for name in STACK_ROLES:
        ensure_role(identity, name)
    domain = identity.find_domain(STACK_DOMAIN) or identity.create_domain(name=STACK_DOMAIN)
    user = (identity.find_user(STACK_ADMIN, domain_id=domain.id)
            or identity.create_user(name=STACK_ADMIN, password=password, domain_id=domain.id))
    identity.assign_domain_role_to_user(domain, user, admin_role)


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

# SPDX-License-Identifier: Apache-2.0
"""Templates, requests and stacks for the tests of leases of stacks."""
from support import builders

from climate.domain import records

TYPE = 'virtual:stack'
VERSION = '2021-04-16'
WORD = {'type': 'OS::Heat::RandomString'}


def template(parameters=None, **resources):
    return {'heat_template_version': VERSION, 'parameters': parameters or {},
            'resources': resources}


def server(**properties):
    return {'type': 'OS::Nova::Server',
            'properties': {'image': 'cirros', 'flavor': {'get_param': 'size'}, **properties}}


def placed(count=2, **more):
    """A template with that many servers in a group, of a flavor that is a parameter."""
    group = {'type': 'OS::Heat::ResourceGroup', 'properties': {
        'count': count, 'resource_def': server()}}
    return template({'size': {'type': 'string', 'default': 'm1.small'}}, servers=group, **more)


def asked(of=None, **more):
    """A ReservationRequest for a stack, of a template without servers by default."""
    return records.ReservationRequest(TYPE, {
        'template': template(word=WORD) if of is None else of, **more})


def with_room(count=2, **more):
    """A ReservationRequest for a stack whose servers have capacity on enrolled hosts."""
    return asked(placed(count), flavor_parameter='size', **more)


def known(stack, **more):
    """A ReservationRequest for a stack that exists."""
    return records.ReservationRequest(TYPE, {'resource_id': stack.id, **more})


def existing(manager, of=None, user='demo', project='demo'):
    """A Stack that a user made without Climate."""
    service = manager.cloud.as_service()
    trust = service.keystone.create_trust(builders.a_member(user, project), redelegable=True)
    created = manager.cloud.as_user(trust.id).stacks.create({
        'name': 'mine', 'template': of or placed(1)})
    service.keystone.delete_trust(trust.id)
    return service.stacks.find(project, created)


def now(manager, project='demo'):
    """{name: status} of the stacks of a project."""
    return {each.name: each.status for each in manager.cloud.stacks(project)}


def told(manager, lease):
    """All that the owner reads in the history of a lease."""
    history = manager.client.lease_history(builders.a_member(), lease.id)
    return ' '.join(each.text.owner for each in history if each.text is not None)

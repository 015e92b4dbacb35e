# SPDX-License-Identifier: Apache-2.0
"""Templates, requests and readings for the tests of leases of stacks on the real cloud."""
import scene as scenes

TYPE = 'virtual:stack'
DONE = ('CREATE_COMPLETE', 'UPDATE_COMPLETE', 'SUSPEND_COMPLETE', 'RESUME_COMPLETE')


def template(parameters=None, **resources):
    return {'heat_template_version': '2021-04-16', 'parameters': parameters or {},
            'resources': resources}


def server(flavor, **properties):
    return {'type': 'OS::Nova::Server', 'properties': {
        'image': 'tiny', 'flavor': flavor, 'networks': [{'network': 'private'}], **properties}}


def placed(count=1):
    """A template with that many servers in a group, of a flavor that is a parameter."""
    return template({'size': {'type': 'string', 'default': 'm1.nano'}}, some={
        'type': 'OS::Heat::ResourceGroup', 'properties': {
            'count': count, 'resource_def': server({'get_param': 'size'})}})


def with_room(count=1, **more):
    return {'resource_type': TYPE, 'template': placed(count), 'flavor_parameter': 'size', **more}


def word(**more):
    """A request for a stack without servers, which Heat makes in a moment."""
    return {'resource_type': TYPE, 'template': template(
        word={'type': 'OS::Heat::RandomString'}), **more}


def leased(scene, *reservations, person='demo', status='active', **more):
    """A lease of these reservations, once it has that status."""
    made = scene.climate(person).leases.create(
        scene.name(), reservations=list(reservations),
        **({'duration': '20m'} if 'end' not in more else {}), **more)
    scene.remember(made['id'])
    return scene.wait(made['id'], status, 180) if status else made


class Heat:
    """The stacks of a project as one of its users sees them, without openstacksdk's opinions."""

    def __init__(self, connection):
        self._session = connection.session
        self._service = {'service_type': 'orchestration'}

    def create(self, scene, name, what):
        """A new stack, complete; deleted when the test is over."""
        made = self._call('post', '/stacks', json={
            'stack_name': name, 'template': what}).json()['stack']['id']
        scene.afterwards(lambda: self.delete(made))
        scenes.until(lambda: self.status(made) == 'CREATE_COMPLETE', 'the stack to be made', 120)
        return made

    def delete(self, stack_id):
        if self.status(stack_id) is not None:
            [path] = [f'/stacks/{each["stack_name"]}/{stack_id}' for each in self.every()
                      if each['id'] == stack_id]
            self._call('delete', path)
            scenes.until(lambda: self.status(stack_id) is None, 'the stack to be gone', 120)

    def wake(self, stack_id):
        """Resume a stack that sleeps."""
        if self.status(stack_id) == 'SUSPEND_COMPLETE':
            [name] = [each['stack_name'] for each in self.every() if each['id'] == stack_id]
            self._call('post', f'/stacks/{name}/{stack_id}/actions', json={'resume': None})
            scenes.until(lambda: self.status(stack_id) == 'RESUME_COMPLETE', 'it to wake up', 120)

    def every(self):
        return [each for each in self._call('get', '/stacks').json()['stacks']
                if each['stack_status'] != 'DELETE_COMPLETE']

    def status(self, stack_id):
        """The status of a stack, None if there is none."""
        return next((each['stack_status'] for each in self.every() if each['id'] == stack_id),
                    None)

    def servers(self, stack_id):
        """The ids of the servers of a stack, those of nested stacks too."""
        return self.made(stack_id, 'OS::Nova::Server')

    def made(self, stack_id, kind):
        """The ids of what a stack made of a type of Heat, with that of nested stacks."""
        [name] = [each['stack_name'] for each in self.every() if each['id'] == stack_id]
        found = self._call('get', f'/stacks/{name}/{stack_id}/resources',
                           params={'nested_depth': 3}).json()['resources']
        return [each['physical_resource_id'] for each in found
                if each['resource_type'] == kind]

    def outputs(self, stack_id):
        """The outputs of a stack, {name: value}; the value is None if Heat finds none."""
        [name] = [each['stack_name'] for each in self.every() if each['id'] == stack_id]
        stack = self._call('get', f'/stacks/{name}/{stack_id}').json()['stack']
        return {each['output_key']: each['output_value'] for each in stack['outputs']}

    def _call(self, method, path, **more):
        return getattr(self._session, method)(path, endpoint_filter=self._service, **more)

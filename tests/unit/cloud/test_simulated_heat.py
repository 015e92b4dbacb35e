# SPDX-License-Identifier: Apache-2.0
"""The simulated Heat behaves as the real one was seen to behave."""
import pytest
from support import builders

from climate import context
from climate import errors

WORD = {'heat_template_version': '2021-04-16', 'parameters': {},
        'resources': {'word': {'type': 'OS::Heat::RandomString'}}}
SERVER = {'heat_template_version': '2021-04-16', 'resources': {
    'vm': {'type': 'OS::Nova::Server', 'properties': {'flavor': 'm1.small'}}}}
TEXT = """
heat_template_version: 2021-04-16
parameters:
  count: {type: number, default: 2}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def: {type: "OS::Nova::Server", properties: {flavor: "2"}}
"""


class Scene:
    """A cloud whose stacks take ten seconds, and a user of project p."""

    def __init__(self, simulate, clock):
        self.clock = clock
        self.cloud = simulate('stack_seconds = 10', clock=clock)
        self.service = self.cloud.as_service()
        self.stacks = self.service.stacks
        self.caller = context.RequestContext(user_id='u', project_id='p', roles=['member'],
                                             overwrite=False)

    def user(self, redelegable=True):
        trust = self.service.keystone.create_trust(self.caller, redelegable=redelegable)
        return self.cloud.as_user(trust.id).stacks

    def create(self, template=SERVER):
        self.user().create({'name': 'one', 'template': template})
        return self.now()

    def now(self):
        return self.stacks.find('p', 'one')

    def later(self):
        self.clock.now += 10
        return self.now()


@pytest.fixture
def scene(simulate, clock):
    return Scene(simulate, clock)


def test_a_plain_trust_creates_no_stack(scene):
    with pytest.raises(errors.CloudError, match='RemoteError'):
        scene.user(redelegable=False).create({'name': 'one', 'template': WORD})
    assert scene.cloud.stacks() == []


def test_from_one_trust_one_stack_is_created_and_from_its_children_others(scene):
    trust = scene.service.keystone.create_trust(scene.caller, builders.NOON, redelegable=True)
    owner = scene.cloud.as_user(trust.id)
    owner.stacks.create({'name': 'one', 'template': WORD})
    scene.stacks.delete('p', scene.now())
    scene.later()
    with pytest.raises(errors.CloudError, match='RemoteError'):
        owner.stacks.create({'name': 'two', 'template': WORD})
    for name in ('two', 'three'):
        child = owner.keystone.redelegate()
        scene.cloud.as_user(child.id).stacks.create({'name': name, 'template': WORD})
    assert [each.name for each in scene.cloud.stacks('p')] == ['two', 'three']
    with pytest.raises(errors.TrustRefused):
        scene.cloud.as_user(child.id).keystone.redelegate()
    scene.service.keystone.delete_trust(trust.id)
    assert scene.service.keystone.trusts() == []


def test_a_stack_of_climate_itself_is_in_the_project_of_the_service(scene):
    scene.stacks.create({'name': 'one', 'template': WORD})
    assert scene.cloud.stacks('p') == []
    assert len(scene.cloud.stacks('service')) == 1


def test_an_action_is_over_after_a_while(scene):
    stack = scene.create()
    assert stack.status == 'CREATE_IN_PROGRESS'
    assert scene.later().status == 'CREATE_COMPLETE'
    scene.stacks.suspend('p', stack)
    assert scene.now().status == 'SUSPEND_IN_PROGRESS'
    assert scene.later().status == 'SUSPEND_COMPLETE'
    scene.stacks.delete('p', stack)
    assert scene.now().status == 'DELETE_IN_PROGRESS'
    assert scene.later() is None
    scene.stacks.delete('p', stack)
    assert scene.cloud.servers() == []


def test_while_an_action_runs_only_a_deletion_wins(scene):
    stack = scene.create()
    scene.stacks.suspend('p', stack)
    assert scene.now().status == 'CREATE_IN_PROGRESS'
    scene.stacks.delete('p', stack)
    assert scene.later() is None


def test_a_name_is_taken_once_in_a_project(scene):
    scene.create()
    with pytest.raises(errors.Conflict, match='already exists'):
        scene.create()


def test_a_running_stack_is_not_resumed(scene):
    scene.create()
    scene.stacks.resume('p', scene.later())
    assert scene.later().status == 'RESUME_FAILED'


def test_a_locked_server_lets_the_deletion_fail_and_can_be_deleted_later(scene):
    scene.create()
    [server] = scene.cloud.servers()
    scene.cloud.lock_server(server.id)
    scene.stacks.delete('p', scene.later())
    failed = scene.later()
    assert failed.status == 'DELETE_FAILED'
    [part] = scene.stacks.parts('p', failed)
    assert (part.status, part.reason) == ('DELETE_FAILED', f'Instance {server.id} is locked')
    scene.cloud.delete_server(server.id)
    scene.stacks.delete('p', failed)
    assert scene.later() is None


def test_a_server_that_is_gone_lets_a_suspension_fail(scene):
    scene.create()
    [server] = scene.cloud.servers()
    scene.cloud.delete_server(server.id)
    scene.stacks.suspend('p', scene.later())
    found = scene.later()
    assert (found.status, found.reason) == (
        'SUSPEND_FAILED', f'Failed to find server {server.id}')


def test_no_host_lets_a_creation_fail(scene):
    for name in scene.cloud.host_names():
        scene.cloud.mark_host(name, up=False)
    scene.create()
    found = scene.later()
    assert found.status == 'CREATE_FAILED'
    assert 'No valid host' in found.reason


def test_a_preview_reads_text_and_shows_nested_parts_and_creates_nothing(scene):
    found = scene.stacks.preview({'name': 'x', 'template': TEXT, 'parameters': {'count': 3}},
                                 scene.caller)
    assert found.parameters == {'count': 3}
    assert [each.kind for each in found.parts] == ['OS::Nova::Server'] * 3
    assert scene.cloud.stacks() == []


@pytest.mark.parametrize(('spec', 'words'), [
    ({'template': 'x: ['}, 'Error parsing'),
    ({'template': {}}, 'format version not found'),
    ({'template': WORD, 'parameters': {'x': 1}}, 'was not defined'),
    ({'template': {**WORD, 'parameters': {'x': {'type': 'string'}}}}, 'was not provided'),
    ({'template': {**SERVER, 'resources': {'vm': {
        'type': 'OS::Nova::Server', 'properties': {'flavor': 'none'}}}}}, 'Flavor ID'),
    ({'template': {**WORD, 'resources': {'a': {'type': 'x'}}}}, 'could not be found'),
])
def test_a_preview_refuses_what_heat_refuses(scene, spec, words):
    with pytest.raises(errors.BadRequest, match=words):
        scene.stacks.preview({'name': 'x', **spec}, scene.caller)


def test_a_user_does_not_reach_the_stacks_of_another_project(scene):
    with pytest.raises(errors.CloudError, match='not authorized'):
        scene.user().find('other', 'one')

# SPDX-License-Identifier: Apache-2.0
"""Climate's own user asks the real Keystone who is in a project."""
from oslo_config import cfg
import pytest

from climate import cloud as clouds
from climate import conf as configuration
from tools.cloud import climate_service


@pytest.fixture
def keystone(cloud, climate):
    """Keystone as the manager of the cloud has it."""
    conf = configuration.register(cfg.ConfigOpts())
    conf([], project='climate', default_config_files=[str(climate_service.conf_file(cloud))],
         default_config_dirs=[])
    return clouds.build(conf, {}).as_service().keystone


@pytest.fixture
def guest(admin, scene):
    """The id of a new user without any role."""
    made = admin.identity.create_user(name=scene.name(), domain_id='default')
    scene.afterwards(lambda: admin.identity.delete_user(made, ignore_missing=True))
    return made.id


def test_a_member_has_a_role_and_a_stranger_and_nobody_have_none(keystone, demo, alt, guest):
    user = demo.current_user_id
    assert keystone.has_role(user, demo.current_project_id) is True
    assert keystone.has_role(user, alt.current_project_id) is False
    assert keystone.has_role(guest, demo.current_project_id) is False
    assert keystone.has_role('nobody', demo.current_project_id) is False


def test_the_role_of_a_group_counts_until_the_user_has_left_it(
        keystone, admin, demo, guest, scene):
    group = admin.identity.create_group(name=scene.name(), domain_id='default')
    scene.afterwards(lambda: admin.identity.delete_group(group, ignore_missing=True))
    project = demo.current_project_id
    admin.identity.assign_project_role_to_group(
        project, group, admin.identity.find_role('member'))
    admin.identity.add_user_to_group(guest, group)
    assert keystone.has_role(guest, project) is True
    admin.identity.remove_user_from_group(guest, group)
    assert keystone.has_role(guest, project) is False


def test_a_user_or_project_that_is_disabled_has_no_role_until_it_is_enabled(
        keystone, admin, guest, scene):
    project = admin.identity.create_project(name=scene.name(), domain_id='default')
    scene.afterwards(lambda: admin.identity.delete_project(project, ignore_missing=True))
    role = admin.identity.find_role('member')
    admin.identity.assign_project_role_to_user(project, guest, role)
    for change, found in ((admin.identity.update_user, guest),
                          (admin.identity.update_project, project.id)):
        assert keystone.has_role(guest, project.id) is True
        change(found, is_enabled=False)
        assert keystone.has_role(guest, project.id) is False
        change(found, is_enabled=True)
    admin.identity.unassign_project_role_from_user(project, guest, role)
    assert keystone.has_role(guest, project.id) is False

# SPDX-License-Identifier: Apache-2.0
"""A fault in a service that a plugin uses is reported to the operator at the start."""
import pytest

PLUGIN = '''
from climate.plugins import dummy


class BoxPlugin(dummy.DummyPlugin):
    resource_type = 'virtual:box'
    services = ('boxes',)
'''


@pytest.fixture
def run(run_program):
    """callable(program, words…, plugins): (exit status, all that it said)."""
    return lambda *words, plugins='virtual:box', more='': run_program(
        *words, options=f'[DEFAULT]\nplugins = {plugins}\n{more}')


@pytest.fixture
def boxes(tmp_path):
    """callable(entry points): a package with a plugin that wants the service "boxes"."""
    def install(entry_points=''):
        about = tmp_path / 'boxes-1.0.dist-info'
        about.mkdir()
        (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: boxes\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(
            f'[climate.plugins]\nvirtual:box = climate_boxes:BoxPlugin\n{entry_points}')
        (tmp_path / 'climate_boxes.py').write_text(PLUGIN)
    return install


@pytest.mark.parametrize('program', [
    pytest.param('climate-manager', marks=pytest.mark.proof), 'climate-standalone'])
def test_an_adapter_that_is_not_installed_ends_the_start_with_who_wants_it(run, boxes, program):
    boxes()
    status, said = run(program)
    assert status == 1
    assert (f'{program}: climate.cloud.simulated: "boxes", which virtual:box uses, is not '
            'installed; installed are: cinder, glance, heat, keystone, magnum, neutron, '
            'nova, placement.') in said


@pytest.mark.proof
def test_one_that_does_not_load_ends_the_start_with_who_wants_it(run, boxes):
    boxes('[climate.cloud.simulated]\nboxes = no_such_module:Boxes\n')
    status, said = run('climate-manager')
    assert status == 1
    assert '"boxes", which virtual:box uses, does not load: No module named' in said


@pytest.mark.proof
def test_the_check_before_an_upgrade_tells_of_it(run, boxes):
    boxes()
    status, said = run('climate-status', 'upgrade', 'check')
    assert status == 2
    assert '"boxes", which virtual:box uses, is not installed' in ' '.join(
        said.replace('|', ' ').split())


@pytest.mark.proof
def test_the_services_that_the_plugins_use_are_asked_and_no_others(run):
    status, said = run('climate-status', 'cloud', plugins='virtual:dummy')
    assert (status, said) == (0, 'keystone  answers\n')
    status, said = run('climate-status', 'cloud', plugins='flavor:instance')
    assert (status, said) == (
        0, 'keystone   answers\nnova       answers\nplacement  answers\n')


def test_a_service_that_does_not_answer_is_told_by_the_exit_status(run):
    status, said = run('climate-status', 'cloud', plugins='virtual:dummy', more=(
        '[cloud]\ndriver = openstack\n[keystone]\nauth_type = password\n'
        'auth_url = http://127.0.0.1:9/v3\nusername = climate\npassword = p\n'
        'user_domain_name = Default\n'))
    assert status == 1
    assert 'keystone  fails: Keystone is not available: ' in said
    assert ': Connection refused\n' in said


@pytest.mark.proof
def test_an_audit_needs_no_service_that_no_plugin_uses(run):
    status, said = run('climate-db', 'upgrade', plugins='virtual:dummy')
    assert status == 0, said
    status, said = run('climate-manager', 'audit', plugins='virtual:dummy')
    assert status == 0, said
    assert 'The cloud and the database agree.' in said

# SPDX-License-Identifier: Apache-2.0
"""The adapter of Cinder's hosts, against canned answers."""
import pytest

from climate import errors
from climate.cloud import volume_models as models

REASON = 'climate: asleep to save energy'
HOST = 'node@lease'


@pytest.fixture
def hosts(canned):
    return canned.cloud().as_service().storage_hosts


class Cinder:
    """The services of a canned Cinder.

    :ivar service: what it says of the service of HOST.
    :ivar ignored: the actions that it accepts and does not carry out.
    :ivar actions: the actions that it was asked for.
    """

    def __init__(self, canned):
        self.service = {'binary': 'cinder-volume', 'host': HOST, 'status': 'enabled',
                        'state': 'up', 'disabled_reason': None, 'frozen': False}
        self.ignored, self.actions = set(), []
        canned.http.get(f'{canned.CINDER}/os-services', json=lambda *_: {'services': [
            {'binary': 'cinder-scheduler', 'host': HOST, 'status': 'enabled', 'state': 'up'},
            self.service]})
        for action, change in {
                'enable': {'status': 'enabled', 'disabled_reason': None},
                'disable-log-reason': {'status': 'disabled'},
                'freeze': {'status': 'disabled', 'disabled_reason': 'frozen', 'frozen': True},
                'thaw': {'status': 'enabled', 'disabled_reason': '', 'frozen': False}}.items():
            canned.http.put(f'{canned.CINDER}/os-services/{action}', json=self._carry_out(
                action, change))

    def _carry_out(self, action, change):
        def work(request, _context):
            body = request.json()
            assert body['host'] == HOST
            self.actions.append(action)
            if action not in self.ignored:
                self.service.update(change)
                if 'disabled_reason' in body:
                    self.service['disabled_reason'] = body['disabled_reason']
            return {}
        return work


@pytest.fixture
def cinder(canned):
    return Cinder(canned)


def test_the_services_of_every_binary_are_read(hosts, cinder):
    cinder.service.update(status='disabled', state='down', disabled_reason='my own', frozen=True,
                          zone='az1')
    assert hosts.services() == [
        models.StorageService('cinder-scheduler', HOST, enabled=True, up=True),
        models.StorageService('cinder-volume', HOST, enabled=False, up=False, reason='my own',
                              frozen=True, zone='az1')]


def test_a_service_is_disabled_for_a_reason_and_enabled_again(hosts, cinder):
    for _ in range(2):
        assert hosts.disable(HOST, REASON)
        assert cinder.service['disabled_reason'] == REASON
    for _ in range(2):
        assert hosts.enable(HOST, REASON)
    assert cinder.actions == ['disable-log-reason', 'enable']


def test_a_service_that_an_administrator_disabled_stays_as_it_is(hosts, cinder):
    cinder.service.update(status='disabled', disabled_reason='my own')
    assert not hosts.disable(HOST, REASON)
    assert not hosts.enable(HOST, REASON)
    assert cinder.actions == []


def test_a_service_that_cinder_does_not_know_is_refused_or_done(hosts, cinder):
    with pytest.raises(errors.ResourceNotFound):
        hosts.disable('gone@lease', REASON)
    assert not hosts.enable('gone@lease', REASON)


def test_a_cinder_that_ignores_enable_is_made_to_by_thaw(hosts, cinder):
    # Cinder 29.0.0 answers 200 and changes nothing.
    cinder.ignored = {'enable'}
    assert hosts.disable(HOST, REASON)
    assert hosts.enable(HOST, REASON)
    assert (cinder.service['status'], cinder.service['frozen']) == ('enabled', False)
    assert cinder.actions == ['disable-log-reason', 'enable', 'freeze', 'thaw']


def test_a_service_that_an_administrator_froze_is_not_thawed(hosts, cinder):
    assert hosts.disable(HOST, REASON)
    cinder.service['frozen'] = True
    cinder.ignored = {'enable'}
    with pytest.raises(errors.CloudError, match='by hand'):
        hosts.enable(HOST, REASON)
    assert cinder.service['frozen']
    cinder.ignored = set()
    assert hosts.enable(HOST, REASON)
    assert cinder.service['frozen']


def test_a_cinder_that_ignores_every_action_is_reported(hosts, cinder):
    cinder.ignored = {'disable-log-reason'}
    with pytest.raises(errors.CloudError, match='did not disable'):
        hosts.disable(HOST, REASON)
    cinder.service.update(status='disabled', disabled_reason=REASON)
    cinder.ignored = {'enable', 'freeze', 'thaw'}
    with pytest.raises(errors.CloudError, match='did not enable'):
        hosts.enable(HOST, REASON)


def _volume(volume_id, status, host=None):
    return {'id': volume_id, 'name': 'data', 'size': 1, 'status': status, 'attachments': [],
            'volume_type': 'ordinary', 'os-vol-tenant-attr:tenant_id': 'other',
            'os-vol-host-attr:host': host}


def test_cinder_searches_for_what_is_on_a_host_in_all_projects(hosts, canned):
    canned.http.get(f'{canned.CINDER}/volumes/detail', [
        {'json': {'volumes': [_volume('v1', 'in-use', 'node@lease#lease')]}},
        {'json': {'volumes': []}}])
    canned.http.get(f'{canned.CINDER}/snapshots/detail', [
        {'json': {'snapshots': [{'id': 's1', 'name': 'copy', 'status': 'available'}]}},
        {'json': {'snapshots': []}}])
    assert [(each.id, each.backend) for each in hosts.volumes_on('node')] == [
        ('v1', 'node@lease#lease')]
    assert hosts.snapshots_on('node') == [models.VolumeSnapshot('s1', 'copy', 'available')]
    for path in ('/volumes/detail', '/snapshots/detail'):
        asked = canned.asked('GET', path)[0].qs
        assert (asked['host'], asked['all_tenants']) == (['node'], ['true'])


def test_an_unplaced_volume_is_being_created_or_begins_to_move(hosts, canned):
    by_search = {'status=creating': [_volume('new', 'creating'),
                                     _volume('placed', 'creating', 'node@lease#lease')],
                 'status=retyping': [_volume('moving', 'retyping', 'other@a#a')],
                 'migration_status=starting': [_volume('leaving', 'available', 'other@a#a')]}

    def answer(request, _context):
        asked = request.qs
        key = 'migration_status' if 'migration_status' in asked else 'status'
        return {'volumes': [] if 'marker' in asked else by_search[f'{key}={asked[key][0]}']}
    canned.http.get(f'{canned.CINDER}/volumes/detail', json=answer)
    assert [each.id for each in hosts.unplaced_volumes()] == ['new', 'moving', 'leaving']

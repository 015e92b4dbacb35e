# SPDX-License-Identifier: Apache-2.0
"""The reasons of the back end pool to keep a machine awake."""
import types

import pytest

from climate.cloud import volume_models as models
from climate.domain import records
from climate.plugins.volume import backend_pool

LEASE = 'node@lease#one'


def _service(host='node@lease', binary='cinder-volume', **values):
    return models.StorageService(binary, host, **{'enabled': True, 'up': True, **values})


class Cinder:
    """A Cinder with one back end on a machine, and everything that a test adds."""

    BINARY = 'cinder-volume'

    def __init__(self):
        self.present = [_service(), _service('controller', 'cinder-scheduler')]
        self.listed = [models.Backend(LEASE, 'lease', 100)]
        self.volumes, self.copies, self.arriving = [], [], []

    def as_service(self):
        return types.SimpleNamespace(volumes=self, storage_hosts=self)

    def services(self):
        return self.present

    def backends(self):
        return self.listed

    def types(self):
        return [models.VolumeType('1', 'ordinary', True, {'volume_backend_name': 'plain'}),
                models.VolumeType('2', 'any', True, {}),
                models.VolumeType('3', 'mine', False, {'volume_backend_name': 'lease'})]

    def volumes_on(self, host):
        assert host == 'node'
        return self.volumes

    def snapshots_on(self, host):
        assert host == 'node'
        return self.copies

    def unplaced_volumes(self):
        return self.arriving


@pytest.fixture
def cinder():
    return Cinder()


@pytest.fixture
def why(conf, cinder):
    """callable(): why the machine of the back end must stay awake."""
    pool = backend_pool.BackendPool(conf)
    resource = records.Resource(1, 'backend', LEASE, {'gb': 100},
                                facts={'volume_backend_name': 'lease'})
    return lambda: pool.in_use(cinder, [resource])


def _volume(status='available', type_name='ordinary'):
    return models.Volume('v', 'data', 1, status, 'other', type_name)


def test_an_empty_machine_may_sleep(why):
    assert why() is None


def test_volumes_and_snapshots_of_any_project_keep_the_machine_awake(why, cinder):
    cinder.copies = [models.VolumeSnapshot('s', 'copy', 'available')]
    assert why() == 'snapshots are on it (1)'
    cinder.volumes = [_volume()]
    assert why() == 'volumes are on it (1)'


@pytest.mark.parametrize(('arriving', 'is_awake'), [
    (_volume('creating', 'ordinary'), False), (_volume('creating', 'any'), True),
    (_volume('creating', 'mine'), True), (_volume('creating', 'gone'), True),
    (_volume('retyping', 'ordinary'), True)])
def test_a_volume_that_may_be_placed_there_keeps_the_machine_awake(why, cinder, arriving, is_awake):
    cinder.arriving = [arriving]
    assert why() == ('volumes may come to it (1)' if is_awake else None)


@pytest.mark.parametrize('other', [
    _service('node', 'cinder-scheduler'), _service('node', 'cinder-backup'),
    _service('node@other'), _service('node@other', enabled=False, reason='my own')])
def test_another_service_on_the_machine_keeps_it_awake_while_it_is_up(why, cinder, other):
    cinder.present.append(other)
    assert other.host in why()
    cinder.present[-1] = _service(other.host, other.binary, up=False)
    assert why() is None


def test_another_pool_of_the_same_service_keeps_it_awake(why, cinder):
    cinder.listed.append(models.Backend('node@lease#two', 'lease2', 100))
    assert why() == 'node@lease#two is on its machine, too, and is not enrolled'


def test_a_service_that_is_down_or_unknown_is_not_asleep(why, cinder):
    cinder.present[0] = _service(up=False)
    assert why() == 'its service node@lease is down'
    # Closed by Climate, it may be down because the machine shuts down.
    cinder.present[0] = _service(up=False, enabled=False, reason='climate: asleep to save energy')
    assert why() is None
    del cinder.present[0]
    assert why() == 'Cinder does not know the service node@lease'

# SPDX-License-Identifier: Apache-2.0
"""Leases of the real cloud under an enforcement service that answers as coral-credits does."""
import datetime
import math

import pytest
import scene as scenes
from support import credits_server

from climate.client import errors
from tools.cloud import climate_service

_OPTIONS = """
[enforcement]
driver = http
dialect = coral
url = {url}
token = {token}
"""


@pytest.fixture
def credit(scene, cloud):
    """The Credits of a service that the manager of the cloud asks."""
    found = credits_server.Credits(lambda: datetime.datetime.now(datetime.UTC),
                                   VCPU=1000, MEMORY_MB=10_000_000, DISK_GB=1_000_000)
    with credits_server.serving(found) as url:
        climate_service.restart(cloud, 'climate-manager', _OPTIONS.format(
            url=url, token=credits_server.TOKEN))
        yield found
        # The leases of the test end while the service still answers.
        scene.clean()
        climate_service.restart(cloud, 'climate-manager')


def _spent(credit):
    return credit.granted['VCPU'] - credit.balance['VCPU']


def _price(vcpus, lease):
    start, end = (datetime.datetime.fromisoformat(lease[name]) for name in ('start', 'end'))
    return math.ceil(vcpus * (end - start).total_seconds() / 3600)


def test_a_lease_is_refused_created_extended_and_ended_early_with_the_right_balance(scene, credit):
    granted, credit.balance['VCPU'] = credit.balance['VCPU'], 0.0
    with pytest.raises(errors.ClientError, match='Insufficient VCPU credits') as caught:
        scene.lease(duration='2h', active=False)
    assert caught.value.status == 403
    credit.balance['VCPU'] = granted

    lease = scene.lease(duration='2h')
    # Two hours of a host cost twice its VCPUs.
    vcpus = _spent(credit) / 2
    assert vcpus >= 1
    assert vcpus == int(vcpus)
    lease = scene.climate().leases.extend(lease['id'], by='3h')
    assert _spent(credit) == 5 * vcpus == _price(vcpus, lease)
    scene.climate().leases.end(lease['id'])
    lease = scene.wait(lease['id'], 'terminated')
    assert _spent(credit) == _price(vcpus, lease)
    # The report of the end changes nothing any more.
    scenes.until(lambda: [action for action, *_ in credit.calls][-2:] == ['on-end', 'update'],
                 'the end to be reported', 60)
    assert _spent(credit) == _price(vcpus, lease)


def test_a_lease_that_is_deleted_before_its_start_costs_nothing(scene, credit):
    later = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=2)).isoformat()
    lease = scene.lease(duration='2h', active=False, start=later)
    assert _spent(credit) > 0
    scene.climate().leases.delete(lease['id'])
    scenes.until(lambda: _spent(credit) == 0, 'the charge to be returned', 30)

# SPDX-License-Identifier: Apache-2.0
"""Limits on the real cloud: of the limit book, and the unified limits of its Keystone."""
import contextlib
import time

import pytest

from climate.client import errors
from tools.cloud import climate_service
from tools.cloud import settings

_NAME = 'climate_open_leases'
_SECONDS = 1
# The options as the page about unified limits shows them.
_OPTIONS = """
[limits]
unified_limits = true
unified_limits_seconds = {seconds}

[oslo_limit]
auth_type = password
auth_url = {auth_url}
username = climate
user_domain_name = Default
password = {password}
system_scope = all
endpoint_id = {endpoint_id}
"""


def _refused(scene, person='demo', **request):
    """Return the error of a request for a lease, which is refused because of a limit."""
    with pytest.raises(errors.Forbidden) as caught:
        scene.lease(person, active=False, **request)
    assert (caught.value.status, caught.value.name) == (403, 'limit_exceeded')
    return caught.value


def test_a_limit_of_the_limit_book_refuses_a_member_until_the_book_is_empty(scene, limit_book):
    limit_book({'name': 'one-lease', 'measure': 'open_leases', 'most': 1},
               {'name': 'two-hours', 'measure': 'lease_length', 'most': '2h'})
    error = _refused(scene, duration='3h')
    assert 'Limit "two-hours" (leases of at most 2h): this lease would last 3h.' in str(
        error)
    lease = scene.lease(duration='2h')
    assert 'Limit "one-lease" (at most 1 open lease)' in str(_refused(scene))
    used = {limit['name']: limit.get('used')
            for limit in scene.climate().limits.report()['limits']}
    assert used['one-lease'] == 1
    # The limits are those of one project.
    scene.lease('alt', active=False, duration='3h')
    with pytest.raises(errors.Forbidden, match='two-hours'):
        scene.climate().leases.extend(lease['id'], by='1h')
    limit_book()
    assert scene.climate().leases.extend(lease['id'], by='1h')['id'] == lease['id']
    scene.lease(active=False)


@pytest.fixture
def unified(scene, cloud, admin):
    """callable(project id, maximum): the limit of a project in Keystone; 1 for the others.

    Climate reads the limits of Keystone meanwhile.
    """
    identity = admin.identity
    service = identity.find_service('climate')
    [endpoint] = identity.endpoints(service_id=service.id, interface='public')
    place = {'service_id': service.id, 'region_id': endpoint.region_id, 'resource_name': _NAME}
    user, role = identity.find_user('climate'), identity.find_role('reader')
    system_role = f'/system/users/{user.id}/roles/{role.id}'
    with contextlib.ExitStack() as undo:
        identity.put(system_role).raise_for_status()
        undo.callback(identity.delete, system_role)
        registered = identity.create_registered_limit(**place, default_limit=1)
        undo.callback(identity.delete_registered_limit, registered)

        def limit(project_id, most):
            own = identity.create_limit(**place, project_id=project_id, resource_limit=most)
            undo.callback(identity.delete_limit, own)
            time.sleep(2 * _SECONDS)
        climate_service.restart(cloud, 'climate-manager', _OPTIONS.format(
            seconds=_SECONDS, auth_url=settings.url('keystone', '/v3'),
            password=settings.PASSWORD, endpoint_id=endpoint.id))
        undo.callback(climate_service.restart, cloud, 'climate-manager')
        yield limit


def test_unified_limits_of_keystone_refuse_a_member_until_they_are_raised(scene, unified, demo):
    scene.lease()
    error = _refused(scene)
    assert f'Limit "{_NAME}" (at most 1 open lease)' in str(error)
    [shown] = scene.climate().limits.report()['limits']
    assert (shown['name'], shown['source'], shown['used']) == (_NAME, 'keystone', 1)
    unified(demo.current_project_id, 2)
    scene.lease(active=False)
    assert f'Limit "{_NAME}" (at most 2 open leases)' in str(_refused(scene))
    # The registered limit still applies to the others.
    scene.lease('alt', active=False)
    assert 'at most 1 open lease' in str(_refused(scene, 'alt'))

# SPDX-License-Identifier: Apache-2.0
"""Climate as a scheduler sees it: a Keystone and a REST service with canned answers."""
import re

import booting
from keystoneauth1 import fixture
import pytest
from support import nova_standin

KEYSTONE = 'http://keystone.example/v3'
CLIMATE = booting.URL


def shown(reservation_id, hosts=(), owner='me', asks='me', reason=None, **more):
    active = reason is None
    if owner != asks:
        reason = reason or 'It belongs to another project.'
    return {'json': {'reservation': {
        'id': reservation_id, 'lease_id': 'l1', 'project_id': owner, 'active': active,
        'usable': active and owner == asks, 'reason': reason,
        'hosts': list(hosts), 'service_hosts': list(hosts), 'ordinary': False, **more}}}


class FakeClimate:
    """Answers about reservations.

    :ivar asked: the requests that came, in order.
    """

    def __init__(self, mocker):
        self._mocker = mocker
        token = fixture.V3Token(user_id='nova', project_id='service')
        token.add_service('reservation').add_standard_endpoints(
            public=CLIMATE, internal=CLIMATE, region='RegionOne')
        self.logins = mocker.post(f'{KEYSTONE}/auth/tokens', json=token,
                                  headers={'X-Subject-Token': 'a-token'})
        mocker.get(KEYSTONE, json={'version': fixture.V3Discovery(KEYSTONE)})

    @property
    def asked(self):
        return [request for request in self._mocker.request_history
                if request.url.startswith(CLIMATE)]

    def answers(self, reservation_id, *responses):
        """Have these responses given about a reservation, the last one for ever."""
        self._mocker.get(f'{CLIMATE}/reservations/{reservation_id}/hosts', list(responses))

    def shows(self, reservation_id, hosts=(), owner='me', asks='me', reason=None, **more):
        """Have a reservation shown, idle where there is a reason."""
        self.answers(reservation_id, shown(reservation_id, hosts, owner, asks, reason, **more))

    def leases(self, server_id, *answer, **more):
        """Have the reservation of a leased server shown; as in `shows`."""
        self._mocker.get(f'{CLIMATE}/servers/{server_id}/hosts', **shown(*answer, **more))

    def leases_not(self, server_id):
        self._mocker.get(f'{CLIMATE}/servers/{server_id}/hosts', status_code=404, json={
            'error_code': 404, 'error_name': 'server_not_found', 'error_message': 'no'})

    def knows_not(self, reservation_id):
        self.answers(reservation_id, {'status_code': 404, 'json': {
            'error_code': 404, 'error_name': 'reservation_not_found', 'error_message': 'no'}})

    def is_down(self, error):
        self._mocker.get(re.compile(re.escape(CLIMATE)), exc=error)


@pytest.fixture
def climate(requests_mock):
    return FakeClimate(requests_mock)


@pytest.fixture
def login():
    """The options of [climate] with which the filter reaches it."""
    return {'auth_type': 'password', 'auth_url': KEYSTONE, 'username': 'nova',
            'password': 'secret', 'project_name': 'service', 'user_domain_name': 'Default',
            'project_domain_name': 'Default'}


@pytest.fixture
def write(tmp_path):
    """Write {option: value} as [climate] of a nova.conf; returns its path."""
    def written(options):
        path = tmp_path / 'nova.conf'
        path.write_text('[climate]\n' + ''.join(
            f'{name} = {value}\n' for name, value in options.items()))
        return path
    return written


@pytest.fixture
def nova():
    return booting.Nova([])


@pytest.fixture
def service(climate, requests_mock, nova):
    """Climate, with Keystone's catalogue beside it."""
    return booting.Climate(requests_mock, nova.log)


@pytest.fixture
def make(login, write, service, nova):
    """Make a User of a cloud with these options; without any, they are those of the login."""
    made = []

    def user(**options):
        context = nova_standin.api(write(login | options))
        factory, _conf = context.__enter__()
        made.append(context)
        return booting.User(factory({})(nova))
    yield user
    for context in reversed(made):
        context.__exit__(None, None, None)


@pytest.fixture
def user(make):
    return make()


@pytest.fixture
def asking(climate, login, write):
    """The scheduler filter, asking Climate."""
    with nova_standin.scheduler(write(login)) as (filter_class, _conf):
        yield filter_class()

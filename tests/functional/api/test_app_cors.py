# SPDX-License-Identifier: Apache-2.0
"""Programs in browsers use the whole REST interface once [cors] allowed_origin names their site."""
import pytest
from support import builders
from support import thinning

SITE = 'https://portal.example.org'


@pytest.fixture
def portal(conf, manager):
    builders.Api(conf, manager)  # Registers the options.
    conf.set_override('allowed_origin', [SITE], group='cors')
    return builders.Api(conf, manager)


@pytest.mark.parametrize('header', thinning.few([
    'X-Auth-Token', 'OpenStack-API-Version', 'Content-Type', 'X-Openstack-Request-Id',
    'Idempotency-Key', 'If-Match'], 2))
@pytest.mark.parametrize('method', ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
def test_a_preflight_allows_each_method_with_each_header(portal, method, header):
    answer = portal.call('OPTIONS', '/v1/leases', token=None, headers={
        'Origin': SITE, 'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': header})
    assert answer.status_int == 200
    assert answer.headers['Access-Control-Allow-Origin'] == SITE
    assert method in answer.headers['Access-Control-Allow-Methods']
    assert header.lower() in answer.headers['Access-Control-Allow-Headers'].lower()


def test_a_browser_may_read_the_headers_of_an_answer(portal):
    answer = portal.get('/v1/leases', headers={'Origin': SITE})
    assert answer.status_int == 200
    exposed = answer.headers['Access-Control-Expose-Headers'].lower()
    for header in ('Location', 'Retry-After', 'ETag', 'X-Openstack-Request-Id',
                   'OpenStack-API-Version'):
        assert header.lower() in exposed


def test_other_sites_are_allowed_nothing(portal):
    answer = portal.call('OPTIONS', '/v1/leases', token=None, headers={
        'Origin': 'https://evil.example.org', 'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'X-Auth-Token'})
    assert 'Access-Control-Allow-Origin' not in answer.headers

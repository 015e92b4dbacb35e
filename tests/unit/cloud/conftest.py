# SPDX-License-Identifier: Apache-2.0
"""A cloud of canned answers, and simulated ones of a few options."""
from keystoneauth1 import fixture
from oslo_config import cfg
import pytest
import requests_mock
from support import builders

from climate import cloud as clouds
from climate import conf as options
from climate.cloud import simulated

LOGIN = """
auth_type = password
auth_url = http://keystone/v3
username = climate
password = secret
project_name = service
user_domain_name = Default
project_domain_name = Default
"""


class CannedCloud:
    """A real Cloud whose services are played by requests-mock.

    :ivar http: the requests-mock, for answers and for what was asked.
    """

    NOVA = 'http://nova/v2.1'
    PLACEMENT = 'http://placement'
    KEYSTONE = 'http://keystone/v3'
    GLANCE = 'http://glance/v2'
    NEUTRON = 'http://neutron:9696/v2.0'
    CINDER = 'http://cinder/v3'
    HEAT = 'http://heat/v1/service'
    MAGNUM = 'http://magnum/v1'

    def __init__(self, http, configured):
        self.http = http
        self._configured = configured
        self.build_by(clouds.build)
        self._version_documents()
        self.http.post(f'{self.KEYSTONE}/auth/tokens', json=self._token, status_code=201,
                       headers={'X-Subject-Token': 'the-token-of-climate'})

    def build_by(self, build):
        """Create the clouds by `build(conf)` from now on."""
        self._build = build

    def cloud(self, settings=''):
        """A Cloud; `settings` are further lines of its configuration, from [keystone] on."""
        return self._build(self._configured(f'[keystone]\n{LOGIN}\n{settings}'))

    def asked(self, method, path):
        """The requests of that method whose URL ends so, query aside."""
        return [each for each in self.http.request_history
                if each.method == method and each.url.partition('?')[0].endswith(path)]

    @property
    def logins(self):
        return [each.json()['auth'] for each in self.asked('POST', '/auth/tokens')]

    @staticmethod
    def _token(request, context):
        token = fixture.V3Token(user_id='climate-id')
        token.set_project_scope(id='service')
        for service, url in (('compute', CannedCloud.NOVA), ('identity', CannedCloud.KEYSTONE),
                             ('placement', CannedCloud.PLACEMENT),
                             ('image', 'http://glance'), ('network', 'http://neutron:9696'),
                             ('block-storage', CannedCloud.CINDER),
                             ('orchestration', CannedCloud.HEAT),
                             ('container-infra', CannedCloud.MAGNUM)):
            token.add_service(service).add_standard_endpoints(
                internal=url, public=f'{url}/public', region='RegionOne')
        return token

    def _version_documents(self):
        keystone = fixture.DiscoveryList(href='http://keystone', v2=False)
        self.http.get('http://keystone/', json=keystone, status_code=300)
        self.http.get(f'{self.KEYSTONE}', json={'version': keystone.versions[0]})
        self.http.get(f'{self.KEYSTONE}/', json={'version': keystone.versions[0]})
        self.http.get('http://neutron:9696/', json={'versions': [{
            'id': 'v2.0', 'status': 'CURRENT',
            'links': [{'rel': 'self', 'href': f'{self.NEUTRON}/'}]}]})
        glance = fixture.DiscoveryList(v2=False, v3=False)
        glance.add_microversion(href=f'{self.GLANCE}/', id='v2.17')
        self.http.get('http://glance', json=glance, status_code=300)
        cinder = fixture.DiscoveryList(v2=False, v3=False)
        cinder.add_microversion(href=f'{self.CINDER}/', id='v3.0', min_version='3.0',
                                max_version='3.71', status='CURRENT')
        for url in ('http://cinder/', f'{self.CINDER}/', self.CINDER):
            self.http.get(url, json=cinder, status_code=300)


@pytest.fixture
def clock():
    """A clock of seconds that stands until a test moves it."""
    return builders.Clock(1000.0)


@pytest.fixture
def configured(tmp_path):
    """callable(text of a configuration file) → conf."""
    def build(text=''):
        path = tmp_path / f'climate-{len(list(tmp_path.iterdir()))}.conf'
        path.write_text(text)
        conf = options.register(cfg.ConfigOpts())
        conf([], project='climate', default_config_files=[str(path)])
        return conf
    return build


@pytest.fixture
def canned(configured):
    with requests_mock.Mocker() as http:
        yield CannedCloud(http, configured)


@pytest.fixture
def services(canned):
    """Climate's own services in a cloud of canned answers."""
    return canned.cloud().as_service()


@pytest.fixture
def simulate(configured):
    """callable(conf lines of [simulated], **arguments of SimulatedCloud) → SimulatedCloud."""
    made = []

    def build(settings='', **arguments):
        conf = configured(f'[cloud]\ndriver = simulated\n[simulated]\n{settings}')
        made.append(simulated.SimulatedCloud(conf, **arguments))
        return made[-1]

    yield build
    for each in made:
        each.close()
